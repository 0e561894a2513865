//! The colours of series, each once, and those of everything else on light and dark pages.

/// Red, green and blue.
pub(super) type Colour = (u8, u8, u8);

/// Colours that remain apart for colour-blind readers: M. Okabe and K. Ito, "Color Universal Design",
/// 2008; grey in place of black, which a dark page does not show.
const PALETTE: [Colour; 7] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (127, 127, 127),
];

/// The colour of series number `index`: those of the palette, then darker and lighter ones, then hues
/// that are far from their neighbours'.
pub(super) fn series(index: usize) -> Colour {
    let turn = index / PALETTE.len();
    let colour = PALETTE[index % PALETTE.len()];
    match turn {
        0 => colour,
        1 => mixed(colour, (0, 0, 0), 0.38),
        2 => mixed(colour, (255, 255, 255), 0.45),
        _ => {
            /// The golden angle: a series' hue is far from those shortly before it.
            const TURN: f64 = 0.381_966;
            let number = (index - 3 * PALETTE.len()) as f64;
            let lightness = [0.30, 0.42, 0.60][index % 3];
            hue((0.05 + number * TURN) % 1.0, lightness)
        }
    }
}

/// The same on a dark page, where the darker ones would hardly be seen.
pub(super) fn dark_series(index: usize) -> Colour {
    match index / PALETTE.len() {
        1 => mixed(PALETTE[index % PALETTE.len()], (255, 255, 255), 0.60),
        _ => series(index),
    }
}

/// A cell whose number is this percentage of the greatest: pale, and blue at most, so that the number in it is read.
pub(super) fn heat(percent: u8) -> Colour {
    const PALEST: f64 = 0.92;
    const DARKEST: f64 = 0.35;
    let share = f64::from(percent.min(100)) / 100.0;
    mixed(
        PALETTE[0],
        (255, 255, 255),
        PALEST - (PALEST - DARKEST) * share,
    )
}

fn mixed(colour: Colour, with: Colour, share: f64) -> Colour {
    let mix = |a: u8, b: u8| (f64::from(a) * (1.0 - share) + f64::from(b) * share).round() as u8;
    (
        mix(colour.0, with.0),
        mix(colour.1, with.1),
        mix(colour.2, with.2),
    )
}

/// A colour of this hue, 0 to 1, and lightness.
fn hue(hue: f64, lightness: f64) -> Colour {
    const SATURATION: f64 = 0.75;
    let spread = SATURATION * lightness.min(1.0 - lightness);
    let part = |offset: f64| {
        let at = (offset + hue * 12.0) % 12.0;
        let value = lightness - spread * (at - 3.0).min(9.0 - at).clamp(-1.0, 1.0);
        (255.0 * value).round() as u8
    };
    (part(0.0), part(8.0), part(4.0))
}

/// `#0072b2`
pub(super) fn hex((red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(a: Colour, b: Colour) -> f64 {
        let square = |x: u8, y: u8| (f64::from(x) - f64::from(y)).powi(2);
        (square(a.0, b.0) + square(a.1, b.1) + square(a.2, b.2)).sqrt()
    }

    #[test]
    fn no_colour_comes_back() {
        let colours: Vec<Colour> = (0..100).map(series).collect();
        for (i, &a) in colours.iter().enumerate() {
            for (j, &b) in colours[..i].iter().enumerate() {
                // What a legend of a readable size holds is told apart by eye.
                let least = if i < 21 { 25.0 } else { 1.0 };
                assert!(apart(a, b) >= least, "{i} is {a:?}, {j} is {b:?}");
            }
        }
    }

    #[test]
    fn series_of_a_legend_are_seen_on_dark_pages() {
        /// By WCAG 2.
        fn luminance(colour: Colour) -> f64 {
            let linear = |part: u8| match f64::from(part) / 255.0 {
                low if low <= 0.04045 => low / 12.92,
                high => ((high + 0.055) / 1.055).powf(2.4),
            };
            0.2126 * linear(colour.0) + 0.7152 * linear(colour.1) + 0.0722 * linear(colour.2)
        }
        let page = luminance((0x14, 0x17, 0x1c));
        let colours: Vec<Colour> = (0..21).map(dark_series).collect();
        for (i, &a) in colours.iter().enumerate() {
            let contrast = (luminance(a) + 0.05) / (page + 0.05);
            assert!(contrast >= 3.0, "{i}: {contrast}");
            for (j, &b) in colours[..i].iter().enumerate() {
                assert!(apart(a, b) >= 25.0, "{i} is {a:?}, {j} is {b:?}");
            }
        }
    }
}
