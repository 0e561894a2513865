//! The builder's passes on the engine: the same results with them and without, and those of the language.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use cuda_builder::{CudaBuilder, Level, Lint};
use cuda_std::{GpuFloat, bf16, f16};
use engine::memory::{Contents, Label, Memory};
use engine::{Module, Options, Shape};

const SOURCE: &str = "#![no_std]
use cuda_std::prelude::*;

macro_rules! divisions { ($($name:ident: $ty:ty, |$a:ident, $b:ident| $result:expr;)*) => {$(
    #[kernel(allow(panic_in_loop))]
    pub fn $name(a: &[$ty], b: &[$ty], mut y: Output<$ty>) {
        for (i, y) in y.own() {
            let ($a, $b) = (a[i], b[i]);
            *y = $result;
        }
    }
)*} }
divisions! {
    quotient: u128, |a, b| a / b;
    remainder: u128, |a, b| a % b;
    signed_quotient: i128, |a, b| a.wrapping_div(b);
    signed_remainder: i128, |a, b| a.wrapping_rem(b);
    by_a_word: u128, |a, b| a / (b as u64 | 1) as u128;
    by_a_constant: u128, |a, _b| a % 1_000_000_007;
    by_a_wide_constant: u128, |a, _b| a / 0x0123_4567_89ab_cdef_0123_4567;
}

/// Weights by an index that is no constant, summed with their neighbour.
#[kernel]
pub fn weigh(mut y: Output<f32>, first: u32, weights: [f32; 25]) {
    for (i, y) in y.own() {
        let at = (i + first as usize) % 24;
        *y = weights[at] + 2.0 * weights[at + 1];
    }
}

/// A polynomial in a loop.
#[kernel(allow(panic_in_loop))]
pub fn exponentials(x: &[f64], mut y: Output<f64>, terms: u32) {
    for (i, y) in y.own() {
        *y = (0..terms).map(|k| GpuFloat::exp(x[i] + f64::from(k))).sum();
    }
}

macro_rules! halves { ($($float:ident: $from_f32:ident $from_f64:ident $to_f32:ident $to_f64:ident $sums:ident $order:ident;)*) => {$(
    of_each! {
        $from_f32: |x| $float::from_f32(f32::from_bits(x as u32)).to_bits().into();
        $from_f64: |x| $float::from_f64(f64::from_bits(x)).to_bits().into();
        $to_f32: |x| $float::from_bits(x as u16).to_f32().to_bits().into();
        $to_f64: |x| $float::from_bits(x as u16).to_f64().to_bits();
        $sums: |x| {
            let [a, b] = [x as u16, (x >> 16) as u16].map($float::from_bits);
            let bits = [a + b, a - b, a * b, a / b].map(|it| u64::from(it.to_bits()));
            bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48
        };
        $order: |x| {
            let [a, b] = [x as u16, (x >> 16) as u16].map($float::from_bits);
            let order = [a < b, a <= b, a == b, a > b, a >= b, a != b, a.partial_cmp(&b).is_none()];
            order.iter().fold(0, |bits, it| bits << 1 | u64::from(*it))
        };
    }
)*} }
macro_rules! of_each { ($($name:ident: |$x:ident| $result:expr;)*) => {$(
    #[kernel(allow(panic_in_loop))]
    pub fn $name(x: &[u64], mut y: Output<u64>) {
        for (i, y) in y.own() {
            let $x = x[i];
            *y = $result;
        }
    }
)*} }
halves! {
    f16: f16_from_f32 f16_from_f64 f16_to_f32 f16_to_f64 f16_sums f16_order;
    bf16: bf16_from_f32 bf16_from_f64 bf16_to_f32 bf16_to_f64 bf16_sums bf16_order;
}

/// Elements of several outputs side by side.
#[kernel(allow(panic_in_loop))]
pub fn spread(x: &[f32], mut a: Output<f32>, mut b: Output<f32>, mut c: Output<f32>) {
    for (((i, a), (_, b)), (_, c)) in a.own().zip(b.own()).zip(c.own()) {
        let x = x[i];
        *a = x;
        *b = 2.0 * x;
        *c = 3.0 * x;
    }
}
";

/// With the passes, and without.
static BUILT: LazyLock<[String; 2]> = LazyLock::new(|| [build(true), build(false)]);

fn build(passes: bool) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = format!(
        "[package]\nname = \"fixture-passes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\ncuda_std = {{ package = \"ridgepoint-ptx-std\", path = {package:?} }}\n\n[workspace]\n"
    );
    fs::create_dir(folder.path().join("src")).expect("writable");
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("writable");
    fs::write(folder.path().join("src/lib.rs"), SOURCE).expect("writable");
    let local = if passes { Level::Deny } else { Level::Allow };
    let path = CudaBuilder::new(folder.path())
        .fma_contraction(false)
        .wide_division(passes)
        .arguments_in_place(passes)
        .half_by_instructions(passes)
        .literals_in_constant_memory(passes)
        .sink_common_instructions(!passes)
        .lint(Lint::LocalMemory, local)
        .target_dir(package.join("../../target/ptx"))
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    fs::read_to_string(path).expect("written")
}

/// Runs a kernel on the engine: pointers and lengths of the slices, of which the last is for the results, and then `rest`.
fn run<T: bytemuck::Pod>(ptx: &str, name: &str, slices: &[&[T]], rest: &[u8]) -> Vec<T> {
    let memory = Arc::new(Memory::default());
    let module = Module::load(ptx, &memory).unwrap_or_else(|error| panic!("{error}"));
    let mut parameters = Vec::new();
    let mut last = std::ptr::null_mut::<T>();
    for slice in slices {
        let bytes = size_of_val(*slice) as u64;
        let label = Label::new("slice", size_of::<T>() as u32);
        let address = memory.allocate(bytes, 256, Contents::Defined, label);
        last = std::ptr::with_exposed_provenance_mut(address.expect("memory") as usize);
        // SAFETY: it has as many bytes, and nothing runs.
        unsafe { last.copy_from_nonoverlapping(slice.as_ptr(), slice.len()) };
        parameters.extend(last.addr().to_le_bytes());
        parameters.extend(slice.len().to_le_bytes());
    }
    parameters.extend(rest);
    let shape = Shape {
        grid: [3, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
    };
    let kernel = module.kernel(name).expect("a kernel");
    kernel
        .launch(shape, Options::default(), &parameters, &|_| {}, None)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let len = slices.last().map_or(0, |slice| slice.len());
    // SAFETY: allocated above with as many, and nothing runs.
    unsafe { std::slice::from_raw_parts(last, len) }.to_vec()
}

/// Whether the kernel has a stack, with the passes and without.
fn have_frames(kernel: &str) -> [bool; 2] {
    BUILT.each_ref().map(|ptx| {
        let (_, body) = ptx
            .split_once(&format!(".entry {kernel}("))
            .expect("the kernel");
        let (body, _) = body.split_once("\n}").expect("its end");
        body.contains("__local_depot")
    })
}

/// Numbers at which something carries, is normalized, or comes out as 0: each with each.
fn pairs() -> (Vec<u128>, Vec<u128>) {
    let near = |bit: u32| {
        [
            1_u128 << bit,
            (1 << bit) - 1,
            (1_u128 << bit).wrapping_neg(),
        ]
    };
    let bits = [0, 1, 2, 31, 32, 33, 62, 63, 64, 65, 95, 96, 126, 127];
    let mut edges: Vec<u128> = bits.into_iter().flat_map(near).collect();
    edges.extend([3, 10, 1_000_000_007, u128::MAX / 3, 0xffff_ffff_ffff_ffc5]);
    let all = || edges.iter().copied();
    let products = all().flat_map(|a| all().map(move |b| (a.wrapping_mul(b), b)));
    let each = all().flat_map(|a| all().map(move |b| (a, b)));
    each.chain(products).filter(|(_, b)| *b != 0).unzip()
}

/// Compares a kernel's results, with the passes and without, with those of the language.
fn check<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
    name: &str,
    cast: fn(u128) -> T,
    expected: fn(u128, u128) -> T,
) {
    let (a, b) = pairs();
    let [x, y] = [&a, &b].map(|all| all.iter().copied().map(cast).collect::<Vec<T>>());
    for ptx in &*BUILT {
        let results = run(ptx, name, &[&x, &y, &vec![T::zeroed(); x.len()]], &[]);
        for ((a, b), result) in a.iter().zip(&b).zip(results) {
            assert_eq!(result, expected(*a, *b), "{name} of {a:#x} and {b:#x}");
        }
    }
}

#[test]
fn wide_numbers_are_divided_as_the_language_does() {
    check("quotient", |x| x, |a, b| a / b);
    check("remainder", |x| x, |a, b| a % b);
    check("by_a_word", |x| x, |a, b| a / u128::from(b as u64 | 1));
    check("by_a_constant", |x| x, |a, _| a % 1_000_000_007);
    check(
        "by_a_wide_constant",
        |x| x,
        |a, _| a / 0x0123_4567_89ab_cdef_0123_4567,
    );
    check(
        "signed_quotient",
        |x| x as i128,
        |a, b| (a as i128).wrapping_div(b as i128),
    );
    check(
        "signed_remainder",
        |x| x as i128,
        |a, b| (a as i128).wrapping_rem(b as i128),
    );
    let calls = |kernel: &&str| kernel.contains("call (ptxstd_r), __ptx_std_divide");
    let kernels = BUILT
        .each_ref()
        .map(|ptx| ptx.split(".entry ").filter(calls).count());
    assert_eq!(kernels, [7, 0]);
    let defined = BUILT
        .each_ref()
        .map(|ptx| ptx.contains(") __ptx_std_divide("));
    assert_eq!(
        defined,
        [true, false],
        "it is there where something calls it"
    );
}

#[test]
fn an_array_by_value_is_read_where_it_lies() {
    let weights: [f32; 25] = std::array::from_fn(|i| (i * i) as f32);
    let mut rest = 5_u32.to_le_bytes().to_vec();
    rest.extend(weights.iter().flat_map(|weight| weight.to_le_bytes()));
    let expected: Vec<f32> = (5..105)
        .map(|i| weights[i % 24] + 2.0 * weights[i % 24 + 1])
        .collect();
    for ptx in &*BUILT {
        assert_eq!(run(ptx, "weigh", &[&[0.0_f32; 100]], &rest), expected);
    }
    assert_eq!(have_frames("weigh"), [false, true]);
}

#[test]
fn literals_of_a_loop_are_read_from_constant_memory() {
    let x: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.37 - 20.0).collect();
    let expected = x.iter().map(|x| {
        let terms = (0..3).map(|k| GpuFloat::exp(x + f64::from(k)));
        terms.sum::<f64>()
    });
    let expected: Vec<f64> = expected.collect();
    for ptx in &*BUILT {
        let slices: [&[f64]; 2] = [&x, &[0.0; 100]];
        assert_eq!(
            run(ptx, "exponentials", &slices, &3_u32.to_le_bytes()),
            expected
        );
    }
    let tables = BUILT
        .each_ref()
        .map(|ptx| ptx.matches("ld.const.b64").count());
    // The coefficients, and what reduces the argument.
    assert!(tables[0] >= 8, "{} reads", tables[0]);
    assert_eq!(tables[1], 0);
}

#[test]
fn outputs_side_by_side_take_no_stack() {
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    for ptx in &*BUILT {
        let results = run(
            ptx,
            "spread",
            &[&x, &[0.0; 100], &[0.0; 100], &[0.0; 100]],
            &[],
        );
        assert_eq!(results, x.iter().map(|x| 3.0 * x).collect::<Vec<f32>>());
    }
    assert_eq!(have_frames("spread"), [false, true]);
}

/// Numbers with each exponent, at a tie of both formats and beside one, and any others.
fn floats() -> Vec<f32> {
    let near = |bits: u32| {
        let around = [-1, 0, 1].map(|by| bits.wrapping_add_signed(by));
        around.map(f32::from_bits)
    };
    let exponents = (0..512_u32).map(|upper| upper << 23);
    let ties = [
        0,
        1 << 12,
        1 << 13,
        3 << 12,
        1 << 15,
        1 << 16,
        3 << 15,
        (1 << 23) - (1 << 12),
    ];
    let mut floats: Vec<f32> = exponents
        .flat_map(|it| ties.map(|tie| it | tie))
        .flat_map(near)
        .collect();
    let mut random = fastrand::Rng::with_seed(43);
    floats.extend((0..50_000).map(|_| f32::from_bits(random.u32(..))));
    // Half of them near what an `f16` holds.
    floats.extend((0..50_000).map(|_| f32::from_bits(random.u32(0x3280_0000..0x4800_0000))));
    floats
}

/// Two numbers of 16 bits: each of some with each, and any.
fn halves() -> Vec<u64> {
    const EDGES: [u16; 24] = [
        0, 1, 2, 3, 0x3ff, 0x400, 0x401, 0x7f, 0x80, 0x81, 0x3bff, 0x3c00, 0x3c01, 0x3f7f, 0x3f80,
        0x3f81, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0,
    ];
    let signed = || EDGES.into_iter().flat_map(|it| [it, it | 0x8000]);
    let each = signed().flat_map(|a| signed().map(move |b| u64::from(a) | u64::from(b) << 16));
    let mut random = fastrand::Rng::with_seed(44);
    let any = std::iter::repeat_with(|| u64::from(random.u32(..)));
    each.chain(any.take(200_000)).collect()
}

/// Compares a kernel's results, with the instructions and without, with those of the crate on the host. Of a result that is NaN only
/// that is compared.
fn check_halves(
    name: &str,
    x: &[u64],
    expected: impl Fn(u64) -> u64,
    is_nan: impl Fn(u64) -> bool,
) {
    for ptx in &*BUILT {
        let results = run(ptx, name, &[x, &vec![0; x.len()]], &[]);
        for (&x, result) in x.iter().zip(results) {
            let expected = expected(x);
            assert!(
                result == expected || is_nan(result) && is_nan(expected),
                "{name} of {x:#x} is {result:#x}, not {expected:#x}"
            );
        }
    }
}

/// As the kernels have them, in this order.
const OPERATIONS: [fn(f32, f32) -> f32; 4] =
    [|a, b| a + b, |a, b| a - b, |a, b| a * b, |a, b| a / b];

macro_rules! halves_are_those_of_the_crate {
    ($float:ident: $from_f32:ident $from_f64:ident $to_f32:ident $to_f64:ident $sums:ident $order:ident) => {{
        let is_nan = |bits: u64| $float::from_bits(bits as u16).is_nan();
        let singles: Vec<u64> = floats().iter().map(|x| x.to_bits().into()).collect();
        check_halves(
            stringify!($from_f32),
            &singles,
            |x| {
                $float::from_f32_const(f32::from_bits(x as u32))
                    .to_bits()
                    .into()
            },
            is_nan,
        );
        // The crate looks at no lower bits.
        let doubles: Vec<u64> = floats()
            .iter()
            .map(|x| f64::from(*x).to_bits() >> 32 << 32)
            .collect();
        check_halves(
            stringify!($from_f64),
            &doubles,
            |x| $float::from_f64_const(f64::from_bits(x)).to_bits().into(),
            is_nan,
        );
        let all: Vec<u64> = (0..1 << 16).collect();
        check_halves(
            stringify!($to_f32),
            &all,
            |x| $float::from_bits(x as u16).to_f32_const().to_bits().into(),
            |bits| f32::from_bits(bits as u32).is_nan(),
        );
        check_halves(
            stringify!($to_f64),
            &all,
            |x| $float::from_bits(x as u16).to_f64_const().to_bits(),
            |bits| f64::from_bits(bits).is_nan(),
        );
        let two = |x: u64| [x as u16, (x >> 16) as u16].map($float::from_bits);
        for (place, operation) in OPERATIONS.iter().enumerate() {
            for ptx in &*BUILT {
                let x = halves();
                let results = run(ptx, stringify!($sums), &[&x, &vec![0; x.len()]], &[]);
                for (&x, result) in x.iter().zip(results) {
                    let [a, b] = two(x);
                    let result = $float::from_bits((result >> (16 * place)) as u16);
                    let expected =
                        $float::from_f32_const(operation(a.to_f32_const(), b.to_f32_const()));
                    assert!(
                        result.to_bits() == expected.to_bits()
                            || result.is_nan() && expected.is_nan(),
                        "operation {place} of {a:?} and {b:?} is {result:?}, not {expected:?}"
                    );
                }
            }
        }
        check_halves(
            stringify!($order),
            &halves(),
            |x| {
                let [a, b] = two(x);
                let order = [
                    a < b,
                    a <= b,
                    a == b,
                    a > b,
                    a >= b,
                    a != b,
                    a.partial_cmp(&b).is_none(),
                ];
                order.iter().fold(0, |bits, it| bits << 1 | u64::from(*it))
            },
            |_| false,
        );
    }};
}

#[test]
fn halves_are_those_of_the_crate_by_fewer_instructions() {
    halves_are_those_of_the_crate!(f16: f16_from_f32 f16_from_f64 f16_to_f32 f16_to_f64 f16_sums f16_order);
    halves_are_those_of_the_crate!(bf16: bf16_from_f32 bf16_from_f64 bf16_to_f32 bf16_to_f64 bf16_sums bf16_order);
    for instruction in [
        "cvt.rn.f16.f32",
        "cvt.rn.f16.f64",
        "cvt.f32.f16",
        "cvt.f64.f16",
        "cvt.rn.bf16.f32",
        "add.rn.f16",
        "mul.rn.f16",
        "fma.rn.bf16",
        "setp.lt.f16",
    ] {
        let uses = BUILT.each_ref().map(|ptx| ptx.contains(instruction));
        assert_eq!(uses, [true, false], "{instruction}");
    }
}
