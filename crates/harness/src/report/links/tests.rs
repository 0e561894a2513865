use super::*;
use crate::links::tests::row;
use crate::report::plot::{Figure, faults};

/// As two GPUs have them.
fn rows() -> Vec<LinkRow> {
    let mut rows = Vec::new();
    for quantity in LinkQuantity::ALL {
        let value = match quantity.unit() {
            Unit::Seconds => 1.234e-6,
            _ => 391.4e9,
        };
        if matches!(quantity, LinkQuantity::Copy | LinkQuantity::CopyBothWays) {
            rows.push(row(quantity, "host", "cuda:0", Some(55.3e9)));
            rows.push(row(quantity, "host", "cuda:1", Some(55.1e9)));
        }
        rows.push(row(quantity, "cuda:0", "cuda:1", Some(value)));
        if !quantity.is_both_ways() {
            rows.push(row(quantity, "cuda:1", "cuda:0", Some(0.9 * value)));
        }
    }
    rows
}

#[test]
fn each_quantity_is_a_matrix_of_its_devices() {
    let text = links_table(&rows(), Width::Any);
    for expected in [
        "copy, GB/s",
        "391",
        "352",
        "55.3",
        "load latency, ns",
        "1234",
        "1111",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_eq!(
        text.matches("from \\ to").count(),
        LinkQuantity::ALL.len(),
        "{text}"
    );
    // Both directions of what goes both ways are one number.
    let (_, both) = text.split_once("copy, both ways").expect("its matrix");
    let (both, _) = both.split_once("kernel reads").expect("the next");
    assert_eq!(both.matches("391").count(), 2, "{both}");
    assert!(!text.contains("emulator"), "{text}");
}

#[test]
fn what_was_not_measured_or_not_by_a_link_is_said() {
    let mut rows = rows();
    rows.retain(|row| {
        row.quantity == LinkQuantity::KernelRead || row.quantity == LinkQuantity::Copy
    });
    for row in &mut rows {
        row.emulated = true;
        match row.quantity {
            LinkQuantity::Copy => row.way = LinkRow::STAGED.to_owned(),
            _ => (row.value, row.note) = (None, "no link".to_owned()),
        }
    }
    let text = links_table(&rows, Width::Any);
    for expected in [
        "none",
        "cuda:0 -> cuda:1: no access to the other's memory: no link",
        "cuda:1 -> cuda:0: copies are staged through the host",
        "this host's, not a GPU's",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let alone = [row(LinkQuantity::Copy, "host", "cuda:0", Some(5e10))];
    assert!(
        links_table(&alone, Width::Any).contains("One device: there are no links between devices")
    );
}

#[test]
fn a_picture_has_each_number_inside_of_it() {
    // From three devices on their links are drawn as lines, too.
    for (count, lines) in [(2, 0), (3, 3), (4, 6), (8, 28)] {
        let mut all = Vec::new();
        for from in 0..count {
            for to in (0..count).filter(|to| *to != from) {
                let [from, to] = [from, to].map(|it| format!("cuda:{it}"));
                all.push(row(
                    LinkQuantity::Copy,
                    &from,
                    &to,
                    Some(300e9 + 1e9 * all.len() as f64),
                ));
            }
        }
        let mut svg = Vec::new();
        let picture = LinksPicture { rows: &all };
        picture.write(ChartFormat::Svg, &mut svg).expect("drawn");
        let svg = String::from_utf8(svg).expect("text");
        let document = roxmltree::Document::parse(&svg).expect("XML");
        let texts: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.text())
            .collect();
        for index in 0..all.len() {
            let number = (300 + index).to_string();
            assert!(texts.contains(&number.as_str()), "{count}: no {number}");
        }
        let cells = document
            .descendants()
            .filter(|node| node.attribute("class") == Some("cell"));
        assert_eq!(cells.count(), all.len());
        // Their numbers are dark on dark pages, too, and have no edge.
        let numbers = document
            .descendants()
            .filter(|node| node.attribute("class") == Some("number"));
        assert_eq!(numbers.count(), all.len());
        assert!(svg.contains("text.number{stroke:none}") && !svg.contains(".number{fill"));
        let links = document
            .descendants()
            .filter(|node| node.attribute("class") == Some("link"));
        assert_eq!(links.count(), lines);
        let said = "linked alike";
        let text = links_table(&all, Width::Any);
        assert_eq!(text.contains(said), lines > 0, "{text}");
        assert_eq!(texts.join(" ").contains(said), lines > 0);
        let mut png = Vec::new();
        picture.write(ChartFormat::Png, &mut png).expect("drawn");
        assert!(png.starts_with(b"\x89PNG"));
    }
    let none = [row(LinkQuantity::KernelRead, "cuda:0", "cuda:1", None)];
    let nothing = LinksPicture { rows: &none };
    assert!(nothing.is_empty() && nothing.write(ChartFormat::Svg, Vec::new()).is_err());
}

/// For people who look at it: `RIDGEPOINT_DRAW=FOLDER cargo test -p ridgepoint-harness --lib report::links`.
#[test]
fn a_picture_fits_its_frame() {
    let pairs = |count: usize| {
        let mut rows = rows();
        for (from, to) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
            let [a, b] = [from, to].map(|it| format!("cuda:{it}"));
            let rate = if from / 2 == to / 2 { 391e9 } else { 44e9 };
            if from != to {
                rows.push(row(LinkQuantity::Copy, &a, &b, Some(rate)));
            }
        }
        rows
    };
    for (name, rows) in [("2", rows()), ("4", pairs(4)), ("8", pairs(8))] {
        let [title, subtitle] = heading(&rows);
        let scene = matrices([&title, &subtitle], network(&rows), &tables(&rows));
        let figure = Figure {
            title,
            subtitle,
            plots: Vec::new(),
        };
        assert_eq!(faults(&figure, &scene), [""; 0], "{name} devices");
        if let Some(folder) = std::env::var_os("RIDGEPOINT_DRAW") {
            let path = std::path::Path::new(&folder).join(format!("links-{name}.png"));
            let file = std::fs::File::create(path).expect("writable");
            LinksPicture { rows: &rows }
                .write(ChartFormat::Png, file)
                .expect("drawn");
        }
    }
}
