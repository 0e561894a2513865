//! Values that nothing has written: which load a report names, where more loads have met them than are remembered.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Module, Options, Shape};

use crate::support::launch_checked;

/// Values of `x`, of which nothing is written; more than loads are remembered.
const VALUES: u32 = 20_480;

/// `%rd3` is the address of the thread's own value.
const HEAD: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 x)
{
.reg .pred %p<3>;
.reg .b32 %r<8>;
.reg .f32 %f<2>;
.reg .b16 %h<2>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [x];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r3, %r2, 256, %r1;
mul.wide.u32 %rd2, %r3, 4;
add.u64 %rd3, %rd1, %rd2;
";

/// The finding of a checked launch of blocks of threads.
fn found(body: &str, (blocks, threads): (u32, u32)) -> String {
    let text = format!("{HEAD}{body}\nret;\n}}\n");
    let memory: Arc<Memory> = Arc::default();
    let bytes = 4 * u64::from(VALUES);
    let x = memory.allocate(bytes, 256, Contents::Undefined, Label::new("x", 4));
    let x = x.expect("memory");
    let kernel = Module::load(&text, &memory).expect("PTX").kernel("kernel");
    let shape = Shape {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
    };
    let kernel = kernel.expect("it is there");
    let ran = launch_checked(&kernel, shape, Options::default(), &x.to_le_bytes());
    ran.expect_err("nothing is written").to_string()
}

#[test]
fn the_first_result_names_its_own_load_after_many_others() {
    let body = "ld.global.u32 %r4, [%rd3];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [%rd3], %r4;";
    let said = found(body, (VALUES / 256, 256));
    let own = "block [0, 0, 0], thread [0, 0, 0]";
    for side in [
        format!("{own} reads element 0 of `x` (of {VALUES})"),
        format!("{own} writes it as a result"),
    ] {
        assert!(said.contains(&side), "{said}");
    }
}

#[test]
fn a_load_that_is_no_longer_known_is_not_mistaken_for_another() {
    let body = format!(
        "ld.global.u32 %r4, [%rd3];
add.u64 %rd4, %rd1, {};
AGAIN:
add.u64 %rd3, %rd3, 4;
ld.global.u32 %r5, [%rd3];
setp.lt.u64 %p1, %rd3, %rd4;
@%p1 bra AGAIN;
setp.eq.u32 %p1, %r4, 7;
@%p1 bra END;
END:",
        4 * (VALUES - 1)
    );
    let said = found(&body, (1, 1));
    let expected = "uninitialised: block [0, 0, 0], thread [0, 0, 0]: a value that nothing has written, and that was read \
                    too long ago to say where, is used as a condition, at ";
    assert!(said.contains(expected), "{said}");
}

/// The finding of a checked launch of one warp that stores `%r4`, which instructions make with functions.
fn found_in(functions: &str, body: &str) -> Option<String> {
    let store = "st.global.u32 [%rd3], %r4;";
    let text = HEAD.replace(".visible", &format!("{functions}\n.visible"));
    let text = format!("{text}{body}\n{store}\nret;\n}}\n");
    let memory: Arc<Memory> = Arc::default();
    let x = memory.allocate(128, 256, Contents::Undefined, Label::new("x", 4));
    let kernel = Module::load(&text, &memory).expect("PTX").kernel("kernel");
    let shape = Shape {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
    };
    let kernel = kernel.expect("it is there");
    let parameters = x.expect("memory").to_le_bytes();
    let ran = launch_checked(&kernel, shape, Options::default(), &parameters);
    ran.err().map(|it| it.to_string())
}

#[test]
fn registers_that_nobody_has_written_are_found_where_they_decide() {
    for (body, register, used) in [
        ("add.u32 %r4, %r5, 1;", "%r5", "as a result"),
        (
            "setp.eq.u32 %p1, %r1, 1;\n@%p1 mov.u32 %r4, 7;",
            "%r4",
            "as a result",
        ),
        (
            "mov.u32 %r4, 0;\n@%p0 mov.u32 %r4, 1;",
            "%p0",
            "as a condition",
        ),
        ("ld.global.u32 %r4, [%rd6];", "%rd6", "as an address"),
        ("div.u32 %r4, %r1, %r6;", "%r6", "as a divisor"),
        (
            "shfl.sync.idx.b32 %r4, %r1, %r5, 31, -1;",
            "%r5",
            "as the lane of a shuffle",
        ),
        (
            "mov.u32 %r5, %r1;\nAGAIN:\nadd.u32 %r4, %r4, %r5;\nsub.u32 %r5, %r5, 1;\nsetp.gt.s32 %p1, %r5, 0;\n@%p1 bra AGAIN;",
            "%r4",
            "as a result",
        ),
    ] {
        let said = found_in("", body).expect(body);
        let expected = format!("`{register}`, which nothing has written, is used {used}, at ");
        assert!(said.contains(&expected), "{said}\n{body}");
    }
}

#[test]
fn returned_values_that_nobody_has_written_are_found() {
    let call = "{ .param .align 4 .b8 r[8];\ncall (r), f, ();\nld.param.b32 %r4, [r+4]; }";
    let returning = |body: &str| {
        let head = ".func (.param .align 4 .b8 o[8]) f() {\n.reg .b32 %r<3>; .reg .pred %p;";
        format!("{head}\nmov.u32 %r1, %tid.x; setp.eq.u32 %p, %r1, 3;\n{body}\n}}")
    };
    for missing in [
        "ret;",
        "st.param.b32 [o], %r1; ret;",
        "@%p bra L; st.param.b32 [o+4], %r1;\nL: ret;",
        "@%p ret; st.param.b32 [o+4], %r1;",
        "st.param.b8 [o+7], 1; ret;",
    ] {
        let said = found_in(&returning(missing), call).expect(missing);
        let expected = "`o`, which nothing has written, is used as a result, at ";
        assert!(said.contains(expected), "{said}\n{missing}");
    }
    for whole in [
        "st.param.b32 [o+4], %r1; ret;",
        "@%p bra L; st.param.b32 [o+4], %r1; ret;\nL: st.param.v2.b32 [o], {%r1, %r1};",
        "st.param.b16 [o+4], 1; st.param.b8 [o+6], 1; st.param.b8 [o+7], 1; ret;",
    ] {
        assert_eq!(found_in(&returning(whole), call), None, "{whole}");
    }
}

#[test]
fn what_is_written_on_each_way_before_it_is_used_is_clean() {
    for body in [
        "setp.eq.u32 %p1, %r1, 1;\n@%p1 mov.u32 %r4, 7;\n@!%p1 mov.u32 %r4, 8;",
        // Copied, but not used.
        "mov.u32 %r6, %r5;\nmov.u32 %r4, 1;",
        // Bits that are not kept.
        "and.b32 %r4, %r5, 0;",
        "mov.u32 %r7, 3;\nAGAIN:\nmov.u32 %r4, %r6;\nmov.u32 %r6, %r7;\nsub.u32 %r7, %r7, 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra AGAIN;",
        // The other half of a register of two floats.
        "cvt.rn.f16x2.f32 %r5, %f1, 0f40400000;\nadd.rn.f16x2 %r5, %r5, %r5;\nand.b32 %r4, %r5, 65535;",
        "cvt.rn.f16x2.f32 %r5, %f1, 0f40400000;\ncvt.rn.satfinite.e4m3x2.f16x2 %h1, %r5;\ncvt.rn.f16x2.e4m3x2 %r5, %h1;\n\
        and.b32 %r4, %r5, 65535;",
        // Written by a barrier, and by an mbarrier, before it is used.
        "mov.u32 %r7, 0;\nsetp.ne.u32 %p0, %r7, 0;\nAGAIN:\nsetp.eq.u32 %p2, %r7, 1;\n@%p2 bra USE;\nbar.red.or.pred %p1, 0, %p0;\n\
        add.u32 %r7, %r7, 1;\nbra AGAIN;\nUSE:\nmov.u32 %r4, 5;\n@%p1 mov.u32 %r4, 6;",
        ".shared .b64 s;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 mbarrier.init.shared.b64 [s], 32;\nbar.sync 0;\nmov.u32 %r7, 0;\nAGAIN:\n\
        setp.eq.u32 %p2, %r7, 1;\n@%p2 bra USE;\nmbarrier.arrive.shared.b64 %rd6, [s];\nadd.u32 %r7, %r7, 1;\nbra AGAIN;\nUSE:\n\
        mbarrier.try_wait.shared.b64 %p1, [s], %rd6;\n@!%p1 bra USE;\nmov.u32 %r4, 5;",
        // A carry of a sum that is not used.
        "add.cc.u32 %r5, %r5, 1;\nadd.cc.u32 %r4, %r1, 3;\naddc.u32 %r4, %r4, 0;",
        // Computed once for all blocks, wherever it stands.
        "mov.u32 %r7, 2;\nAGAIN:\nsetp.eq.u32 %p1, %r7, 1;\n@%p1 mov.u32 %r4, %r6;\nmov.u32 %r6, %ntid.x;\nsub.u32 %r7, %r7, 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra AGAIN;",
    ] {
        assert_eq!(found_in("", body), None, "{body}");
    }
}
