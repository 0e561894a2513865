//! Counts of the emulator, beside those that the kernels' authors give.

use cuda_std::packed::F16x2;
use itertools::iproduct;
use kernels_gpu::polynomial::{Element, Form, ILPS, WIDTHS};
use ridgepoint::driver::count::{Counts, SECTOR, Space};
use ridgepoint::driver::{Device, DeviceValue, DriverError, Emulation, LaunchConfig, Stream};
use ridgepoint::kernels::embedded_ptx;

const BLOCK: u32 = 64;
const BLOCKS: [u64; 2] = [1, 3];
const DEGREES: [u32; 6] = [1, 2, 10, 50, 127, 136];

/// Form, elements in a vector, vectors a thread.
type Kernel = (Form, u32, u32);

#[test]
fn polynomials_do_and_move_as_much_as_their_formula_says() {
    let device = emulator(true);
    for (width, ilp, blocks, k) in iproduct!(WIDTHS, ILPS, BLOCKS, DEGREES) {
        for form in [Form::Horner, Form::PowerSum] {
            check::<f32>(&device, (form, width, ilp), blocks, (k, 2 * k));
            check::<f64>(&device, (form, width, ilp), blocks, (k, 2 * k));
        }
        check::<F16x2>(&device, (Form::Horner, width, ilp), blocks, (k, 2 * k));
        // Its powers are multiply-adds, whose additions of 0 the formula leaves out.
        let flop = 2 * k + (k - 1);
        check::<F16x2>(&device, (Form::PowerSum, width, ilp), blocks, (k, flop));
    }
}

fn emulator(is_counted: bool) -> Device {
    let emulation = Emulation {
        is_counted,
        ..Emulation::default()
    };
    Device::emulator_with(emulation, embedded_ptx()).expect("the emulator")
}

/// As many elements as all threads work on at once, so that none of them works for nothing.
fn check<T: Element + DeviceValue>(
    device: &Device,
    kernel: Kernel,
    blocks: u64,
    (k, flop_of_number): (u32, u32),
) {
    let (_, width, ilp) = kernel;
    let elements = blocks * u64::from(BLOCK * width * ilp);
    run::<T>(device, kernel, blocks, (elements, k)).expect("it runs");
    let [counts]: [Counts; 1] = device.take_counts().try_into().expect("one kernel");
    assert_eq!(device.take_counts(), [], "they are told once");
    let about = format!("{} of {elements} elements, degree {k}", counts.kernel);

    let numbers = elements * T::from_f64(0.0).numbers().count() as u64;
    assert_eq!(
        counts.flop(),
        u64::from(flop_of_number) * numbers,
        "{about}"
    );
    let one_way = elements * size_of::<T>() as u64;
    assert_eq!(counts.bytes(Space::Global), 2 * one_way, "{about}");
    let sectors = one_way / SECTOR;
    let footprint = &counts.footprint;
    assert_eq!(
        (footprint.read, footprint.written),
        (sectors, sectors),
        "{about}"
    );
    let [x, y] = &footprint.buffers[..] else {
        panic!("{about}: {footprint:?}");
    };
    let mut names = [&x.name[..], &y.name[..]];
    names.sort_unstable();
    assert_eq!(names, ["x", "y"], "{about}");
    // A vector of 32 bytes is two accesses, each of which touches half of every sector.
    let accesses = (u64::from(width) * size_of::<T>() as u64).div_ceil(16);
    for memory in counts.instructions.iter().flat_map(|it| &it.memory) {
        let sectors = accesses * memory.least_sectors;
        assert_eq!(memory.sectors, sectors, "{about}: {memory:?}");
    }
    let has_source = counts.instructions.iter().any(|it| {
        let source = it.source.as_ref();
        source.is_some_and(|it| it.file.ends_with("polynomial.rs"))
    });
    assert!(has_source, "{about}");
}

fn run<T: Element + DeviceValue>(
    device: &Device,
    (form, width, ilp): Kernel,
    blocks: u64,
    (elements, k): (u64, u32),
) -> Result<(), DriverError> {
    let x = device.buffer_filled(elements as usize, T::from_f64(T::X))?;
    let mut y = device.buffer_filled(elements as usize, T::from_f64(0.0))?;
    let entry = T::kernel(form, width, ilp).expect("there is one");
    let prepared = device.prepare(entry, LaunchConfig::blocks(blocks, BLOCK))?;
    let stream = Stream::new(device)?;
    // SAFETY: `y` has as many elements as `x`, and both live until the stream is synchronised.
    unsafe { prepared.launch(&stream, &(x.slice(..), y.slice_mut(..), k)) }?;
    stream.synchronize()
}

#[test]
fn what_is_not_asked_for_is_not_counted_and_what_has_no_ptx_cannot_be() {
    let small = (u64::from(BLOCK), 3);
    let device = emulator(false);
    run::<f32>(&device, (Form::Horner, 1, 1), 1, small).expect("it runs");
    assert_eq!(device.take_counts(), []);

    let asked = Emulation {
        is_counted: true,
        ..Emulation::default()
    };
    let counting = device.with_emulation(asked.clone()).expect("an emulator");
    for _ in 0..2 {
        run::<f32>(&counting, (Form::Horner, 1, 1), 1, small).expect("it runs");
    }
    let counts = counting.take_counts();
    assert_eq!(
        (counts.len(), counts[0].launches, counts[0].blocks),
        (1, 2, 2)
    );

    let without = Device::emulator(asked);
    let refused = run::<f32>(&without, (Form::Horner, 1, 1), 1, small);
    let text = refused.expect_err("it has no PTX").to_string();
    assert!(text.contains("counts"), "{text}");
}
