//! The builder's passes on the engine: the same results with them and without, and those of the language.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use cuda_builder::{CudaBuilder, Level, Lint};
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
    let calls = BUILT
        .each_ref()
        .map(|ptx| ptx.matches("call (ptxstd_r), __ptx_std_divide").count());
    assert_eq!(calls, [7, 0]);
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
