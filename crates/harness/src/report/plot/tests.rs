//! Properties of every chart, over 200 random ones.

use fastrand::Rng;

use super::geometry::Rect;
use super::scene::{Item, Role, Text};
use super::svg::Home;
use super::*;

/// A number between two, evenly over its decades.
fn decades(random: &mut Rng, from: f64, to: f64) -> f64 {
    10f64.powf(from + (to - from) * random.f64())
}

/// Roofs and series over ranges of half a decade to nine.
fn plot(random: &mut Rng) -> Plot {
    let low = (decades(random, -4.0, 3.0), decades(random, -4.0, 5.0));
    let x = (low.0, low.0 * decades(random, 0.5, 8.0));
    let y = (low.1, low.1 * decades(random, 0.5, 9.0));
    let inside = |random: &mut Rng, (low, high): (f64, f64)| low * (high / low).powf(random.f64());
    let mut guides = Vec::new();
    for index in 0..random.usize(1..5) {
        let (at_x, at_y) = (inside(random, x), inside(random, y));
        let rate = at_y / at_x * decades(random, -0.5, 0.5);
        let top = inside(random, y);
        let source = [Source::Sheet, Source::Measured][index % 2];
        let name = ["memory", "memory copy, measured", "L2 read", "DRAM"][index % 4];
        guides.push(Guide {
            label: format!("{name} {:.2} GB/s", rate * 1e3),
            path: Path::Slope { rate, top },
            source,
            number: 0,
            dots: vec![(top / rate, top)],
        });
        guides.push(Guide {
            label: format!(
                "f32 FMA, f16x2 add+mul {index}: {:.1} TFLOP/s, ridge point {:.2}",
                top,
                top / rate
            ),
            path: Path::Flat {
                height: top,
                from: top / rate,
            },
            source,
            number: 0,
            dots: Vec::new(),
        });
    }
    let series = (0..random.usize(0..25)).map(|index| Series {
        name: format!(
            "kernel-{index} f32{}",
            ", vector 4, ilp 8".repeat(index % 5)
        ),
        joined: match random.u8(0..3) {
            0 => Joined::Not,
            1 => Joined::Marks,
            _ => Joined::From((inside(random, x), inside(random, y))),
        },
        marks: (0..random.usize(1..12))
            .map(|number| {
                let value = inside(random, y);
                Mark {
                    x: inside(random, x),
                    y: value,
                    kind: [MarkKind::Measured, MarkKind::Predicted][index % 2],
                    noise: random.bool().then_some((value * 0.7, value * 1.2)),
                    tip: String::new(),
                    note: (number == 0 && index % 4 == 0)
                        .then(|| format!("k = {index}: 45.21 TFLOP/s, 80 % of its roof")),
                    letters: (number == 1 && index % 3 == 0).then(|| "WB".to_owned()),
                }
            })
            .collect(),
    });
    Plot {
        caption: String::new(),
        series: series.collect(),
        guides,
        x: Axis::log("arithmetic intensity, FLOP/byte", x),
        y: Axis::log("GFLOP/s", y),
    }
}

fn figure(random: &mut Rng) -> Figure {
    let count = [1, 1, 1, 2, 4][random.usize(0..5)];
    let mut plots: Vec<Plot> = (0..count).map(|_| plot(random)).collect();
    if count > 1 {
        for (index, plot) in plots.iter_mut().enumerate() {
            plot.caption = format!("kernel number {index}, needed: 32,768 bytes");
        }
    }
    Figure {
        title: "Roofline of NVIDIA H200: predicted, nothing measured".to_owned(),
        subtitle: "A subtitle of several words. ".repeat(random.usize(0..8)),
        plots,
    }
}

fn texts(scene: &Scene) -> Vec<&Text> {
    let texts = scene.all().filter_map(|item| match item {
        Item::Text(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

/// Returns the faults of a picture.
pub(in crate::report) fn faults(figure: &Figure, scene: &Scene) -> Vec<String> {
    let mut faults = Vec::new();
    let page = Rect {
        left: 0.0,
        top: 0.0,
        right: scene.width,
        bottom: scene.height,
    };
    let texts = texts(scene);
    for (index, text) in texts.iter().enumerate() {
        let bounds = text.bounds();
        if !page.contains(&bounds) {
            faults.push(format!(
                "{:?} leaves the picture: {bounds:?} of {page:?}",
                text.text
            ));
        }
        for other in texts[..index]
            .iter()
            .filter(|other| bounds.overlaps(&other.bounds()))
        {
            faults.push(format!("{:?} covers {:?}", text.text, other.text));
        }
    }
    let labels: Vec<String> = texts.iter().map(|text| text.text.clone()).collect();
    let said = labels.join(" ");
    for plot in &figure.plots {
        let names = plot.series.iter().map(|series| &series.name);
        for name in names.chain(plot.guides.iter().map(|guide| &guide.label)) {
            let words = name.split(' ').all(|word| said.contains(word));
            if !words {
                faults.push(format!("{name:?} is nowhere"));
            }
        }
    }
    for item in scene.all() {
        let Item::Line(line) = item else { continue };
        if line
            .places
            .iter()
            .any(|&place| !page.contains(&Rect::around(place, 0.0)))
        {
            faults.push(format!("a line leaves the picture: {line:?}"));
        }
    }
    faults
}

#[test]
fn in_200_random_charts_no_label_is_cut_covered_or_missing() {
    let mut random = Rng::with_seed(1);
    for number in 0..200 {
        let figure = figure(&mut random);
        for width in [400.0, 880.0, 1100.0] {
            let faults = faults(&figure, &figure.scene(width));
            assert!(
                faults.is_empty(),
                "chart {number}, {width} wide: {faults:#?}"
            );
        }
    }
}

/// The checks of the test above, on a picture that is wrong.
#[test]
fn labels_that_are_cut_covered_or_missing_are_found() {
    let figure = figure(&mut Rng::with_seed(1));
    let scene = figure.scene(880.0);
    let with = |change: &dyn Fn(&mut Vec<Item>)| {
        let mut scene = scene.clone();
        change(&mut scene.items);
        faults(&figure, &scene).join(" ")
    };
    let text = |items: &[Item]| {
        items
            .iter()
            .position(|it| matches!(it, Item::Text(_)))
            .expect("a title")
    };
    let twice = with(&|items| {
        let copy = items[text(items)].clone();
        items.push(copy);
    });
    assert!(twice.contains("covers"), "{twice}");
    let moved = with(&|items| {
        let at = text(items);
        if let Item::Text(text) = &mut items[at] {
            text.at.0 = -5.0;
        }
    });
    assert!(moved.contains("leaves the picture"), "{moved}");
    let mut other = figure.clone();
    other.plots[0].guides[0].label = "elsewhere".to_owned();
    let missing = faults(&other, &scene).join(" ");
    assert!(missing.contains("is nowhere"), "{missing}");
}

/// On logarithmic axes of any range a bandwidth's line has the same slope as any other, and goes through
/// its ridge points.
#[test]
fn slopes_are_right_in_200_random_charts() {
    let mut random = Rng::with_seed(2);
    let mut drawn = 0;
    for _ in 0..200 {
        let plot = plot(&mut random);
        let figure = Figure {
            title: String::new(),
            subtitle: String::new(),
            plots: vec![plot.clone()],
        };
        let scene = figure.scene(880.0);
        let lines = scene.items.iter().filter_map(|item| match item {
            Item::Line(line) if line.role == Role::Guide => Some(line),
            _ => None,
        });
        let seen = plot
            .guides
            .iter()
            .filter_map(|guide| Some((guide, plot.ends(guide.path)?)));
        let grid = scene.items.iter().find_map(|item| match item {
            Item::Line(line) if line.role == Role::Grid && line.places.len() == 3 => {
                Some(&line.places)
            }
            _ => None,
        });
        let corners = grid.expect("the axes");
        let (wide, high) = (corners[2].0 - corners[1].0, corners[1].1 - corners[0].1);
        let decade = |range: (f64, f64), pixels: f64| pixels / (range.1 / range.0).log10();
        let expected = decade(plot.y.range, high) / decade(plot.x.range, wide);
        for (line, (guide, _)) in lines.zip(seen) {
            let [(x1, y1), (x2, y2)] = line.places[..] else {
                panic!("a straight line, not {line:?}");
            };
            match guide.path {
                Path::Slope { .. } => {
                    drawn += 1;
                    let error = ((y1 - y2) - expected * (x2 - x1)).abs();
                    assert!(error < 1e-6 * (1.0 + (y1 - y2).abs()), "{guide:?}: {error}");
                }
                _ => assert!((y1 - y2).abs() < 1e-9, "{guide:?}"),
            }
        }
    }
    assert!(drawn > 100, "{drawn} slopes");
}

#[test]
fn letters_are_in_the_middle_of_their_room_and_ticks_that_would_touch_have_no_label() {
    let mark = |x: f64| Mark {
        x,
        y: 50.0,
        kind: MarkKind::Measured,
        noise: None,
        tip: String::new(),
        note: None,
        letters: (x == 20.0).then(|| "WB".to_owned()),
    };
    let names: Vec<String> = (1..=40).map(|it| format!("kernel-{it}")).collect();
    let figure = Figure {
        title: String::new(),
        subtitle: String::new(),
        plots: vec![Plot {
            caption: String::new(),
            x: Axis::named("kernel", names),
            y: Axis::log("GFLOP/s", (1.0, 100.0)),
            guides: Vec::new(),
            series: vec![Series {
                name: "all rows".to_owned(),
                joined: Joined::Not,
                marks: (1..=40).map(|it| mark(f64::from(it))).collect(),
            }],
        }],
    };
    let scene = figure.scene(400.0);
    assert_eq!(faults(&figure, &scene), [""; 0]);
    let texts = texts(&scene);
    let letters = texts.iter().find(|it| it.text == "WB").expect("letters");
    let marks = scene.items.iter().filter_map(|item| match item {
        Item::Shape(shape) => Some(shape.at),
        _ => None,
    });
    let at = marks.collect::<Vec<_>>()[19];
    let bounds = letters.bounds();
    assert!(
        (0.5 * (bounds.left + bounds.right) - at.0).abs() <= 20.0,
        "{bounds:?}"
    );
    for all in ["1: kernel-1", "40: kernel-40"] {
        assert!(texts.iter().any(|it| it.text == all), "{all}");
    }
}

#[test]
fn dark_series_have_rules_in_files_that_have_them() {
    let series = |number: usize| Series {
        name: format!("kernel-{number}"),
        joined: Joined::Marks,
        marks: vec![Mark {
            x: 2.0,
            y: 2.0,
            kind: MarkKind::Measured,
            noise: None,
            tip: String::new(),
            note: None,
            letters: None,
        }],
    };
    let svg = |count: usize, home: Home| {
        let figure = Figure {
            title: String::new(),
            subtitle: String::new(),
            plots: vec![Plot {
                caption: String::new(),
                x: Axis::log("n", (1.0, 10.0)),
                y: Axis::log("GB/s", (1.0, 10.0)),
                guides: Vec::new(),
                series: (0..count).map(series).collect(),
            }],
        };
        figure.scene(880.0).svg(home)
    };
    let rules = |svg: &str| svg.matches("[stroke=").count();
    assert_eq!(rules(&svg(7, Home::File)), 0);
    assert_eq!(rules(&svg(9, Home::File)), 2);
    assert_eq!(rules(&svg(9, Home::Page)), 0);
}

#[test]
fn a_predicted_mark_is_hollow_and_a_measured_one_is_not() {
    let mut random = Rng::with_seed(3);
    for _ in 0..50 {
        let figure = figure(&mut random);
        let scene = figure.scene(880.0);
        let shapes = scene.items.iter().filter_map(|item| match item {
            Item::Shape(shape) if shape.tip.is_some() => Some(shape.hollow),
            _ => None,
        });
        let series = figure.plots.iter().flat_map(|plot| &plot.series);
        let marks = series.flat_map(|series| &series.marks);
        let kinds = marks.map(|mark| mark.kind == MarkKind::Predicted);
        assert_eq!(shapes.collect::<Vec<_>>(), kinds.collect::<Vec<_>>());
    }
}

#[test]
fn svg_is_well_formed_and_a_terminals_lines_are_no_wider_than_it() {
    let mut random = Rng::with_seed(4);
    for _ in 0..50 {
        let figure = figure(&mut random);
        for home in [Home::File, Home::Page] {
            let svg = figure.scene(880.0).svg(home);
            let document = roxmltree::Document::parse(&svg).expect("well-formed");
            assert!(document.descendants().any(|it| it.has_tag_name("polyline")));
        }
        for columns in [40, 80, 120] {
            let text = figure.text(columns, Paint::Plain);
            for line in text.lines() {
                assert!(
                    line.chars().count() <= columns,
                    "{columns} columns: {line:?}"
                );
            }
        }
    }
}

/// Three measured bandwidths: memory's, and those of two caches.
#[test]
fn measured_roofs_have_dashes_of_their_own() {
    let slope = |number: usize| Guide {
        label: format!("level {number}"),
        path: Path::Slope {
            rate: 10f64.powi(number as i32),
            top: 1000.0,
        },
        source: Source::Measured,
        number,
        dots: Vec::new(),
    };
    let figure = Figure {
        title: String::new(),
        subtitle: String::new(),
        plots: vec![Plot {
            caption: String::new(),
            series: Vec::new(),
            guides: (0..3).map(slope).collect(),
            x: Axis::log("arithmetic intensity, FLOP/byte", (0.1, 100.0)),
            y: Axis::log("GFLOP/s", (1.0, 2000.0)),
        }],
    };
    let scene = figure.scene(800.0);
    let patterns = scene.items.iter().filter_map(|item| match item {
        Item::Line(line) if line.role == Role::Guide => Some(line.stroke.pattern()),
        _ => None,
    });
    let mut patterns: Vec<_> = patterns.collect();
    patterns.sort_unstable();
    patterns.dedup();
    assert!(
        patterns.len() == 3 && !patterns.contains(&&[][..]),
        "{patterns:?}"
    );
}

/// The roofs of an H200 on a telephone, where the label of the flat roof has no room: what stands beside its ridge point
/// would be read as its label.
#[test]
fn a_bandwidths_label_is_not_beside_a_ridge_point() {
    let roof = |height: f64| {
        let ridge = (height / 4800.0, height);
        let from = ridge.0;
        Guide {
            label: format!("f32 FMA {height} GFLOP/s, ridge {from:.2}"),
            path: Path::Flat { height, from },
            source: Source::Sheet,
            number: 0,
            dots: vec![ridge],
        }
    };
    let memory = Guide {
        label: "memory 4.80 TB/s".to_owned(),
        path: Path::Slope {
            rate: 4800.0,
            top: 66_910.0,
        },
        source: Source::Sheet,
        number: 0,
        dots: Vec::new(),
    };
    let plot = Plot {
        caption: String::new(),
        series: Vec::new(),
        guides: vec![memory, roof(66_910.0), roof(33_450.0)],
        x: Axis::log("arithmetic intensity, FLOP/byte", (0.15, 450.0)),
        y: Axis::log("GFLOP/s", (600.0, 130_000.0)),
    };
    let figure = Figure {
        title: String::new(),
        subtitle: String::new(),
        plots: vec![plot],
    };
    let scene = figure.scene(400.0);
    let mut labels = texts(&scene).into_iter();
    let label = labels.find(|it| it.text.starts_with("memory"));
    let label = label.expect("there is room beside the slope").bounds();
    let dots = scene.items.iter().filter_map(|item| match item {
        Item::Shape(shape) => Some(Rect::around(shape.at, 12.0)),
        _ => None,
    });
    let dots: Vec<Rect> = dots.collect();
    assert_eq!(dots.len(), 2);
    assert!(
        !dots.iter().any(|dot| dot.overlaps(&label)),
        "{label:?}: {dots:?}"
    );
}
