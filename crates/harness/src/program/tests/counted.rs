//! Programs whose launches the hardware has counted.

use recording::{Counted, Device, End, Record, Recording, Text};

use super::script::{Script, US, program};
use crate::measure::launch_metrics;
use crate::model::{GpuRoofs, Limit};
use crate::program::{Analysis, Counts, KernelRow, Program, Roofline, Uncounted, text};
use crate::table::Width;

/// A launch that was counted: its kernel, and a part of each metric's name with its value.
type Launch<'l> = (&'l str, &'l [(&'l str, u64)]);

/// A run that has counted launches on a GPU, which has these metrics.
fn counted(device: &str, launches: &[Launch<'_>], metrics: &[&str]) -> Recording {
    let mut records = vec![Record::Device(Device {
        id: 0,
        name: device.to_owned(),
    })];
    let text = |text: &str, records: &mut Vec<Record>| {
        let id = records.len() as u32;
        let text = text.to_owned();
        records.push(Record::Text(Text { id, text }));
        id
    };
    for (kernel, counts) in launches {
        let kernel = text(kernel, &mut records);
        let counts = metrics.iter().map(|metric| {
            let count = counts.iter().find(|(part, _)| metric.contains(part));
            (text(metric, &mut records), count.map_or(0, |it| it.1))
        });
        let counts = counts.collect();
        records.push(Record::Counted(Counted {
            kernel,
            grid: [1; 3],
            block: [256, 1, 1],
            device: 0,
            correlation: 1,
            counts,
            problem: 0,
        }));
    }
    records.push(Record::End(End {
        time: 1,
        lost: 0,
        cost: 0,
    }));
    Recording {
        records,
        refused: 0,
    }
}

const GPU: &str = "NVIDIA H100";

/// Two launches of 100 us, one of 1 ms, and one that no run counts, on one GPU.
fn roofline(counts: &Counts) -> (Program, Roofline) {
    let mut script = Script::new();
    let launch = script.call("cudaLaunchKernel_v7000", 37, (10, 15));
    for step in 0..2 {
        script.kernel("_Z4nrm2PKd", (7, launch), (100 * step, 100 * step + 100));
    }
    script.kernel("gemm", (7, launch), (300, 1300));
    script.kernel("other", (7, launch), (1300, 1310));
    let program = program(script.end(2000));
    let gpu = GpuRoofs::named("h200").expect("known");
    let roofline = Roofline::of(&program, counts, Some(&gpu));
    (program, roofline)
}

fn row<'r>(roofline: &'r Roofline, name: &str) -> &'r KernelRow {
    let row = roofline.kernels.iter().find(|it| it.name == name);
    row.unwrap_or_else(|| panic!("{name} is not in {:?}", roofline.kernels))
}

fn said(program: &Program, roofline: Roofline) -> String {
    let mut analysis = Analysis::of(program);
    analysis.roofline = Some(roofline);
    let json = serde_json::to_string(&analysis).expect("JSON");
    let read: Analysis = serde_json::from_str(&json).expect("an analysis");
    assert_eq!(read, analysis);
    text(&analysis, Width::Any)
}

const GEMM: Launch<'_> = (
    "gemm",
    &[("bytes_read", 1000), ("src_fp16.sum", 593_640_000_000)],
);

#[test]
fn kernels_lie_where_their_times_and_counts_put_them() {
    // On average 240 MB in 100 us, of which an H200 moves 480.
    let nrm2 = |read| {
        [
            ("bytes_read", read),
            ("bytes_write", 1_000_000),
            ("op_dfma", 30_000_000),
            ("lts__t_sectors", 8_000_000),
        ]
    };
    let launches: [Launch<'_>; 3] = [
        ("_Z4nrm2PKd", &nrm2(229_000_000)),
        ("_Z4nrm2PKd", &nrm2(249_000_000)),
        GEMM,
    ];
    let run = counted(GPU, &launches, &launch_metrics());
    let (program, roofline) = roofline(&Counts::of(&[run]));
    assert_eq!(roofline.kernels.len(), 2);
    let nrm2 = row(&roofline, "nrm2");
    assert_eq!((&*nrm2.symbol, nrm2.launches), ("_Z4nrm2PKd", 2));
    assert_eq!(nrm2.place.to_string(), "train.py:37");
    assert_eq!((nrm2.bytes, nrm2.l2_bytes), (480e6, Some(512e6)));
    assert_eq!((nrm2.flop, nrm2.flop_per_byte), (Some(120e6), Some(0.25)));
    assert_eq!((nrm2.gbytes_per_s, nrm2.gflop_per_s), (2400.0, Some(600.0)));
    assert_eq!(
        (&nrm2.precisions[..], nrm2.is_even),
        (&["f64".to_owned()][..], true)
    );
    let under = nrm2.under.as_ref().expect("roofs");
    assert_eq!((&*under.roof, &*under.bound), ("memory", "latency"));
    assert!((under.percent - 50.0).abs() < 0.01, "{under:?}");
    let gemm = row(&roofline, "gemm");
    let under = gemm.under.as_ref().expect("roofs");
    assert_eq!(under.roof, Limit::Tensor.name());
    assert!((under.percent - 60.0).abs() < 0.01, "{under:?}");
    assert_eq!(gemm.tensor_types, ["f16"]);
    let other = Uncounted {
        launches: 1,
        total_ns: 10.0 * US as f64,
    };
    assert_eq!(
        (roofline.uncounted, roofline.in_graphs.launches),
        (other, 0)
    );

    let said = said(&program, roofline);
    for part in [
        "Kernels under the roofs of NVIDIA H200 (data sheet)",
        "60 tensor",
        "  gemm: Tensor cores wait for operands",
        "  nrm2: The launch is too small to fill the GPU",
        "Not counted: 1 launch in shapes of which the second run counted none, 10.00 us in all.",
    ] {
        assert!(said.contains(part), "{part:?} is not in\n{said}");
    }
    assert!(!said.contains("Uneven"), "{said}");
}

#[test]
fn launches_of_one_shape_that_do_not_do_the_same_are_told() {
    let launches: [Launch<'_>; 2] = [
        ("gemm", &[("bytes_read", 1000), ("op_ffma", 1000)]),
        ("gemm", &[("bytes_read", 1000), ("op_ffma", 2000)]),
    ];
    let run = counted(GPU, &launches, &launch_metrics());
    let (program, uneven) = roofline(&Counts::of(&[run]));
    assert!(!row(&uneven, "gemm").is_even);
    let said = said(&program, uneven);
    assert!(
        said.contains("the first three stand for all, of gemm."),
        "{said}"
    );
}

#[test]
fn counts_are_those_of_the_devices_name() {
    let run = counted("NVIDIA A100", &[GEMM], &launch_metrics());
    let (_, roofline) = roofline(&Counts::of(&[run]));
    assert_eq!(
        (roofline.kernels.len(), roofline.uncounted.launches),
        (0, 4)
    );
}

#[test]
fn metrics_that_a_gpu_lacks_and_launches_that_fail_are_told() {
    let metrics = launch_metrics();
    let known: Vec<&str> = metrics
        .into_iter()
        .filter(|it| !it.contains("src_fp8"))
        .collect();
    let mut run = counted(GPU, &[GEMM], &known);
    run.records.pop();
    let problem = Text {
        id: 1000,
        text: "no room".to_owned(),
    };
    run.records.push(Record::Text(problem));
    run.records.push(Record::Counted(Counted {
        kernel: 1,
        grid: [2, 1, 1],
        block: [256, 1, 1],
        device: 0,
        correlation: 2,
        counts: Vec::new(),
        problem: 1000,
    }));
    let (program, roofline) = roofline(&Counts::of(&[run]));
    assert_eq!(roofline.missing, ["sm__ops_path_tensor_src_fp8.sum"]);
    let said = said(&program, roofline);
    for part in [
        "The GPU has no metric sm__ops_path_tensor_src_fp8.sum:",
        "1 launch could not be counted: no room",
        "1 process did not end while it was counted",
    ] {
        assert!(said.contains(part), "{part:?} is not in\n{said}");
    }
}

#[test]
fn nothing_is_counted_without_a_run_that_counts() {
    let (_, nothing) = roofline(&Counts::default());
    assert_eq!((nothing.kernels.len(), nothing.uncounted.launches), (0, 4));
    assert!(nothing.missing.is_empty());
}
