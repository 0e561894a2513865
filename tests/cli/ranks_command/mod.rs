//! `power`, `norm` and `collectives` on several devices, as a user meets them: in one process, as charts, and in the processes of a
//! launcher.

mod charts;
mod processes;

use crate::support;
use std::collections::HashMap;
use std::process::{Command, Output};

fn command(words: &str) -> Command {
    let mut command = Command::new(support::ridgepoint());
    command.args(words.split_whitespace());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn rows(output: &Output) -> Vec<HashMap<String, String>> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut reader = csv::Reader::from_reader(&output.stdout[..]);
    let rows: Result<Vec<_>, _> = reader.deserialize().collect();
    rows.expect("a table")
}

fn columns<'a>(rows: &'a [HashMap<String, String>], names: [&str; 3]) -> Vec<[&'a str; 3]> {
    rows.iter()
        .map(|row| names.map(|name| &row[name][..]))
        .collect()
}

#[test]
fn power_is_measured_on_one_two_and_all_devices_and_predicted_for_more() {
    let words = "power --devices cpu:0,cpu:1,cpu:2 --dim 40 --dominance 0.4 --format csv";
    let rows = rows(&command(words).output().expect("it starts"));
    let exchanges = ["gather", "graph", "peer"];
    let mut expected = vec![["alone", "1", "measured"]];
    for devices in ["1", "2", "3"] {
        expected.extend(exchanges.map(|exchange| [exchange, devices, "measured"]));
    }
    for exchange in exchanges {
        let devices = ["3", "4", "8", "16"];
        expected.extend(devices.map(|devices| [exchange, devices, "predicted"]));
    }
    assert_eq!(columns(&rows, ["exchange", "devices", "kind"]), expected);
    for row in &rows {
        let is_measured = row["kind"] == "measured";
        let is_both = !is_measured && row["devices"] == "3";
        assert_eq!(row["error_percent"].is_empty(), !is_both, "{row:?}");
        assert_eq!(row["checked"] == "true", is_measured, "{row:?}");
        assert_eq!(row["limit"].is_empty(), is_measured, "{row:?}");
        assert!(row["device"].contains("CPU emulator"), "{row:?}");
    }
}

/// Each predicted row says how many devices it is predicted from, and how far it is from a measured row of as many devices.
#[test]
fn what_is_measured_is_predicted_from_fewer_devices() {
    let words =
        "norm --devices cpu:0,cpu:1,cpu:2,cpu:3 --n 1000 --rounds 1 --exchange peer --format csv";
    let from_fewer = [["4", "2 x"], ["8", "4 x"], ["16", "4 x"]];
    let from_two = [["4", "2 x"], ["8", "2 x"], ["16", "2 x"]];
    for (more, expected) in [("", from_fewer), (" --predict-from 2", from_two)] {
        let words = format!("{words}{more}");
        let rows = rows(&command(&words).output().expect("it starts"));
        let step = |row: &HashMap<String, String>| row["step_us"].parse::<f64>().expect("a time");
        let measured = |devices: &str| {
            let found = rows
                .iter()
                .find(|row| row["kind"] == "measured" && row["devices"] == devices);
            step(found.expect("a row"))
        };
        let predicted: Vec<_> = rows
            .iter()
            .filter(|row| row["kind"] == "predicted")
            .collect();
        for (row, [devices, from]) in predicted.iter().zip(expected) {
            let (_, of) = row["device"].split_once(", from ").expect("from what");
            assert!(row["devices"] == devices && of.starts_with(from), "{row:?}");
        }
        assert_eq!(predicted.len(), expected.len());
        let error: f64 = predicted[0]["error_percent"].parse().expect("an error");
        let expected = 100.0 * (step(predicted[0]) / measured("4") - 1.0);
        assert!(
            (error - expected).abs() <= 0.01,
            "{error} is not {expected}"
        );
    }
}

/// A run with checkpoints is one of all devices.
#[test]
fn where_too_few_devices_were_measured_it_is_said_that_nothing_is_predicted() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "power --devices cpu:0,cpu:1,cpu:2 --dim 40 --dominance 0.4 --checkpoint steps --predict-from 2 --format csv";
    let output = command(words).current_dir(folder.path()).output();
    let output = output.expect("it starts");
    let said = text(&output.stderr);
    assert!(
        said.contains(
            "nothing is predicted: --predict-from 2, and nothing was measured on so few devices"
        ),
        "{said}"
    );
    let rows = rows(&output);
    assert!(rows.iter().all(|row| row["kind"] == "measured"));
}

#[test]
fn a_weak_scaling_grows_with_the_devices() {
    let both = [
        // The matrix has as many elements on each device, as far as its side stays a multiple of 8 as 40 is; the vector, of which each
        // number is sent to all, grows with that side. So two devices have 56 * 56 elements where one has 40 * 40.
        (
            "power --dim 40 --dominance 0.4",
            ["40", "40", "56", "80", "112", "160"],
            1.96,
        ),
        (
            "norm --n 1000 --rounds 1",
            ["1000", "1000", "2000", "4000", "8000", "16000"],
            2.0,
        ),
    ];
    for (words, sizes, work) in both {
        let words =
            format!("{words} --devices cpu:0,cpu:1 --scaling weak --exchange peer --format csv");
        let rows = rows(&command(&words).output().expect("it starts"));
        let expected = ["alone", "peer", "peer", "peer", "peer", "peer"]
            .into_iter()
            .zip(["1", "1", "2", "4", "8", "16"])
            .zip(sizes);
        let expected: Vec<_> = expected
            .map(|((exchange, devices), size)| [exchange, devices, size])
            .collect();
        assert_eq!(columns(&rows, ["exchange", "devices", "size"]), expected);
        let number = |row: usize, column: &str| rows[row][column].parse::<f64>().expect("a number");
        let speedup = work * number(0, "step_us") / number(2, "step_us");
        assert!(
            (number(2, "speedup") - speedup).abs() <= 1e-3 * speedup,
            "{speedup}: {:?}",
            rows[2]
        );
        for row in &rows[3..] {
            assert_eq!(
                (&row["kind"][..], &row["scaling"][..]),
                ("predicted", "weak")
            );
            assert!(
                !row["limit"].is_empty() && !row["speedup"].is_empty(),
                "{row:?}"
            );
        }
    }
}

#[test]
fn collectives_are_measured_between_emulated_devices() {
    let words = "collectives --devices cpu:0,cpu:1,cpu:2 --bytes 12,1000 --rounds 1 --format csv";
    let rows = rows(&command(words).output().expect("it starts"));
    let expected = ["all-reduce", "all-gather", "reduce-scatter", "broadcast"]
        .map(|it| [[it, "12", "true"], [it, "1008", "true"]]);
    assert_eq!(
        columns(&rows, ["collective", "bytes", "checked"]),
        expected.concat()
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_measured() {
    for (words, why) in [
        ("power --devices cpu:0,cpu:0", "cpu:0 is named twice"),
        ("power --devices", "a value is required"),
        ("power --devices cpu:0 --device cpu", "cannot be used with"),
        (
            "power --exchange peer",
            "--exchange has no effect without --devices",
        ),
        (
            "norm --device cpu --n 64 --exchange peer",
            "--exchange has no effect without --devices",
        ),
        (
            "power --device cpu --dim 64 --scaling strong",
            "--scaling has no effect without --devices",
        ),
        (
            "norm --device cpu --n 64 --quiet --plot a.svg",
            "--against n: the axis has one value",
        ),
        (
            "norm --device cpu --n 64 --predict-from 2",
            "--predict-from has no effect without --devices",
        ),
        ("power --devices cpu:0,cpu:1 --predict-from 1", "2"),
        ("norm --devices cpu:0", "--devices takes one --n"),
        (
            "power --devices cpu:0,cpu:1 --resume --checkpoint x",
            "name the one --exchange",
        ),
        ("power --devices cpu:0,tpu", "tpu"),
        ("power --devices cpu:0 --mode graph", "cannot be used with"),
        ("power --rendezvous x", "no effect without --devices"),
        (
            "norm --devices cpu:0,cpu:1 --n 64 --rendezvous x",
            "no launcher has started this process",
        ),
        (
            "collectives --rendezvous x",
            "no launcher has started this process",
        ),
        ("power --fault-timeout 5", "no effect without --devices"),
        (
            "norm --device cpu --n 64 --fault-timeout 5",
            "no effect without --devices",
        ),
        (
            "norm --devices cpu:0,cpu:1 --n 64 --device-times events --profile",
            "--device-times has no effect on the emulator",
        ),
        (
            "collectives --devices cpu:0,cpu:1 --device-times events --profile",
            "--device-times has no effect on the emulator",
        ),
        ("collectives --device cpu", "with --devices"),
        ("power --devices cpu:0,cpu:1 --plot a.gif", ".svg or .png"),
        (
            "norm --devices cpu:0,cpu:1 --n 10 --plot a.svg,a",
            ".svg or .png",
        ),
        (
            "power --plot a.svg",
            "--plot has no effect without --devices",
        ),
        (
            "power --devices all --plot a.svg --output a.svg --format csv",
            "name one output",
        ),
    ] {
        let output = command(words).output().expect("it starts");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(why), "{words}: {said}");
    }
}

/// More devices than can store into each other's memory: where nothing is named, the other exchanges are measured.
#[test]
fn the_default_exchanges_are_those_that_the_devices_can() {
    let devices: Vec<String> = (0..33).map(|number| format!("cpu:{number}")).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let run = |words: &str| {
        let mut command = command("power --dim 66 --dominance 0.4 --checkpoint steps --format csv");
        command.args(["--devices", &devices.join(",")]);
        command.args(words.split_whitespace());
        command
            .current_dir(folder.path())
            .output()
            .expect("it starts")
    };
    let refused = run("--exchange gather,peer");
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("--exchange peer: 33 devices, and at most 32") && refused.stdout.is_empty(),
        "{said}"
    );
    let output = run("");
    let said = text(&output.stderr);
    assert!(
        said.contains("warning: peer is left out: 33 devices"),
        "{said}"
    );
    let expected = [("alone", "1"), ("gather", "33"), ("graph", "33")]
        .map(|(exchange, devices)| [exchange, devices, "true"]);
    assert_eq!(
        columns(&rows(&output), ["exchange", "devices", "checked"]),
        expected
    );
}
