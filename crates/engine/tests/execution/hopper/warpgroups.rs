//! `wgmma`: matrices of each layout in shared memory, against sums by definition; what is wrong with its use.

use std::fmt::Write;

use super::harness::{Case, Random};

/// How elements are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) name: &'static str,
    pub(super) bytes: usize,
    pub(super) bits: fn(f64) -> u64,
    /// The sum's type.
    pub(super) sum: &'static str,
}

pub(super) const BF16: Element = Element {
    name: "bf16",
    bytes: 2,
    bits: |x| u64::from((x as f32).to_bits() >> 16),
    sum: "f32",
};
pub(super) const TF32: Element = Element {
    name: "tf32",
    bytes: 4,
    bits: |x| u64::from((x as f32).to_bits()),
    sum: "f32",
};
pub(super) const E5M2: Element = Element {
    name: "e5m2",
    bytes: 1,
    // Of quarters below 1, which have two digits: the upper bits of f16.
    bits: |x| match x.abs() {
        0.0 => 0,
        y => {
            let single = (y as f32).to_bits();
            let exponent = (single >> 23) + 15 - 127;
            u64::from((x < 0.0) as u32) << 7 | u64::from(exponent << 2 | single >> 21 & 3)
        }
    },
    sum: "f32",
};
pub(super) const S8: Element = Element {
    name: "s8",
    bytes: 1,
    bits: |x| (x * 16.0) as i8 as u8 as u64,
    sum: "s32",
};

/// How a matrix lies: rows of so many bytes (16: not swizzled), along k or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lies {
    pub(super) row: usize,
    pub(super) is_along_k: bool,
}

/// All of k.
pub(super) const K: usize = 64;

/// A matrix in shared memory: its bytes, and its descriptor but for the start.
pub(super) fn image(
    all: &[f64],
    of: Element,
    (across, k): (usize, usize),
    lies: Lies,
) -> (Vec<u8>, u64) {
    let Lies { row, is_along_k } = lies;
    let (long, wide) = match is_along_k {
        true => (across, k * of.bytes),
        false => (k, across * of.bytes),
    };
    // Columns of rows of `row` bytes, one behind the other; in those that are not swizzled too.
    let column = long * row;
    let mut bytes = vec![0; long * wide];
    for i in 0..across {
        for j in 0..k {
            let (down, right) = if is_along_k {
                (i, j * of.bytes)
            } else {
                (j, i * of.bytes)
            };
            let mut at = right / row * column + down * row + right % row;
            if row > 16 {
                let chunks = row / 16;
                let line = at / 128;
                at ^= (line % chunks) << 4;
            }
            let bits = (of.bits)(all[i * k + j]).to_le_bytes();
            bytes[at..at + of.bytes].copy_from_slice(&bits[..of.bytes]);
        }
    }
    let mode: u64 = match row {
        16 => 0,
        32 => 3,
        64 => 2,
        _ => 1,
    };
    let eight = (8 * row as u64) >> 4;
    let far = (column >> 4) as u64;
    let (leading, stride) = match (is_along_k, row) {
        (true, 16) => (far, eight),
        (true, _) => (1, eight),
        (false, 16) => (eight, far),
        (false, _) => (far, eight),
    };
    (bytes, leading << 16 | stride << 32 | mode << 62)
}

/// Where the step of this number begins, of `step` elements along k each.
pub(super) fn start_of(
    lies: Lies,
    of: Element,
    across: usize,
    (at, step): (usize, usize),
) -> usize {
    match lies.is_along_k {
        true => {
            let bytes = at * step * of.bytes;
            bytes / lies.row * across * lies.row + bytes % lies.row
        }
        false => at * step * lies.row,
    }
}

struct Product {
    of: Element,
    n: usize,
    a: Lies,
    b: Lies,
    /// Whether a lies in registers.
    in_registers: bool,
    negates: bool,
}

pub(super) const ALONG_K: Lies = Lies {
    row: 128,
    is_along_k: true,
};

const PRODUCT: Product = Product {
    of: BF16,
    n: 64,
    a: ALONG_K,
    b: ALONG_K,
    in_registers: false,
    negates: false,
};

/// Where b lies.
pub(super) const B: usize = 16384;

impl Product {
    fn body(&self, (a, b): (u64, u64)) -> String {
        let Product { of, n, .. } = *self;
        let step = 32 / of.bytes;
        let ty = if of.sum == "s32" { "r" } else { "f" };
        let d: Vec<String> = (0..n / 2).map(|i| format!("%{ty}{}", 40 + i)).collect();
        let list = d.join(", ");
        let mut body = String::from(LOAD);
        for register in &d {
            writeln!(body, "mov.b32 {register}, 0;").expect("text");
        }
        writeln!(
            body,
            "wgmma.fence.sync.aligned; mov.b64 %rd10, {a}; mov.b64 %rd11, {b};"
        )
        .expect("text");
        writeln!(body, "cvt.u64.u32 %rd12, %r3; shr.u64 %rd12, %rd12, 4; or.b64 %rd10, %rd10, %rd12; or.b64 %rd11, %rd11, %rd12; add.u64 %rd11, %rd11, {};", B / 16).expect("text");
        writeln!(body, "setp.eq.u32 %p5, %r3, %r3;").expect("text");
        for at in 0..K / step {
            let left = match self.in_registers {
                false => {
                    let by = start_of(self.a, of, 64, (at, step)) / 16;
                    writeln!(body, "add.u64 %rd13, %rd10, {by};").expect("text");
                    "%rd13".to_owned()
                }
                true => {
                    // The fragment of m64k16: 16 rows of a warp, which are not swizzled here.
                    let by = start_of(self.a, of, 64, (at, step));
                    writeln!(
                        body,
                        "shr.u32 %r10, %r1, 2; mad.lo.u32 %r11, %r10, 1, 0; and.b32 %r12, %r10, 7; shr.u32 %r13, %r1, 5;
                        mad.lo.u32 %r12, %r13, 16, %r12; mul.lo.u32 %r12, %r12, 16; and.b32 %r13, %r1, 3; mad.lo.u32 %r12, %r13, 4, %r12;
                        add.u32 %r12, %r12, %r3;
                        ld.shared.b32 %r20, [%r12+{by}]; ld.shared.b32 %r21, [%r12+{by}+128];
                        ld.shared.b32 %r22, [%r12+{by}+1024]; ld.shared.b32 %r23, [%r12+{by}+1152];
                        wgmma.fence.sync.aligned;"
                    )
                    .expect("text");
                    "{%r20, %r21, %r22, %r23}".to_owned()
                }
            };
            let by = start_of(self.b, of, n, (at, step)) / 16;
            let signs = match (of.sum, self.negates) {
                ("s32", _) => "",
                (_, true) => ", 1, -1",
                _ => ", 1, 1",
            };
            let transposes = match (of.bytes, self.in_registers) {
                (2, false) => format!(
                    ", {}, {}",
                    u8::from(!self.a.is_along_k),
                    u8::from(!self.b.is_along_k)
                ),
                (2, true) => format!(", {}", u8::from(!self.b.is_along_k)),
                _ => String::new(),
            };
            writeln!(
                body,
                "add.u64 %rd14, %rd11, {by};
                wgmma.mma_async.sync.aligned.m64n{n}k{step}.{}.{name}.{name} {{{list}}}, {left}, %rd14, %p5{signs}{transposes};",
                of.sum,
                name = of.name,
            )
            .expect("text");
            if self.in_registers {
                writeln!(
                    body,
                    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
                )
                .expect("text");
            }
        }
        writeln!(
            body,
            "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
        )
        .expect("text");
        writeln!(body, "mad.wide.u32 %rd4, %r1, {}, %rd2;", 2 * n).expect("text");
        for (at, register) in d.iter().enumerate() {
            writeln!(body, "st.global.b32 [%rd4+{}], {register};", 4 * at).expect("text");
        }
        body
    }

    fn case(&self) -> (Case, Vec<f64>) {
        let mut random = Random(7);
        let mut number = || match self.of.bytes {
            1 => (random.next() % 7) as f64 / 4.0 - 0.75,
            _ => random.small(),
        };
        let n = self.n;
        let a: Vec<f64> = (0..64 * K).map(|_| number()).collect();
        let b: Vec<f64> = (0..n * K).map(|_| number()).collect();
        let (mut bytes, a_lies) = image(&a, self.of, (64, K), self.a);
        bytes.resize(B, 0);
        let (b_bytes, b_lies) = image(&b, self.of, (n, K), self.b);
        bytes.extend(b_bytes);
        bytes.resize(32768, 0);
        let x = bytes.as_chunks().0.iter().map(|&it| u32::from_le_bytes(it));
        let scale = match (self.of.sum, self.negates) {
            ("s32", _) => 256.0,
            (_, true) => -1.0,
            _ => 1.0,
        };
        let mut expected = vec![0.0; 64 * n];
        for i in 0..64 {
            for j in 0..n {
                let terms = (0..K).map(|l| a[i * K + l] * b[j * K + l]);
                expected[i * n + j] = scale * terms.sum::<f64>();
            }
        }
        let case = Case::new(&self.body((a_lies, b_lies)))
            .grid(1, 128)
            .x(x.collect());
        (case, expected)
    }

    fn check(&self) {
        let (case, expected) = self.case();
        let y = case.run();
        let n = self.n;
        for thread in 0..128 {
            for at in 0..n / 2 {
                let (warp, lane) = (thread / 32, thread % 32);
                let row = 16 * warp + lane / 4 + 8 * (at / 2 % 2);
                let column = 8 * (at / 4) + 2 * (lane % 4) + at % 2;
                let word = y[thread * n / 2 + at];
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

/// Thread 0 loads all of shared memory.
pub(super) const LOAD: &str = "
    mov.u32 %r3, s; mov.u32 %r4, bar;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra begun;
    mbarrier.init.shared::cta.b64 [%r4], 1;
    fence.mbarrier_init.release.cluster;
    begun: bar.sync 0;
    @%p1 bra again;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 32768;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 32768, [%r4];
    again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;
    @!%p2 bra again;
";

pub(super) fn all_lies(is_along_k: bool) -> impl Iterator<Item = Lies> {
    [16, 32, 64, 128]
        .into_iter()
        .map(move |row| Lies { row, is_along_k })
}

#[test]
fn each_swizzle_along_k_is_a_product() {
    for lies in all_lies(true) {
        for of in [BF16, TF32, E5M2, S8] {
            // Rows of k must be whole.
            if lies.row <= K * of.bytes {
                Product {
                    of,
                    a: lies,
                    b: lies,
                    n: 32,
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
            n: 8,
            ..PRODUCT
        }
        .check();
    }
}

#[test]
fn a_factor_is_negated() {
    Product {
        negates: true,
        ..PRODUCT
    }
    .check();
}

#[test]
fn the_left_factor_may_lie_in_registers() {
    let a = Lies {
        row: 16,
        is_along_k: true,
    };
    Product {
        a,
        in_registers: true,
        ..PRODUCT
    }
    .check();
}

/// Returns the finding where some text of the product's body is replaced by another.
fn found(replaces: &str, by: &str) -> String {
    let body = PRODUCT.case().0.body(|body| {
        assert!(body.contains(replaces), "{replaces}");
        body.replace(replaces, by)
    });
    body.finding()
}

#[test]
fn each_way_to_multiply_wrongly_is_found() {
    let wait = "wgmma.wait_group.sync.aligned 0;";
    let commit = "wgmma.commit_group.sync.aligned;\n";
    for (replaces, by) in [
        (wait, ""),
        (wait, "wgmma.wait_group.sync.aligned 1;"),
        (commit, ""),
    ] {
        let text = found(replaces, by);
        assert!(text.contains("product without a wait"), "{text}");
        assert!(
            text.contains("reads %f40") && text.contains("may still write it"),
            "{text}"
        );
    }
    // Shared memory is written too early.
    let early = format!("st.shared.u32 [%r3], 0; {wait}");
    let text = found(wait, &early);
    assert!(
        text.contains("product without a wait") && text.contains("writes"),
        "{text}"
    );
    let late = format!("{wait} bar.sync 0; st.shared.u32 [%r3], %r1;");
    let text = found(wait, &late);
    assert!(text.contains("race"), "{text}");
    // Without a fence, or by half of a warpgroup.
    let text = found("wgmma.fence.sync.aligned;", "");
    assert!(
        text.contains("misuse") && text.contains("no `wgmma.fence`"),
        "{text}"
    );
    let text = PRODUCT.case().0.grid(1, 64).finding();
    assert!(
        text.contains("misuse") && text.contains("warpgroup"),
        "{text}"
    );
    // Before the copy is there, and what a thread has written without a proxy fence.
    let text = found("@!%p2 bra again;", "");
    assert!(text.contains("asynchronous copy without a wait"), "{text}");
    let written = "mad.lo.u32 %r9, %r1, 16, %r3; st.shared.u32 [%r9], 0; bar.sync 0; wgmma.fence.sync.aligned;";
    let text = found("wgmma.fence.sync.aligned;", written);
    assert!(
        text.contains("no proxy fence") && text.contains("wrote"),
        "{text}"
    );
    let fenced = written.replace("bar.sync", "fence.proxy.async; bar.sync");
    let case = PRODUCT
        .case()
        .0
        .body(|body| body.replace("wgmma.fence.sync.aligned;", &fenced));
    case.run();
}

#[test]
fn registers_that_are_written_without_a_fence_are_found() {
    let again = "setp.eq.u32 %p5";
    let text = found(again, &format!("add.f32 %f41, %f41, %f42; {again}"));
    assert!(
        text.contains("no fence for a product")
            && text.contains("reads %f41")
            && text.contains("which it wrote"),
        "{text}"
    );
    // By way of another register; not by a move alone, nor where the write is not executed.
    let text = found(
        again,
        &format!("add.f32 %f150, %f41, %f42; mov.f32 %f50, %f150; {again}"),
    );
    assert!(text.contains("reads %f50"), "{text}");
    for harmless in [
        "mov.f32 %f50, %f51;",
        "mov.f32 %f50, 0f3F800000;",
        "setp.ne.u32 %p4, %r3, %r3; @!%p4 bra ON; add.f32 %f50, %f51, %f52; ON:",
        "add.f32 %f50, %f51, %f52; wgmma.fence.sync.aligned;",
    ] {
        let by = format!("{harmless} {again}");
        PRODUCT.case().0.body(|body| body.replace(again, &by)).run();
    }
    // Of the left factor, which the launch loads.
    let product = Product {
        in_registers: true,
        ..PRODUCT
    };
    let case = product.case().0;
    let case = case.body(|body| body.replace("wgmma.fence.sync.aligned;\n", ""));
    let text = case.finding();
    assert!(
        text.contains("no fence for a product") && text.contains("reads %r20"),
        "{text}"
    );
}

#[test]
fn accumulators_may_be_moved_and_multiplied_in_flight() {
    let second = "wgmma.commit_group.sync.aligned;\nmov.f32 %f150, %f40; mov.f32 %f40, %f150;\n";
    let case = PRODUCT
        .case()
        .0
        .body(|body| body.replace("wgmma.commit_group.sync.aligned;\n", second));
    case.run();
    let early = second.replace("mov.f32 %f40, %f150;", "add.f32 %f150, %f150, %f150;");
    let text = found("wgmma.commit_group.sync.aligned;\n", &early);
    assert!(text.contains("reads %f150"), "{text}");
}

#[test]
fn products_are_the_same_under_seeds() {
    let expected = PRODUCT.case().0.run();
    for seed in 0..5 {
        assert_eq!(PRODUCT.case().0.seeded(seed).run(), expected);
    }
}
