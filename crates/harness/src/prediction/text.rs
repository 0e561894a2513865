//! A prediction as text for people.

use std::fmt::Write;

use super::{COVERAGE, Prediction};
use crate::table::time_text;

/// Causes and resources that are shown.
const SHOWN: usize = 4;
/// Shares below this are not.
const LEAST: f64 = 0.01;

/// The text of the prediction of a launch `at`.
pub fn text(prediction: &Prediction, at: &str) -> String {
    let duration = |seconds: f64| time_text(1e9 * seconds);
    let mut text = format!(
        "{at}: predicted {} on {} ({}), in {:.0} % of the cases from {} to {}\n",
        duration(prediction.seconds),
        prediction.gpu,
        prediction.source,
        100.0 * COVERAGE,
        duration(prediction.low),
        duration(prediction.high),
    );
    let limit = match prediction.limit.as_str() {
        "latency" => "latency: no part is busy all the time".to_owned(),
        resource => format!("{resource}, busy all the time"),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  limited by {limit}");
    for cause in prediction
        .causes
        .iter()
        .take(SHOWN)
        .filter(|it| it.share >= LEAST)
    {
        let place = cause
            .place
            .as_ref()
            .map_or(String::new(), |it| format!(", most at {it}"));
        let _ = writeln!(
            text,
            "  {:3.0} % of a warp's time: {}{place}",
            100.0 * cause.share,
            cause.what
        );
    }
    let busy = prediction
        .busy
        .iter()
        .take(SHOWN)
        .filter(|it| it.1 >= LEAST);
    let busy: Vec<String> = busy
        .map(|(name, share)| format!("{name} {:.0} %", 100.0 * share))
        .collect();
    let _ = write!(text, "  busy: {}", busy.join(", "));
    text
}
