//! `cuda_std::shared`, `constant`, `mem`, `vector`.

use conformance_kernels::memory;
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::LaunchConfig;

use crate::kernel::refused;
use crate::support::{Case, expected, launch, words};

pub(crate) const CASES: &[Case] = &[
    ("shared::values_of_1_to_16_bytes", values_of_1_to_16_bytes),
    ("shared::generic_arrays", generic_arrays),
    ("shared::unrolled", unrolled),
    ("shared::statics", statics),
    ("shared::dynamic", dynamic),
    ("shared::parts", parts),
    ("mem::heap", heap),
    ("vector::accesses", vector_accesses),
    ("vector::copy", vector_copy),
    ("vector::copy_strided", vector_copy_strided),
];

fn values_of_1_to_16_bytes(device: &Device) -> Result<(), Failed> {
    const COUNT: usize = 3 * memory::BLOCK;
    macro_rules! turned {
        ($entry:expr, $value:expr) => {{
            let values: Vec<_> = (0..COUNT as u64).map($value).collect();
            let mut buffer = device.buffer_from(&values)?;
            launch!(
                device,
                $entry,
                LaunchConfig::blocks(3, 64),
                buffer.slice_mut(..)
            );
            let expected: Vec<_> = values
                .chunks(memory::BLOCK)
                .flat_map(|block| block.iter().rev().copied())
                .collect();
            equal(&buffer.to_vec()?, &expected)?;
        }};
    }
    turned!(memory::turn_1::entry(), |i| i as u8);
    turned!(memory::turn_2::entry(), |i| i as u16 * 300);
    turned!(memory::turn_4::entry(), |i| i as u32 * 300_000);
    turned!(memory::turn_8::entry(), |i| i << 40 | i);
    turned!(memory::turn_12::entry(), |i| [i as u32, 7, i as u32 * 9]);
    turned!(memory::turn_16::entry(), |i| [i, i << 50]);
    Ok(())
}

fn generic_arrays(device: &Device) -> Result<(), Failed> {
    let shape = LaunchConfig::blocks(2, 64);
    let actual = words!(device, memory::generic_arrays::entry(), shape, 2);
    let expected = expected(shape, |_, own| {
        let other = 63 - own;
        [other.into(), (-(other as f32)).to_bits().into()]
    });
    equal(&actual, &expected)
}

fn unrolled(device: &Device) -> Result<(), Failed> {
    let shape = LaunchConfig::blocks(2, 64);
    let actual = words!(device, memory::unrolled::entry(), shape, 1);
    let expected = expected(shape, |_, own| {
        [(0..4).map(|round| u64::from((own + round) % 64)).sum()]
    });
    equal(&actual, &expected)
}

fn statics(device: &Device) -> Result<(), Failed> {
    let shape = LaunchConfig::blocks(2, 64);
    let actual = words!(device, memory::statics::entry(), shape, 3);
    let expected = expected(shape, |_, own| {
        let at = own as usize % 8;
        [
            u64::from(63 - own) * 3,
            [3, 1, 4, 1, 5, 9, 2, 6][at],
            [2, 3, 5, 7, 11, 13, 17, 19][at],
        ]
    });
    equal(&actual, &expected)
}

fn dynamic(device: &Device) -> Result<(), Failed> {
    // The second is more than a block has without being asked for.
    for (threads, bytes) in [(100, 400), (256, 100 * 1024)] {
        let shape = LaunchConfig::blocks(2, threads).with_dynamic_shared(bytes);
        let actual = words!(device, memory::dynamic::entry(), shape, 3);
        let expected = expected(shape, |_, own| {
            [u64::from(threads - 1 - own) + 7, bytes.into(), 1]
        });
        equal(&actual, &expected)?;
    }
    let too_much = LaunchConfig::blocks(1, 32).with_dynamic_shared(228 * 1024);
    refused(
        device,
        memory::dynamic::entry(),
        too_much,
        "bytes of dynamic shared memory",
    )
}

fn parts(device: &Device) -> Result<(), Failed> {
    // The second part begins at a multiple of 8.
    for (threads, distance) in [(100, 104), (128, 128)] {
        let shape = LaunchConfig::blocks(2, threads).with_dynamic_shared(9 * threads + 7);
        let actual = words!(device, memory::parts::entry(), shape, 3);
        let expected = expected(shape, |_, own| {
            let other = u64::from(threads - 1 - own);
            [other, 3 * other, distance]
        });
        equal(&actual, &expected)?;
    }
    Ok(())
}

fn heap(device: &Device) -> Result<(), Failed> {
    let shape = LaunchConfig::blocks(2, 64);
    let actual = words!(device, memory::heap::entry(), shape, 1);
    let expected = expected(shape, |_, own| [(0..10 + u64::from(own)).sum()]);
    equal(&actual, &expected)
}

fn vector_accesses(device: &Device) -> Result<(), Failed> {
    const THREADS: usize = 2 * 64;
    macro_rules! turned {
        ($kernel:ident: $ty:ident $n:literal) => {{
            let values: Vec<$ty> = (0..THREADS * $n).map(|i| i as $ty).collect();
            let from = device.buffer_from(&values)?;
            let mut to = device.buffer_filled(values.len(), 0 as $ty)?;
            let (shape, entry) = (LaunchConfig::blocks(2, 64), memory::$kernel::entry());
            launch!(device, entry, shape, from.slice(..), to.slice_mut(..));
            let groups = values.chunks($n);
            let expected: Vec<$ty> = groups
                .flat_map(|group| group.iter().rev().copied())
                .collect();
            equal(&to.to_vec()?, &expected)?;
        }};
    }
    turned!(vectors_3: u16 3);
    turned!(vectors_8: f32 2);
    turned!(vectors_16: f32 4);
    turned!(vectors_32: f64 4);
    Ok(())
}

fn vector_copy(device: &Device) -> Result<(), Failed> {
    let values: Vec<u16> = (0..64 * 8).map(|i| i * 100 + 1).collect();
    let from = device.buffer_from(&values)?;
    let mut to = device.buffer_filled(values.len(), 0u16)?;
    let (shape, entry) = (LaunchConfig::blocks(1, 64), memory::vector_copy::entry());
    launch!(device, entry, shape, from.slice(..), to.slice_mut(..));
    equal(&to.to_vec()?, &values)
}

fn vector_copy_strided(device: &Device) -> Result<(), Failed> {
    let values: Vec<u16> = (0..2 * 64 * 24).map(|i| i as u16).collect();
    let from = device.buffer_from(&values)?;
    let mut to = device.buffer_filled(values.len(), 0u16)?;
    let (shape, entry) = (
        LaunchConfig::blocks(2, 64),
        memory::vector_copy_strided::entry(),
    );
    launch!(device, entry, shape, from.slice(..), to.slice_mut(..));
    equal(&to.to_vec()?, &values)
}
