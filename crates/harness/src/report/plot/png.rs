//! A scene as pixels.

use std::io::Write;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::colours::{Colour, heat, series};
use super::geometry::Place;
use super::scene::{Anchor, Ink, Item, Line, Scene, Shape, Text};
use crate::report::ChartError;

const FONT: &str = "sans-serif";
/// Pixels of the file for one of the scene.
const SCALE: f64 = 2.0;
/// plotters' sizes are those of a line; a scene's are those of letters.
const FONT_SIZE: f64 = 1.24;

type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;
type Result<T> = std::result::Result<T, ChartError>;

impl Scene {
    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// Errors of `output`, or of the encoder, which has no room for the pixels.
    pub(in crate::report) fn write_png(&self, output: impl Write) -> Result<()> {
        register_font();
        let scaled = |it: f64| (it * SCALE).round() as u32;
        let size = (scaled(self.width), scaled(self.height));
        let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
        {
            let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
            area.fill(&WHITE)?;
            for item in self.all() {
                match item {
                    Item::Text(text) => draw_text(&area, text)?,
                    Item::Line(line) => draw_line(&area, line)?,
                    Item::Shape(shape) => draw_shape(&area, shape)?,
                }
            }
            area.present()?;
        }
        let mut encoder = png::Encoder::new(output, size.0, size.1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&pixels)?;
        Ok(())
    }
}

fn colour(ink: Ink) -> RGBColor {
    let (red, green, blue): Colour = match ink {
        Ink::Text | Ink::Number => (27, 31, 36),
        Ink::Faint => (89, 99, 110),
        Ink::Grid => (215, 220, 225),
        Ink::Roof => (60, 60, 60),
        Ink::MeasuredRoof => (120, 60, 140),
        Ink::Series(index) => series(index),
        Ink::Heat(percent) => heat(percent),
    };
    RGBColor(red, green, blue)
}

fn pixel((x, y): Place) -> (i32, i32) {
    ((x * SCALE).round() as i32, (y * SCALE).round() as i32)
}

fn draw_text(area: &Area<'_>, text: &Text) -> Result<()> {
    let side = match text.anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let style = (FONT, text.size * SCALE * FONT_SIZE)
        .into_font()
        .color(&colour(text.ink))
        .pos(Pos::new(side, VPos::Center));
    // plotters' middle is that of a line with room below the letters.
    let middle = (text.at.0, text.at.1 - 0.12 * text.size);
    Ok(area.draw(&plotters::element::Text::new(
        text.text.clone(),
        pixel(middle),
        style,
    ))?)
}

fn draw_line(area: &Area<'_>, line: &Line) -> Result<()> {
    let style = colour(line.ink).stroke_width((line.width * SCALE).round() as u32);
    let parts = match line.stroke.pattern() {
        [] => vec![line.places.clone()],
        pattern => dashes(&line.places, pattern),
    };
    for part in parts {
        let places: Vec<_> = part.into_iter().map(pixel).collect();
        area.draw(&PathElement::new(places, style))?;
    }
    Ok(())
}

/// The pieces of a pattern of pixels that are drawn and left out.
fn dashes(places: &[Place], pattern: &[u8]) -> Vec<Vec<Place>> {
    let mut pieces = Vec::new();
    for pair in places.windows(2) {
        let ((x1, y1), (x2, y2)) = (pair[0], pair[1]);
        let length = (x2 - x1).hypot(y2 - y1);
        let at = |distance: f64| {
            let share = (distance / length).min(1.0);
            (x1 + share * (x2 - x1), y1 + share * (y2 - y1))
        };
        let mut from = 0.0;
        let steps = pattern.iter().cycle().map(|step| f64::from(*step));
        for (index, step) in steps.enumerate() {
            if from >= length {
                break;
            }
            if index % 2 == 0 {
                pieces.push(vec![at(from), at(from + step)]);
            }
            from += step;
        }
    }
    pieces
}

fn draw_shape(area: &Area<'_>, shape: &Shape) -> Result<()> {
    let edge = colour(shape.ink).stroke_width((2.0 * SCALE) as u32);
    let inside = (!shape.hollow).then(|| colour(shape.ink).filled());
    let Some(corners) = shape.kind.corners() else {
        let radius = (shape.kind.radius() * SCALE).round() as i32;
        for style in inside.into_iter().chain([edge]) {
            area.draw(&Circle::new(pixel(shape.at), radius, style))?;
        }
        return Ok(());
    };
    let (x, y) = shape.at;
    let mut places: Vec<_> = corners
        .into_iter()
        .map(|(a, b)| pixel((x + a, y + b)))
        .collect();
    if let Some(style) = inside {
        area.draw(&Polygon::new(places.clone(), style))?;
    }
    places.push(places[0]);
    area.draw(&PathElement::new(places, edge))?;
    Ok(())
}

/// Charts look the same on every machine because they bring their own font.
fn register_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for style in [FontStyle::Normal, FontStyle::Bold] {
            // An invalid font would show in every test of a chart.
            let _ = plotters::style::register_font(FONT, style, epaint_default_fonts::UBUNTU_LIGHT);
        }
    });
}
