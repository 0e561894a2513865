//! Hand-made recordings, and what is said of them.

mod counted;
mod machine;
mod native;
mod replayed;
mod script;
mod told;

use std::path::Path;

use recording::{Memory, Synchronized};

use super::text::wait as wait_text;
use super::{Analysis, NoProgram, Program, text};
use crate::table::Width;
use script::{Script, program};

/// A norm whose result is copied to pageable memory: the copy's call waits for the kernel.
fn norm(is_emulated: bool) -> Script {
    let mut script = Script::emulated(is_emulated);
    let launch = script.call("cudaLaunchKernel_v7000", 37, (10, 15));
    script.kernel("_Z4nrm2PKd", (7, launch), (20, 4960));
    let copy = script.call("cudaMemcpyAsync_v3020", 38, (20, 4970));
    script.copy(
        (Memory::Device, Memory::Pageable, 8),
        (7, copy),
        (4962, 4964),
    );
    script
}

#[test]
fn a_blocking_copy_is_not_blamed_for_the_kernel_in_front_of_it() {
    let analysis = Analysis::of(&program(norm(false).end(5000)));
    let [wait] = &analysis.waits[..] else {
        panic!("one wait: {:?}", analysis.waits);
    };
    assert_eq!(
        wait_text(wait),
        "  cudaMemcpyAsync at train.py:38: 4.95 ms, of which 4.94 ms the kernel nrm2 launched at train.py:37, \
         2.00 us the copy, 8.00 us on the host"
    );
    let [kernel, copy] = &analysis.device[..] else {
        panic!("two kinds of work: {:?}", analysis.device);
    };
    assert_eq!(
        (&*kernel.name, &*kernel.place.to_string()),
        ("nrm2", "train.py:37")
    );
    assert_eq!(copy.name, "copy device to host, pageable");
    assert_eq!(analysis.host[0].name, "cudaMemcpyAsync");
}

#[test]
fn an_emulated_program_has_order_and_no_times() {
    let analysis = Analysis::of(&program(norm(true).end(5000)));
    assert_eq!(
        wait_text(&analysis.waits[0]),
        "  cudaMemcpyAsync at train.py:38: 1 call behind the kernel nrm2 launched at train.py:37"
    );
    assert!(analysis.device.iter().all(|it| it.times.is_none()));
    let text = text(&analysis, Width::Any);
    assert!(
        !text.contains(" ms") && !text.contains("Time (%)"),
        "{text}"
    );
    assert!(text.contains("Calls"), "{text}");
}

#[test]
fn a_synchronization_waits_for_its_own_stream() {
    let mut script = Script::new();
    let first = script.call("cudaLaunchKernel", 1, (0, 5));
    script.kernel("mine", (7, first), (10, 100));
    let second = script.call("cudaLaunchKernel", 2, (5, 10));
    script.kernel("other", (8, second), (10, 400));
    let wait = script.call("cudaStreamSynchronize", 3, (20, 110));
    script.synchronization(Synchronized::Stream(7), wait);
    let analysis = Analysis::of(&program(script.end(500)));
    assert_eq!(
        wait_text(&analysis.waits[0]),
        "  cudaStreamSynchronize at train.py:3: 90.00 us, of which 80.00 us the kernel mine launched at \
         train.py:1, 10.00 us on the host"
    );
}

#[test]
fn an_asynchronous_copy_is_no_wait() {
    let mut script = Script::new();
    let copy = script.call("cudaMemcpyAsync", 3, (0, 5));
    script.copy(
        (Memory::Pinned, Memory::Device, 1 << 20),
        (7, copy),
        (6, 30),
    );
    let analysis = Analysis::of(&program(script.end(500)));
    assert_eq!(analysis.waits, []);
}

#[test]
fn what_a_recording_lacks_is_told() {
    let mut script = Script::new();
    script.kernel("orphan", (7, 1000), (10, 100));
    let mut recording = script.killed();
    recording.refused = 3;
    let analysis = Analysis::of(&program(recording));
    let text = text(&analysis, Width::Any);
    for part in [
        "has no end",
        "3 records found no room",
        "calls of 1 piece of work",
        "an unknown caller",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert_eq!(
        Program::of(Vec::new(), Path::new("/")).err(),
        Some(NoProgram::Nothing)
    );
}
