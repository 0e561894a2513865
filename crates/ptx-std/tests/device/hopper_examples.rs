//! The kernels in the documentation of what only a GPU has, which `cargo test --doc` compiles and does not run:
//! here they are built for `sm_90a`, and the engine executes and checks them.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use cuda_builder::{CudaBuilder, Level, Lint, NvvmArch};
use cuda_std::bf16;
use engine::check::{Checker, Streams};
use engine::memory::{Contents, Label, Memory};
use engine::tensor_map::Described;
use engine::{Checks, Module, Options, Shape};

/// The modules whose functions panic on the host.
const MODULES: [&str; 8] = [
    "cluster.rs",
    "grid_dependency.rs",
    "mbarrier.rs",
    "mma.rs",
    "shared/pointer.rs",
    "tma.rs",
    "warpgroup.rs",
    "wgmma.rs",
];

static PTX: LazyLock<String> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path())
});

/// Returns a file's examples with a kernel, as readers see them.
fn kernels(source: &str) -> Vec<String> {
    let comments = source.lines().map(str::trim_start).map(|line| {
        let text = line
            .strip_prefix("//!")
            .or_else(|| line.strip_prefix("///"));
        text.map(|text| text.strip_prefix(' ').unwrap_or(text))
    });
    let mut examples = Vec::new();
    // The code of the block that is open, and whether it is one that runs.
    let mut open: Option<(String, bool)> = None;
    for text in comments {
        match (text, &mut open) {
            (Some("```"), Some(_)) => examples.extend(open.take().filter(|it| it.1).map(|it| it.0)),
            (Some(line), None) => {
                let fence = line.strip_prefix("```");
                open = fence.map(|kind| (String::new(), kind.is_empty()));
            }
            (Some(line), Some((code, _))) if !line.starts_with("# ") => {
                *code += line;
                code.push('\n');
            }
            (None, _) => assert!(open.is_none(), "a block that does not end"),
            _ => {}
        }
    }
    examples.retain(|code| code.contains("#[kernel"));
    examples
}

/// The examples of a module.
fn examples(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let examples = kernels(&fs::read_to_string(path).expect("a module"));
    assert!(!examples.is_empty(), "{file} has no example with a kernel");
    examples
}

fn build(folder: &Path) -> String {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = format!(
        "[package]\nname = \"fixture-examples\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         bytemuck = {{ version = \"1\", default-features = false }}\n\
         cuda_std = {{ package = \"ridgepoint-ptx-std\", path = {package:?} }}\n\n[workspace]\n"
    );
    let mut source = "#![no_std]\n".to_owned();
    for file in MODULES {
        for (number, code) in examples(file).iter().enumerate() {
            let module = file.trim_end_matches(".rs").replace('/', "_");
            source += &format!("pub mod {module}_{number} {{\n{code}}}\n");
        }
    }
    fs::create_dir(folder.join("src")).expect("writable");
    fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
    fs::write(folder.join("src/lib.rs"), source).expect("writable");
    let path = folder.join("kernels.ptx");
    CudaBuilder::new(folder)
        .arch(NvvmArch::Compute90a)
        .lint(Lint::LocalMemory, Level::Deny)
        .target_dir(package.join("../../target/ptx"))
        .copy_to(&path)
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    fs::read_to_string(path).expect("written")
}

/// How a kernel is launched: blocks, blocks per cluster, threads, bytes of dynamic shared memory.
#[derive(Clone, Copy)]
struct Launch {
    grid: u32,
    cluster: u32,
    block: u32,
    dynamic_shared: u32,
}

impl Launch {
    const fn of(block: u32) -> Launch {
        Launch {
            grid: 1,
            cluster: 1,
            block,
            dynamic_shared: 0,
        }
    }
}

enum Argument<'a> {
    /// `&[T]`: bytes, elements.
    Slice(&'a [u8], u64),
    /// `Output<T>`: bytes, elements.
    Output(Vec<u8>, u64),
    /// `*mut T`: bytes.
    Pointer(Vec<u8>),
    /// `&TensorMap`.
    Map(Matrix),
    /// `u32`.
    Value(u32),
}

fn slice<T: bytemuck::NoUninit>(elements: &[T]) -> Argument<'_> {
    Argument::Slice(bytemuck::cast_slice(elements), elements.len() as u64)
}

/// So many elements of 4 bytes, all 0.
fn zeros(count: usize) -> Argument<'static> {
    Argument::Pointer(vec![0; 4 * count])
}

/// A matrix of rows, and the box of it that copies move.
struct Matrix {
    bytes: Vec<u8>,
    /// Columns and rows.
    sizes: [u32; 2],
    counts: [u16; 2],
    /// `CUtensorMapDataType` and `CUtensorMapSwizzle`.
    kind: [u8; 2],
}

impl Matrix {
    /// Of `f32`, whose boxes are not swizzled.
    fn of_f32(elements: &[f32], sizes: [u32; 2], counts: [u16; 2]) -> Matrix {
        let bytes = bytemuck::cast_slice(elements).to_vec();
        let kind = [7, 0];
        Matrix {
            bytes,
            sizes,
            counts,
            kind,
        }
    }

    /// Of `bf16`, a box of all with rows of 128 bytes, swizzled.
    fn of_bf16(elements: &[bf16], rows: u16) -> Matrix {
        let bits = elements
            .iter()
            .flat_map(|element| element.to_bits().to_le_bytes());
        Matrix {
            bytes: bits.collect(),
            sizes: [64, rows.into()],
            counts: [64, rows],
            kind: [9, 3],
        }
    }

    /// The map as the engine's driver writes it.
    fn map(&self, start: u64) -> [u8; 128] {
        Described {
            address: start,
            strides: &[self.bytes.len() as u64 / u64::from(self.sizes[1])],
            sizes: &self.sizes.map(u64::from),
            tile: &self.counts.map(u32::from),
            steps: &[1; 2],
            element: self.kind[0],
            swizzle: self.kind[1],
            outside: 0,
        }
        .encode()
    }
}

/// Where bytes are that a launch is given, and how many.
type Place = (*mut u8, usize);

fn allocate(memory: &Memory, bytes: &[u8]) -> Place {
    let label = Label::new("memory", 4);
    let address = memory.allocate(bytes.len() as u64, 256, Contents::Defined, label);
    let to = std::ptr::with_exposed_provenance_mut::<u8>(address.expect("memory") as usize);
    // SAFETY: it has as many bytes, and nothing runs.
    unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    (to, bytes.len())
}

/// The parameters' bytes, and the memory that the kernel may write.
fn parameters(memory: &Memory, arguments: &[Argument<'_>]) -> (Vec<u8>, Vec<Place>) {
    let (mut parameters, mut written) = (Vec::<u8>::new(), Vec::new());
    for argument in arguments {
        let alignment = if matches!(argument, Argument::Value(_)) {
            4
        } else {
            8
        };
        parameters.resize(parameters.len().next_multiple_of(alignment), 0);
        match argument {
            Argument::Slice(bytes, len) => {
                parameters.extend(allocate(memory, bytes).0.addr().to_le_bytes());
                parameters.extend(len.to_le_bytes());
            }
            Argument::Output(bytes, len) => {
                let place = allocate(memory, bytes);
                written.push(place);
                parameters.extend(place.0.addr().to_le_bytes());
                parameters.extend(len.to_le_bytes());
            }
            Argument::Pointer(bytes) => {
                let place = allocate(memory, bytes);
                written.push(place);
                parameters.extend(place.0.addr().to_le_bytes());
            }
            Argument::Map(matrix) => {
                let place = allocate(memory, &matrix.bytes);
                written.push(place);
                let map = matrix.map(place.0.addr() as u64);
                parameters.extend(allocate(memory, &map).0.addr().to_le_bytes());
            }
            Argument::Value(value) => parameters.extend(value.to_le_bytes()),
        }
    }
    (parameters, written)
}

/// Runs a kernel on the engine, fully checked, and returns what is then in the memory that it may write.
fn run(name: &str, launch: Launch, arguments: &[Argument<'_>]) -> Vec<Vec<u8>> {
    let memory = Arc::new(Memory::default());
    let module = Module::load(&PTX, &memory).expect("PTX");
    let kernel = module.kernel(name).expect("a kernel");
    let (parameters, written) = parameters(&memory, arguments);
    let (mut checker, mut streams) = (Checker::new(), Streams::default());
    let stream = streams.stream();
    let checks = Checks {
        checker: &mut checker,
        operation: streams.enqueue(stream),
        fixed: Vec::new(),
        lent: Vec::new(),
        benign: None,
    };
    let shape = Shape {
        grid: [launch.grid, 1, 1],
        block: [launch.block, 1, 1],
        dynamic_shared: launch.dynamic_shared,
    };
    let options = Options {
        divergence: true,
        steps: 1 << 20,
        cluster: [launch.cluster, 1, 1],
        ..Options::default()
    };
    kernel
        .launch(shape, options, &parameters, &|_| {}, Some(checks))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let read = |(from, bytes): Place| {
        // SAFETY: allocated above with as many, and nothing runs.
        unsafe { std::slice::from_raw_parts(from, bytes) }.to_vec()
    };
    written.into_iter().map(read).collect()
}

/// The elements of 4 bytes in some memory.
fn elements<T: bytemuck::AnyBitPattern>(memory: &[u8]) -> Vec<T> {
    let each = memory.chunks_exact(size_of::<T>());
    each.map(bytemuck::pod_read_unaligned).collect()
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32).collect()
}

#[test]
fn every_kernel_of_the_examples_is_run_here() {
    let names = MODULES.into_iter().flat_map(examples).map(|code| {
        let (_, function) = code.split_once("\npub ").expect("a kernel");
        let (_, name) = function.split_once("fn ").expect("its name");
        name.split('(').next().expect("a name").to_owned()
    });
    let names: Vec<String> = names.collect();
    assert!(names.len() >= 14, "{names:?}");
    for name in names {
        let is_run = include_str!("hopper_examples.rs").contains(&format!("\"{name}\""));
        assert!(is_run, "no test runs {name}");
    }
}

#[test]
fn shared_pointers_lead_to_shared_memory() {
    let x = numbers(64);
    let y = run("swap_halves", Launch::of(64), &[slice(&x), zeros(64)]);
    assert_eq!(elements::<f32>(&y[0]), [&x[32..], &x[..32]].concat());
}

#[test]
fn blocks_of_a_cluster_add_up_and_wait_for_each_other() {
    let launch = Launch {
        grid: 4,
        cluster: 2,
        ..Launch::of(32)
    };
    let x = [1.0_f32, 2.0, 3.0, 6.0];
    let shares = run("mean_shares", launch, &[slice(&x), zeros(2)]);
    assert_eq!(elements::<f32>(&shares[0]), [0.75, 2.25]);
    let launch = Launch { block: 1, ..launch };
    let blocks = run("wait_for_all", launch, &[zeros(2)]);
    assert_eq!(elements::<u32>(&blocks[0]), [2, 2]);
}

#[test]
fn a_launch_behind_another_waits_for_it() {
    let (x, y) = (numbers(40), Argument::Output(vec![0; 160], 40));
    let y = run("double_behind", Launch::of(32), &[slice(&x), y]);
    let doubled: Vec<f32> = x.iter().map(|x| 2.0 * x).collect();
    assert_eq!(elements::<f32>(&y[0]), doubled);
}

#[test]
fn warpgroups_meet_at_a_named_barrier() {
    let x = numbers(128);
    let written = run(
        "reverse",
        Launch::of(256),
        &[slice(&x), zeros(128), zeros(1)],
    );
    let reversed: Vec<f32> = x.into_iter().rev().collect();
    assert_eq!(elements::<f32>(&written[0]), reversed);
    assert_eq!(elements::<u32>(&written[1]), [4], "one thread of each warp");
}

#[test]
fn rings_and_barriers_hand_over_what_copies_bring() {
    let x = numbers(128 * 9);
    let y = run("column_sums", Launch::of(160), &[slice(&x), zeros(128)]);
    let sum = |column: usize| (0..9).map(|row| x[128 * row + column]).sum();
    assert_eq!(
        elements::<f32>(&y[0]),
        (0..128).map(sum).collect::<Vec<f32>>()
    );

    let y = run(
        "copy_in_halves",
        Launch::of(64),
        &[slice(&x[..64]), zeros(64)],
    );
    assert_eq!(elements::<f32>(&y[0]), &x[..64]);

    let y = run("sum_of_products", Launch::of(64), &[zeros(32)]);
    assert_eq!(
        elements::<u32>(&y[0]),
        (0..32).map(|lane| 6 * lane).collect::<Vec<_>>()
    );
}

#[test]
fn boxes_and_bytes_come_and_go() {
    let x = numbers(64 * 8);
    let doubled: Vec<f32> = x.iter().map(|x| 2.0 * x).collect();
    let matrix = |elements: &[f32]| Argument::Map(Matrix::of_f32(elements, [64, 8], [32, 4]));
    let launch = Launch {
        dynamic_shared: 512,
        ..Launch::of(128)
    };
    // One box of the four.
    let written = run(
        "double",
        launch,
        &[matrix(&x), matrix(&[0.0; 512]), matrix(&[1.0; 512])],
    );
    let (to, sum) = (elements::<f32>(&written[1]), elements::<f32>(&written[2]));
    for i in 0..512 {
        let is_in_box = i % 64 < 32 && i / 64 < 4;
        let expected = if is_in_box { doubled[i] } else { 0.0 };
        assert_eq!([to[i], sum[i]], [expected, expected + 1.0], "element {i}");
    }

    let x = Argument::Pointer(bytemuck::cast_slice(&numbers(64)).to_vec());
    let written = run("square_and_copy", Launch::of(64), &[x, zeros(64)]);
    let squares: Vec<f32> = numbers(64).into_iter().map(|x| x * x).collect();
    assert_eq!(elements::<f32>(&written[1]), squares);
}

#[test]
fn blocks_share_the_loads_of_a_cluster() {
    let x = numbers(32 * 12);
    let matrix = Argument::Map(Matrix::of_f32(&x, [32, 12], [32, 2]));
    let launch = Launch {
        grid: 2,
        cluster: 2,
        dynamic_shared: 1024,
        ..Launch::of(64)
    };
    let written = run(
        "shared_loads",
        launch,
        &[matrix, Argument::Value(12), zeros(64)],
    );
    let sum = |column: usize| (0..12).map(|row| x[32 * row + column % 32]).sum();
    assert_eq!(
        elements::<f32>(&written[1]),
        (0..64).map(sum).collect::<Vec<f32>>()
    );
}

/// `count` small whole numbers, which products of `bf16` are exact of.
fn small(count: usize, step: usize) -> Vec<bf16> {
    let number = |i: usize| bf16::from_f32((i * step % 7) as f32 - 3.0);
    (0..count).map(number).collect()
}

/// The sum over `k` of `a(k) b(k)`.
fn dot(depth: usize, a: impl Fn(usize) -> bf16, b: impl Fn(usize) -> bf16) -> f32 {
    (0..depth).map(|k| a(k).to_f32() * b(k).to_f32()).sum()
}

#[test]
fn a_warp_multiplies_matrices() {
    let (a, b) = (small(256, 3), small(128, 5));
    let (rows_a, _) = a.as_chunks::<16>();
    let (rows_b, _) = b.as_chunks::<8>();
    let arguments = [
        Argument::Slice(bytes_of(&a), rows_a.len() as u64),
        Argument::Slice(bytes_of(&b), rows_b.len() as u64),
        zeros(64),
    ];
    let y = run("product", Launch::of(32), &arguments);
    let (y, _) = y[0].as_chunks::<2>();
    let y = y.iter().map(|&bits| bf16::from_le_bytes(bits));
    let expected = (0..128).map(|i| dot(16, |k| rows_a[i / 8][k], |k| rows_b[k][i % 8]));
    assert!(y.map(bf16::to_f32).eq(expected));
}

#[test]
fn a_warpgroup_multiplies_matrices() {
    let (a, b) = (small(64 * 64, 3), small(8 * 64, 5));
    let launch = Launch {
        dynamic_shared: 10 * 1024,
        ..Launch::of(128)
    };
    let maps = [Matrix::of_bf16(&a, 64), Matrix::of_bf16(&b, 8)].map(Argument::Map);
    let [map_a, map_b] = maps;
    let written = run("multiply_tiles", launch, &[map_a, map_b, zeros(512)]);
    let expected = (0..512).map(|i| dot(64, |k| a[64 * (i / 8) + k], |k| b[64 * (i % 8) + k]));
    assert_eq!(elements::<f32>(&written[2]), expected.collect::<Vec<_>>());

    let x = small(16 * 64, 5);
    let launch = Launch {
        dynamic_shared: 3 * 1024,
        ..launch
    };
    let y = run(
        "tile_sums",
        launch,
        &[Argument::Slice(bytes_of(&x), 16), zeros(64)],
    );
    let expected = (0..64).map(|column| dot(16, |_| bf16::ONE, |k| x[64 * k + column]));
    assert_eq!(elements::<f32>(&y[0]), expected.collect::<Vec<_>>());
}

fn bytes_of(elements: &[bf16]) -> &[u8] {
    // SAFETY: a `bf16` is two bytes without padding.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), 2 * elements.len()) }
}
