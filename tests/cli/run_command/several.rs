//! Launch files of several launches, variables with values, textures, and results that are expected.

use std::fs;

use super::{ends, folder, run_in};

/// `scale`: `y[i] = x[i] * factors[i % 2]`, and thread 0 counts in `calls`; `gather`: `y[i] = table[i]`, by a pointer in a variable.
const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .const .align 4 .f32 factors[2];\n.visible .global .align 4 .u32 calls = 5;\n\
    .visible .global .align 8 .u64 table;\n\
    .visible .entry scale(.param .u64 x, .param .u64 y) {\n\
    .reg .pred %p1;\n.reg .b32 %r<5>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<9>;\n\
    mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\natom.global.add.u32 %r2, [calls], 1;\n\
    L: ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nmul.wide.u32 %rd3, %r1, 4;\n\
    add.u64 %rd4, %rd1, %rd3;\nadd.u64 %rd5, %rd2, %rd3;\nand.b32 %r3, %r1, 1;\nmul.wide.u32 %rd6, %r3, 4;\n\
    mov.u64 %rd7, factors;\nadd.u64 %rd8, %rd7, %rd6;\nld.const.f32 %f1, [%rd8];\n\
    ld.global.f32 %f2, [%rd4];\nmul.f32 %f3, %f1, %f2;\nst.global.f32 [%rd5], %f3;\nret;\n}\n\
    .visible .entry gather(.param .u64 y) {\n\
    .reg .b32 %r<3>;\n.reg .b64 %rd<6>;\n\
    mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nld.global.u64 %rd2, [table];\nadd.u64 %rd3, %rd2, %rd1;\n\
    ld.global.u32 %r2, [%rd3];\nld.param.u64 %rd4, [y];\nadd.u64 %rd5, %rd4, %rd1;\nst.global.u32 [%rd5], %r2;\nret;\n}\n";

#[test]
fn launches_of_a_file_share_buffers_and_variables() {
    let folder = folder();
    let launches = r#"
        file = "two.ptx"
        kernel = "scale"
        grid = 1
        block = 32
        set = ["factors=f32[2]=factors.bin"]
        out = ["calls", "y"]
        expect = ["y=f32[32]=4", "z=f32[32]=8", "calls=u32:7"]
        [[launch]]
        args = ["x=f32[32]=ones", "y=f32[32]"]
        [[launch]]
        args = ["@y", "z=f32[32]"]
    "#;
    fs::write(folder.path().join("two.ptx"), PTX).expect("written");
    fs::write(folder.path().join("two.toml"), launches).expect("written");
    let factors = |both: [f32; 2]| {
        let bytes = both.map(f32::to_le_bytes).concat();
        fs::write(folder.path().join("factors.bin"), bytes).expect("written");
    };
    factors([2.0, 2.0]);
    let text = ends(
        &run_in(folder.path(), "--launch two.toml"),
        1,
        &[
            "2 launches of two.ptx on CPU emulator",
            "\n  scale, 1 block of 32 threads\n  scale, 1 block of 32 threads\n",
            "y is not as expected: 32 of 32 elements differ, the first at 0: 2 where 4 is expected (in order)\n  replay: ",
            "z is not as expected: 32 of 32 elements differ, the first at 0: 4 where 8 is expected (in order)",
            "Checked scale, scale: 5 runs, in order and under 4 seeds; something was found in 5 of them.",
            "  in all of them: y is not as expected\n",
        ],
    );
    assert!(!text.contains("calls is not"), "{text}");
    ends(
        &run_in(folder.path(), "--launch two.toml --tolerance 0.5"),
        0,
        &[
            "nothing was found",
            "calls, u32[1], changed: 7 (crc32 ",
            "y, f32[32], changed: 2, 2, ",
        ],
    );
    factors([4.0, 2.0]);
    ends(
        &run_in(folder.path(), "--launch two.toml --no-check"),
        1,
        &["y is not as expected: 16 of 32 elements differ, the first at 1: 2 where 4 is expected"],
    );
    ends(
        &run_in(folder.path(), "--launch two.toml --arg u32:1"),
        2,
        &["arguments are given for one launch, and the launch file has 2"],
    );
}

#[test]
fn a_race_between_launches_arguments_has_the_buffers_name() {
    let folder = folder();
    fs::write(folder.path().join("two.ptx"), PTX).expect("written");
    let scale = "two.ptx scale --grid 2 --block 32 --set factors=f32[2]=ones";
    ends(
        &run_in(
            folder.path(),
            &format!("{scale} --arg x=f32[32]=ones --arg @x"),
        ),
        1,
        &["on element 0 of `x` (of 32)"],
    );
}

#[test]
fn a_variable_holds_a_pointer_and_what_is_wrong_with_values_is_told() {
    let folder = folder();
    fs::write(folder.path().join("two.ptx"), PTX).expect("written");
    let gather = |more: &str| {
        let words = format!("two.ptx gather --grid 1 --block 4 --arg u32[4] {more}");
        run_in(folder.path(), &words)
    };
    ends(
        &gather("--set table={u32[4]=iota} --expect 0=u32[4]=iota"),
        0,
        &[
            "nothing was found",
            "argument 0, u32[4], changed: 0, 1, 2, 3 (",
        ],
    );
    ends(
        &gather("--set table={u32[3]=iota}"),
        1,
        &["out of bounds", "`table.0` (of 3)"],
    );
    for (words, expected) in [
        ("--set table=u32:1", "table has 8 bytes, and its value 4"),
        (
            "--set tables=u32:1",
            "two.ptx: there is no variable tables: it has factors, calls, table",
        ),
        ("--set table=@x", "@x: no argument before it is called x"),
        ("--set table", "expected NAME=VALUE, such as scale=f32:2"),
        (
            "--expect tables=u32:1",
            "--expect tables: no argument is called so, and there is no variable tables",
        ),
        ("--expect 3=u32:1", "--expect 3: argument 3 is not a buffer"),
        ("--tolerance -1", "expected a number that is not negative"),
    ] {
        ends(&gather(words), 2, &[expected]);
    }
}

/// `look`: `y[i]` is the first channel at `(i, 1)`; `paint`: the surface's row 1 becomes `2 * i`.
const IMAGES: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry look(.param .u64 image, .param .u64 y) {\n\
    .reg .b32 %r<3>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<6>;\n\
    mov.u32 %r1, %tid.x;\ncvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, 0f3F800000;\nld.param.u64 %rd1, [image];\n\
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];\n\
    ld.param.u64 %rd2, [y];\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd2, %rd3;\nst.global.f32 [%rd4], %f3;\nret;\n}\n\
    .visible .entry paint(.param .u64 image) {\n\
    .reg .b32 %r<5>;\n.reg .b64 %rd<2>;\n\
    mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, 1;\nshl.b32 %r4, %r1, 1;\nld.param.u64 %rd1, [image];\n\
    sust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r4};\nret;\n}\n";

#[test]
fn textures_are_read_and_surfaces_are_shown() {
    let folder = folder();
    fs::write(folder.path().join("images.ptx"), IMAGES).expect("written");
    let pixels: Vec<u8> = (0..16).map(|it| it * 10).collect();
    fs::write(folder.path().join("photo.bin"), pixels).expect("written");
    let look = |image: &str, more: &str| {
        let words = format!("images.ptx look --grid 1 --block 4 --arg {image} --arg f32[4] {more}");
        run_in(folder.path(), &words)
    };
    for (image, expected) in [
        ("texture:f32[8,2]=iota", "8, 9, 10, 11"),
        ("texture+wrap:f32x2[4,2]=iota", "8, 10, 12, 14"),
        // Half-way between four neighbours; at the left edge two of them are one.
        ("texture+linear:f32[8,2]=iota", "4, 4.5, 5.5, 6.5"),
        (
            "texture+floats:u8x4[2,2]=photo.bin",
            "0.3137255, 0.47058824, 0.47058824, 0.47058824",
        ),
    ] {
        let said = format!("argument 1, f32[4], changed: {expected} (");
        ends(&look(image, ""), 0, &["nothing was found", &said]);
    }
    ends(
        &look("texture:f32[8,2]", ""),
        1,
        &["uninitialised", "`argument 0`"],
    );
    ends(
        &look("texture:f64[8,2]", ""),
        2,
        &["no texture has elements of f64"],
    );
    let paint =
        "images.ptx paint --grid 1 --block 4 --arg surface:u32[4,2]=ones --out 0=painted.bin";
    ends(
        &run_in(folder.path(), paint),
        0,
        &["argument 0, u32[8], changed: 1, 1, 1, 1, 0, 2, 4, 6 ("],
    );
    let painted = fs::read(folder.path().join("painted.bin")).expect("written");
    assert_eq!(painted.len(), 32);
}
