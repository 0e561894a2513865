//! Where an axis has ticks, and what is written at them.

use super::{Axis, Scale};

/// A tick.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// Ticks at most.
const MAX: usize = 12;

/// The finest ticks whose labels fit beside each other: at 1, 2 and 5 of each decade, at some of the
/// decades, or, below a decade, at multiples of a step; or at powers of two.
pub(super) fn ticks(axis: &Axis, fits: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
    if !axis.names.is_empty() {
        return of_names(axis, fits);
    }
    let named = |values: Vec<f64>| -> Vec<Tick> {
        let tick = |value: f64| Tick {
            value,
            label: number(value),
        };
        values.into_iter().map(tick).collect()
    };
    let all = candidates(axis).into_iter().map(named);
    let good = |ticks: &Vec<Tick>| (2..=MAX).contains(&ticks.len()) && fits(ticks);
    let mut all = all.filter(good);
    // Nothing but its two ends stands at an axis that has no room for more.
    all.next().unwrap_or_default()
}

/// The names where they fit beside each other, or else their numbers, which a legend explains.
fn of_names(axis: &Axis, fits: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
    let ticks = |label: &dyn Fn(usize) -> String| -> Vec<Tick> {
        let places = 0..axis.names.len();
        let tick = |place: usize| Tick {
            value: place as f64 + 1.0,
            label: label(place),
        };
        places.map(tick).collect()
    };
    let names = ticks(&|place| axis.names[place].clone());
    match fits(&names) {
        true => names,
        false => ticks(&|place| (place + 1).to_string()),
    }
}

/// From the finest to the coarsest.
fn candidates(axis: &Axis) -> Vec<Vec<f64>> {
    let (low, high) = axis.range;
    match axis.scale {
        Scale::Linear => steps(low, high),
        Scale::Log if high / low < 8.0 => [steps(low, high), decades(low, high)].concat(),
        Scale::Log => [decades(low, high), steps(low, high)].concat(),
        Scale::Log2 => [powers_of_two(low, high), decades(low, high)].concat(),
    }
}

/// Multiples of 1, 2 and 5 times a power of ten.
fn steps(low: f64, high: f64) -> Vec<Vec<f64>> {
    let largest = (high - low).log10().floor() as i32;
    let steps = (largest - 2..=largest).flat_map(|e| [1.0, 2.0, 5.0].map(|it| it * ten(e)));
    let multiples = |step: f64| {
        let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
        match last - first {
            // Their labels are not even looked at.
            0..=64 => (first..=last).map(|it| it as f64 * step).collect(),
            _ => Vec::new(),
        }
    };
    steps.map(multiples).collect()
}

/// Mantissas of each decade, then the decades, then every second, third, ..
fn decades(low: f64, high: f64) -> Vec<Vec<f64>> {
    let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let inside = |values: Vec<f64>| -> Vec<f64> {
        let is_in = |it: &f64| (low..=high).contains(it);
        values.into_iter().filter(is_in).collect()
    };
    let of = |mantissas: &'static [f64]| {
        let values = exponents
            .clone()
            .flat_map(|e| mantissas.iter().map(move |it| it * ten(e)));
        inside(values.collect())
    };
    let every = |step: i32| {
        let chosen = exponents.clone().filter(|e| e.rem_euclid(step) == 0);
        inside(chosen.map(ten).collect())
    };
    let mut all = vec![of(&[1.0, 2.0, 5.0]), of(&[1.0, 3.0])];
    all.extend((1..=6).map(every));
    all
}

/// Each, then every second, third, ..
fn powers_of_two(low: f64, high: f64) -> Vec<Vec<f64>> {
    let exponents = low.log2().ceil() as i32..=high.log2().floor() as i32;
    let every = |step: i32| {
        let chosen = exponents.clone().filter(|e| e.rem_euclid(step) == 0);
        chosen.map(|e| 2f64.powi(e)).collect()
    };
    (1..=6).map(every).collect()
}

/// Exact for each exponent that a double holds exactly.
fn ten(exponent: i32) -> f64 {
    match exponent {
        0.. => 10f64.powi(exponent),
        _ => 1.0 / 10f64.powi(-exponent),
    }
}

/// A number with as many digits as it takes: 0.25, 1,000, 2e6.
pub(super) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&value.abs()) {
        // `{:e}` writes the shortest digits.
        let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
        return format!("{rounded:e}");
    }
    let digits = (5 - value.abs().log10().floor() as i32).max(0) as usize;
    let rounded: f64 = format!("{value:.digits$}").parse().unwrap_or(value);
    let text = rounded.to_string();
    let (whole, rest) = text
        .find('.')
        .map_or((&text[..], ""), |at| text.split_at(at));
    if whole.trim_start_matches('-').len() < 5 {
        return text;
    }
    let (front, thousand) = whole.split_at(whole.len() - 3);
    format!("{front},{thousand}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, range: (f64, f64)) -> Vec<String> {
        let axis = Axis {
            name: String::new(),
            range,
            scale,
            names: Vec::new(),
        };
        let found = ticks(&axis, |_| true);
        found.into_iter().map(|it| it.label).collect()
    }

    #[test]
    fn half_a_decade_one_and_six_have_their_ticks() {
        let log = |low, high| labels(Scale::Log, (low, high)).join(" ");
        assert_eq!(log(3.0, 9.5), "3 4 5 6 7 8 9");
        assert_eq!(log(1.0, 10.0), "1 2 5 10");
        assert_eq!(log(0.3, 30.0), "0.5 1 2 5 10 20");
        assert_eq!(log(0.01, 2e4), "0.01 0.1 1 10 100 1000 10,000");
        assert_eq!(log(1e-3, 1e12), "0.01 1 100 10,000 1e6 1e8 1e10 1e12");
        let log2 = |low, high| labels(Scale::Log2, (low, high)).join(" ");
        assert_eq!(log2(0.9, 17.0), "1 2 4 8 16");
        assert_eq!(log2(0.2, 1.1), "0.25 0.5 1");
        assert_eq!(log2(0.9, 9000.0), "1 4 16 64 256 1024 4096");
        let linear = labels(Scale::Linear, (0.0, 4600.0)).join(" ");
        assert_eq!(linear, "0 500 1000 1500 2000 2500 3000 3500 4000 4500");
    }

    #[test]
    fn numbers_have_no_digits_too_many() {
        for (value, expected) in [
            (0.1 + 0.2, "0.3"),
            (1000.0, "1000"),
            (66_900.0, "66,900"),
            (2e6, "2e6"),
            (0.00005, "5e-5"),
            (12_345.678, "12,345.7"),
            (0.0, "0"),
            (-20_000.0, "-20,000"),
        ] {
            assert_eq!(number(value), expected);
        }
    }
}
