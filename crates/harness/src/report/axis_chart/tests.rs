//! Charts against an axis, of rows that an H200 made, and of rows that nothing made.

use crate::report::plot::{MarkKind, faults};

use super::*;

/// Rows of text, `a,b` above `1,2`.
fn rows(text: &str) -> StudyRows {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let cells = |row: &csv::StringRecord| row.iter().map(str::to_owned).collect::<Vec<_>>();
    StudyRows {
        header: cells(reader.headers().expect("a header")),
        rows: reader
            .records()
            .map(|row| cells(&row.expect("a row")))
            .collect(),
    }
}

/// The kept rows of an occupancy study, without those whose shared memory keeps blocks out.
fn measured() -> StudyRows {
    let all = rows(include_str!(
        "../../../../../docs/results/h200-little/occupancy.csv"
    ));
    let place = all.place("dynamic_shared").expect("a column");
    let natural = all.rows.iter().filter(|row| row[place] == "0");
    StudyRows {
        rows: natural.cloned().collect(),
        ..all
    }
}

fn assert_clean(figure: &Figure) {
    for width in [400.0, 880.0, 1100.0] {
        let scene = figure.scene(width);
        let faults = faults(figure, &scene);
        assert!(faults.is_empty(), "{width}: {faults:#?}");
    }
}

fn svg(chart: &AxisChart) -> String {
    let mut svg = Vec::new();
    chart
        .write(ChartFormat::Svg, &mut svg)
        .expect("memory takes all");
    String::from_utf8(svg).expect("text")
}

fn names(plot: &Plot) -> Vec<&str> {
    plot.series.iter().map(|it| it.name.as_str()).collect()
}

#[test]
fn speed_occupancy_and_time_stand_against_the_block_with_a_line_for_each_kernel() {
    let chart = AxisChart::new(measured(), "block").expect("an axis");
    let figure = chart.figure();
    assert_eq!(
        figure.title,
        "Speed, occupancy and time against block: NVIDIA H200, measured"
    );
    assert!(
        figure.subtitle.contains("n = 67108864"),
        "{}",
        figure.subtitle
    );
    let [speed, occupancy, time] = &figure.plots[..] else {
        panic!("{:?}", figure.plots.len());
    };
    assert_eq!(speed.y.name, "speed, GB/s");
    assert_eq!(occupancy.y.name, "theoretical occupancy, %");
    assert_eq!(time.y.name, "time, ms");
    for plot in &figure.plots {
        assert_eq!(plot.x.name, "threads per block");
        let names = names(plot);
        assert!(
            names.contains(&"nrm2") || names.contains(&"nrm2, ilp 1"),
            "{names:?}"
        );
        for series in &plot.series {
            let places: Vec<f64> = series.marks.iter().map(|it| it.x).collect();
            assert!(places.is_sorted() && places.len() == 3, "{places:?}");
        }
    }
    let kinds = |plot: &Plot, kind| {
        let marks = plot.series.iter().flat_map(|it| &it.marks);
        marks.clone().count() > 3 && marks.map(|it| it.kind).all(|it| it == kind)
    };
    assert!(kinds(speed, MarkKind::Measured) && kinds(time, MarkKind::Measured));
    assert!(kinds(occupancy, MarkKind::Predicted), "computed is hollow");
    let marks = occupancy.series.iter().flat_map(|it| &it.marks);
    let letters: Vec<&str> = marks.filter_map(|it| it.letters.as_deref()).collect();
    assert!(
        letters.contains(&"WB") && letters.contains(&"R"),
        "{letters:?}"
    );
    let said = &figure.subtitle;
    assert!(said.contains("W warps, B blocks, R registers."), "{said}");
    assert_clean(&figure);
    assert!(svg(&chart).contains(">WB</text>"));
}

const PREDICTED: &str = "\
kernel,ilp,n,block,dynamic_shared,registers,occupancy_percent,limited_by,rate,unit,median_ms,rms_percent,device,predicted_gpu,predicted_limit,predicted_rate,predicted_ms
copy,1,4096,32,0,14,50.00,blocks,0.07,GB/s,0.9,1.0,CPU emulator of sm_90,NVIDIA H200,memory,4800.00,0.000007
copy,1,4096,64,0,14,100.00,warps blocks,0.08,GB/s,0.9,1.0,CPU emulator of sm_90,NVIDIA H200,memory,4800.00,0.000007
fma,1,4096,32,0,40,50.00,blocks,0.01,GFLOP/s,0.9,1.0,CPU emulator of sm_90,NVIDIA H200,fma,66908.16,0.000002
fma,1,4096,64,0,40,75.00,registers,0.01,GFLOP/s,0.9,1.0,CPU emulator of sm_90,NVIDIA H200,fma,66908.16,0.000002
";

/// Rows of a device, each with a time by the model that is twice the measured one.
fn modelled(device: &str, gpu: &str) -> String {
    let row = |block: u32, rate: f64, ms: f64| {
        let (model, low, high) = (2.0 * ms, ms, 4.0 * ms);
        format!(
            "copy,1,{block},0,14,50.00,warps,{rate},GB/s,{ms},1.0,{device},{gpu},memory,4800,0.1,{model},{low},{high},{},latency\n",
            rate / 2.0
        )
    };
    let header = "kernel,ilp,block,dynamic_shared,registers,occupancy_percent,limited_by,rate,unit,median_ms,rms_percent,device,predicted_gpu,predicted_limit,predicted_rate,predicted_ms,model_ms,model_low_ms,model_high_ms,model_rate,model_limit\n";
    [header, &row(32, 1000.0, 4.0), &row(64, 2000.0, 2.0)].concat()
}

#[test]
fn a_model_is_drawn_hollow_with_its_interval_and_alone_where_no_gpu_was_measured() {
    for (device, gpu, measured) in [
        ("CPU emulator of sm_90", "NVIDIA H200", 0),
        ("NVIDIA H200", "", 2),
    ] {
        let rows = rows(&modelled(device, gpu));
        let chart = AxisChart::new(rows, "block").expect("an axis");
        let figure = chart.figure();
        let plot = |name: &str| {
            let found = figure.plots.iter().find(|it| it.y.name == name);
            found.unwrap_or_else(|| panic!("no plot of {name}"))
        };
        for (name, ends) in [("speed, GB/s", (0.5, 2.0)), ("time, ms", (0.5, 2.0))] {
            let marks = || plot(name).series.iter().flat_map(|it| &it.marks);
            let hollow: Vec<&Mark> = marks()
                .filter(|it| it.kind == MarkKind::Predicted)
                .collect();
            assert_eq!(hollow.len(), 2, "{name}");
            for mark in hollow {
                assert_eq!(mark.noise, Some((ends.0 * mark.y, ends.1 * mark.y)));
                assert!(
                    mark.tip.contains("predicted: limited by latency"),
                    "{}",
                    mark.tip
                );
            }
            let filled = marks().filter(|it| it.kind == MarkKind::Measured).count();
            assert_eq!(filled, measured, "{name}");
        }
        let said = "predicted, with the interval of 90 % of the cases";
        assert!(figure.subtitle.contains(said), "{}", figure.subtitle);
        assert_clean(&figure);
    }
}

#[test]
fn of_predicted_rows_nothing_of_the_host_is_drawn_and_the_gpu_alone_is_named() {
    let chart = AxisChart::new(rows(PREDICTED), "block").expect("an axis");
    let figure = chart.figure();
    assert!(
        figure
            .title
            .ends_with("against block: NVIDIA H200, predicted"),
        "{}",
        figure.title
    );
    // By the roofs speed and time are the same, which is said and no line. Of other sizes they are not, and rows of another unit
    // are drawn apart.
    let drawn = |figure: &Figure| -> Vec<String> {
        figure.plots.iter().map(|it| it.y.name.clone()).collect()
    };
    assert_eq!(drawn(&figure), ["theoretical occupancy, %"]);
    let flat = "the same speed and time whatever block is";
    assert!(figure.subtitle.contains(flat), "{}", figure.subtitle);
    let varied = PREDICTED
        .replace("4800.00,0.000007\nfma", "4700.00,0.000008\nfma")
        .replace(",66908.16,0.000002\nfma", ",60000.00,0.000003\nfma");
    let varied = AxisChart::new(rows(&varied), "block").expect("an axis");
    let figure_of_varied = varied.figure();
    assert_eq!(
        drawn(&figure_of_varied),
        [
            "speed, GB/s",
            "speed, GFLOP/s",
            "theoretical occupancy, %",
            "time, ms"
        ]
    );
    assert!(!figure_of_varied.subtitle.contains(flat));
    let figure = figure_of_varied;
    let chart = varied;
    let marks = figure.plots.iter().flat_map(|it| &it.series);
    let marks: Vec<&Mark> = marks.flat_map(|it| &it.marks).collect();
    assert!(
        marks
            .iter()
            .all(|it| it.kind == MarkKind::Predicted && it.noise.is_none())
    );
    assert!(marks.iter().all(|it| ![0.07, 0.08, 0.9].contains(&it.y)));
    // One of two curves that begin alike notes it.
    let letters = marks.iter().filter_map(|it| it.letters.as_deref());
    assert_eq!(letters.collect::<Vec<_>>(), ["B", "WB", "R"]);
    // In characters the letters stand below the plots.
    let text = chart.text(80, Paint::Plain);
    assert!(text.contains("R from 64 on"), "{text}");
    assert!(!svg(&chart).contains("emulator"));
    assert_clean(&figure);
}

#[test]
fn what_follows_from_the_axis_tells_no_curves_apart() {
    // Shared memory that a workload takes for its block.
    let own = "\
kernel,block,dynamic_shared,occupancy_percent,limited_by,rate,unit,median_ms,rms_percent,device
sum,64,256,100,warps,1,GB/s,1,1,G
sum,128,512,100,warps,2,GB/s,1,1,G
";
    let chart = AxisChart::new(rows(own), "block").expect("an axis");
    assert_eq!(names(&chart.plots()[0].1), ["sum"]);
    // Shared memory that was asked for, with the same blocks.
    let asked = own.replace("sum,128,512,", "sum,64,512,") + "sum,128,256,50,warps,2,GB/s,1,1,G\n";
    let chart = AxisChart::new(rows(&asked), "block").expect("an axis");
    assert_eq!(names(&chart.plots()[0].1), ["shared 256", "shared 512"]);
}

#[test]
fn names_stand_at_an_axis_or_in_the_legend() {
    let dispatch = "\
dispatch,launches,host_us,device_us,complete_us,device
a barrier each launch,50,9,8,9,G
a barrier each tenth launch,50,4,3,4,G
no barrier,50,3,2,3,G
a graph,50,1,1,1,G
";
    let chart = AxisChart::new(rows(dispatch), "dispatch").expect("an axis");
    let figure = chart.figure();
    assert_clean(&figure);
    let drawn = svg(&chart);
    for name in ["1: a barrier each launch", "4: a graph"] {
        assert!(drawn.contains(name), "{name}: {drawn}");
    }
    let text = chart.text(60, Paint::Plain);
    assert!(text.contains("2 a barrier each tenth launch"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 60),
        "{text}"
    );
}

#[test]
fn what_cannot_be_drawn_is_named_with_what_can() {
    let refused = |text: &str, axis| match AxisChart::new(rows(text), axis) {
        Ok(_) => panic!("{axis}"),
        Err(reason) => reason,
    };
    let tile = refused(PREDICTED, "tile");
    assert_eq!(
        tile,
        "tile is not an axis of these rows: expected one of kernel, block, shared, max-registers, ilp, n"
    );
    let other = PREDICTED.replacen("CPU emulator of sm_90", "NVIDIA H100", 1);
    let several = refused(&other, "block");
    assert!(several.contains("--only device=NAME"), "{several}");
    assert!(refused("a,b\n1,2\n", "a").contains("of no study"));
}

#[test]
fn error_bars_are_in_the_frame_unless_they_would_flatten_the_marks() {
    let noisy = |percent: u32| {
        format!(
            "kernel,block,dynamic_shared,occupancy_percent,limited_by,rate,unit,median_ms,rms_percent,device\n\
             sum,64,0,100,warps,100,GB/s,1,{percent},G\nsum,128,0,100,warps,90,GB/s,1,{percent},G\n"
        )
    };
    let wild = AxisChart::new(rows(&noisy(98)), "block").expect("an axis");
    let tops: Vec<f64> = wild
        .plots()
        .iter()
        .map(|(_, plot)| plot.y.range.1)
        .collect();
    assert!(
        tops.iter().all(|top| *top <= 2.0 * 1.15 * 100.0),
        "{tops:?}"
    );
    let chart = AxisChart::new(rows(&noisy(40)), "block").expect("an axis");
    for (_, plot) in chart.plots() {
        let marks = plot.series.iter().flat_map(|it| &it.marks);
        let highs = marks.filter_map(|it| it.noise).map(|(_, high)| high);
        assert!(highs.fold(0.0, f64::max) < plot.y.range.1, "{:?}", plot.y);
    }
}

#[test]
fn rows_of_several_emulated_devices_are_none_of_a_gpu() {
    let rows_of = |device: &str| {
        rows(&format!(
            "kernel,block,dynamic_shared,occupancy_percent,limited_by,rate,unit,median_ms,rms_percent,device\n\
             sum,64,0,100,warps,100,GB/s,1,1,{device}\nsum,128,0,100,warps,90,GB/s,1,1,{device}\n"
        ))
    };
    let figure = |device: &str| {
        let chart = AxisChart::new(rows_of(device), "block").expect("an axis");
        chart.figure()
    };
    let emulated = figure("2 x CPU emulator (2 cores)");
    assert!(
        emulated
            .title
            .ends_with(": 2 x CPU emulator (2 cores), measured on this host"),
        "{}",
        emulated.title
    );
    assert!(
        emulated.subtitle.contains("not a GPU's times"),
        "{}",
        emulated.subtitle
    );
    let title = figure("2 x NVIDIA H100").title;
    assert!(title.ends_with(": 2 x NVIDIA H100, measured"), "{title}");
}

#[test]
fn the_subtitle_says_how_many_rows_are_not_drawn() {
    let limited = "\
kernel,block,dynamic_shared,max_registers,occupancy_percent,limited_by,rate,unit,median_ms,rms_percent,device
sum,64,0,,50,registers,100,GB/s,1,1,G
sum,64,0,32,100,warps,100,GB/s,1,1,G
sum,64,0,64,75,registers,90,GB/s,1,1,G
";
    let subtitle = |axis| {
        let chart = AxisChart::new(rows(limited), axis).expect("an axis");
        chart.figure().subtitle
    };
    let said = subtitle("max-registers");
    assert!(
        said.ends_with("Not drawn: 1 row without max-registers."),
        "{said}"
    );
    assert!(!subtitle("block").contains("Not drawn"));
}
