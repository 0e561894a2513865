//! `tcgen05`: products whose sums are in tensor memory, against sums by definition; moves between it and registers; what is wrong
//! with its use.

use std::fmt::Write;

use super::harness::{Case, Random};
use super::warpgroups::{
    ALONG_K, B, BF16, E5M2, Element, K, LOAD, Lies, S8, TF32, all_lies, image, start_of,
};

/// Bytes of each factor in shared memory: of 128 rows of k.
const FACTOR: usize = B;

/// The first warp allocates columns, whose address is in `%r5` of all threads.
const ALLOCATE: &str = "
    setp.ge.u32 %p6, %r1, 32;
    @%p6 bra allocated;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar+16], 256;
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    allocated: bar.sync 0;
    ld.shared.b32 %r5, [bar+16];
    shr.u32 %r6, %r1, 5; shl.b32 %r6, %r6, 21; add.u32 %r6, %r6, %r5;
";

const FREE: &str = "
    bar.sync 0;
    @%p6 bra free;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 256;
    free:
";

/// Waits for the first phase of the second mbarrier.
const WAIT: &str = "
    after: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar+8], 0;
    @!%p2 bra after;
    tcgen05.fence::after_thread_sync;
";

struct Product {
    of: Element,
    kind: &'static str,
    /// Its number in the instruction descriptor.
    number: u32,
    m: usize,
    n: usize,
    a: Lies,
    b: Lies,
    /// Whether a is in tensor memory.
    in_tensor_memory: bool,
}

const PRODUCT: Product = Product {
    of: BF16,
    kind: "f16",
    number: 1,
    m: 128,
    n: 64,
    a: ALONG_K,
    b: ALONG_K,
    in_tensor_memory: false,
};

/// The column at which a left factor in tensor memory begins.
const LEFT: usize = 128;

impl Product {
    fn descriptor(&self) -> u32 {
        let sum = if self.of.sum == "s32" { 2 } else { 1 };
        let across = |lies: Lies| u32::from(!lies.is_along_k);
        sum << 4
            | self.number << 7
            | self.number << 10
            | across(self.a) << 15
            | across(self.b) << 16
            | (self.n as u32 / 8) << 17
            | (self.m as u32 / 16) << 24
    }

    fn body(&self, (a, b): (u64, u64)) -> String {
        let Product { of, kind, m, n, .. } = *self;
        let step = 32 / of.bytes;
        let mark = 1u64 << 46;
        let mut body = String::from(LOAD).replace(
            "fence.mbarrier_init",
            "mbarrier.init.shared::cta.b64 [bar+8], 1;\nfence.mbarrier_init",
        );
        body.push_str(ALLOCATE);
        if self.in_tensor_memory {
            // Each thread has a row of a, which is not swizzled: chunks of 16 bytes, of all rows one behind the other.
            for chunk in 0..K * of.bytes / 16 {
                let at = chunk * 16 * m;
                writeln!(
                    body,
                    "mad.lo.u32 %r9, %r1, 16, %r3; ld.shared.v4.b32 {{%r20, %r21, %r22, %r23}}, [%r9+{at}];
                    tcgen05.st.sync.aligned.32x32b.x4.b32 [%r6+{}], {{%r20, %r21, %r22, %r23}};",
                    LEFT + 4 * chunk
                )
                .expect("text");
            }
            body.push_str(
                "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;",
            );
        }
        writeln!(
            body,
            "@%p1 bra issued; mov.b64 %rd10, {}; mov.b64 %rd11, {}; mov.b32 %r7, {};
            cvt.u64.u32 %rd12, %r3; shr.u64 %rd12, %rd12, 4; add.u64 %rd10, %rd10, %rd12; add.u64 %rd11, %rd11, %rd12;
            add.u64 %rd11, %rd11, {};",
            a | mark,
            b | mark,
            self.descriptor(),
            FACTOR / 16
        )
        .expect("text");
        for at in 0..K / step {
            let left = match self.in_tensor_memory {
                true => format!("[%r5+{}]", LEFT + 8 * at),
                false => {
                    let by = start_of(self.a, of, m, (at, step)) / 16;
                    writeln!(body, "add.u64 %rd13, %rd10, {by};").expect("text");
                    "%rd13".to_owned()
                }
            };
            let by = start_of(self.b, of, n, (at, step)) / 16;
            writeln!(
                body,
                "add.u64 %rd14, %rd11, {by}; setp.ne.u32 %p5, {at}, 0;
                tcgen05.mma.cta_group::1.kind::{kind} [%r5+0], {left}, %rd14, %r7, %p5;"
            )
            .expect("text");
        }
        body.push_str("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+8];\nissued:");
        body.push_str(WAIT);
        // 8 columns at a time.
        writeln!(body, "mad.wide.u32 %rd4, %r1, {}, %rd2;", 4 * n).expect("text");
        for column in (0..n).step_by(8) {
            match m {
                64 => writeln!(
                    body,
                    "tcgen05.ld.sync.aligned.16x256b.x1.b32 {{%r20, %r21, %r22, %r23}}, [%r6+{column}];
                    tcgen05.wait::ld.sync.aligned;
                    st.global.v4.b32 [%rd4+{}], {{%r20, %r21, %r22, %r23}};",
                    2 * column
                ),
                _ => writeln!(
                    body,
                    "tcgen05.ld.sync.aligned.32x32b.x8.b32 {{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}}, [%r6+{column}];
                    tcgen05.wait::ld.sync.aligned;
                    st.global.v4.b32 [%rd4+{}], {{%r20, %r21, %r22, %r23}};
                    st.global.v4.b32 [%rd4+{}], {{%r24, %r25, %r26, %r27}};",
                    4 * column,
                    4 * column + 16
                ),
            }
            .expect("text");
        }
        body.push_str(FREE);
        body
    }

    /// Both factors, row by row of k.
    fn factors(&self) -> [Vec<f64>; 2] {
        let mut random = Random(7);
        let mut number = || match self.of.bytes {
            1 => (random.next() % 7) as f64 / 4.0 - 0.75,
            _ => random.small(),
        };
        [self.m, self.n].map(|rows| (0..rows * K).map(|_| number()).collect())
    }

    fn case(&self) -> (Case, Vec<f64>) {
        let (m, n) = (self.m, self.n);
        let [a, b] = self.factors();
        let (mut bytes, a_lies) = image(&a, self.of, (m, K), self.a);
        bytes.resize(FACTOR, 0);
        let (b_bytes, b_lies) = image(&b, self.of, (n, K), self.b);
        bytes.extend(b_bytes);
        bytes.resize(2 * FACTOR, 0);
        let x = bytes.as_chunks().0.iter().map(|&it| u32::from_le_bytes(it));
        let scale = if self.of.sum == "s32" { 256.0 } else { 1.0 };
        let mut expected = vec![0.0; m * n];
        for i in 0..m {
            for j in 0..n {
                let terms = (0..K).map(|l| a[i * K + l] * b[j * K + l]);
                expected[i * n + j] = scale * terms.sum::<f64>();
            }
        }
        let case = Case::new(&self.body((a_lies, b_lies)))
            .on("sm_100a")
            .grid(1, 128)
            .x(x.collect());
        (case, expected)
    }

    fn check(&self) {
        let (case, expected) = self.case();
        let (y, n) = (case.run(), self.n);
        for thread in 0..128 {
            for at in 0..self.m * n / 128 {
                let (warp, lane) = (thread / 32, thread % 32);
                let (row, column) = match self.m {
                    64 => (
                        16 * warp + lane / 4 + 8 * (at / 2 % 2),
                        8 * (at / 4) + 2 * (lane % 4) + at % 2,
                    ),
                    _ => (thread, at),
                };
                let word = y[thread * n + at];
                let got = match self.of.sum {
                    "s32" => f64::from(word as i32),
                    _ => f64::from(f32::from_bits(word)),
                };
                let (of, a, b) = (self.of.name, self.a, self.b);
                assert_eq!(
                    got,
                    expected[row * n + column],
                    "{of}, n {n}, {a:?}, {b:?}: row {row}, column {column}"
                );
            }
        }
    }
}

#[test]
fn each_swizzle_and_type_is_a_product() {
    for lies in all_lies(true) {
        for (of, kind, number) in [
            (BF16, "f16", 1),
            (TF32, "tf32", 2),
            (E5M2, "f8f6f4", 1),
            (S8, "i8", 1),
        ] {
            // Rows of k must be whole, and both factors have room.
            if lies.row <= K * of.bytes {
                let (m, n) = if of.bytes == 4 { (64, 48) } else { (128, 32) };
                Product {
                    of,
                    kind,
                    number,
                    m,
                    n,
                    a: lies,
                    b: lies,
                    ..PRODUCT
                }
                .check();
            }
        }
    }
}

#[test]
fn each_swizzle_along_m_and_n_is_a_product() {
    for lies in all_lies(false) {
        Product {
            b: lies,
            n: 128,
            ..PRODUCT
        }
        .check();
        Product {
            a: lies,
            m: 64,
            n: 8,
            ..PRODUCT
        }
        .check();
    }
}

#[test]
fn the_left_factor_may_be_in_tensor_memory() {
    let a = Lies {
        row: 16,
        is_along_k: true,
    };
    Product {
        a,
        in_tensor_memory: true,
        ..PRODUCT
    }
    .check();
}

#[test]
fn operations_of_products_are_counted() {
    let counts = PRODUCT.case().0.counts();
    assert_eq!(counts.flop(), (2 * 128 * 64 * K) as u64);
}

/// Returns the finding where some text of the product's body is replaced by another.
fn found(product: &Product, replaces: &str, by: &str) -> String {
    let case = product.case().0.body(|body| {
        assert!(body.contains(replaces), "{replaces}");
        body.replace(replaces, by)
    });
    case.finding()
}

#[test]
fn each_way_to_use_it_wrongly_is_found() {
    let commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+8];";
    let free = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 256;";
    let alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar+16], 256;";
    let relinquish = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;";
    let early = format!("{commit} st.shared.u32 [%r3], 0;");
    let write = "st.shared.u32 [%r3], 0; @%p1 bra issued;";
    let cases: [(&str, &str, &[&str]); 16] = [
        // Nobody waits for the products.
        (
            "@!%p2 bra after;",
            "",
            &[
                "product without a wait",
                "column 0 of lanes 0 to 15 of tensor memory",
                "multiplied into it",
            ],
        ),
        // Shared memory is written too early, or without a fence.
        (
            commit,
            &early,
            &["product without a wait", "the shared `s`", "writes it"],
        ),
        ("@%p1 bra issued;", write, &["no proxy fence"]),
        // Registers are read before the load is done: benign, and an error where nobody takes such findings.
        (
            "tcgen05.wait::ld.sync.aligned;",
            "",
            &[
                "load of tensor memory without a wait",
                "reads %r20",
                "may still write it",
            ],
        ),
        (free, "", &["has not deallocated 256 columns"]),
        (
            free,
            "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 128;",
            &["deallocates 128 columns", "allocated are columns 0 to 255"],
        ),
        (
            alloc,
            "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [bar+16], 48;",
            &["allocates 48 columns", "a power of 2"],
        ),
        (
            alloc,
            &format!("{alloc} {alloc} {alloc}"),
            &["waits for ever", "512 of 512"],
        ),
        (
            relinquish,
            &format!("{relinquish} {alloc}"),
            &["relinquished"],
        ),
        (
            "[%r6+8]",
            "[%r6+508]",
            &["columns 508 to 515", "allocated are columns 0 to 255"],
        ),
        (
            "[%r6+8]",
            "[%r5+8]",
            &["warp 1 moves 32 lanes", "from lane 0 on", "32 to 63"],
        ),
        (
            "[%r6+8]",
            "[%r6+200]",
            &[
                "uninitialised",
                "reads column 200 of lanes 0 to 15",
                "as a result",
            ],
        ),
        // A descriptor of Hopper's.
        (
            "mov.b64 %rd10,",
            "mov.b64 %rd10, 0; mov.b64 %rd20,",
            &["bits 46 to 48 are 0"],
        ),
        (
            "mov.b32 %r7,",
            "mov.b32 %r7, 4; mov.b32 %r8,",
            &["sparse factors"],
        ),
        // Freed by a warp before others read, and after they have, with nothing between.
        (
            "bar.sync 0;\n    @%p6 bra free;",
            "@%p6 bra free;",
            &["none are allocated"],
        ),
        (
            "bar.sync 0;\n    @%p6 bra free;",
            "setp.lt.u32 %p7, %r1, 96; @%p7 bra free;",
            &[
                "race",
                "thread [96, 0, 0] frees it",
                "thread [0, 0, 0] read it",
            ],
        ),
    ];
    for (replaces, by, texts) in &cases {
        let text = found(&PRODUCT, replaces, by);
        for wanted in *texts {
            assert!(text.contains(wanted), "{by}: {text}");
        }
    }
    let left = Product {
        a: Lies {
            row: 16,
            is_along_k: true,
        },
        in_tensor_memory: true,
        ..PRODUCT
    };
    let text = found(&left, "tcgen05.wait::st.sync.aligned;", "");
    assert!(text.contains("asynchronous copy without a wait"), "{text}");
    // A load of its warp does not hide that the product still reads its left factor.
    let loads = "issued: setp.ge.u32 %p8, %r1, 32;
        @%p8 bra past;
        tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r6+128]; tcgen05.wait::ld.sync.aligned;
        tcgen05.st.sync.aligned.32x32b.x1.b32 [%r6+128], {%r20}; tcgen05.wait::st.sync.aligned;
        past:";
    let text = found(&left, "issued:", loads);
    assert!(
        text.contains("product without a wait on column 128") && text.contains("writes it"),
        "{text}"
    );
    // Rows that products leave out are not written.
    let text = PRODUCT
        .case()
        .0
        .body(|body| {
            body.replace(
                "mov.b32 %r7,",
                "mov.b32 %r30, -1; mov.b32 %r31, 0; mov.b32 %r7,",
            )
            .replace("%r7, %p5;", "%r7, {%r30, %r31, %r31, %r31}, %p5;")
        })
        .finding();
    assert!(
        text.contains("uninitialised") && text.contains("column 0 of lanes 0 to 15"),
        "{text}"
    );
    let text = found(&left, "bar.sync 0; tcgen05.fence::after_thread_sync;", "");
    assert!(
        text.contains("uninitialised") && text.contains("multiplies column 128 of lanes 32 to 47"),
        "{text}"
    );
}

#[test]
fn each_shape_moves_what_was_stored() {
    for (shape, registers, columns) in [
        ("32x32b", 4, 4),
        ("16x64b", 4, 8),
        ("16x128b", 4, 8),
        ("16x256b", 4, 8),
        ("16x32bx2", 4, 4),
    ] {
        let repeats = match shape {
            "16x128b" => 2,
            "16x256b" => 1,
            _ => 4,
        };
        let split = if shape == "16x32bx2" { ", 64" } else { "" };
        let list = "{%r20, %r21, %r22, %r23}";
        let other = "{%r30, %r31, %r32, %r33}";
        let mut body = String::from(ALLOCATE);
        for at in 0..registers {
            writeln!(body, "mad.lo.u32 %r2{at}, %r1, 4, {at};").expect("text");
        }
        // The upper lanes of the warp, too.
        let lanes: &[u32] = if shape == "32x32b" { &[0] } else { &[0, 16] };
        writeln!(body, "mad.wide.u32 %rd4, %r1, 32, %rd2;").expect("text");
        for &lane in lanes {
            let at = lane << 16 | columns;
            writeln!(
                body,
                "tcgen05.st.sync.aligned.{shape}.x{repeats}.b32 [%r6+{at}]{split}, {list};
                tcgen05.wait::st.sync.aligned;
                tcgen05.ld.sync.aligned.{shape}.x{repeats}.b32 {other}, [%r6+{at}]{split};
                tcgen05.wait::ld.sync.aligned;
                st.global.v4.b32 [%rd4+{lane}], {other};"
            )
            .expect("text");
        }
        body.push_str(FREE);
        let y = Case::new(&body).on("sm_100a").grid(1, 128).run();
        for thread in 0..128 {
            for (part, _) in lanes.iter().enumerate() {
                let got = &y[thread * 8 + 4 * part..][..4];
                let first = 4 * thread as u32;
                assert_eq!(got, [first, first + 1, first + 2, first + 3], "{shape}");
            }
        }
    }
}

#[test]
fn halves_are_packed() {
    let body = format!(
        "{ALLOCATE}
        shl.b32 %r20, %r1, 16; add.u32 %r20, %r20, 7;
        tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32 [%r6], {{%r20}};
        tcgen05.wait::st.sync.aligned;
        tcgen05.ld.sync.aligned.32x32b.x2.b32 {{%r21, %r22}}, [%r6];
        tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {{%r23}}, [%r6];
        tcgen05.wait::ld.sync.aligned;
        mad.wide.u32 %rd4, %r1, 16, %rd2;
        st.global.v4.b32 [%rd4], {{%r21, %r22, %r23, %r20}};
        {FREE}"
    );
    let y = Case::new(&body).on("sm_100a").grid(1, 128).run();
    for thread in 0..128u32 {
        let got = &y[4 * thread as usize..][..3];
        assert_eq!(got, [7, thread, thread << 16 | 7]);
    }
}

#[test]
fn equal_values_of_two_warps_are_benign() {
    let body = |value: &str| {
        format!(
            "{ALLOCATE}
            shr.u32 %r6, %r1, 5; and.b32 %r6, %r6, 3; shl.b32 %r6, %r6, 21; add.u32 %r6, %r6, %r5;
            mov.b32 %r20, {value};
            tcgen05.st.sync.aligned.32x32b.x1.b32 [%r6], {{%r20}};
            tcgen05.wait::st.sync.aligned;
            {FREE}"
        )
    };
    for (value, kind) in [("7", "stores of equal values on"), ("%r1", "race on")] {
        let text = Case::new(&body(value)).on("sm_100a").grid(1, 256).finding();
        let wanted = format!("{kind} column 0 of lanes 0 to 15 of tensor memory");
        assert!(text.contains(&wanted), "{text}");
    }
}

/// Factors of one block of scales: powers of 2 for each row, of which each product takes a byte.
#[test]
fn factors_are_scaled() {
    let product = Product {
        of: E5M2,
        kind: "mxf8f6f4.block_scale",
        number: 1,
        a: Lies { row: 64, ..ALONG_K },
        b: Lies { row: 64, ..ALONG_K },
        ..PRODUCT
    };
    let (case, expected) = product.case();
    // The scales of rows and columns: lane r of column c has those of 32 c + r, 2^(r % 4) and 2^(c + 1) in the bytes of two steps.
    let scales = "
        and.b32 %r10, %r1, 3; add.u32 %r10, %r10, 127; add.u32 %r11, %r10, 1; shl.b32 %r11, %r11, 8; or.b32 %r10, %r10, %r11;
        mov.b32 %r12, 0x8180; mov.b32 %r13, 0x8281;
        tcgen05.st.sync.aligned.32x32b.x4.b32 [%r6+128], {%r10, %r10, %r10, %r10};
        tcgen05.st.sync.aligned.32x32b.x2.b32 [%r6+160], {%r12, %r13};
        tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;
        @%p1 bra issued;";
    let scaled = case.body(|body| {
        // Types of scales, and the bytes of the second step.
        body.replace("@%p1 bra issued;", scales)
            .replace(
                "setp.ne.u32 %p5, 0, 0;",
                "setp.ne.u32 %p5, 0, 0; or.b32 %r7, %r7, 0x800000; and.b32 %r7, %r7, 0xffffffcf;",
            )
            .replace(
                "setp.ne.u32 %p5, 1, 0;",
                "setp.ne.u32 %p5, 1, 0; or.b32 %r7, %r7, 0x20000010;",
            )
            .replace("%r7, %p5;", "%r7, [%r5+128], [%r5+160], %p5;")
    });
    let y = scaled.run();
    let n = product.n;
    // Both steps have half of k: the second's scales are twice the first's, of rows and of columns.
    let [a, b] = product.factors();
    for row in 0..product.m {
        for column in 0..n {
            let own = f64::powi(2.0, (row % 4 + column / 32 + 1) as i32);
            let half = |half: std::ops::Range<usize>| -> f64 {
                half.map(|l| a[row * K + l] * b[column * K + l]).sum()
            };
            let (first, second) = (half(0..K / 2), half(K / 2..K));
            assert_eq!(first + second, expected[row * n + column]);
            let got = f64::from(f32::from_bits(y[row * n + column]));
            assert_eq!(
                got,
                own * (first + 4.0 * second),
                "row {row}, column {column}"
            );
        }
    }
}
