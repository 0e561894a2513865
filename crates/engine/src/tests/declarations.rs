//! Sizes that no GPU has.

use super::{load, load_for, refusal};

/// Checks the refusal of a size, which is written into the text in place of `#`.
fn refuses(body: &str, size: u64, expected: &str) {
    let said = refusal(&body.replace('#', &size.to_string()));
    assert!(said.ends_with(expected), "{size}: {said}");
}

#[test]
fn static_shared_memory_has_a_limit() {
    let of_body =
        ".visible .entry k() { .shared .b8 s[#]; .reg .b64 %rd<2>; mov.u64 %rd1, s; ret; }";
    let of_module =
        ".shared .b8 s[#]; .visible .func f() { .reg .b64 %rd<2>; mov.u64 %rd1, s; ret; }
        .visible .entry k() { call.uni f; ret; }";
    for body in [of_body, of_module] {
        load(&body.replace('#', "49152")).expect("48 KiB are allowed");
        for size in [49_153, 1 << 32, (1 << 32) + 16, 99_999_999_999_999] {
            let text = format!("k: {size} bytes of static shared memory; a GPU allows 49152");
            refuses(body, size, &text);
        }
    }
    // Together they are too many, for the kernel that names both.
    let both = ".shared .b8 s[32768]; .shared .b8 t[32768];
        .visible .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, s; ret; }";
    load(both).expect("each kernel has 48 KiB");
    let said = refusal(&both.replace("mov.u64 %rd1, s;", "mov.u64 %rd1, s; mov.u64 %rd1, t;"));
    assert!(
        said.contains("k: 65536 bytes of static shared memory"),
        "{said}"
    );
}

#[test]
fn constant_memory_has_a_limit() {
    let body = ".const .align 4 .b8 a[8]; .const .b8 g[#]; .visible .entry k() { ret; }";
    load(&body.replace('#', "65528")).expect("64 KiB are allowed");
    for size in [65_529, 99_999_999_999, u64::MAX >> 1] {
        let text = format!(
            "the module: {} bytes of constant memory; a GPU allows 65536",
            size + 8
        );
        refuses(body, size, &text);
    }
}

#[test]
fn local_memory_has_a_limit() {
    let body = ".visible .func f() { .local .b8 s[#]; ret; } .visible .entry k() { ret; }";
    load(&body.replace('#', "524288")).expect("512 KiB are allowed");
    for size in [524_289, (1 << 32) + 16] {
        let text = format!("f: {size} bytes of local memory per thread; a GPU allows 524288");
        refuses(body, size, &text);
    }
}

#[test]
fn parameters_have_limits() {
    let body = ".visible .entry k(.param .u64 a, .param .align 4 .b8 p[#]) { ret; }";
    for (version, target, limit) in [
        ("8.1", "sm_70", 32_764),
        ("8.0", "sm_90", 4352),
        ("8.1", "sm_60", 4352),
    ] {
        let of = |size: u64| load_for(version, target, &body.replace('#', &size.to_string()));
        of(limit - 8).expect("allowed");
        let said = of(limit - 4).err().expect("too many").to_string();
        let expected = format!("k: {} bytes of parameters; a GPU allows {limit}", limit + 4);
        assert!(said.ends_with(&expected), "{said}");
    }
    for body in [
        ".visible .func f(.param .align 8 .b8 a[#]) { ret; }",
        ".visible .func (.param .align 8 .b8 f[#]) g() { ret; }",
        ".visible .entry k() { .param .align 8 .b8 f[#]; ret; }",
    ] {
        load(&body.replace('#', "524288")).expect("512 KiB are allowed");
        for size in [524_296u64, 1 << 27, u32::MAX.into(), 1 << 62] {
            let said = refusal(&body.replace('#', &size.to_string()));
            let expected = format!("{size} bytes of parameters; a GPU allows 524288");
            assert!(said.ends_with(&expected), "{said}");
        }
    }
}

#[test]
fn alignments_have_limits() {
    for (body, limit) in [
        (
            ".visible .entry k() { .local .align 2147483648 .b8 s[8]; ret; }",
            524_288,
        ),
        (
            ".shared .align 2147483648 .b8 s[8]; .visible .entry k() { ret; }",
            49_152,
        ),
        (
            ".extern .shared .align 2147483648 .b8 s[]; .visible .entry k() { ret; }",
            49_152,
        ),
    ] {
        let expected = format!("s: 2147483648 bytes of alignment; a GPU allows {limit}");
        assert!(refusal(body).ends_with(&expected), "{}", refusal(body));
    }
}

#[test]
fn global_memory_is_asked_for() {
    let body = ".global .align 4 .b8 g[#]; .visible .entry k() { ret; }";
    load(&body.replace('#', "1048576")).expect("a mebibyte is free");
    for size in [99_999_999_999_999, u64::MAX >> 1] {
        let said = refusal(&body.replace('#', &size.to_string()));
        let expected = format!("`g` has {size} bytes, and checks keep ");
        assert!(
            said.contains(&expected) && said.ends_with("bytes of memory are free"),
            "{said}"
        );
    }
}

#[test]
fn registers_have_limits() {
    // 100 variables of 512 KiB a thread are 1.6 GiB of a warp.
    let one = ".param .align 8 .b8 p#[524288]; st.param.b32 [p#], 1; call.uni f, (p#);";
    let all: String = (0..100)
        .map(|it| one.replace('#', &it.to_string()))
        .collect();
    let f = ".visible .func f(.param .align 8 .b8 a[524288]) { ret; }";
    let said = super::failure(&format!(
        "{f} .visible .entry k(.param .u64 out) {{ {all} ret; }}"
    ));
    assert!(
        said.contains("bytes of registers of a warp; the emulator has 67108864"),
        "{said}"
    );
    // Each call takes 16 MiB.
    let body = ".visible .func g(.param .align 8 .b8 a[8]);
        .visible .func f(.param .align 8 .b8 a[524288]) {
        .param .align 8 .b8 p[8]; call.uni g, (p); ret; }
        .visible .func g(.param .align 8 .b8 a[8]) {
        .param .align 8 .b8 p[524288]; st.param.b32 [p], 1; call.uni f, (p); ret; }
        .visible .entry k(.param .u64 out) {
        .param .align 8 .b8 p[8]; call.uni g, (p); ret; }";
    let said = super::failure(body);
    assert!(
        said.contains("bytes of registers in the calls of a warp"),
        "{said}"
    );
}

#[test]
fn the_host_writes_variables_of_the_module_alone() {
    let body = ".global .align 4 .b8 g[8]; .visible .entry k() { ret; }";
    let loaded = load(body).expect("it can be loaded");
    let (address, bytes) = loaded.module.variable("g").expect("the variable");
    assert_eq!(bytes, 8);
    loaded
        .module
        .write(address + 4, &[1, 2, 3, 4])
        .expect("inside");
    assert_eq!(
        loaded.module.bytes("g").expect("its bytes"),
        [0, 0, 0, 0, 1, 2, 3, 4]
    );
    let other = load(body).expect("it can be loaded");
    let of_other = other.module.variable("g").expect("the variable").0;
    let value = 5u32;
    let own = std::ptr::from_ref(&value).expose_provenance() as u64;
    for at in [address + 5, address - 1, of_other, own, 0, u64::MAX] {
        let error = loaded.module.write(at, &[0; 4]).expect_err("outside");
        assert_eq!((error.address, error.bytes), (at, 4));
    }
}
