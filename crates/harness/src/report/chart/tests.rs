//! Charts of an H200, and of what one would allow.

use super::*;
use crate::ceilings::{Ceiling, Quantity, load};
use crate::driver::Emulation;
use crate::embedded::Polynomial;
use crate::model::{FlopsPerByte, GpuRoofs};
use crate::sweep::{Plan, Selection, Settings, Sweep};
use crate::workload::Bench;
use itertools::iproduct;
use std::path::Path;

use crate::report::plot::faults;

/// Rows at 95 % of the data sheet's roofs, all else as the emulator has it.
fn rows(device: &DeviceProperties, precisions: &[Precision], k: &[u32]) -> Vec<Record> {
    let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
    let few = |workload| {
        let mut selection = Selection::defaults(workload, true);
        for (name, values) in &mut selection.values {
            match *name {
                "k" => *values = vec![1u64.into()],
                "n" => *values = vec![64u64.into()],
                _ => {}
            }
        }
        selection
    };
    let plan = Plan {
        selected: vec![few(&Polynomial::POWER_SUM), few(&Polynomial::HORNER)],
        blocks: vec![32],
        ..Plan::default()
    };
    let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("small");
    let mut rows = Vec::new();
    let count = sweep.points().len();
    for index in 0..count {
        let row = sweep.measure(index, None).expect("it runs");
        let arithmetic = row.arithmetic.expect("there are operations");
        for (&precision, &k) in iproduct!(precisions, k) {
            let roofs = Roofs::of_device(device, precision).expect("known");
            let ai = 2.0 * f64::from(k) / f64::from(2 * precision.bytes());
            let ceiling = (arithmetic, roofs.ceiling(arithmetic));
            let roof = roofs.limiting(FlopsPerByte(ai), ceiling);
            rows.push(Record {
                ai: Some(ai),
                gflops: Some(0.95 * roof.value.giga()),
                dtype: Some(precision.name().to_owned()),
                ..row.clone()
            });
        }
    }
    rows
}

/// The dots at the ridge points lie within a pixel of the first line of a roof, memory's.
fn assert_ridges_are_on_the_memory_roof(svg: &str) {
    let document = roxmltree::Document::parse(svg).expect("well-formed");
    let of_class = |class: &'static str| {
        document
            .descendants()
            .filter(move |it| it.attribute("class") == Some(class))
    };
    let number = |node: &roxmltree::Node, name: &str| -> f64 {
        let value = node.attribute(name).expect("an attribute");
        value.parse().expect("a number")
    };
    let line = of_class("roof").next().expect("memory's roof");
    let points: Vec<f64> = line
        .attribute("points")
        .expect("points")
        .split([' ', ','])
        .map(|text| text.parse().expect("a number"))
        .collect();
    let [x1, y1, x2, y2] = points[..] else {
        panic!("a straight line, not {points:?}");
    };
    let mut ridges = 0;
    for dot in of_class("dot") {
        let (x, y) = (number(&dot, "cx"), number(&dot, "cy"));
        let expected = y1 + (x - x1) * (y2 - y1) / (x2 - x1);
        assert!((y - expected).abs() <= 1.5, "({x}, {y}) is off {points:?}");
        ridges += 1;
    }
    assert!(ridges > 0, "no ridge points");
}

#[test]
fn labels_do_not_cover_each_other() {
    let device = crate::measure::h200();
    let path = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/results/h200-ceilings/ceilings.json"
    ));
    let ceilings = load(path, &device).expect("an H200's");
    let k = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    for (precisions, k) in [
        (&[Precision::F32][..], &k[..]),
        (&[Precision::F32], &k[..3]),
        (&Precision::ALL, &k[..1]),
        (&[Precision::F64], &k),
        (&Precision::ALL, &k),
        (&[Precision::F32, Precision::F16x2], &k[8..]),
    ] {
        let records = rows(&device, precisions, k);
        let of = |&precision: &Precision| {
            (
                precision,
                Roofs::of_device(&device, precision).expect("known"),
            )
        };
        let chart = Chart {
            device: &device,
            roofs: &precisions.iter().map(of).collect(),
            ceilings: Some(&ceilings),
            link: None,
            records: &records,
            predicted: None,
            levels: false,
        };
        let mut svg = Vec::new();
        chart
            .write(ChartFormat::Svg, &mut svg)
            .expect("memory takes all");
        let svg = String::from_utf8(svg).expect("text");
        assert_ridges_are_on_the_memory_roof(&svg);
        for precision in Precision::ALL {
            let operation = match precision {
                Precision::I32 => "multiply-add",
                _ => "FMA",
            };
            let is_named = svg.contains(&format!("{} {operation}", precision.name()));
            assert_eq!(is_named, precisions.contains(&precision), "{precision:?}");
        }
        let figure = chart.figure();
        for width in [400.0, 880.0] {
            let faults = faults(&figure, &figure.scene(width));
            assert!(faults.is_empty(), "{precisions:?}, {k:?}: {faults:#?}");
        }
    }
}

/// Checks that the chart of an emulated sweep says and shows a GPU's figures, all of them predicted.
#[test]
fn a_prediction_is_drawn_hollow_on_the_gpus_roofs() {
    let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
    let device = bench.device().properties();
    let gpu = GpuRoofs::named("h200").expect("known");
    let records: Vec<Record> = rows(&crate::measure::h200(), &[Precision::F32], &[1, 100])
        .into_iter()
        .map(|row| Record {
            predicted_ai: row.ai,
            predicted_gflops: row.gflops,
            // An intensity of its own, as of what was counted.
            counted_ai: row.ai.map(|ai| 0.5 * ai),
            counted_flop: Some(1000),
            predicted_ms: Some(1e-3),
            predicted_limit: row.limiting_roof,
            ..row
        })
        .collect();
    let own = Roofs::of_device(&crate::measure::h200(), Precision::F32).expect("known");
    let chart = Chart {
        device,
        roofs: &BTreeMap::from([(Precision::F32, own)]),
        ceilings: None,
        link: None,
        records: &records,
        predicted: Some(&gpu),
        levels: false,
    };
    let figure = chart.figure();
    assert!(
        figure.title.contains("NVIDIA H200") && figure.title.contains("predicted"),
        "{}",
        figure.title
    );
    assert!(figure.subtitle.contains("not a GPU"), "{}", figure.subtitle);
    let series = &figure.plots[0].series;
    let marks = series.iter().flat_map(|series| &series.marks);
    let kinds: Vec<_> = marks.map(|mark| (mark.kind, mark.noise)).collect();
    assert!(!kinds.is_empty());
    let of_kind = |kind| kinds.iter().filter(|it| **it == (kind, None)).count();
    // A mark at the intensity that the rows' files have, and a ring at the counted one.
    assert_eq!(of_kind(MarkKind::Predicted), 4, "{kinds:?}");
    assert_eq!(of_kind(MarkKind::Counted), 4, "{kinds:?}");
    let places = |kind: MarkKind| {
        let marks = series.iter().flat_map(|series| &series.marks);
        marks
            .filter(|it| it.kind == kind)
            .map(|it| it.x)
            .fold(f64::INFINITY, f64::min)
    };
    assert_eq!(places(MarkKind::Predicted), records[0].ai.expect("known"));
    assert_eq!(places(MarkKind::Counted), 0.5 * places(MarkKind::Predicted));
}

/// A model's speed is drawn with its interval, on the emulator alone and on a GPU beside what was measured.
#[test]
fn a_predicted_time_is_a_hollow_mark_with_whiskers() {
    let h200 = crate::measure::h200();
    let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
    let gpu = GpuRoofs::named("h200").expect("known");
    let own = Roofs::of_device(&h200, Precision::F32).expect("known");
    let modelled = |is_emulated| -> Vec<Record> {
        let rows = rows(&h200, &[Precision::F32], &[1, 100]).into_iter();
        rows.map(|row| Record {
            is_emulated,
            predicted_ai: row.ai,
            predicted_gflops: row.gflops,
            predicted_limit: row.limiting_roof,
            predicted_ms: Some(1.0),
            model_ms: Some(2.0),
            model_low_ms: Some(1.0),
            model_high_ms: Some(4.0),
            model_gflops: row.gflops.map(|it| 0.5 * it),
            model_blocks: Some(row.grid),
            model_limit: Some("latency".to_owned()),
            ..row
        })
        .collect()
    };
    for (device, is_emulated) in [(bench.device().properties(), true), (&h200, false)] {
        let records = modelled(is_emulated);
        let chart = Chart {
            device,
            roofs: &BTreeMap::from([(Precision::F32, own)]),
            ceilings: None,
            link: None,
            records: &records,
            predicted: is_emulated.then_some(&gpu),
            levels: false,
        };
        let figure = chart.figure();
        let marks = || figure.plots[0].series.iter().flat_map(|it| &it.marks);
        let hollow: Vec<&Mark> = marks()
            .filter(|it| it.kind == MarkKind::Predicted)
            .collect();
        assert_eq!(hollow.len(), records.len());
        for mark in &hollow {
            assert_eq!(
                mark.noise,
                Some((0.5 * mark.y, 2.0 * mark.y)),
                "{}",
                mark.tip
            );
            assert!(mark.tip.contains("limited by latency"), "{}", mark.tip);
        }
        // The speed by the model, not the roof's.
        let most = |marks: &[&Mark]| marks.iter().map(|it| it.y).fold(0.0, f64::max);
        let fastest = records
            .iter()
            .filter_map(|it| it.gflops)
            .fold(0.0, f64::max);
        assert_eq!(most(&hollow), 0.5 * fastest);
        let filled = marks().filter(|it| it.kind == MarkKind::Measured).count();
        assert_eq!(filled, if is_emulated { 0 } else { records.len() });
        let mut svg = Vec::new();
        chart
            .write(ChartFormat::Svg, &mut svg)
            .expect("memory takes all");
        let svg = String::from_utf8(svg).expect("text");
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let of_class = |class: &str| {
            let all = document.descendants();
            all.filter(|it| it.attribute("class") == Some(class))
                .count()
        };
        assert!(of_class("mark hollow") >= hollow.len() && of_class("noise") >= hollow.len());
        for width in [400.0, 880.0] {
            let faults = faults(&figure, &figure.scene(width));
            assert!(faults.is_empty(), "{faults:#?}");
        }
    }
}

#[test]
fn each_level_of_memory_has_its_points_and_its_roof() {
    let device = crate::measure::h200();
    let path = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/results/h200-ceilings/ceilings.json"
    ));
    let ceilings = load(path, &device).expect("an H200's");
    let records: Vec<Record> = rows(&device, &[Precision::F32], &[10])
        .into_iter()
        .map(|row| Record {
            is_emulated: false,
            mean_ms: 1.0,
            gflops: Some(1000.0),
            // A gigaflop, of these bytes.
            l2_bytes: Some(1e8),
            counted_l1_bytes: Some(400_000_000),
            ..row
        })
        .collect();
    let roofs = Roofs::of_device(&device, Precision::F32).expect("known");
    let figure = |levels| {
        let roofs = BTreeMap::from([(Precision::F32, roofs)]);
        let chart = Chart {
            device: &device,
            roofs: &roofs,
            ceilings: Some(&ceilings),
            link: None,
            records: &records,
            predicted: None,
            levels,
        };
        let figure = chart.figure();
        for width in [400.0, 880.0] {
            let faults = faults(&figure, &figure.scene(width));
            assert!(faults.is_empty(), "{faults:#?}");
        }
        figure.plots[0].clone()
    };
    let plot = figure(true);
    for (name, x, kind) in [
        (
            "at the bytes that L2 gives and takes",
            10.0,
            MarkKind::Measured,
        ),
        ("at the bytes that go through L1", 2.5, MarkKind::Predicted),
    ] {
        let series = plot.series.iter().find(|it| it.name == name).expect(name);
        let [mark, ..] = &series.marks[..] else {
            panic!("no marks: {name}");
        };
        assert_eq!((mark.x, mark.y, mark.kind), (x, 1000.0, kind), "{name}");
    }
    let has = |plot: &Plot, roof: &str| plot.guides.iter().any(|it| it.label.starts_with(roof));
    assert!(has(&plot, "L2 read, measured") && has(&plot, "L1 read, measured"));
    let plain = figure(false);
    assert!(!has(&plain, "L1 read") && plain.series.len() + 2 == plot.series.len());
}

#[test]
fn rows_with_counters_have_three_marks_and_the_legend_names_them() {
    let device = crate::measure::h200();
    let k = [1, 10, 1000];
    let plain = rows(&device, &[Precision::F32], &k);
    let with_counters: Vec<Record> = plain
        .iter()
        .map(|row| {
            let flop = row.gflops.map(|rate| rate * 1e6 * row.mean_ms);
            Record {
                counted_flop: flop.map(|it| it as u64),
                counted_ai: row.ai,
                measured_flop: flop,
                measured_ai: row.ai.map(|ai| 0.9 * ai),
                dram_bytes: Some(1e9),
                ..row.clone()
            }
        })
        .collect();
    let roofs = Roofs::of_device(&device, Precision::F32).expect("known");
    let roofs = BTreeMap::from([(Precision::F32, roofs)]);
    let svg = |records: &[Record]| {
        let chart = Chart {
            device: &device,
            roofs: &roofs,
            ceilings: None,
            link: None,
            records,
            predicted: None,
            levels: false,
        };
        for width in [400.0, 880.0] {
            let figure = chart.figure();
            let faults = faults(&figure, &figure.scene(width));
            assert!(faults.is_empty(), "{faults:#?}");
        }
        assert!(!chart.text(80, Paint::Plain).contains("rhombus"));
        let mut svg = Vec::new();
        chart
            .write(ChartFormat::Svg, &mut svg)
            .expect("memory takes all");
        String::from_utf8(svg).expect("text")
    };
    let count = |svg: &str, class: &str| svg.matches(&format!("class=\"{class}\"")).count();
    let drawn = svg(&with_counters);
    for (class, name) in [("counted", "ring: "), ("counters", "rhombus: ")] {
        // One is the legend's.
        assert_eq!(count(&drawn, class), plain.len() + 1, "{class}");
        assert!(drawn.contains(name), "{name}");
        // Nothing is measured where no counters were read.
        assert_eq!(count(&svg(&plain), class), 0, "{class}");
    }
}

/// The rate of tensor cores over rows that use them, as the data sheet has it and as measured; and none over others.
#[test]
fn tensor_cores_have_roofs_over_rows_that_use_them() {
    let device = crate::measure::h200();
    let path = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/results/h200-ceilings/ceilings.json"
    ));
    let mut ceilings = load(path, &device).expect("an H200's");
    let of = |quantity, value| Ceiling {
        quantity,
        value,
        ..ceilings.ceilings[0].clone()
    };
    let measured = [
        of(Quantity::TensorBf16, 800e12),
        of(Quantity::TensorBf16Zeros, 950e12),
        of(Quantity::TensorTf32, 400e12),
    ];
    ceilings.ceilings.extend(measured);
    let lanes = rows(&device, &[Precision::F32], &[1, 100]);
    let products: Vec<Record> = lanes
        .iter()
        .map(|row| Record {
            tensor_types: vec![TensorType::Bf16],
            ..row.clone()
        })
        .collect();
    let roofs = Roofs::of_device(&device, Precision::F32).expect("known");
    let roofs = BTreeMap::from([(Precision::F32, roofs)]);
    let labels = |records: &[Record]| -> Vec<String> {
        let chart = Chart {
            device: &device,
            roofs: &roofs,
            ceilings: Some(&ceilings),
            link: None,
            records,
            predicted: None,
            levels: false,
        };
        let figure = chart.figure();
        for width in [400.0, 880.0] {
            let faults = faults(&figure, &figure.scene(width));
            assert!(faults.is_empty(), "{faults:#?}");
        }
        let guides = figure.plots[0].guides.iter();
        let tensor = guides.filter(|it| it.label.contains("tensor"));
        tensor.map(|it| it.label.clone()).collect()
    };
    assert_eq!(labels(&lanes), [""; 0]);
    assert_eq!(
        labels(&products),
        [
            "bf16 tensor cores 989.40 TFLOP/s, ridge 206.12",
            "bf16 tensor cores, measured 800.00 TFLOP/s"
        ]
    );
}
