//! Headings for people above the columns of files.

/// A column's name for people: in words, with its unit.
pub(crate) fn heading(name: &str) -> String {
    let known = [
        ("ai", "intensity, FLOP/byte"),
        ("ridge_point", "ridge point, FLOP/byte"),
        ("bandwidth", "GB/s"),
        ("power_watts", "power, W"),
        ("temperature", "temperature, °C"),
        ("dtype", "type"),
        ("dynamic_shared", "dynamic shared, bytes"),
        ("tail_percent", "idle in the last wave, %"),
    ];
    if let Some((_, words)) = known.iter().find(|(it, _)| *it == name) {
        return (*words).to_owned();
    }
    let units = [
        ("gflops", "GFLOP/s"),
        ("ms", "ms"),
        ("mhz", "MHz"),
        ("hz", "Hz"),
        ("percent", "%"),
        ("bytes", "bytes"),
        ("flop", "FLOP"),
        ("ai", "FLOP/byte"),
    ];
    let unit = units.iter().find_map(|(end, unit)| {
        let words = name.strip_suffix(end)?;
        let is_unit = words.is_empty() || words.ends_with('_');
        is_unit.then_some((words.trim_end_matches('_'), *unit))
    });
    let text = match (name.strip_prefix("percent_"), unit) {
        (Some(of), _) => format!("% of {of}"),
        (None, Some(("", unit))) => unit.to_owned(),
        (None, Some((words, unit))) => format!("{words}, {unit}"),
        (None, None) => name.to_owned(),
    };
    let text = text.replace('_', " ");
    [("nvml", "NVML"), ("dram", "DRAM"), ("l2", "L2")]
        .iter()
        .fold(text, |text, (raw, name)| text.replace(raw, name))
}

#[cfg(test)]
mod tests {
    use super::heading;
    use crate::table::columns;

    #[test]
    fn headings_are_in_words_with_units() {
        for (name, words) in [
            ("ai", "intensity, FLOP/byte"),
            ("gflops", "GFLOP/s"),
            ("percent_measured_roof", "% of measured roof"),
            ("median_ms", "median, ms"),
            ("nvml_clock_mhz", "NVML clock, MHz"),
            ("dram_bytes", "DRAM, bytes"),
            ("measured_ai", "measured, FLOP/byte"),
            ("noise_floor_percent", "noise floor, %"),
            ("dynamic_shared", "dynamic shared, bytes"),
            ("k", "k"),
        ] {
            assert_eq!(heading(name), words);
        }
        let all = columns().map(|column| heading(column.name));
        let raw: Vec<String> = all.filter(|it| it.contains('_')).collect();
        assert!(raw.is_empty(), "{raw:?}");
    }
}
