//! Launches that do not end, blocks that wait for each other, and files that are too large.

use std::fs;
use std::process::Command;

use super::{ends, folder, module, run_in};
use crate::support;

#[test]
fn a_launch_without_end_ends_with_what_it_waits_for_and_no_other_order_is_run() {
    let folder = folder();
    let write = |name: &str, body: &str| {
        fs::write(folder.path().join(name), module(body)).expect("written");
    };
    let wait = "ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;";
    write("spin.ptx", &format!("L: {wait}"));
    write("sleep.ptx", &format!("L: nanosleep.u32 100;\n{wait}"));
    write("loop.ptx", "L: bra L;");
    write("nothing.ptx", "");
    let waits = "waits for ever for what nobody writes: it reads element 0 of `argument 0` (of 1) again and again; \
        of 1 block, 1 began and 0 ended, and all that are left only wait, at ";
    let not_run = "note: left out: 4 launches in other orders, which may go on for as long";
    let checked = "Checked k: 1 launch, in order; something was found in 1 of them.";
    for (words, expected) in [
        ("spin.ptx --grid 1 --block 64", [waits, not_run, checked]),
        ("sleep.ptx --grid 1 --block 64", [waits, not_run, checked]),
        (
            "spin.ptx --grid 1 --block 64 --no-check",
            [waits, "error: on the emulator: k: block [0, 0, 0]", ""],
        ),
        (
            "loop.ptx --grid 1 --block 32 --max-steps 100000",
            [
                "goes on for ever, or for more than 100000 steps",
                "--max-steps 100000",
                not_run,
            ],
        ),
        (
            "loop.ptx --grid 1 --block 32 --time-limit 1",
            [
                "has not ended after 1 s; of 1 block, 1 began and 0 ended, at ",
                "--time-limit 1",
                not_run,
            ],
        ),
        (
            "nothing.ptx --grid 2147483647,65535,65535 --block 1024 --time-limit 1",
            [
                "k: the launch has not ended after 1 s; of 9223090559730712575 blocks, ",
                "--time-limit 1",
                not_run,
            ],
        ),
        (
            "nothing.ptx --grid 2147483647,65535,65535 --block 1024 --time-limit 1 --seed 3",
            [
                "k: the launch has not ended after 1 s; of 9223090559730712575 blocks, ",
                "--time-limit 1",
                "",
            ],
        ),
    ] {
        let begun = std::time::Instant::now();
        let output = run_in(folder.path(), &format!("{words} --arg u32[1]=zeros"));
        ends(&output, 1, &expected);
        let took = begun.elapsed();
        assert!(took.as_secs() < 30, "{words} took {took:?}");
    }
}

#[test]
fn blocks_that_wait_for_each_other_take_a_cooperative_launch() {
    let folder = folder();
    // As CUDA C++'s `grid.sync` begins; and the first block waits for the second.
    let sync = "mov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;\nor.b32 %r1, %r1, %r2;\nsetp.ne.u32 %p1, %r1, 0;\n\
        @%p1 bra DONE;\ntrap;\nDONE: st.global.u32 [%rd1], 7;";
    let wait = "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra LAST;\n\
        L: ld.acquire.gpu.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nret;\n\
        LAST: st.release.gpu.global.u32 [%rd1], 7;";
    fs::write(folder.path().join("sync.ptx"), module(sync)).expect("written");
    fs::write(folder.path().join("wait.ptx"), module(wait)).expect("written");
    for (file, blocks, said) in [
        (
            "sync.ptx",
            1,
            "trap, with which `grid.sync` ends a launch that is not cooperative",
        ),
        (
            "wait.ptx",
            2,
            "only a cooperative launch has all of its blocks running at once",
        ),
    ] {
        let words = format!("{file} --grid {blocks} --block 1 --seeds 2 --arg u32[1]=zeros");
        let alone = run_in(folder.path(), &words);
        ends(&alone, 1, &[said, "; --cooperative makes the launch one"]);
        let together = run_in(folder.path(), &format!("{words} --cooperative"));
        ends(
            &together,
            0,
            &["nothing was found", "argument 0, u32[1], changed: 7"],
        );
    }
    fs::write(
        folder.path().join("wait.toml"),
        "file = \"wait.ptx\"\ngrid = 2\nblock = 1\ncooperative = true\nargs = [\"u32[1]=zeros\"]\n",
    )
    .expect("written");
    ends(
        &run_in(folder.path(), "--launch wait.toml"),
        0,
        &["nothing was found"],
    );
}

#[test]
fn files_that_are_too_large_are_not_read() {
    let folder = folder();
    let large = |name: &str, bytes: u64| {
        let file = fs::File::create(folder.path().join(name)).expect("created");
        file.set_len(bytes).expect("a file of holes");
    };
    large("large.ptx", 300 << 20);
    large("large.toml", 2 << 20);
    let output = run_in(folder.path(), "large.ptx --grid 1 --block 1");
    let said = "cannot read large.ptx: it has 314572800 bytes, and at most 268435456 are read";
    ends(&output, 3, &[said]);
    let output = run_in(folder.path(), "--launch large.toml");
    ends(
        &output,
        3,
        &["large.toml: it has 2097152 bytes, and at most 1048576 are read"],
    );
    large("large.csv", 300 << 20);
    let merge = Command::new(support::ridgepoint())
        .args(["merge", "large.csv", "--output", "all.csv"])
        .current_dir(folder.path())
        .output();
    ends(
        &merge.expect("it starts"),
        3,
        &["it has 314572800 bytes, and at most 268435456 are read"],
    );
}
