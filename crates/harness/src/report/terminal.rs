//! Text for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::counted;
use super::intensities::intensities;
use super::predicted::{Both, Predicted, agreement, sweep_line};
use super::roofs::memory_name;
use crate::compare::{Change, Verdict};
use crate::driver::DeviceProperties;
use crate::model::{GpuRoofs, Limit, Precision, Roofs, TensorType};
use crate::sweep::{NOISY_PERCENT, Origin, PLAUSIBLE_PERCENT, Record, by_series};
use crate::table::{self, Look, Width};
use crate::workload::Value;

/// Describes a point and its result: of an emulated one, whose times are the host's, the prediction.
pub fn point(record: &Record) -> String {
    match record.is_emulated {
        true => predicted_point(record),
        false => measured_point(record),
    }
}

fn predicted_point(record: &Record) -> String {
    let rates = [
        record
            .predicted_gflops
            .map(|it| format!("{it:.1} G{}/s", record.operation())),
        match record.predicted_gflops {
            Some(_) => None,
            None => record.predicted_bandwidth.map(|it| format!("{it:.1} GB/s")),
        },
    ];
    let rate = rates.into_iter().flatten().next();
    let known = [&record.predicted_gpu, &rate];
    let bound = match known.map(|it| it.as_deref()) {
        [Some(gpu), Some(rate)] => format!(
            "    predicted for {gpu}: at most {rate}, limited by {}",
            record.predicted_limit.map_or("", |limit| limit.name())
        ),
        _ => format!(
            "    nothing predicted: {}",
            record
                .not_counted
                .as_deref()
                .unwrap_or("what the launch moves and computes is not known")
        ),
    };
    let bound = bound + &other_intensities(record);
    let resources = record.resources.as_ref().map(|it| format!("    {it}"));
    let unchecked = (!record.checked).then(|| "    not compared with a reference".to_owned());
    let time = sweep_line(record).map(|it| format!("    {it}"));
    let lines = [Some(name(record)), Some(bound), time, resources, unchecked];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn measured_point(record: &Record) -> String {
    let noise = match record.flags[..] {
        [] => String::new(),
        _ if record.rms_percent > NOISY_PERCENT => {
            format!(
                "  warning: RMS deviation above {NOISY_PERCENT} %; {}",
                record.flags.join(", ")
            )
        }
        _ => format!("  flagged: {}", record.flags.join(", ")),
    };
    let measured = record
        .percent_measured_roof
        .map_or_else(String::new, |percent| {
            let above = match percent > PLAUSIBLE_PERCENT {
                true => {
                    ": more than that roof allows; were the ceilings measured with a smaller --n?"
                }
                false => "",
            };
            format!(", {percent:.1} % of the measured one{above}")
        });
    let roof = record.percent_roof.zip(record.limiting_roof);
    let rates = [
        known(record.mean_ms).map(|ms| format!("{ms:.4} ms ± {:.1} %", record.rms_percent)),
        record
            .gflops
            .map(|rate| format!("{rate:.1} G{}/s", record.operation())),
        record.bandwidth.map(|rate| format!("{rate:.1} GB/s")),
        record
            .percent_peak
            .map(|percent| format!("{percent:.2} % of peak")),
        roof.map(|(percent, limit)| {
            format!("{percent:.1} % of the {} roof{measured}", limit.name())
        }),
    ];
    let verdict = match record.bound {
        Some(bound) => format!("bound by {}: {}", bound.name(), record.advice),
        None => record.advice.to_owned(),
    };
    let unchecked = match record.checked {
        true => "",
        false => "  not compared with a reference",
    };
    let time = sweep_line(record).map_or_else(String::new, |it| format!("\n    {it}"));
    format!(
        "{}\n    {}{noise}{unchecked}\n    {verdict}{time}{}",
        name(record),
        joined(&rates),
        figures(record)
    )
}

/// Where a point lies on its curve, its intensity, and what was launched.
fn name(record: &Record) -> String {
    let series = record.series();
    let axes = series.axes.iter();
    let axes: Vec<String> = axes
        .map(|(name, value)| format!(", {name} {value}"))
        .collect();
    let along = record.along();
    let kernel = [Some(series.kernel), series.dtype].into_iter().flatten();
    joined(&[
        along.map(|(name, value)| format!("{name} = {value:>4}")),
        record
            .ai
            .map(|ai| format!("AI = {ai:8.3} {}/byte", record.operation())),
        Some(format!(
            "{}{}, {} of {}",
            kernel.collect::<Vec<_>>().join(" "),
            axes.concat(),
            counted(record.grid, "block"),
            record.block
        )),
    ])
}

fn joined(parts: &[Option<String>]) -> String {
    let parts: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
    parts.join("  ")
}

/// The roofs of a GPU that need not be present, with those of the tensor cores that are used.
pub fn gpu_roofs(
    gpu: &GpuRoofs,
    precisions: impl Iterator<Item = Precision>,
    tensor: &BTreeSet<TensorType>,
) -> String {
    let known = precisions.filter_map(|it| Some((it, gpu.roofs(it)?)));
    let known: BTreeMap<Precision, Roofs> = known.collect();
    let source = format!(" of {}, {}", gpu.gpu.name, gpu.source());
    roofs_from(&source, "memory", &known, tensor)
}

/// The intensities beside that of the line above, where they are others.
fn other_intensities(record: &Record) -> String {
    let shown = record.ai.map(text_of_intensity);
    let others = intensities(record).into_iter();
    let others = others.filter(|it| Some(text_of_intensity(it.flop_per_byte)) != shown);
    let others: Vec<String> = others
        .map(|it| {
            format!(
                "{} {}",
                it.source.name(),
                text_of_intensity(it.flop_per_byte)
            )
        })
        .collect();
    match others.is_empty() {
        true => String::new(),
        false => format!("\n    FLOP/byte: {}", others.join(", ")),
    }
}

fn text_of_intensity(flop_per_byte: f64) -> String {
    format!("{flop_per_byte:.3}")
}

/// Where bytes and operations come from, if not from the workload alone: nothing, or lines.
fn figures(record: &Record) -> String {
    let mut text = String::new();
    let from = |what: &str, origin: Option<Origin>| match origin? {
        Origin::Formula => None,
        Origin::Counted => Some(format!("{what} are counted")),
        Origin::Scaled => Some(format!("{what} are counted in smaller launches and scaled")),
    };
    let origins = [
        from("operations", record.flop_from),
        from("bytes", record.bytes_from),
    ];
    for origin in origins.into_iter().flatten() {
        let _ = write!(text, "\n    {origin}");
    }
    if let Some(bytes) = record.dram_bytes {
        let each = intensities(record).into_iter();
        let each = each.map(|it| format!("{} {:.3}", it.source.name(), it.flop_per_byte));
        let each: Vec<String> = each.collect();
        let least = record
            .dram_over_least
            .map_or_else(String::new, |times| format!(", {times:.3} times the least"));
        let l2 = record
            .l2_bytes
            .map_or_else(String::new, |bytes| format!("; L2 moved {bytes:.0}"));
        let _ = write!(
            text,
            "\n    FLOP/byte: {}; DRAM moved {bytes:.0} bytes{least}{l2}",
            each.join(", ")
        );
    }
    if let Some(reason) = &record.not_counted {
        let _ = write!(text, "\n    not counted: {reason}");
    }
    text
}

/// Describes the roofs, those of the tensor cores that are used among them.
pub fn roofs(
    facts: &DeviceProperties,
    roofs: &BTreeMap<Precision, Roofs>,
    tensor: &BTreeSet<TensorType>,
) -> String {
    let source = match facts.is_emulated() {
        true => ", measured on this host",
        false => "",
    };
    roofs_from(source, memory_name(facts), roofs, tensor)
}

fn roofs_from(
    source: &str,
    memory: &str,
    roofs: &BTreeMap<Precision, Roofs>,
    tensor: &BTreeSet<TensorType>,
) -> String {
    let mut text = String::new();
    for (precision, roofs) in roofs {
        let kinds = || precision.arithmetic().iter();
        let rates = kinds()
            .map(|(limit, name)| format!(", {name} {}", precision.rate(roofs.ceiling(*limit))));
        let ridges = kinds().enumerate().map(|(index, (limit, name))| {
            let ridge = roofs.ridge_point(*limit).0;
            match index {
                0 => format!(
                    "{ridge:.3} {}/byte under the {name} roof",
                    precision.operation()
                ),
                _ => format!(", {ridge:.3} under the {name} roof"),
            }
        });
        let _ = writeln!(
            text,
            "{} roofs{source}: {memory} {}{}\nridge point: {}",
            precision.name(),
            roofs.memory,
            rates.collect::<String>(),
            ridges.collect::<String>(),
        );
    }
    let Some(roofs) = roofs.values().next() else {
        return text;
    };
    for element in tensor {
        if let Some(roof) = roofs.tensor.roof(*element) {
            let (rate, source) = (roof.rate(), roof.source());
            let ridge = (rate / roofs.memory).0;
            let name = element.name();
            let _ = writeln!(
                text,
                "tensor cores, {name}, {source}: {rate}, ridge point {ridge:.3} FLOP/byte"
            );
        }
    }
    text
}

/// A table with a row for each kernel and launch: its best rate and bandwidth, and its ceiling; or, where that
/// was predicted, what its roofs allow.
pub fn summary(records: &[Record], width: Width) -> String {
    let gpu = records.iter().find_map(|it| it.predicted_gpu.as_deref());
    match gpu {
        Some(gpu) => predicted_summary(gpu, records, width),
        None if records.iter().any(|it| it.is_emulated) => {
            "Nothing is predicted of these launches, and the emulator's times are this host's.\n"
                .to_owned()
        }
        None => {
            let both: Vec<Both> = records.iter().filter_map(Both::of_sweep).collect();
            let agreement = agreement(&both).map_or_else(String::new, |it| format!("{it}\n"));
            measured_summary(records, width) + &agreement
        }
    }
}

fn predicted_summary(gpu: &str, records: &[Record], width: Width) -> String {
    // Where operations are not known, or there are none.
    let moves_only =
        |row: &Record| row.predicted_gflops.is_none() && row.predicted_bandwidth.is_some();
    let has_bandwidths = records.iter().any(moves_only);
    let mut header = vec![
        "kernel",
        "block",
        "grid",
        "registers",
        "occupancy",
        "GFLOP/s, at most",
        "GB/s, at most",
        "limited by",
        "from",
        "time, predicted",
    ];
    if !has_bandwidths {
        header.remove(6);
    }
    let groups = by_series(records);
    let rows = groups.iter().filter_map(|(series, members)| {
        let rate = |row: &Record| {
            let rate = row.predicted_gflops.or(row.predicted_bandwidth);
            rate.unwrap_or(0.0)
        };
        let digits =
            |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |it| format!("{it:.1}"));
        let most = members.iter().map(|row| rate(row)).fold(0.0, f64::max);
        // From there on the roof is level.
        let highest = members.iter().find(|row| rate(row) >= 0.999 * most)?;
        let resources = highest.resources.as_ref();
        let axes = series.axes.iter().filter(|(name, _)| *name != "n");
        let axes = axes.map(|(name, value)| format!(", {name} {value}"));
        let kernel = [Some(series.kernel), series.dtype].into_iter().flatten();
        let kernel = kernel.collect::<Vec<_>>().join(" ");
        let mut row = vec![
            format!("{kernel}{}", axes.collect::<String>()),
            series.block.to_string(),
            series.grid.to_string(),
            optional(resources.map(|it| it.registers)),
            optional(
                resources
                    .and_then(|it| it.occupancy)
                    .map(|it| format!("{:.0} %", 100.0 * it)),
            ),
            digits(highest.predicted_gflops),
            digits(highest.predicted_bandwidth),
            highest
                .predicted_limit
                .map_or("-", |limit| limit.name())
                .to_owned(),
            optional(
                highest
                    .along()
                    .map(|(name, value)| format!("{name} = {value}")),
            ),
            optional(Predicted::of_sweep(highest).map(|it| it.time())),
        ];
        if !has_bandwidths {
            row.remove(6);
        }
        Some(row)
    });
    let last = if has_bandwidths { 6 } else { 5 };
    let look = Look {
        width,
        is_right: |column| (1..=last).contains(&column) || column == last + 3,
        spare: &["grid", "from", "registers", "block", "occupancy"],
    };
    let table = table::text(header, rows, look);
    let mut resources = records.iter().filter_map(|it| it.resources.as_ref());
    let other = resources.find_map(|it| Some((it.arch, it.occupancy_arch?)));
    let other = other.map_or_else(String::new, |(code, gpu)| {
        format!("\nRegisters are those of the code for sm_{code}; occupancy is that on sm_{gpu}.")
    });
    format!(
        "Predicted for {gpu}; nothing was measured on it.\n{table}{other}\nA GPU reaches less where too little is in \
         flight or its accesses do not coalesce: `ridgepoint profile` counts why.\n"
    )
}

fn measured_summary(records: &[Record], width: Width) -> String {
    let groups = by_series(records);
    let mut axes: Vec<&str> = Vec::new();
    for (name, _) in groups.iter().flat_map(|(series, _)| &series.axes) {
        if !axes.contains(name) {
            axes.push(name);
        }
    }
    let mut alongs: Vec<&str> = Vec::new();
    for axis in groups.iter().filter_map(|(_, members)| members[0].along) {
        if !alongs.contains(&axis) {
            alongs.push(axis);
        }
    }
    let last = [
        "block".to_owned(),
        "grid".to_owned(),
        "best GB/s".to_owned(),
        "best GFLOP/s".to_owned(),
        format!("at {}", alongs.join("/")),
        "ceiling".to_owned(),
        "% of roof".to_owned(),
    ];
    let names = ["kernel", "dtype"].into_iter().chain(axes.iter().copied());
    let header: Vec<String> = names.map(str::to_owned).chain(last).collect();
    let rows = groups.iter().filter_map(|(series, members)| {
        let speed = |row: &Record| row.gflops.or(row.bandwidth).unwrap_or(0.0);
        let fastest = members.iter().copied();
        let fastest = fastest.max_by(|a, b| speed(a).total_cmp(&speed(b)));
        let fastest = fastest?;
        let widest = members.iter().filter_map(|row| row.bandwidth);
        let digits = |value: Option<f64>| optional(value.map(|it| format!("{it:.1}")));
        let own = axes.iter().map(|axis| {
            let found = series.axes.iter().find(|(name, _)| name == axis);
            optional(found.map(|(_, value)| value))
        });
        let first = [series.kernel.to_owned(), optional(series.dtype)];
        let last = [
            series.block.to_string(),
            series.grid.to_string(),
            digits(widest.reduce(f64::max)),
            digits(fastest.gflops),
            optional(fastest.along().map(|(_, value)| value)),
            optional(fastest.arithmetic.map(ceiling)),
            digits(fastest.percent_roof),
        ];
        Some(first.into_iter().chain(own).chain(last).collect::<Vec<_>>())
    });
    let look = Look {
        width,
        is_right: |column| column >= 2,
        spare: &["dtype", "grid", "block", "ceiling"],
    };
    let table = table::text(header, rows, look);
    if !groups
        .iter()
        .any(|(_, members)| members[0].arithmetic.is_some())
    {
        return format!("{table}\n");
    }
    format!(
        "{table}\nFMA ceiling: fused multiply-adds. add+mul ceiling: adds and multiplies that do not \
         fuse, which on a GPU leaves half of the FMA rate.\n"
    )
}

/// A table of launches, with the change of each since the run before, where there is one.
pub fn measured(records: &[Record], changes: &[Option<&Change>], width: Width) -> String {
    let header = [
        "launch",
        "time",
        "± %",
        "GB/s",
        "GFLOP/s",
        "% of roof",
        "bound by",
        "change",
    ];
    let differs = |of: fn(&Record) -> String| {
        let all = records.iter().map(of);
        all.collect::<BTreeSet<_>>().len() > 1
    };
    let common: [Part; 3] = [
        ("block", |row| row.block.to_string()),
        ("grid", |row| row.grid_size.to_string()),
        ("cache", |row| row.cache.to_owned()),
    ];
    let common: Vec<_> = common.into_iter().filter(|(_, of)| differs(*of)).collect();
    let rows = records.iter().zip(changes).map(|(record, change)| {
        let digits = |value: Option<f64>| optional(value.map(|it| format!("{it:.1}")));
        [
            launch(record, &common),
            optional(known(record.median_ms).map(|ms| format!("{ms:.4} ms"))),
            optional(known(record.rms_percent).map(|percent| format!("{percent:.1}"))),
            digits(record.bandwidth),
            digits(record.gflops),
            digits(record.percent_measured_roof.or(record.percent_roof)),
            optional(record.bound.map(|bound| bound.name())),
            change.map_or_else(String::new, change_text),
        ]
    });
    let look = Look {
        width,
        is_right: |column| column > 0,
        spare: &["± %", "% of roof", "bound by", "GFLOP/s", "GB/s"],
    };
    let table = table::text(header, rows, look);
    let unchecked = records.iter().any(|record| !record.checked);
    let note = match unchecked {
        true => "\nSome workloads have no reference: their results are not compared.",
        false => "",
    };
    format!("{table}{note}")
}

/// `+4.2 %`, or that it is none.
fn change_text(change: &Change) -> String {
    match change.verdict {
        Verdict::Same => "none".to_owned(),
        Verdict::Unknown => "unknown".to_owned(),
        Verdict::Faster | Verdict::Slower => format!("{:+.1} %", change.percent),
    }
}

/// A part of a launch's name, and how a record has it.
type Part = (&'static str, fn(&Record) -> String);

/// The kernel, its element type and what is not the same for all launches of it.
fn launch(record: &Record, common: &[Part]) -> String {
    let series = record.series();
    let names = [Some(series.kernel), series.dtype].into_iter().flatten();
    let axes = series
        .axes
        .iter()
        .filter(|(_, value)| !matches!(value, Value::Text(_)));
    let texts = series
        .axes
        .iter()
        .filter(|(_, value)| matches!(value, Value::Text(_)));
    let names = names
        .map(str::to_owned)
        .chain(texts.map(|(_, value)| value.to_string()));
    let along = record
        .along()
        .map(|(name, value)| format!("{name} {value}"));
    let numbers = axes
        .map(|(name, value)| format!("{name} {value}"))
        .chain(along);
    let numbers = numbers.chain(
        common
            .iter()
            .map(|(name, of)| format!("{name} {}", of(record))),
    );
    let all: Vec<String> = [names.collect::<Vec<_>>().join(" ")]
        .into_iter()
        .chain(numbers)
        .collect();
    all.join(", ")
}

fn ceiling(arithmetic: Limit) -> &'static str {
    match arithmetic {
        Limit::Fma => "FMA",
        other => other.name(),
    }
}

/// Nothing where nothing is known.
/// A figure, unless the samples had no time.
fn known(value: f64) -> Option<f64> {
    Some(value).filter(|it| it.is_finite())
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Emulation;
    use crate::embedded::{Polynomial, Stream};
    use crate::sweep::{Plan, Prediction, Selection, Settings, Sweep};
    use crate::workload::{Bench, Workload};

    #[test]
    fn a_gpus_row_has_its_prediction_beside_it_and_the_run_says_how_far_off_all_are() {
        let rows = emulated(&[&Stream::COPY, &Polynomial::HORNER], false);
        let measured = |(row, model_ms): (Record, f64)| Record {
            is_emulated: false,
            median_ms: 2.0,
            model_ms: Some(model_ms),
            model_low_ms: Some(1.0),
            model_high_ms: Some(4.0),
            model_bandwidth: Some(100.0),
            model_limit: Some("memory".to_owned()),
            ..row
        };
        let mut rows: Vec<Record> = rows.into_iter().zip([2.2, 1.4]).map(measured).collect();
        let copy = point(&rows[0]);
        let line = "predicted time: 2.20 ms, in 90 % of the cases from 1.00 ms to 4.00 ms (10.0 % longer than measured)";
        assert!(
            copy.contains(line) && copy.contains("limited by memory"),
            "{copy}"
        );
        let said = summary(&rows, Width::Any);
        let last = said.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("Times predicted within 20.0 % of the measured ones on average, worst 30.0 % (horner"),
            "{last}"
        );
        rows[0].model_ms = None;
        rows[0].not_modelled = Some("no reason".to_owned());
        assert!(point(&rows[0]).contains("time not predicted: no reason"));
    }

    /// A row of each on the emulator, under the roofs of an H200 or under none.
    fn emulated(workloads: &[&'static dyn Workload], is_predicted: bool) -> Vec<Record> {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let select = |&workload: &&'static dyn Workload| {
            let mut selection = Selection::defaults(workload, true);
            for (_, values) in &mut selection.values {
                values.truncate(1);
            }
            selection
        };
        let plan = Plan {
            selected: workloads.iter().map(select).collect(),
            ..Plan::default()
        };
        let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("small");
        if is_predicted {
            sweep.predict(Prediction {
                roofs: GpuRoofs::named("h200").expect("known"),
                report: None,
            });
        }
        let rows = 0..sweep.points().len();
        rows.map(|index| sweep.measure(index, None).expect("it runs"))
            .collect()
    }

    #[test]
    fn the_hosts_times_are_no_answer() {
        let rows = emulated(&[&Stream::COPY, &Polynomial::HORNER], true);
        let copy = point(&rows[0]);
        let bound = "predicted for NVIDIA H200: at most 4800.0 GB/s, limited by memory";
        assert!(copy.contains(bound), "{copy}");
        assert!(point(&rows[1]).contains(" GFLOP/s, limited by "));
        let alone = emulated(&[&Stream::COPY], false);
        assert!(point(&alone[0]).contains("nothing predicted: "));
        for text in rows.iter().chain(&alone).map(point) {
            assert!(!text.contains(" ms") && !text.contains('%'), "{text}");
        }
        assert!(
            !summary(&alone, Width::Any).contains("best"),
            "{}",
            summary(&alone, Width::Any)
        );
    }

    #[test]
    fn the_summary_has_a_line_for_every_launch() {
        let mut rows = emulated(&[&Stream::COPY, &Polynomial::HORNER], true);
        let both = summary(&rows, Width::Any);
        assert!(both.contains("GB/s, at most"), "{both}");
        for row in &mut rows[..1] {
            row.predicted_bandwidth = None;
            row.predicted_limit = None;
            row.predicted_gpu = None;
        }
        let text = summary(&rows, Width::Any);
        let line = text.lines().find(|it| it.contains(" copy "));
        let line = line.expect("a line");
        assert_eq!(line.matches(" - ").count(), 2, "{text}");
        assert!(!text.contains("GB/s, at most"), "{text}");
    }
}
