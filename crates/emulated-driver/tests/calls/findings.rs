//! Findings: the answer to a launch, and the files that processes leave.

use std::process::Command;

use emulated_driver::report::{Found, Record};
use emulated_driver::settings;

use super::client::*;

/// The names of tests that others run in processes of their own.
const LAUNCHES: &str = "a_launch_in_which_something_is_found_is_an_error_of_its_own";
const CALLS: &str = "copies_and_fills_beyond_an_allocation_are_refused";

#[test]
fn a_launch_in_which_something_is_found_is_an_error_of_its_own() {
    let context = Context::new();
    let memory = device_words(&[0; 32]);
    assert_eq!(
        launch(context.function("beyond"), 0, 32, (memory, memory)),
        ILLEGAL_ADDRESS
    );
    assert_eq!(
        launch(context.function("racing"), 0, 32, (memory, memory)),
        ILLEGAL_ADDRESS
    );
    // Nothing was written to this memory.
    let empty = made("cuMemAlloc_v2", &[256]);
    assert_eq!(
        launch(context.function("add"), 0, 32, (memory, empty)),
        ILLEGAL_ADDRESS
    );
    // Once more: the sums are of what the launch before read.
    assert_eq!(
        launch(context.function("add"), 0, 32, (memory, empty)),
        ILLEGAL_ADDRESS
    );
    // The next launch is not concerned.
    assert_eq!(launch(context.function("add"), 0, 32, (memory, memory)), 0);
    ok("cuCtxSynchronize", &[]);
    // Two warps store the same: nothing that a program is to hear of, unless it is strict.
    let expected = match std::env::var_os(settings::STRICT) {
        Some(_) => ILLEGAL_ADDRESS,
        None => 0,
    };
    let equal = launch(context.function("equal"), 0, 64, (memory, memory));
    assert_eq!(equal, expected);
    ok("cuCtxSynchronize", &[]);
    // A copy to the host that does not wait for a kernel of a stream which the default one does not wait for, either.
    let stream = made("cuStreamCreate", &[1]);
    assert_eq!(
        launch(context.function("add"), stream, 32, (memory, memory)),
        0
    );
    let mut words = [0u32; 32];
    assert_eq!(
        call("cuMemcpyDtoH_v2", &[words.as_mut_ptr() as u64, memory, 128]),
        ILLEGAL_ADDRESS
    );
}

/// Runs a test of this file in a process of its own, with this environment, and gives what it leaves in a folder.
fn left(test: &str, environment: &[(&str, &str)]) -> (Vec<Found>, Record) {
    let folder = tempfile::tempdir().expect("a folder");
    let (findings, record) = (folder.path().join("findings"), folder.path().join("record"));
    std::fs::create_dir(&record).expect("a folder");
    let own = std::env::current_exe().expect("this program");
    let ran = Command::new(own)
        .args(["--exact", &format!("findings::{test}")])
        .env(settings::FINDINGS, &findings)
        .env(settings::RECORD, &record)
        .envs(environment.iter().copied())
        .output()
        .expect("this program");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let read = |folder: &std::path::Path| {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut paths: Vec<_> = entries.map(|it| it.expect("a file").path()).collect();
        paths.sort();
        paths
            .into_iter()
            .map(|path| std::fs::read(path).expect("a file"))
            .collect::<Vec<_>>()
    };
    let found = read(&findings)
        .iter()
        .map(|it| serde_json::from_slice(it).expect("a finding"))
        .collect();
    let records = read(&record);
    (
        found,
        serde_json::from_slice(&records[0]).expect("a record"),
    )
}

#[test]
fn each_finding_is_a_file_with_the_lines_of_the_source() {
    let (found, record) = left(LAUNCHES, &[]);
    let kinds: Vec<&str> = found.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "out of bounds",
            "race",
            "uninitialised",
            "stores of equal values",
            "race"
        ]
    );
    let times: Vec<u64> = found.iter().map(|it| it.times).collect();
    // Of the launches of `add` both have read what nobody has written.
    assert_eq!(times, [1, 1, 2, 1, 1]);
    let benign = found.iter().map(|it| it.severity == "benign");
    assert_eq!(
        benign.collect::<Vec<_>>(),
        [false, false, false, true, false]
    );
    assert_eq!(record.benign, 1);
    let lines: Vec<&str> = found
        .iter()
        .map(|it| it.now.as_ref().expect("a side").source.as_str())
        .collect();
    assert_eq!(
        lines,
        [
            "author.cu:17",
            "author.cu:27",
            "author.cu:9",
            "author.cu:60",
            "the host's own code"
        ]
    );
    let read = |of: usize| found[of].before.as_ref().expect("a kernel");
    assert_eq!(
        [2, 4].map(|of| read(of).source.as_str()),
        ["author.cu:8", "author.cu:9"]
    );
    assert!(
        found[4].text.contains("the host reads it"),
        "{}",
        found[4].text
    );
    let launch = found[0].launch.as_ref().expect("a launch");
    assert_eq!(
        (launch.kernel.as_str(), launch.block),
        ("beyond", [64, 1, 1])
    );
    assert_eq!(
        (
            record.kernels["beyond"].failed,
            record.kernels["add"].all,
            record.of_host
        ),
        (1, 4, 1)
    );
}

#[test]
fn launches_are_run_again_under_seeds() {
    let (_, record) = left(LAUNCHES, &[(settings::SEEDS, "3")]);
    assert_eq!(record.kernels["add"].seeds, 3);
}

#[test]
fn benign_findings_are_errors_of_strict_devices() {
    let (found, record) = left(LAUNCHES, &[(settings::STRICT, "on")]);
    let equal = &found[3];
    assert_eq!(
        (&*equal.kind, &*equal.severity),
        ("stores of equal values", "error")
    );
    assert_eq!((record.benign, record.kernels["equal"].failed), (0, 1));
}

#[test]
fn copies_and_fills_beyond_an_allocation_are_refused() {
    let context = Context::new();
    let memory = device_words(&[0; 32]);
    let words = [0u32; 64];
    let host = words.as_ptr() as u64;
    let refused = |name: &str, arguments: &[u64]| {
        assert_eq!(call(name, arguments), INVALID_VALUE, "{name}");
    };
    refused("cuMemcpyHtoD_v2", &[memory, host, 256]);
    refused("cuMemcpyHtoD_v2", &[memory, host, 256]);
    refused("cuMemsetD32_v2", &[memory + 64, 0, 17]);
    refused("cuMemcpyDtoH_v2", &[host, host, 16]);
    refused("cuMemcpyDtoH_v2", &[host, 0, 16]);
    let freed = device_words(&[0; 16]);
    ok("cuMemFree_v2", &[freed]);
    refused("cuMemsetD8_v2", &[freed + 8, 0, 4]);
    // Width, height, a format of 4 bytes and channels: 16 by 4 elements.
    let plane = [16u64, 4, 0x20 | 1 << 32];
    let array = made("cuArrayCreate_v2", &[plane.as_ptr() as u64]);
    refused("cuMemcpyHtoA_v2", &[array, 60, host, 8]);
    // Left, top, kind, host, device, array and pitch of each side, of the host and of the array; width and height.
    let of_host = [0, 0, 1, host, 0, 0, 64];
    let of_array = [0, 1, 3, 0, 0, array, 0];
    let rows = [&of_host[..], &of_array[..], &[64, 4]].concat();
    refused("cuMemcpy2D_v2", &[rows.as_ptr() as u64]);
    // More threads, and more shared memory, than a block may have.
    let add = context.function("add");
    let addresses = [host; 3];
    let parameters = addresses.as_ptr() as u64;
    for (threads, shared) in [(2048, 0), (64, 1 << 20)] {
        refused(
            "cuLaunchKernel",
            &[add, 1, 1, 1, threads, 1, 1, shared, 0, parameters, 0],
        );
    }
    // Questions, and memory of the host's own, are nothing wrong.
    let mut kind = 0u32;
    let asked = [&raw mut kind as u64, 2, host];
    assert_eq!(call("cuPointerGetAttribute", &asked), INVALID_VALUE);
    assert_eq!(call("cuMemGetAddressRange_v2", &[0, 0, host]), NOT_FOUND);
    let mut copied = [0u32; 64];
    ok("cuMemcpy", &[copied.as_mut_ptr() as u64, host, 256]);
    ok("cuMemsetD8_v2", &[0, 0, 0]);
}

#[test]
fn refused_copies_fills_and_launches_are_findings() {
    let (found, record) = left(CALLS, &[]);
    let kinds: Vec<(&str, u64)> = found.iter().map(|it| (&*it.kind, it.times)).collect();
    const OUTSIDE: &str = "call outside of an allocation";
    assert_eq!(
        kinds,
        [
            (OUTSIDE, 2),
            (OUTSIDE, 1),
            (OUTSIDE, 1),
            (OUTSIDE, 1),
            (OUTSIDE, 1),
            (OUTSIDE, 1),
            (OUTSIDE, 1),
            ("refused launch", 1),
            ("refused launch", 1)
        ]
    );
    for (found, (begins, ends)) in found.iter().zip([
        (
            "cuMemcpyHtoD: 256 bytes at 0x",
            ", from byte 0 of an allocation of 128 bytes on, which begins at 0x",
        ),
        (
            "cuMemsetD32: 68 bytes at 0x",
            ", from byte 64 of an allocation of 128 bytes on, which begins at 0x",
        ),
        ("cuMemcpyDtoH: 16 bytes at 0x", ", in no allocation"),
        ("cuMemcpyDtoH: 16 bytes at 0x0, from a null pointer on", ""),
        (
            "cuMemsetD8: 4 bytes at 0x",
            ", in no allocation: byte 8 of a buffer (of 64 bytes), freed or near, which begins at 0x",
        ),
        (
            "cuMemcpyHtoA: 8 by 1 by 1 from byte 60, row 0, plane 0 of an array of 64 bytes by 4 by 1 on",
            ", which begins at 0x",
        ),
        (
            "cuMemcpy2D: 64 by 4 by 1 from byte 0, row 1, plane 0 of an array of 64 bytes by 4 by 1 on",
            ", which begins at 0x",
        ),
        ("add: block of 2048 threads", ""),
        ("add: 1048576 bytes of dynamic shared memory", ""),
    ]) {
        let text = &found.text;
        assert!(text.starts_with(begins) && text.contains(ends), "{text}");
    }
    assert_eq!((record.of_host, record.kernels["add"].failed), (8, 2));
}
