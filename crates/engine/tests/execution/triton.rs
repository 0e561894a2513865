//! A product that Triton compiled for Blackwell: copies to shared memory, products in tensor memory, and waits for both.

use std::sync::Arc;

use engine::check::{Checker, Streams};
use engine::memory::{Contents, Label, Memory};
use engine::{Checks, FindingKind, Module, Options, Shape};

const PTX: &str = include_str!("../../../ptx/tests/corpus/triton_matmul8_100.ptx");

/// Of a block's product.
const SIDE: usize = 128;
/// Two steps of the loop.
const K: usize = 128;

/// The bits of a small integer as `e4m3`.
fn e4m3(number: i32) -> u8 {
    let sign = if number < 0 { 0x80 } else { 0 };
    match number.unsigned_abs() {
        0 => sign,
        1 => sign | 7 << 3,
        2 => sign | 8 << 3,
        3 => sign | 8 << 3 | 4,
        other => panic!("{other} is not small"),
    }
}

fn f16(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => mantissa * 2f64.powi(-24),
        _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

#[test]
fn a_product_for_blackwell_is_the_sum_by_definition() {
    let memory = Arc::new(Memory::default());
    let module = Module::load(PTX, &memory).expect("PTX");
    let allocate = |name: &str, bytes: usize| {
        let label = Label::new(name, 1);
        let allocated = memory.allocate(bytes as u64, 256, Contents::Undefined, label);
        allocated.expect("memory")
    };
    let number = |at: usize| (at * 7 + at / 5) as i32 % 7 - 3;
    let (m, n) = (2 * SIDE, SIDE);
    let a: Vec<i32> = (0..m * K).map(number).collect();
    let b: Vec<i32> = (0..K * n).map(|at| number(at + 11)).collect();
    let given = |name: &str, numbers: &[i32]| {
        let bytes: Vec<u8> = numbers.iter().map(|&it| e4m3(it)).collect();
        let label = Label::new(name, 1);
        let at = memory
            .allocate(bytes.len() as u64, 256, Contents::Defined, label)
            .expect("memory");
        let to = std::ptr::with_exposed_provenance_mut::<u8>(at as usize);
        // SAFETY: it has as many bytes, and nothing runs.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        at
    };
    let (left, right, product) = (given("a", &a), given("b", &b), allocate("c", 2 * m * n));
    let mut parameters = [left, right, product].map(u64::to_le_bytes).concat();
    for number in [m, n, K, K, n, n] {
        parameters.extend((number as u32).to_le_bytes());
    }
    parameters.extend([0; 16]);
    let kernel = module.kernel("matmul").expect("a kernel");
    let (mut checker, mut streams) = (Checker::new(), Streams::default());
    let stream = streams.stream();
    let mut benign = Vec::new();
    let checks = Checks {
        checker: &mut checker,
        operation: streams.enqueue(stream),
        fixed: Vec::new(),
        lent: Vec::new(),
        benign: Some(&mut benign),
    };
    let shape = Shape {
        grid: [2, 1, 1],
        block: [128, 1, 1],
        dynamic_shared: 96 << 10,
    };
    let launched = kernel.launch(
        shape,
        Options::default(),
        &parameters,
        &|_| {},
        Some(checks),
    );
    launched.unwrap_or_else(|error| panic!("{error}"));
    let from = std::ptr::with_exposed_provenance::<u16>(product as usize);
    // SAFETY: allocated above with so many, and nothing runs.
    let got = unsafe { std::slice::from_raw_parts(from, m * n) };
    for row in 0..m {
        for column in 0..n {
            let terms = (0..K).map(|k| a[row * K + k] * b[k * n + column]);
            let expected = f64::from(terms.sum::<i32>());
            assert_eq!(
                f16(got[row * n + column]),
                expected,
                "row {row}, column {column}"
            );
        }
    }
    // LLVM moves uses of registers before the wait for the load, and assemblers wait for the registers.
    let kinds: Vec<FindingKind> = benign.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [FindingKind::EarlyRegister]);
}
