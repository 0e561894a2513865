//! A scene as SVG, light or dark as the reader's pages are, and light on paper.

use std::fmt::Write;

use itertools::Itertools;

use super::colours::{dark_series, heat, hex, series};
use super::geometry::Place;
use super::scene::{Anchor, Ink, Item, Line, Role, Scene, Shape, ShapeKind, Text};

/// Where an SVG stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Home {
    /// In a file of its own, with the colours that it needs.
    File,
    /// In a page, whose style sheet has them.
    Page,
}

/// The colours of what is no series; presentation attributes, which style sheets override. The last rule is open: the
/// series of a scene follow.
const STYLE: &str = "\
text{font-family:system-ui,sans-serif;paint-order:stroke;stroke-width:3px;stroke-linejoin:round}text.number{stroke:none}\
@media screen and (prefers-color-scheme:dark){\
.page{fill:#14171c}text{stroke:#14171c}.text{fill:#e6e9ed}.faint{fill:#9aa4ae}.grid{stroke:#333b44}\
.roof{stroke:#c5ccd3}.dot,.label-roof{fill:#c5ccd3}.roof.measured{stroke:#c39bd3}\
.label-measured{fill:#c39bd3}.ring,.leader{stroke:#9aa4ae}";

impl Scene {
    /// The picture as SVG.
    pub(in crate::report) fn svg(&self, home: Home) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             role=\"img\" aria-label=\"{}\" font-family=\"system-ui, sans-serif\">\n",
            escaped(&self.title),
            w = self.width,
            h = self.height,
        );
        if home == Home::File {
            // Neither text nor colours depend on a page.
            let _ = write!(
                svg,
                "<style>{STYLE}{}}}</style>\n<rect class=\"page\" width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n",
                self.dark_series(),
                self.width,
                self.height
            );
        }
        for item in &self.items {
            write(&mut svg, item, home);
        }
        svg.push_str("<g class=\"legend\">\n");
        for item in &self.legend {
            write(&mut svg, item, home);
        }
        svg.push_str("</g>\n</svg>\n");
        // Names and titles may hold what XML does not, escaped or not.
        svg.replace(is_not_xml, "\u{fffd}")
    }

    /// The rules of the scene's own series.
    fn dark_series(&self) -> String {
        let index = |item: &Item| match item {
            Item::Line(Line { ink, .. }) | Item::Shape(Shape { ink, .. }) => match ink {
                Ink::Series(index) => Some(*index),
                _ => None,
            },
            Item::Text(_) => None,
        };
        dark_rules("", self.all().filter_map(index).sorted().dedup())
    }
}

/// Rules for those of these series that are lighter on a dark page, each below what `within` selects.
pub(in crate::report) fn dark_rules(
    within: &str,
    series_numbers: impl IntoIterator<Item = usize>,
) -> String {
    let rules = series_numbers.into_iter().filter_map(|index| {
        let (light, dark) = (series(index), dark_series(index));
        let (from, to) = (hex(light), hex(dark));
        let rule = format!(
            "{within}[stroke=\"{from}\"]{{stroke:{to}}}{within}[fill=\"{from}\"]{{fill:{to}}}"
        );
        (light != dark).then_some(rule)
    });
    rules.collect()
}

/// Whether XML 1.0 has no place for a character.
fn is_not_xml(letter: char) -> bool {
    let is_space = matches!(letter, '\t' | '\n' | '\r');
    letter < ' ' && !is_space || matches!(letter, '\u{fffe}' | '\u{ffff}')
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
}

/// A colour on a light page.
fn colour(ink: Ink) -> String {
    match ink {
        Ink::Text | Ink::Number => "#1b1f24".to_owned(),
        Ink::Faint => "#59636e".to_owned(),
        Ink::Grid => "#d7dce1".to_owned(),
        Ink::Roof => "#3c3c3c".to_owned(),
        Ink::MeasuredRoof => "#783c8c".to_owned(),
        Ink::Series(index) => hex(series(index)),
        Ink::Heat(percent) => hex(heat(percent)),
    }
}

fn write(svg: &mut String, item: &Item, home: Home) {
    match item {
        Item::Text(text) => write_text(svg, text),
        Item::Line(line) => write_line(svg, line, home),
        Item::Shape(shape) => write_shape(svg, shape, home),
    }
}

fn write_text(svg: &mut String, text: &Text) {
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let class = match text.ink {
        Ink::Roof => "label-roof",
        Ink::MeasuredRoof => "label-measured",
        Ink::Faint => "faint",
        Ink::Number => "number",
        _ => "text",
    };
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\" \
         stroke=\"#ffffff\">{}</text>",
        text.at.0,
        text.at.1,
        text.size,
        colour(text.ink),
        escaped(&text.text),
    );
}

fn write_line(svg: &mut String, line: &Line, home: Home) {
    let class = match (line.role, line.ink) {
        (Role::Guide, Ink::MeasuredRoof) => "roof measured",
        (Role::Guide, _) => "roof",
        (Role::Grid, _) => "grid",
        (Role::Curve, _) => "curve",
        (Role::Noise, _) => "noise",
        (Role::Leader, _) => "leader",
        (Role::Cell, _) => "cell",
        (Role::Link, _) => "link",
    };
    let dashes = match line.stroke.pattern() {
        [] => String::new(),
        pattern => format!(" stroke-dasharray=\"{}\"", pattern.iter().join(" ")),
    };
    let _ = writeln!(
        svg,
        "<polyline class=\"{class}\"{} points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dashes}/>",
        of_series(line.ink, home),
        points(&line.places),
        colour(line.ink),
        line.width,
    );
}

fn write_shape(svg: &mut String, shape: &Shape, home: Home) {
    let (x, y) = shape.at;
    let mut class = match shape.kind {
        ShapeKind::Dot => "dot",
        ShapeKind::Ring => "ring",
        ShapeKind::Halo => "counted",
        ShapeKind::Rhombus => "counters",
        _ => "mark",
    }
    .to_owned();
    if shape.hollow && class == "mark" {
        class += " hollow";
    }
    let mut tip = of_series(shape.ink, home);
    if let (Some(text), Home::Page) = (&shape.tip, home) {
        class += " point";
        tip += &format!(" tabindex=\"0\" data-tip=\"{}\"", escaped(text));
    }
    let colour = colour(shape.ink);
    // What lies below shows through: predictions for several kernels are often the same.
    let fill = if shape.hollow { "none" } else { &colour };
    let paint =
        format!("class=\"{class}\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"2\"{tip}");
    let _ = match shape.kind.corners() {
        None => writeln!(
            svg,
            "<circle {paint} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{}\"/>",
            shape.kind.radius()
        ),
        Some(corners) => {
            let corners: Vec<Place> = corners.into_iter().map(|(a, b)| (x + a, y + b)).collect();
            writeln!(svg, "<polygon {paint} points=\"{}\"/>", points(&corners))
        }
    };
}

/// The number of the series that something is of, by which a page hides it.
fn of_series(ink: Ink, home: Home) -> String {
    match (ink, home) {
        (Ink::Series(index), Home::Page) => format!(" data-series=\"{index}\""),
        _ => String::new(),
    }
}

fn points(places: &[Place]) -> String {
    let each = places.iter().map(|(x, y)| format!("{x:.2},{y:.2}"));
    each.collect::<Vec<_>>().join(" ")
}
