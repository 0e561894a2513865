//! The emulator as one GPU or another.

use kernels_gpu::polynomial::{Element, Form};
use ridgepoint::driver::{Device, DeviceChoice, DriverError, LaunchConfig};

fn open(name: &str) -> Device {
    let choice: DeviceChoice = name.parse().expect("the emulator knows it");
    assert_eq!(choice.to_string(), name);
    Device::open(&choice, &[]).expect("the emulator is always there")
}

#[test]
fn launches_keep_the_limits_of_the_gpu_that_is_emulated() {
    let refused = |device: &Device, shape| {
        let kernel = f32::kernel(Form::Horner, 4, 1).expect("there is one");
        let prepared = device.prepare(kernel, shape).map(|_| ());
        prepared.err().map(|error| error.to_string())
    };
    let shared = |bytes| LaunchConfig::blocks(1, 32).with_dynamic_shared(bytes);
    for (name, kib) in [("cpu:sm_75", 64), ("cpu:sm_80", 163), ("cpu:sm_89", 99)] {
        let device = open(name);
        assert_eq!(refused(&device, shared(kib << 10)), None, "{name}");
        let text = refused(&device, shared((kib << 10) + 1)).expect("a byte too much");
        let bytes = (kib << 10) + 1;
        let expected = format!(
            "{bytes} bytes of dynamic shared memory; CPU emulator of {}",
            &name[4..]
        );
        assert!(text.contains(&expected), "{text}");
    }
    for name in ["cpu", "cpu:sm_90", "cpu:sm_100"] {
        let device = open(name);
        assert_eq!(refused(&device, shared(227 << 10)), None, "{name}");
        assert!(
            refused(&device, shared((227 << 10) + 1)).is_some(),
            "{name}"
        );
        assert!(
            refused(&device, LaunchConfig::blocks(1, 1025)).is_some(),
            "{name}"
        );
        assert!(
            refused(&device, LaunchConfig::blocks(1 << 31, 32)).is_some(),
            "{name}"
        );
    }
}

#[test]
fn a_buffer_without_contents_is_not_taken_for_zeros() -> Result<(), DriverError> {
    let buffer = open("cpu").buffer_uninitialized::<u32>(1000)?;
    assert_eq!(buffer.to_vec()?, [u32::MAX; 1000]);
    Ok(())
}
