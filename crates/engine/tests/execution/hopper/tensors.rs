//! `cp.async.bulk.tensor`: boxes of tensors, with what lies outside of them, and swizzles.

use super::harness::{Case, Tensor};

const BODY: &str = "
    mov.u32 %r3, s; mov.u32 %r4, bar; add.u64 %rd3, %rd1, 128;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra begun;
    mbarrier.init.shared::cta.b64 [%r4], 1;
    fence.mbarrier_init.release.cluster;
    begun: bar.sync 0;
    @%p1 bra issued;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], BYTES;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd1, {X, Y}], [%r4];
    issued:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;
    @!%p2 bra issued;
    mad.lo.u32 %r5, %r1, 16, %r3; mad.wide.u32 %rd5, %r1, 16, %rd2;
    mov.u32 %r6, %r1;
    more: setp.ge.u32 %p3, %r6, CHUNKS; @%p3 bra moved;
    ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r5];
    st.global.v4.b32 [%rd5], {%r10, %r11, %r12, %r13};
    add.u32 %r5, %r5, 1024; add.u64 %rd5, %rd5, 1024; add.u32 %r6, %r6, 64; bra more;
    moved: @%p1 bra done;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {2, 1}], [%r3];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    done:";

/// Columns and rows of the tensor, and of the box.
pub(crate) const SIZES: (i64, i64) = (40, 20);
pub(crate) const BOX: (usize, usize) = (32, 8);

/// Where the second tensor is in the second buffer.
const STORED: usize = 1 << 14;

/// The box at a column and a row of a tensor is loaded, and stored at column 2 and row 1 of another.
pub(crate) fn case((x, y): (i32, i32), swizzle: u8) -> Case {
    let bytes = BOX.0 * BOX.1 * 4;
    let body = BODY
        .replace("BYTES", &bytes.to_string())
        .replace("CHUNKS", &(bytes / 16).to_string())
        .replace("{X, Y}", &format!("{{{x}, {y}}}"));
    let tensor = move |start| Tensor {
        start,
        data_type: 2,
        sizes: &[40, 20],
        strides: &[160],
        counts: &[32, 8],
        swizzle,
    };
    Case::new(&body)
        .grid(1, 64)
        .x((0..1 << 12).collect())
        .map(0, move |x, _| tensor(x + 256).map())
        .map(128, move |_, y| tensor(y + 4 * STORED as u64).map())
}

fn check((x, y): (i32, i32), swizzle: u8) {
    let got = case((x, y), swizzle).run();
    for row in 0..BOX.1 {
        for column in 0..BOX.0 {
            let (i, j) = (i64::from(x) + column as i64, i64::from(y) + row as i64);
            let is_inside = (0..SIZES.0).contains(&i) && (0..SIZES.1).contains(&j);
            let expected = if is_inside {
                (64 + j * SIZES.0 + i) as u32
            } else {
                0
            };
            // 16 bytes at a time, the row of 128 bytes says where.
            let (chunk, row_of_8) = (column / 4, row % 8);
            let chunk = match swizzle {
                3 => chunk ^ row_of_8,
                2 => chunk ^ (row_of_8 & 3),
                1 => chunk ^ (row_of_8 & 1),
                _ => chunk,
            };
            let at = row * 32 + chunk * 4 + column % 4;
            assert_eq!(got[at], expected, "column {i}, row {j}, swizzle {swizzle}");
            let (i, j) = (2 + column as i64, 1 + row as i64);
            if i < SIZES.0 && j < SIZES.1 {
                let at = STORED + (j * SIZES.0 + i) as usize;
                assert_eq!(got[at], expected, "stored, column {i}, row {j}");
            }
        }
    }
}

#[test]
fn boxes_are_loaded_and_stored_with_zeros_outside_and_swizzled() {
    for swizzle in 0..4 {
        for at in [
            (0, 0),
            (4, 3),
            (8, 12),
            (9, 0),
            (-3, -2),
            (33, 17),
            (40, 20),
            (-32, 4),
        ] {
            check(at, swizzle);
        }
    }
}

/// The first warp makes a tensor map in shared memory, as Triton does, and copies it to where the host's is not.
const MADE: &str = "
    setp.ge.u32 %p1, %r1, 32; @%p1 bra made;
    mov.u32 %r3, s; mad.lo.u32 %r5, %r1, 4, %r3; mov.u32 %r6, 0;
    st.shared::cta.b32 [%r5], %r6;
    bar.warp.sync -1;
    cvt.u64.u32 %rd4, %r3;
    setp.ne.u32 %p2, %r1, 0; @%p2 bra filled;
    add.u64 %rd5, %rd1, 256; mov.u32 %r7, 32; mov.u32 %r8, 1; mov.u32 %r9, 20; mov.u64 %rd6, 160;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd4 + 0], %rd5;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd4], %r8;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd4], 0, %r7;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd4], 1, 8;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd4], 0, 40;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd4], 0x1, %r9;
    tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%rd4], 0x0, %rd6;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd4], 0, %r8;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd4], 1, 1;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%rd4], ELEMENT;
    tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%rd4], 0;
    tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%rd4], 3;
    tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%rd4], FILL;
    filled: bar.warp.sync -1;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1 + 0], [%rd4 + 0], 0x80;
    fence.proxy.tensormap::generic.acquire.gpu [%rd1 + 0], 0x80;
    made:";

/// The box at column 33 and row 17, by a map that the kernel makes.
fn made(change: impl Fn(String) -> String + 'static) -> Case {
    let whole = move |text: String| {
        text.replacen(
            "mov.u32 %r2, %ctaid.x;",
            &change(format!("mov.u32 %r2, %ctaid.x;{MADE}")),
            1,
        )
    };
    case((33, 17), 3).map(0, |_, _| [0; 128]).body(whole)
}

#[test]
fn kernels_make_tensor_maps() {
    let with = |element: &'static str, fill: &'static str| {
        made(move |text| text.replace("ELEMENT", element).replace("FILL", fill))
    };
    let expected = case((33, 17), 3).run();
    assert_eq!(with("2", "0").run(), expected);
    assert_eq!(with("7", "0").run(), expected);
    // 33 + 7 columns and 17 + 3 rows are inside; element 7 of row 0 is swizzled with 0.
    let filled = with("7", "1").run();
    assert_eq!((filled[6], filled[7]), (expected[6], 0x7fff_ffff));
    let old = with("2", "0").body(|text| {
        text.replace(".version 8.6", ".version 8.4")
            .replace("mov.u64 %rd6, 160", "mov.u64 %rd6, 10")
    });
    assert_eq!(old.run(), expected);
    // A field that has not been given.
    let no_step = with("2", "0").body(|text| {
        text.replace(
            "element_stride.shared::cta.b1024.b32 [%rd4], 1, 1",
            "fill_mode.shared::cta.b1024.b32 [%rd4], 0",
        )
    });
    let said = no_step.finding();
    assert!(
        said.contains("has 8 elements in dimension 1, with a stride of 0"),
        "{said}"
    );
    let wide = with("2", "0").body(|text| text.replace("[%rd4], 1, 8;", "[%rd4], 1, 65544;"));
    let said = wide.finding();
    assert!(said.contains("has 65535 elements in dimension 1"), "{said}");
    let askew = with("2", "0").body(|text| text.replace("mov.u64 %rd6, 160", "mov.u64 %rd6, 168"));
    let said = askew.finding();
    assert!(
        said.contains("dimension 1 has a stride of 168 bytes, no multiple of 16"),
        "{said}"
    );
}

#[test]
fn a_tensor_map_that_others_have_not_seen_complete_is_a_race() {
    let element = |text: String| text.replace("ELEMENT", "2").replace("FILL", "0");
    let said =
        made(move |text| element(text).replace("filled: bar.warp.sync -1;", "filled:")).finding();
    assert!(said.contains("race on byte 4 of the shared `s`"), "{said}");
}

/// All of the second buffer is 7, and boxes of 5 are stored in a tensor.
const EDGE: &str = "
    mov.u32 %r3, s; mov.u32 %r7, 7; mov.u32 %r8, 5;
    mad.lo.u32 %r5, %r1, 16, %r3; mad.wide.u32 %rd5, %r1, 16, %rd2; mov.u32 %r6, %r1;
    more: st.global.v4.b32 [%rd5], {%r7, %r7, %r7, %r7};
    st.shared.v4.b32 [%r5], {%r8, %r8, %r8, %r8};
    add.u32 %r5, %r5, 1024; add.u64 %rd5, %rd5, 1024;
    add.u32 %r6, %r6, 64; setp.lt.u32 %p3, %r6, 256; @%p3 bra more;
    fence.proxy.async; bar.sync 0;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra done;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {32, 1}], [%r3];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    done:";

/// Rows of 41 elements, 44 apart.
fn edge(body: &str) -> Case {
    let tensor = |start| Tensor {
        start,
        data_type: 2,
        sizes: &[41, 20],
        strides: &[176],
        counts: &[32, 8],
        swizzle: 0,
    };
    let map = move |_, y| tensor(y).map();
    Case::new(body).grid(1, 64).map(0, map)
}

#[test]
fn a_store_writes_16_bytes_whole_that_are_partly_inside() {
    let got = edge(EDGE).run();
    assert_eq!(edge(EDGE).unchecked().run(), got);
    for (at, &word) in got.iter().enumerate().take(1024) {
        let (row, column) = (at / 44, at % 44);
        let expected = match column {
            32..41 if (1..9).contains(&row) => 5,
            41..44 if (1..9).contains(&row) => 0,
            _ => 7,
        };
        assert_eq!(word, expected, "column {column}, row {row}");
    }
    // A reduction leaves them alone.
    let sum = EDGE.replace(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group",
    );
    let got = edge(&sum).run();
    assert_eq!(got[44 + 40..44 + 45], [12, 7, 7, 7, 7]);
    // Who else writes there races with it.
    let other = EDGE.replace("done:", "done: @%p1 st.global.u32 [%rd2+344], %r8;");
    let text = edge(&other).finding();
    assert!(text.contains("copie") && text.contains("writes"), "{text}");
}

#[test]
fn what_is_no_tensor_map_is_refused() {
    let body = BODY
        .replace("BYTES", "1024")
        .replace("CHUNKS", "64")
        .replace("{X, Y}", "{0, 0}");
    let text = Case::new(&body).grid(1, 64).finding();
    assert!(
        text.contains("no tensor map of the emulator's driver"),
        "{text}"
    );
}
