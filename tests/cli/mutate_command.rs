//! `ridgepoint mutate` of a program: what its test notices, what is kept of it, and what it refuses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::emulate_command::{folder, run};
use crate::guides::{blocks, command, missing};

/// The answers that are kept in a folder.
fn journal(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("ridgepoint-mutants.jsonl")).expect("it is kept");
    let parsed = |line| serde_json::from_str(line).expect("JSON");
    text.lines().map(parsed).collect()
}

#[test]
fn survivors_are_listed_by_line_and_are_not_asked_for_again() {
    let folder = folder();
    let kernel = &blocks("any-cuda-program.md", "cuda")[0];
    fs::write(folder.path().join("saxpy.cu"), kernel).expect("writable");
    let line = command("mutation-testing.md", "ridgepoint mutate ./saxpy");
    let (output, errors) = run(folder.path(), &line);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &errors;
    let samples = blocks("mutation-testing.md", "text");
    assert_eq!(missing(&samples[0], &said), None, "{said}");
    let first = journal(folder.path());
    assert_eq!(first.len(), 7);

    let (output, errors) = run(folder.path(), &line);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert_eq!(journal(folder.path()), first);
    // Another launch is another test: the survivors are tried again, and no others.
    let (output, errors) = run(
        folder.path(),
        "ridgepoint mutate --fail-under 50 ./saxpy 1000",
    );
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert_eq!(journal(folder.path()).len(), 7 + 3);
}

#[test]
fn a_test_that_is_being_tried_is_ended_with_the_time() {
    let folder = folder();
    let script = "./saxpy && if [ \"$RIDGEPOINT_MUTANT\" ]; then sleep 300; fi";
    fs::write(folder.path().join("slow.sh"), script).expect("writable");
    let begun = Instant::now();
    let line = "ridgepoint mutate --stop-after 5 sh slow.sh";
    let (_, errors) = run(folder.path(), line);
    assert!(
        errors.contains(" not tried: the same command goes on"),
        "{errors}"
    );
    // Those that the checks have killed; survivors would have slept.
    let answers = journal(folder.path());
    assert!(answers.len() <= 4, "{answers:?}");
    assert!(
        answers.iter().all(|it| it["answer"]["killed"].is_object()),
        "{answers:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(100));
}

#[test]
fn a_test_without_a_change_is_ended_with_the_time() {
    let folder = folder();
    fs::write(folder.path().join("slow.sh"), "./saxpy; sleep 300").expect("writable");
    let begun = Instant::now();
    let (output, errors) = run(folder.path(), "ridgepoint mutate --stop-after 2 sh slow.sh");
    assert_eq!(output.status.code(), Some(3), "{errors}");
    let said = "the time of --stop-after was over before sh slow.sh had passed without a change (0 of 1 had): \
                no mutant was tried; give it more time";
    assert!(errors.contains(said), "{errors}");
    assert!(begun.elapsed() < Duration::from_secs(100));
}

/// A kernel of which each launch ends in a trap, behind a store of each thread.
const TRAPS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
	.reg .pred %p<2>;
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [y];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r1, %r2, %r3, %r1;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd1, %rd1, %rd2;
	mov.u32 %r4, 7;
	st.global.u32 [%rd1], %r4;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 trap;
	ret;
}
";

/// An instance of a kernel that is made from a line for this type of elements.
fn instance(kind: &str) -> String {
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
.file 1 \"store.cu\"
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{{
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	.loc 1 4 9
	ld.param.u64 %rd1, [y];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.u32 %r1, %r2, %r3, %r1;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	mad.lo.u32 %r4, %r1, 3, 5;
	st.global.{kind} [%rd2], %r4;
	ret;
}}
"
    )
}

#[test]
fn a_change_of_a_line_may_be_tried_in_one_instance() {
    let folder = folder();
    let script = "for kind in u32 b32 u32; do cp $kind.ptx saxpy.ptx; ./saxpy || exit 1; done";
    fs::write(folder.path().join("both.sh"), script).expect("writable");
    for kind in ["u32", "b32"] {
        let path = folder.path().join(kind).with_extension("ptx");
        fs::write(path, instance(kind)).expect("writable");
    }
    let mutate = |journal: &str, option: &str| {
        let line = format!(
            "ridgepoint mutate --changes constant --journal {journal} {option} --format json sh both.sh"
        );
        let (output, errors) = run(folder.path(), &line);
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect(&errors);
        let copies = rows
            .iter()
            .map(|it| it["copies"].as_u64().expect("a number"));
        (rows.len(), copies.sum::<u64>())
    };
    let (all, of_all) = mutate("all", "");
    let (one, of_one) = mutate("one", "--one-instance");
    assert!(one > 0 && all == 2 * one, "{all} and {one}");
    assert_eq!(of_all, of_one);
}

#[test]
fn a_test_may_expect_a_launch_to_fail() {
    let folder = folder();
    fs::write(folder.path().join("saxpy.ptx"), TRAPS).expect("writable");
    fs::write(folder.path().join("fails.sh"), "! ./saxpy").expect("writable");
    let (output, errors) = run(folder.path(), "ridgepoint mutate sh fails.sh");
    assert_eq!(output.status.code(), Some(1), "{errors}");
    // The launch fails as before, and nobody looks at the number; an address that is wrong is found by the checks.
    let answers = journal(folder.path());
    let survived = answers.iter().any(|it| it["answer"] == "survived");
    let killed = |it: &Value| it["answer"]["killed"]["by"]["check"].is_string();
    assert!(
        survived && answers.iter().any(killed),
        "{errors}{answers:?}"
    );
    let by_launch = |it: &Value| it["answer"]["killed"]["by"] == "launch";
    assert!(!answers.iter().any(by_launch), "{answers:?}");

    let (output, errors) = run(folder.path(), "ridgepoint mutate ./saxpy");
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let said = "without a change ./saxpy fails, by a launch that failed";
    assert!(errors.contains(said), "{errors}");
}

#[test]
fn rows_tell_what_was_changed_where_and_what_has_noticed() {
    let folder = folder();
    let line = "ridgepoint mutate --format json --changes index,guard --functions axp ./saxpy";
    let (output, errors) = run(folder.path(), line);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let rows: Vec<BTreeMap<String, Value>> = serde_json::from_slice(&output.stdout).expect("rows");
    let told = |row: &BTreeMap<String, Value>, of: &str| row[of].as_str().map(str::to_owned);
    let mut outcomes = BTreeMap::new();
    for row in &rows {
        let key = (told(row, "operator"), told(row, "outcome"));
        *outcomes.entry(key).or_insert(0) += 1;
        assert_eq!(told(row, "function").as_deref(), Some("saxpy"));
        assert!(
            told(row, "file").is_some_and(|it| it.ends_with("saxpy.cu")),
            "{row:?}"
        );
        let is_killed = told(row, "outcome").as_deref() == Some("killed");
        assert_eq!(
            told(row, "test").as_deref() == Some("./saxpy"),
            is_killed,
            "{row:?}"
        );
    }
    let some = |text: &str| Some(text.to_owned());
    let expected = [
        ((some("guard"), some("survived")), 2),
        ((some("index"), some("killed")), 2),
    ];
    assert_eq!(outcomes, expected.into());
}

/// A kernel with a barrier that is needed, one that orders nothing here, and one that no launch can need.
const BARRIERS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 tile[1024];
	ld.param.u64 %rd1, [y];
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, tile;
	add.s32 %r2, %r2, %r3;
	st.shared.u32 [%r2], %r1;
	bar.sync 0;
	ld.shared.u32 %r4, [tile];
	bar.sync 0;
	st.global.u32 [%rd1], %r4;
	bar.sync 0;
	ret;
}
";

#[test]
fn barriers_are_needed_untested_or_superfluous() {
    let folder = folder();
    let one = BARRIERS.replace(
        "st.global",
        "setp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra END;\n\tst.global",
    );
    let one = one.replace("\tbar.sync 0;\n\tret;", "END:\n\tbar.sync 0;\n\tret;");
    let one = one.replace(".reg .b32", ".reg .pred %p<2>;\n\t.reg .b32");
    fs::write(folder.path().join("saxpy.ptx"), one).expect("writable");
    let line = "ridgepoint mutate --changes synchronization --fail-under 50 ./saxpy 256";
    let (output, errors) = run(folder.path(), line);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{errors}");
    assert!(
        said.contains("Mutation score 50.0 % (1 of 2): 1 by the check for race."),
        "{said}"
    );
    assert!(said.contains("Superfluous, each for itself"), "{said}");
    assert!(
        said.contains("bar.sync 0; no memory is accessed between it and the next one, or the end"),
        "{said}"
    );
}

/// All threads write what one wrote, each the same. That none writes the program does not look at.
#[test]
fn benign_findings_kill_if_asked_to() {
    let folder = folder();
    let one = BARRIERS.replace(
        "bar.sync 0;\n\tst.global.u32 [%rd1], %r4;",
        "setp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra END;\n\tst.global.u32 [%rd1], %r4;",
    );
    let one = one.replace("\tbar.sync 0;\n\tret;", "END:\n\tret;");
    let one = one.replace(".reg .b32", ".reg .pred %p<2>;\n\t.reg .b32");
    fs::write(folder.path().join("saxpy.ptx"), one).expect("writable");
    for (strict, status, score) in [
        ("", 1, "Mutation score 0.0 % (0 of 2)"),
        (
            "--strict ",
            0,
            "Mutation score 50.0 % (1 of 2): 1 by the check for stores of equal values.",
        ),
    ] {
        let line = format!("ridgepoint mutate {strict}--changes guard --fail-under 50 ./saxpy 256");
        let (output, errors) = run(folder.path(), &line);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{said}{errors}");
        assert!(said.contains(score), "{said}");
    }
}

/// A change that is not made has not survived.
#[test]
fn ptx_of_another_text_each_time_is_not_changed() {
    let folder = folder();
    let line = "ridgepoint mutate sh -c 'echo \"// $$\" >> saxpy.ptx; ./saxpy'";
    let (output, errors) = run(folder.path(), line);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}{errors}");
    assert!(errors.contains("or load other PTX each time"), "{errors}");
    assert!(
        said.contains("Left out: 7 changes that were not made"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_asked_is_refused_with_the_reason() {
    let folder = folder();
    for (line, status, reason) in [
        ("ridgepoint mutate true", 3, "no test has launched a kernel"),
        ("ridgepoint mutate ./absent", 3, "cannot run ./absent"),
        (
            "ridgepoint mutate ./saxpy 1280",
            1,
            "without a change ./saxpy 1280 fails, by the check for out of bounds",
        ),
        (
            "ridgepoint mutate --functions other ./saxpy",
            3,
            "nothing to change",
        ),
        (
            "ridgepoint mutate --changes indices ./saxpy",
            2,
            "expected one of synchronization, order",
        ),
        ("ridgepoint mutate --", 2, "no project to check"),
        (
            "ridgepoint mutate --journal saxpy.c ./saxpy",
            3,
            "saxpy.c, line 1: expected the answer",
        ),
    ] {
        let (output, errors) = run(folder.path(), line);
        assert_eq!(output.status.code(), Some(status), "{line}: {errors}");
        assert!(errors.contains(reason), "{line}: {errors}");
    }
}

#[test]
fn survivors_are_accepted_with_a_reason_until_a_test_kills_them() {
    let folder = folder();
    let kernel = &blocks("any-cuda-program.md", "cuda")[0];
    fs::write(folder.path().join("saxpy.cu"), kernel).expect("writable");
    let accept = |text: &str| {
        fs::write(folder.path().join("accepted.toml"), text).expect("writable");
        let line = command("mutation-testing.md", "ridgepoint mutate --accept");
        let (output, errors) = run(folder.path(), &line);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &errors;
        (output.status.code(), said)
    };
    let of_comparison = &blocks("mutation-testing.md", "toml")[0];
    let (status, said) = accept(of_comparison);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("2 mutants survived: 66.6 % were"), "{said}");
    assert!(said.contains("Accepted: 1 survivor that no"), "{said}");

    let of_guards = "
        [[accepted]]
        reason = 'all threads have an element'
        file = 'saxpy.cu'
        lines = [3]
        changes = ['guard']
    ";
    let (status, said) = accept(&format!("{of_comparison}{of_guards}"));
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("Mutation score 100.0 % (4 of 4)"), "{said}");

    // A killed mutant is no survivor, and the kernel has no line 2.
    let stale = "
        [[accepted]]
        reason = 'of another time'
        file = 'saxpy.cu'
        lines = [2, 3]
        changes = ['index']
    ";
    let (status, said) = accept(&format!("{of_comparison}{of_guards}{stale}"));
    assert_eq!(status, Some(1), "{said}");
    let told = "no mutant of these lines of --accept survives any more: remove them\n  saxpy.cu:2, 3: of another time";
    assert!(said.contains(told), "{said}");
    // Another instance of a line may have a survivor.
    let line = "ridgepoint mutate --one-instance --accept accepted.toml ./saxpy";
    let (output, errors) = run(folder.path(), line);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let (status, said) = accept(&format!("{of_comparison}{stale}"));
    assert_eq!(status, Some(1), "{said}");
    let below = "2 mutants survived: 66.6 % were";
    assert!(said.contains(below) && said.contains(told), "{said}");

    let (status, said) = accept("[[accepted]]\nlines = [3]");
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("accepted.toml: "), "{said}");
    assert!(said.contains("missing field `reason`"), "{said}");
}
