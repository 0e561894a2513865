//! Loads and stores beyond parameters.

use super::{failure, load};

/// A kernel that calls `f` with a word and takes one back, of whose accesses one is replaced.
fn call(replaced: &str, by: &str) -> String {
    let body = "
.visible .func (.param .b32 r) f(.param .b32 a)
{
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [a];
    st.param.b32 [r], %r1;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    mov.u32 %r1, 7;
    .param .b32 given;
    st.param.b32 [given], %r1;
    .param .b32 taken;
    call.uni (taken), f, (given);
    ld.param.b32 %r2, [taken];
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r2;
    ret;
}";
    assert!(body.contains(replaced), "{replaced}");
    body.replace(replaced, by)
}

#[test]
fn a_call_passes_its_parameters() {
    let loaded = load(&call("", "")).expect("it can be loaded");
    assert_eq!(loaded.run(&[]).expect("it runs")[0], 7);
}

#[test]
fn accesses_beyond_a_parameter_of_a_call_are_refused() {
    for (access, name) in [
        ("ld.param.b32 %r1, [a", "a"),
        ("st.param.b32 [r", "r"),
        ("st.param.b32 [given", "given"),
        ("ld.param.b32 %r2, [taken", "taken"),
    ] {
        for offset in [
            "4",
            "2",
            "-4",
            "4000000",
            "17179869184",
            "9223372036854775804",
        ] {
            let plus = if offset.starts_with('-') { "" } else { "+" };
            let said = failure(&call(
                &format!("{access}]"),
                &format!("{access}{plus}{offset}]"),
            ));
            let expected =
                format!("4 bytes at offset {offset} of the parameter `{name}`, which has 4");
            assert!(said.contains(&expected), "{said}");
        }
    }
}

#[test]
fn every_element_of_a_vector_lies_in_the_parameter() {
    let said = failure(&call(
        "st.param.b32 [r], %r1",
        "st.param.v2.b32 [r], {%r1, %r1}",
    ));
    assert!(
        said.contains("4 bytes at offset 4 of the parameter `r`, which has 4"),
        "{said}"
    );
}

#[test]
fn a_register_holds_what_is_loaded() {
    let body = ".visible .func f(.param .b64 a) { .reg .pred %p<2>; ld.param.b64 %p1, [a]; ret; }
        .visible .entry k(.param .u64 out) {
        .reg .b64 %rd<3>; mov.u64 %rd1, 1;
        .param .b64 p; st.param.b64 [p], %rd1; call.uni f, (p); ret; }";
    match load(body) {
        Err(_) => {}
        Ok(loaded) => {
            let said = loaded.run(&[]).expect_err("it must fail").to_string();
            assert!(
                said.contains("64 bits in a register of Predicate"),
                "{said}"
            );
        }
    }
}

#[test]
fn calls_have_the_arguments_of_the_callee() {
    let body = call("f, (given)", "f, ()").replace("(taken), f, ()", "(taken), f");
    match load(&body) {
        Err(_) => {}
        Ok(loaded) => {
            let said = loaded.run(&[]).expect_err("it must fail").to_string();
            assert!(said.contains("with 0 arguments; it takes 1"), "{said}");
        }
    }
}

#[test]
fn loads_beyond_a_parameter_of_the_kernel_are_refused() {
    for (access, expected) in [
        (
            "u64 %rd2, [a+64]",
            "8 bytes at offset 64 of the parameter `a`, which has 4",
        ),
        (
            "u64 %rd2, [a]",
            "8 bytes at offset 0 of the parameter `a`, which has 4",
        ),
        (
            "u64 %rd2, [a-8]",
            "8 bytes at offset -8 of the parameter `a`, which has 4",
        ),
    ] {
        let body = format!(
            ".visible .entry k(.param .u64 out, .param .u32 a) {{ .reg .b64 %rd<4>;
            ld.param.{access}; ret; }}"
        );
        let loaded = load(&body).expect("it can be loaded");
        let kernel = loaded.module.kernel("k").expect("the kernel");
        let said = kernel
            .prepare()
            .expect_err("it must be refused")
            .to_string();
        assert!(said.ends_with(expected), "{said}");
    }
}

/// A kernel that reads its parameter `p` of 64 bytes at an offset from each lane's number times 4.
fn by_register(offset: i64) -> String {
    format!(
        ".visible .entry k(.param .align 8 .b8 before[64], .param .align 8 .b8 p[64],
            .param .u64 out) {{
        .reg .b64 %rd<8>; .reg .b32 %r<4>;
        mov.u64 %rd1, p;
        mov.u32 %r1, %laneid;
        and.b32 %r1, %r1, 15;
        mul.wide.u32 %rd2, %r1, 4;
        add.s64 %rd3, %rd1, %rd2;
        add.s64 %rd3, %rd3, {offset};
        ld.param.u32 %r2, [%rd3];
        ld.param.u64 %rd4, [out];
        mov.u32 %r1, %laneid;
        mul.wide.u32 %rd5, %r1, 4;
        add.s64 %rd6, %rd4, %rd5;
        st.global.u32 [%rd6], %r2;
        ret; }}"
    )
}

#[test]
fn loads_by_register_stay_in_one_parameter() {
    let first: Vec<u8> = (0..128).collect();
    let run = |offset| {
        load(&by_register(offset))
            .expect("it can be loaded")
            .run(&first)
    };
    let words = run(0).expect("all of it lies in `p`");
    assert_eq!(words[0], u32::from_le_bytes([64, 65, 66, 67]));
    assert_eq!(words[15], u32::from_le_bytes([124, 125, 126, 127]));
    // Across the first byte of all, before it, behind the last, and so far that addresses wrap around.
    for offset in [-64 - 4, -128, 16, 1 << 40, i64::MIN, -1] {
        let said = run(offset).expect_err("it must fail").to_string();
        let class = if offset == -1 {
            "misaligned"
        } else {
            "out of bounds"
        };
        assert!(said.contains(class), "{offset}: {said}");
    }
}

#[test]
fn an_index_of_a_branch_lies_in_its_table() {
    let body = ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; mov.u32 %r1, 2;
        ts: .branchtargets L1, L2;
        brx.idx %r1, ts;
        L1: ret;
        L2: ret; }";
    let said = failure(body);
    assert!(
        said.contains("`brx.idx` by 2, and its list has 2 targets"),
        "{said}"
    );
}

#[test]
fn local_memory_has_no_atomics() {
    for (access, verb) in [
        ("atom.add.u32 %r1, [%rd2], 1", "atomically accesses"),
        ("red.add.u32 [%rd2], 1", "atomically accesses"),
        ("atom.cas.b32 %r1, [%rd2], 1, 2", "atomically accesses"),
        ("ld.acquire.gpu.u32 %r1, [%rd2]", "reads"),
        ("st.relaxed.gpu.u32 [%rd2], %r1", "writes"),
    ] {
        let said = failure(&format!(
            ".visible .entry k(.param .u64 out) {{ .reg .b32 %r<4>; .reg .b64 %rd<4>;
            .local .align 4 .b8 own[8];
            mov.u64 %rd1, own; st.local.u32 [%rd1], 5; cvta.local.u64 %rd2, %rd1;
            {access}; ret; }}"
        ));
        assert!(
            said.contains("atomic or ordered access to local memory"),
            "{said}"
        );
        assert!(said.contains(verb), "{said}");
    }
    let plain = ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>;
        .local .align 4 .b8 own[8];
        mov.u64 %rd1, own; cvta.local.u64 %rd2, %rd1; st.volatile.u32 [%rd2], 5;
        ld.volatile.u32 %r1, [%rd2]; ld.param.u64 %rd3, [out]; st.global.u32 [%rd3], %r1; ret; }";
    assert_eq!(
        load(plain)
            .expect("it can be loaded")
            .run(&[])
            .expect("it runs")[0],
        5
    );
}
