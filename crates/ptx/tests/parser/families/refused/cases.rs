//! Cases with their messages, which need no `ptxas`.

use super::{module, ours};

#[track_caller]
fn refuses(line: &str, message: &str) {
    assert_eq!(ours(line).as_deref(), Some(message), "{line}");
}

#[track_caller]
fn takes(line: &str) {
    assert_eq!(ours(line), None, "{line}");
}

#[test]
fn types_of_instructions() {
    refuses(
        "shl.s32 %b32_0,%b32_1,3;",
        "`shl.s32`: it has no `.s32`: expected one of `.b16`, `.b32`, `.b64`",
    );
    takes("shl.b32 %b32_0,%b32_1,3;");
    for line in [
        "tensormap.replace.tile.box_dim.global.b1024.b32 [%b64_0],5,%b32_0;",
        "tensormap.replace.tile.box_dim.global.b1024.b32 [%b64_0],%b32_1,%b32_0;",
        "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%b64_0],%b32_0;",
        "tensormap.replace.tile.rank.local.b1024.b32 [%b64_0],%b32_0;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%b64_0],[%b32_0],64;",
    ] {
        assert!(ours(line).is_some(), "{line}");
    }
    refuses(
        "cvt.rn.f32.f16 %f32_0,%b16_1;",
        "`cvt.rn.f32.f16`: a conversion from `.f16` to `.f32` takes no rounding",
    );
    takes("cvt.f32.f16 %f32_0,%b16_1;");
    refuses(
        "cvt.f16.f32 %b16_0,%f32_1;",
        "`cvt.f16.f32`: a conversion from `.f32` to `.f16` takes a rounding: `.rn`, `.rz`, `.rm` or `.rp`",
    );
    refuses(
        "add.sat.u32 %b32_0,%b32_1,3;",
        "`add.sat.u32`: `.sat` does not go with `.u32` here",
    );
}

#[test]
fn operands() {
    refuses(
        "add.u64 %b64_0,%b32_1,3;",
        "`add.u64`: `%b32_1` is `.b32`: expected an integer or bits, 64 of them",
    );
    refuses(
        "add.u32 %b32_0,%f32_1,3;",
        "`add.u32`: `%f32_1` is `.f32`: expected an integer or bits, 32 of them",
    );
    takes("ld.global.u8 %u32_0,[%b64_1];");
    refuses(
        "ld.global.b64 %pred1,[%b64_1];",
        "`ld.global.b64`: `%pred1` is `.pred`: expected 64 bits or more",
    );
    refuses(
        "@%b32_0 mov.u32 %b32_1,0;",
        "`mov.u32`: `%b32_0` is `.b32`: expected a predicate",
    );
}

#[test]
fn scopes_and_spaces() {
    refuses(
        "ld.acquire.u32 %b32_0,[%b64_1];",
        "`ld.acquire.u32`: `.acquire` requires a scope such as `.gpu`",
    );
    takes("ld.acquire.gpu.u32 %b32_0,[%b64_1];");
    for space in ["local", "const", "param"] {
        for atomic in [
            "atom.SPACE.cas.b32 %b32_0,[%b64_1],0,1;",
            "red.SPACE.add.u32 [%b64_1],1;",
        ] {
            let line = atomic.replace("SPACE", space);
            let message = ours(&line).expect(&line);
            let wanted = format!(
                "it is not in `.{space}`: expected one of no space, `.global`, `.shared`, `.shared::cluster`"
            );
            assert!(message.ends_with(&wanted), "{message}");
        }
    }
    refuses(
        "ld.shared.u32 %b32_0,[gv];",
        "`ld.shared.u32`: `gv` lies in `.global`, which this does not reach",
    );
    refuses(
        "st.param.u64 [p],%b64_1;",
        "`st.param.u64`: `p` is what the function takes, which is not written",
    );
}

#[test]
fn calls() {
    refuses(
        "call.uni f, ();",
        "`call.uni`: the number of arguments is 0; `f` takes 1",
    );
    refuses(
        "call.uni (%b32_0), f, (%b32_1);",
        "`call.uni`: the number of results is 1; `f` returns 0",
    );
    refuses(
        "call.uni f, (%b64_1);",
        "`call.uni`: `%b64_1`, a register of `.b64`, is not `a` of `f`, which is `.b32`",
    );
    takes("call.uni f, (%f32_1);");
    refuses(
        "call.uni f, (p);",
        "`call.uni`: `p`, the function's own parameter, is not `a` of `f`, which is `.b32`",
    );
    refuses(
        "{ .param .b64 x; call.uni f, (x); }",
        "`call.uni`: `x`, `.b64`, is not `a` of `f`, which is `.b32`",
    );
    let indirect = |argument: &str| {
        format!("{{ P: .callprototype _ (.param .b32 _); call %b64_1, ({argument}), P; }}")
    };
    takes(&indirect("%b32_1"));
    assert!(ours(&indirect("%b64_1")).is_some());
    assert!(ours(&indirect("%b32_1, %b32_1")).is_some());
}

/// The message of a module with these lines before its kernel, and these in it.
fn of_module(target: &str, before: &str, within: &str) -> Option<String> {
    let text = format!(
        ".version 8.8\n.target {target}\n.address_size 64\n{before}\n.visible .entry k() {{ {within} ret; }}\n"
    );
    ptx::parse(&text).err().map(|error| error.to_string())
}

#[test]
fn static_shared_memory() {
    let used = "st.shared.u32 [s],1;";
    let of = |target: &str, bytes: u32, within: &str| {
        of_module(
            target,
            &format!(".shared .b8 s[{bytes}];\n.func f() {{ {used} ret; }}"),
            within,
        )
    };
    for within in [used, "call.uni f, ();"] {
        assert_eq!(
            of("sm_90", 49_153, within).as_deref(),
            Some(
                format!(
                    "PTX line 6, column 1: the kernel `k` has 49153 bytes of static shared memory; a block has 49152, and \
                     more as dynamic shared memory alone: .visible .entry k() {{ {within} ret; }}"
                )
                .as_str()
            )
        );
    }
    assert_eq!(of("sm_90", 49_152, used), None);
    assert_eq!(of("sm_90", 60_000, ""), None, "nothing names it");
    assert_eq!(
        of("sm_90a", 60_000, used),
        None,
        "as ptxas has it for one architecture alone"
    );
    let two = ".shared .b8 a[30000];\n.shared .b8 b[30000];";
    assert_eq!(of_module("sm_90", two, "st.shared.u32 [a],1;"), None);
    let both = "st.shared.u32 [a],1; st.shared.u32 [b],1;";
    assert!(of_module("sm_90", two, both).is_some());
}

#[test]
fn names_of_the_language() {
    let wrong = |before: &str, within: &str| of_module("sm_90", before, within);
    for name in ["%tid", "%laneid", "%clock64", "%envreg3", "WARP_SZ"] {
        let message = wrong(&format!(".global .b32 {name};"), "").expect(name);
        assert!(
            message.contains(&format!("`{name}` is a name of the language")),
            "{message}"
        );
        assert!(wrong(&format!(".func {name}() {{ ret; }}"), "").is_some());
    }
    assert!(wrong("", ".reg .b32 WARP_SZ;").is_some());
    assert_eq!(
        wrong("", ".reg .b32 %tid; mov.u32 %tid, 1;"),
        None,
        "as ptxas has it"
    );
    assert_eq!(wrong(".global .b32 tid;", ""), None);
}

#[test]
fn an_unfinished_text_is_read_and_then_checked() {
    let text = module(&[
        "shl.s32 %b32_0,%b32_1,3;".to_owned(),
        "atom.local.add.u32 %b32_0,[%b64_0],1;".to_owned(),
    ]);
    let module = ptx::parse_undeclared(&text).expect("it reads");
    let found = ptx::check(&module, &text);
    let lines: Vec<u32> = found.iter().map(|error| error.line).collect();
    assert_eq!(lines, [super::FIRST_LINE, super::FIRST_LINE + 1]);
}
