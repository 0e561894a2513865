//! The emulator as one GPU or another, and the roofs that are measured for it.

use kernels_gpu::polynomial::{Element, Form};
use ridgepoint::driver::{Device, DeviceChoice, DriverError, LaunchConfig};
use ridgepoint::embedded::Polynomial;
use ridgepoint::kernels::{bench, embedded_ptx};
use ridgepoint::measure::{Runs, Sampling};
use ridgepoint::sweep::{Plan, Selection, Settings, Sweep};
use ridgepoint::workload::{Value, Workload};

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

/// Whatever else the machine does makes rows slower, which are means; roofs are of the best times.
#[test]
fn no_kernel_of_a_sweep_is_much_faster_than_its_roof() {
    let bench = bench(&DeviceChoice::Cpu, embedded_ptx()).expect("the emulator");
    let select = |workload: &'static dyn Workload| {
        let mut selection = Selection::defaults(workload, true);
        for (name, values) in &mut selection.values {
            *values = match *name {
                "k" => vec![1000u64.into()],
                "dtype" => ["f32", "f64"].map(Value::from).into(),
                "vector" => vec![4u64.into()],
                "ilp" => vec![1u64.into(), 4u64.into()],
                _ => vec![(1u64 << 14).into()],
            };
        }
        selection
    };
    let plan = Plan {
        selected: vec![select(&Polynomial::POWER_SUM), select(&Polynomial::HORNER)],
        ..Plan::default()
    };
    let runs = Runs {
        warmup: 1,
        timed: 3,
    };
    let sampling = Sampling {
        runs,
        noise_percent: None,
        most: 3,
    };
    let settings = Settings {
        counters: false,
        sampling,
        twice: false,
    };
    // Another test may keep the cores busy while the roofs are measured, and end then.
    const ATTEMPTS: usize = 5;
    let attempt = || -> Result<(), String> {
        let mut sweep = Sweep::new(&bench, &plan, settings).expect("small");
        let count = sweep.points().len();
        for index in 0..count {
            let row = sweep.measure(index, None).expect("it runs");
            let percent = row.percent_roof.expect("there are operations");
            if percent >= 140.0 {
                return Err(format!(
                    "{:?}: {percent} %",
                    (&row.kernel, &row.axes, row.block)
                ));
            }
        }
        Ok(())
    };
    let found: Vec<String> = (0..ATTEMPTS).map_while(|_| attempt().err()).collect();
    assert!(found.len() < ATTEMPTS, "{found:?}");
}
