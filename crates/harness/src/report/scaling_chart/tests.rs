use super::*;
use crate::report::plot::faults;

const GPU: &str = "NVIDIA H100 80GB HBM3";

/// As two GPUs have them, and what is predicted from these.
fn rows(scaling: &str) -> Vec<ScalingRow> {
    let row = |exchange: &str, devices: usize, speedup: f64| ScalingRow {
        study: "power".to_owned(),
        exchange: exchange.to_owned(),
        devices,
        scaling: scaling.to_owned(),
        size: 8192,
        speedup: Some(speedup),
        is_predicted: devices > 2,
        error_percent: None,
        device: match devices {
            1 => GPU.to_owned(),
            2 => format!("2 x {GPU}"),
            _ => format!("{devices} x {GPU}, from 2 x {GPU}"),
        },
    };
    let exchanges = [
        ("gather", [1.7863, 3.1065, 5.0757, 7.4309]),
        ("graph", [1.7886, 3.12, 5.1119, 7.5088]),
        ("peer", [1.9783, 3.7509, 7.0619, 12.6412]),
    ];
    let several = exchanges.into_iter().flat_map(|(exchange, speedups)| {
        let each = [2, 4, 8, 16].into_iter().zip(speedups);
        each.map(move |(devices, speedup)| row(exchange, devices, speedup))
    });
    std::iter::once(row("alone", 1, 1.0))
        .chain(several)
        .collect()
}

fn figure(rows: &[ScalingRow]) -> Figure {
    ScalingChart { rows, title: None }.figure()
}

#[test]
fn exchanges_are_lines_from_one_device_on_whose_predicted_part_is_hollow() {
    let rows = rows("strong");
    let figure = figure(&rows);
    assert_eq!(
        figure.title,
        "Strong scaling of power iteration, 8192 x 8192"
    );
    assert!(figure.subtitle.starts_with("NVIDIA H100 80GB HBM3. "));
    assert!(figure.subtitle.contains("Hollow, dashed: predicted"));
    let [plot] = &figure.plots[..] else {
        panic!("one plot");
    };
    let lines: Vec<_> = plot.series.iter().map(shown).collect();
    let mut expected = vec![("alone", Joined::Not, vec![(1.0, MarkKind::Measured)])];
    for (exchange, at_two) in [("gather", 1.7863), ("graph", 1.7886), ("peer", 1.9783)] {
        expected.extend([
            (
                exchange,
                Joined::From((1.0, 1.0)),
                vec![(2.0, MarkKind::Measured)],
            ),
            (
                exchange,
                Joined::From((2.0, at_two)),
                [4.0, 8.0, 16.0]
                    .map(|it| (it, MarkKind::Predicted))
                    .to_vec(),
            ),
        ]);
    }
    assert_eq!(lines, expected);
    let scene = figure.scene(880.0);
    assert_eq!(faults(&figure, &scene), [""; 0]);
    assert_eq!(faults(&figure, &figure.scene(440.0)), [""; 0]);
}

/// A series' name, how it is joined, and its marks.
fn shown(series: &Series) -> (&str, Joined, Vec<(f64, MarkKind)>) {
    let marks = series.marks.iter().map(|it| (it.x, it.kind)).collect();
    (&series.name, series.joined, marks)
}

/// Measured on 2 and 4 devices; 4 predicted from 2, and 8 from 4.
#[test]
fn predicted_marks_stand_beside_measured_ones_with_their_error() {
    let mut rows = rows("strong");
    rows.retain(|row| row.exchange != "gather" && row.devices <= 8);
    for exchange in ["graph", "peer"] {
        let four = rows
            .iter_mut()
            .find(|row| row.exchange == exchange && row.devices == 4)
            .expect("a row");
        let measured = ScalingRow {
            is_predicted: false,
            speedup: Some(3.0),
            device: format!("4 x {GPU}"),
            ..four.clone()
        };
        four.error_percent = Some(-12.34);
        rows.push(measured);
    }
    for row in rows.iter_mut().filter(|row| row.devices == 8) {
        row.device = format!("8 x {GPU}, from 4 x {GPU}");
    }
    let figure = figure(&rows);
    assert!(figure.subtitle.contains("Ringed: how much longer"));
    let peer: Vec<_> = figure.plots[0].series.iter().map(shown).collect();
    let (hollow, filled) = (MarkKind::Predicted, MarkKind::Measured);
    let expected = [
        (
            "peer",
            Joined::From((1.0, 1.0)),
            vec![(2.0, filled), (4.0, filled)],
        ),
        ("peer", Joined::From((2.0, 1.9783)), vec![(4.0, hollow)]),
        ("peer", Joined::From((4.0, 3.0)), vec![(8.0, hollow)]),
    ];
    assert_eq!(peer[peer.len() - 3..], expected);
    let notes = figure.plots[0].series.iter().flat_map(|it| &it.marks);
    let notes: Vec<&str> = notes.filter_map(|it| it.note.as_deref()).collect();
    assert_eq!(notes, ["graph on 4: -12.3 %", "peer on 4: -12.3 %"]);
    for width in [880.0, 440.0] {
        assert_eq!(faults(&figure, &figure.scene(width)), [""; 0]);
    }
}

#[test]
fn solid_lines_end_where_what_was_measured_ends() {
    let mut svg = Vec::new();
    let rows = rows("strong");
    let chart = ScalingChart {
        rows: &rows,
        title: None,
    };
    chart.write(ChartFormat::Svg, &mut svg).expect("drawn");
    let svg = String::from_utf8(svg).expect("text");
    let (drawing, legend) = svg.split_once("<g class=\"legend\">").expect("a legend");
    let curves: Vec<&str> = drawing
        .lines()
        .filter(|it| it.contains("class=\"curve\""))
        .collect();
    let is_dashed = |line: &&&str| line.contains("dasharray");
    // Three of two places, and three of four.
    assert_eq!(curves.len(), 6, "{curves:?}");
    assert_eq!(curves.iter().filter(is_dashed).count(), 3, "{curves:?}");
    assert_eq!(drawing.matches("class=\"mark hollow\"").count(), 9);
    assert_eq!(drawing.matches("class=\"mark\"").count(), 4);
    assert!(
        drawing.contains(">ideal scaling<"),
        "its label is beside it"
    );
    for tick in ["1", "2", "4", "8", "16"] {
        assert_eq!(drawing.matches(&format!(">{tick}</text>")).count(), 2);
    }
    for name in ["alone", "gather", "graph", "peer"] {
        assert!(legend.contains(&format!(">{name}</text>")), "{name}");
    }
}

#[test]
fn weak_scaling_says_on_how_many_devices_the_problem_has_its_size() {
    let mut rows = rows("weak");
    assert!(
        figure(&rows)
            .title
            .starts_with("Weak scaling of power iteration, 8192 x 8192 on 1 device")
    );
    for row in &mut rows {
        row.study = "norm".to_owned();
        row.size = 1 << 30;
        row.is_predicted = false;
        row.device = "2 x CPU emulator 1 (2 cores)".to_owned();
    }
    let figure = figure(&rows);
    assert_eq!(
        figure.title,
        "Weak scaling of normalization, 1,073,741,824 elements on 1 device"
    );
    assert!(figure.subtitle.starts_with("CPU emulator 1 (2 cores). "));
    assert!(!figure.subtitle.contains("predicted"));
    assert!(figure.subtitle.contains("not a GPU's times"));
    let named = ScalingChart {
        rows: &rows,
        title: Some("A lesson"),
    };
    assert_eq!(named.figure().title, "A lesson");
}

#[test]
fn without_speedups_there_is_nothing_to_draw() {
    let mut rows = rows("strong");
    for row in &mut rows[1..] {
        row.speedup = None;
    }
    let chart = ScalingChart {
        rows: &rows,
        title: None,
    };
    assert!(chart.is_empty());
    // Without one device's mark the lines begin at their own.
    let rows = &self::rows("strong")[1..];
    let chart = ScalingChart { rows, title: None };
    assert!(!chart.is_empty());
    let figure = chart.figure();
    let [measured, predicted] = &figure.plots[0].series[..2] else {
        panic!("two lines of each exchange");
    };
    assert_eq!(measured.joined, Joined::Marks);
    assert_eq!(predicted.joined, Joined::From((2.0, 1.7863)));
}

#[test]
fn one_device_is_named_without_how_many_there_are() {
    for (device, name) in [
        ("NVIDIA H200", "NVIDIA H200"),
        ("2 x NVIDIA H200", "NVIDIA H200"),
        ("16 x NVIDIA H200, from 2 x NVIDIA H200", "NVIDIA H200"),
        ("A x B", "A x B"),
    ] {
        let row = ScalingRow {
            device: device.to_owned(),
            ..rows("strong").swap_remove(0)
        };
        assert_eq!(row.device_name(), name);
    }
}
