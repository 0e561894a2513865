//! Executes nvcc/execution.cu and nvcc/int128.cu as nvcc compiles them.

use std::sync::{Arc, Mutex};

use engine::memory::{Allocation, Contents, Kind, Label, Memory};
use engine::{LaunchError, Module, Options, Schedule, Shape};

const PTX: &str = include_str!("nvcc/execution.ptx");

/// A module and memory of its own.
struct Device {
    memory: Arc<Memory>,
    module: Module,
    said: Mutex<String>,
    options: Options,
}

/// A parameter of a launch: bytes.
type Parameter = Vec<u8>;

/// Elements in device memory.
struct Buffer<T> {
    address: u64,
    len: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Copy> Buffer<T> {
    fn parameter(&self) -> Parameter {
        value(self.address)
    }

    fn values(&self) -> Vec<T> {
        let from = std::ptr::with_exposed_provenance::<T>(self.address as usize);
        // SAFETY: allocated with so many elements, and nothing runs.
        unsafe { std::slice::from_raw_parts(from, self.len) }.to_vec()
    }
}

fn value<T: Copy>(value: T) -> Parameter {
    // SAFETY: the test's values have no padding that is read.
    unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) }.to_vec()
}

impl Device {
    fn new() -> Device {
        Device::of(PTX)
    }

    fn of(ptx: &str) -> Device {
        let memory = Arc::default();
        Device {
            module: Module::load(ptx, &memory).expect("PTX"),
            memory,
            said: Mutex::default(),
            options: Options {
                divergence: true,
                ..Options::default()
            },
        }
    }

    fn buffer<T: Copy>(&self, values: &[T]) -> Buffer<T> {
        let bytes = size_of_val(values) as u64;
        let label = Label::new("", size_of::<T>() as u32);
        let address = self
            .memory
            .allocate(bytes, 256, Contents::Defined, label)
            .expect("memory");
        let to = std::ptr::with_exposed_provenance_mut::<T>(address as usize);
        // SAFETY: allocated above for so many.
        unsafe { to.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Buffer {
            address,
            len: values.len(),
            element: std::marker::PhantomData,
        }
    }

    fn try_launch(
        &self,
        name: &str,
        grid: u32,
        block: u32,
        parameters: &[Parameter],
    ) -> Result<(), LaunchError> {
        let kernel = self.module.kernel(name).expect("a kernel of this name");
        let addresses: Vec<*const u8> = parameters.iter().map(|it| it.as_ptr()).collect();
        // SAFETY: each has the bytes of its parameter.
        let packed = unsafe { kernel.pack(&addresses) };
        let shape = Shape {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            dynamic_shared: 8 * block,
        };
        kernel.launch(
            shape,
            self.options.clone(),
            &packed,
            &|text| {
                self.said.lock().expect("no panic").push_str(text);
            },
            None,
        )
    }

    fn launch(&self, name: &str, grid: u32, block: u32, parameters: &[Parameter]) {
        if let Err(error) = self.try_launch(name, grid, block, parameters) {
            panic!("{error}");
        }
    }

    fn failure(&self, name: &str, grid: u32, block: u32, parameters: &[Parameter]) -> String {
        self.try_launch(name, grid, block, parameters)
            .expect_err("a failure")
            .to_string()
    }
}

/// On one device in order, and under seeds.
fn in_all_orders(case: impl Fn(&Device)) {
    let mut device = Device::new();
    case(&device);
    for seed in 0..8 {
        device.options.schedule = Schedule::Seeded(seed);
        case(&device);
    }
}

#[test]
fn lanes_go_round_loops_in_different_numbers() {
    in_all_orders(|device| {
        let numbers: Vec<u32> = (1..=100).collect();
        let (n, steps) = (device.buffer(&numbers), device.buffer(&[u32::MAX; 100]));
        device.launch(
            "collatz",
            2,
            64,
            &[n.parameter(), steps.parameter(), value(100i32)],
        );
        let expected = numbers.iter().map(|&n| {
            let next = |x: &u32| (*x != 1).then(|| if x % 2 == 1 { 3 * x + 1 } else { x / 2 });
            std::iter::successors(Some(n), next).count() as u32 - 1
        });
        assert_eq!(steps.values(), expected.collect::<Vec<_>>());
    });
}

#[test]
fn blocks_reduce_through_shared_memory_and_shuffles() {
    in_all_orders(|device| {
        let x: Vec<f32> = (0..1000).map(|i| (i % 17) as f32).collect();
        let (input, sums) = (device.buffer(&x), device.buffer(&[0f32; 4]));
        device.launch(
            "block_sum",
            4,
            256,
            &[input.parameter(), sums.parameter(), value(1000i32)],
        );
        let expected: Vec<f32> = x.chunks(256).map(|part| part.iter().sum()).collect();
        assert_eq!(sums.values(), expected);
    });
}

#[test]
fn ended_warps_do_not_hold_barriers_up() {
    in_all_orders(|device| {
        let out = device.buffer(&[0i32; 96]);
        device.launch("early_exit", 1, 96, &[out.parameter()]);
        let there = (0..32).chain(64..96);
        let count = there.clone().filter(|thread| thread % 3 == 0).count();
        for thread in there {
            assert_eq!(out.values()[thread], count as i32);
        }
    });
}

#[test]
fn functions_call_themselves() {
    in_all_orders(|device| {
        let n: Vec<i32> = (0..40).map(|i| i % 12).collect();
        let (input, out) = (device.buffer(&n), device.buffer(&[0i32; 40]));
        device.launch("recursion", 1, 40, &[input.parameter(), out.parameter()]);
        fn fibonacci(n: i32) -> i32 {
            if n < 2 {
                n
            } else {
                fibonacci(n - 1) + fibonacci(n - 2)
            }
        }
        assert_eq!(
            out.values(),
            n.iter().map(|&n| fibonacci(n)).collect::<Vec<_>>()
        );
    });
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Pair {
    a: f64,
    b: i16,
    c: i8,
    padding: [u8; 5],
}

#[test]
fn structs_are_passed_and_returned() {
    in_all_orders(|device| {
        let out = device.buffer(&[Pair::default(); 40]);
        let pair = Pair {
            a: 1.25,
            b: -7,
            c: 3,
            padding: [0; 5],
        };
        device.launch("structs", 1, 40, &[value(pair), out.parameter()]);
        for (thread, got) in out.values().iter().enumerate() {
            let a = (1.25 * 2.0 + thread as f64) * 2.0 + 0.5;
            assert_eq!((got.a, got.b, got.c), (a, -28, 12));
        }
    });
}

#[test]
fn functions_are_called_by_address() {
    in_all_orders(|device| {
        let which: Vec<i32> = (0..64).map(|i| i * 7 % 3).collect();
        let (input, out) = (device.buffer(&which), device.buffer(&[0i32; 64]));
        device.launch("indirect", 1, 64, &[input.parameter(), out.parameter()]);
        let expected = (0..64).map(|i| match which[i as usize] {
            0 => (i + 10) / 2,
            1 => (i + 10) * (i + 10),
            _ => -(i + 10),
        });
        assert_eq!(out.values(), expected.collect::<Vec<i32>>());
    });
}

#[test]
fn branches_go_by_tables() {
    in_all_orders(|device| {
        let which: Vec<i32> = (0..64).map(|i| i * 5 % 9).collect();
        let (input, out) = (device.buffer(&which), device.buffer(&[0i32; 64]));
        device.launch("jump_table", 1, 64, &[input.parameter(), out.parameter()]);
        let expected = (0..64).map(|x: i32| match which[x as usize] {
            0 => x + 7,
            1 => x * 5,
            2 => x - 3,
            3 => x ^ 0x55,
            4 => x << 2,
            5 => !x,
            6 => x | 0x100,
            _ => -1,
        });
        assert_eq!(out.values(), expected.collect::<Vec<_>>());
    });
}

#[test]
fn threads_have_arrays_of_their_own() {
    in_all_orders(|device| {
        let index: Vec<i32> = (0..65).map(|i| i * 3 % 16).collect();
        let (input, out) = (device.buffer(&index), device.buffer(&[0i32; 64]));
        device.launch("local_array", 1, 64, &[input.parameter(), out.parameter()]);
        let expected = (0..64).map(|thread: i32| {
            let of = |i: i32| i * i + thread + if i == index[thread as usize] { 1000 } else { 0 };
            of(index[thread as usize + 1] & 15) + of(3)
        });
        assert_eq!(out.values(), expected.collect::<Vec<_>>());
    });
}

#[test]
fn variables_of_the_module_have_their_first_values() {
    let device = Device::new();
    let out = device.buffer(&[0f32; 64]);
    device.launch("globals", 1, 64, &[out.parameter()]);
    let weights = [0.5, 1.5, -2.0, 4.0];
    let expected = (0..64).map(|i| weights[i % 4] + 1.0);
    assert_eq!(out.values(), expected.collect::<Vec<f32>>());
    let counter = device.module.bytes("counter").expect("a variable");
    assert_eq!(i32::from_le_bytes(counter.try_into().expect("4 bytes")), 69);
}

#[test]
fn kernels_print() {
    let device = Device::new();
    let name = device.buffer(b"world\0");
    device.launch("say", 1, 32, &[name.parameter()]);
    let said = device.said.lock().expect("no panic");
    assert_eq!(*said, "world -3  2.50|7   |0xff z 1099511627776%\n");
}

#[test]
fn assertions_are_told() {
    let said = Device::new().failure("asserts", 1, 32, &[value(7i32)]);
    let expected = "asserts: block [0, 0, 0], thread [7, 0, 0]: assertion `int(threadIdx.x) < limit` failed in";
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn kernels_have_a_heap() {
    in_all_orders(|device| {
        let out = device.buffer(&[0i32; 64]);
        device.launch("heap", 1, 64, &[out.parameter()]);
        assert_eq!(out.values(), (0..64).map(|i| 28 * i).collect::<Vec<i32>>());
        let left = device.memory.allocations().into_iter();
        let is_heap = |it: &Allocation| matches!(it.kind, Kind::Heap { .. });
        assert_eq!(left.filter(is_heap).count(), 0);
    });
}

#[test]
fn lanes_wait_for_lanes_of_their_warp() {
    in_all_orders(|device| {
        let (flag, out) = (device.buffer(&[0i32]), device.buffer(&[0i32]));
        device.launch("own_warp", 1, 32, &[flag.parameter(), out.parameter()]);
        assert_eq!(out.values(), [42]);
    });
}

#[test]
fn blocks_wait_for_blocks_that_begin_later() {
    in_all_orders(|device| {
        let flags = device.buffer(&[0i32; 65]);
        device.launch("chain", 64, 32, &[flags.parameter()]);
        let expected = (0..65).map(|i| 64 - i).collect::<Vec<i32>>();
        assert_eq!(flags.values(), expected);
    });
}

#[test]
fn warps_vote_match_and_reduce() {
    in_all_orders(|device| {
        let x: Vec<u32> = (0..32).map(|i| i * 37 % 101).collect();
        let (input, out) = (device.buffer(&x), device.buffer(&[0u32; 32]));
        device.launch("warp_words", 1, 32, &[input.parameter(), out.parameter()]);
        let mask =
            |f: &dyn Fn(usize) -> bool| (0..32).filter(|&i| f(i)).fold(0u32, |m, i| m | 1 << i);
        let ballot = mask(&|i| x[i] & 1 == 1);
        let expected = (0..32).map(|lane: usize| {
            let same = mask(&|i| x[i] % 5 == x[lane] % 5);
            let members = if lane < 16 { 0..16 } else { 16..32 };
            let sum: u32 = x[members].iter().sum();
            ballot ^ same ^ sum ^ x[lane ^ 5] ^ x[lane / 8 * 8 + 3] ^ 1 ^ u32::MAX
        });
        assert_eq!(out.values(), expected.collect::<Vec<_>>());
    });
}

#[test]
fn shuffles_at_two_places_meet() {
    in_all_orders(|device| {
        let out = device.buffer(&[0i32; 32]);
        device.launch("two_places", 1, 32, &[out.parameter()]);
        let expected = (0..32).map(|lane| match lane < 16 {
            true => (lane + 16) * 3,
            false => (lane - 16) * 2,
        });
        assert_eq!(out.values(), expected.collect::<Vec<i32>>());
    });
}

#[test]
fn vectors_are_loaded_and_stored() {
    in_all_orders(|device| {
        let x: Vec<[f32; 4]> = (0..40)
            .map(|i| [0.0, 0.25, 0.5, 0.75].map(|part| i as f32 + part))
            .collect();
        let a: Vec<[i16; 2]> = (0..40).map(|i| [i, -2 * i]).collect();
        let c: Vec<[i8; 4]> = (0..40).map(|i| [i, -i, 2, -3]).collect();
        let buffers = (device.buffer(&x), device.buffer(&[[0f32; 4]; 40]));
        let shorts = (device.buffer(&a), device.buffer(&[[0i16; 2]; 40]));
        let bytes = (device.buffer(&c), device.buffer(&[0i32; 40]));
        let parameters = [
            buffers.0.parameter(),
            buffers.1.parameter(),
            shorts.0.parameter(),
            shorts.1.parameter(),
            bytes.0.parameter(),
            bytes.1.parameter(),
        ];
        device.launch("vectors", 1, 40, &parameters);
        let turned = |&[a, b, c, d]: &[f32; 4]| [d, c, b, a];
        assert_eq!(buffers.1.values(), x.iter().map(turned).collect::<Vec<_>>());
        assert_eq!(
            shorts.1.values(),
            a.iter().map(|&[x, y]| [y, -x]).collect::<Vec<_>>()
        );
        let sum = |&[a, b, c, d]: &[i8; 4]| {
            i32::from(a) + 2 * i32::from(b) + 3 * i32::from(c) + 4 * i32::from(d)
        };
        assert_eq!(bytes.1.values(), c.iter().map(sum).collect::<Vec<_>>());
    });
}

#[test]
fn dynamic_shared_memory_is_the_launchs() {
    in_all_orders(|device| {
        let x: Vec<f64> = (0..128).map(f64::from).collect();
        let (input, out) = (device.buffer(&x), device.buffer(&[0f64; 128]));
        device.launch("reversed", 1, 128, &[input.parameter(), out.parameter()]);
        assert_eq!(out.values(), x.iter().rev().copied().collect::<Vec<_>>());
    });
}

#[test]
fn carries_go_from_sum_to_sum() {
    in_all_orders(|device| {
        let a: Vec<u128> = (0..40)
            .map(|i| (u128::MAX / 3).wrapping_mul(i).wrapping_add((1 << 32) - 1))
            .collect();
        let b: Vec<u128> = (0..40)
            .map(|i| (u128::MAX / 7).wrapping_add(i << 95))
            .collect();
        let (x, y, sum) = (
            device.buffer(&a),
            device.buffer(&b),
            device.buffer(&[0u128; 40]),
        );
        device.launch(
            "carries",
            1,
            40,
            &[x.parameter(), y.parameter(), sum.parameter()],
        );
        let expected = a.iter().zip(&b).map(|(&a, &b)| a.wrapping_add(b));
        assert_eq!(sum.values(), expected.collect::<Vec<_>>());
    });
}

#[test]
fn accesses_out_of_bounds_are_told_with_thread_and_line() {
    let device = Device::new();
    let (x, y) = (device.buffer(&[0i32; 40]), device.buffer(&[0i32; 40]));
    let said = device.failure(
        "out_of_bounds",
        1,
        40,
        &[x.parameter(), y.parameter(), value(5i32)],
    );
    assert!(said.starts_with("out_of_bounds: out of bounds: block [0, 0, 0], thread [35, 0, 0] reads element 40 of a buffer (of 40) at "), "{said}");
    let line = SOURCE
        .lines()
        .position(|line| line.contains("void out_of_bounds"));
    let place = format!("execution.cu:{}", line.expect("it is there") + 1);
    assert!(said.ends_with(&place), "{said}, not at {place}");
}

const SOURCE: &str = include_str!("nvcc/execution.cu");

#[test]
fn endless_loops_end() {
    let mut device = Device::new();
    device.options.steps = 100_000;
    let flag = device.buffer(&[0i32]);
    let said = device.failure("never", 1, 1, &[flag.parameter()]);
    assert!(
        said.contains(
            "waits for ever for what nobody writes: it reads element 0 of a buffer (of 1)"
        ),
        "{said}"
    );
}

#[test]
fn blocks_that_cannot_go_on_say_who_waits() {
    let mut device = Device::new();
    device.options.divergence = false;
    let said = device.failure("stuck", 1, 64, &[]);
    let expected = "stuck: block [0, 0, 0] cannot go on: 32 threads, the first [32, 0, 0], wait at barrier \
        1 for 96 threads at ";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.ends_with("execution.cu:158"), "{said}");
}

#[test]
fn launches_with_too_few_parameters_are_refused() {
    let device = Device::new();
    let kernel = device.module.kernel("recursion").expect("a kernel");
    let shape = Shape {
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
    };
    let error = kernel
        .launch(shape, Options::default(), &[0; 8], &|_| (), None)
        .expect_err("too few");
    assert_eq!(
        error.to_string(),
        "recursion has 16 bytes of parameters; 8 were given"
    );
}

#[test]
fn integers_of_128_bits_are_divided() {
    let device = Device::of(include_str!("nvcc/int128.ptx"));
    let quotients = device.buffer(&[0u64; 64]);
    let of_thread = |thread: usize| ((thread as u128) << 70 | 5) * 3;
    let check = |what: &str, expected: &dyn Fn(u128) -> u128| {
        for (thread, actual) in quotients.values().into_iter().enumerate() {
            let expected = expected(of_thread(thread)) as u64;
            assert_eq!(actual, expected, "{what} in thread {thread}");
        }
    };
    device.launch("div7", 1, 64, &[quotients.parameter()]);
    assert_eq!(
        quotients.values()[..3],
        [0, 117_804_817_261, 235_609_634_523]
    );
    check("/ 7", &|a| (a / 7) >> 32);
    for divisor in [1u64, 3, 7, 10, 0x1_0000_0001, 1 << 63, u64::MAX] {
        let parameters = [quotients.parameter(), value(divisor)];
        device.launch("mod7", 1, 64, &parameters);
        check(&format!("% {divisor}"), &|a| a % u128::from(divisor));
        device.launch("divv", 1, 64, &parameters);
        check(&format!("/ {divisor}"), &|a| {
            (a / u128::from(divisor)) >> 32
        });
    }
}
