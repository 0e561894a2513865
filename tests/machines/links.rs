//! `ridgepoint links` as a user meets it: on emulated devices, and on two GPUs where they are.

use crate::support;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use gpu_test::{Failed, Trial, on_two_gpus};
use ridgepoint::kernels::embedded_ptx;
use ridgepoint::links::{LinkQuantity, LinkRow};

type Case = (&'static str, fn(&Path) -> Result<(), Failed>);

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    let cases: [Case; 6] = [
        ("every_pair_of_emulated_devices_has_its_rows", every_pair),
        ("one_device_has_links_with_the_host_alone", one_device),
        ("rows_are_files_and_a_picture", files),
        ("what_cannot_be_measured_is_refused", refusals),
        ("without_a_gpu_two_devices_are_emulated", default_devices),
        ("a_saved_chart_has_the_roof_of_a_link", saved_chart),
    ];
    let trial = |(name, case): Case| {
        Trial::test(format!("links::{name}"), move || {
            let folder = tempfile::tempdir()?;
            case(folder.path())
        })
    };
    let mut trials: Vec<Trial> = cases.into_iter().map(trial).collect();
    trials.push(on_two_gpus(
        "cuda::links::links_of_two_gpus",
        embedded_ptx(),
        |_, _| two_gpus(),
    ));
    trials
}

fn ridgepoint(folder: &Path, line: &str) -> Result<Output, Failed> {
    let mut command = Command::new(support::ridgepoint());
    command.args(line.split(' ')).current_dir(folder);
    Ok(command.output()?)
}

fn success(output: &Output) -> Result<String, Failed> {
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout.clone())?),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

fn same<T: PartialEq + Debug>(actual: &T, expected: &T) -> Result<(), Failed> {
    match actual == expected {
        true => Ok(()),
        false => Err(format!("{actual:?}, not {expected:?}").into()),
    }
}

/// The rows that a command line prints.
fn rows(folder: &Path, line: &str) -> Result<Vec<LinkRow>, Failed> {
    let said = success(&ridgepoint(
        folder,
        &format!("links {line} --quiet --format json"),
    )?)?;
    Ok(serde_json::from_str(&said)?)
}

/// Of each quantity a row for each pair of so many devices, in both directions unless it is of both.
fn expected(count: usize) -> usize {
    let pairs = count * (count - 1);
    let of = |quantity: LinkQuantity| {
        if quantity.is_both_ways() {
            pairs / 2
        } else {
            pairs
        }
    };
    let between: usize = LinkQuantity::ALL.into_iter().map(of).sum();
    between + 3 * count
}

fn check_all(rows: &[LinkRow], count: usize, kind: &str, name: &str) -> Result<(), Failed> {
    same(&rows.len(), &expected(count))?;
    let ends = |row: &LinkRow| (row.quantity.name(), row.from.clone(), row.to.clone());
    same(
        &rows.iter().map(ends).collect::<BTreeSet<_>>().len(),
        &rows.len(),
    )?;
    for row in rows {
        let is_measured = row.value.is_some_and(|it| it.is_finite() && it > 0.0) && row.checked;
        let ends = [(&row.from, &row.from_device), (&row.to, &row.to_device)];
        let is_named = |(short, device): &(&String, &String)| match short.as_str() {
            "host" => device.as_str() == "host",
            short => short.starts_with(kind) && device.contains(name),
        };
        if !is_measured || !ends.iter().all(is_named) {
            return Err(format!("{row:?}").into());
        }
    }
    Ok(())
}

fn every_pair(folder: &Path) -> Result<(), Failed> {
    for (devices, count) in [("cpu:0,cpu:1", 2), ("cpu:2,cpu:0,cpu:1", 3)] {
        let rows = rows(
            folder,
            &format!("--devices {devices} --bytes 4096 --rounds 1"),
        )?;
        check_all(&rows, count, "cpu:", "CPU emulator")?;
        same(&rows.iter().all(|row| row.emulated && row.bytes > 0), &true)?;
    }
    Ok(())
}

fn one_device(folder: &Path) -> Result<(), Failed> {
    let line = "links --devices cpu:1 --bytes 4096";
    let said = success(&ridgepoint(folder, line)?)?;
    same(
        &said.contains("One device: there are no links between devices"),
        &true,
    )?;
    same(&rows(folder, "--devices cpu:1 --bytes 4096")?.len(), &3)
}

fn files(folder: &Path) -> Result<(), Failed> {
    let line =
        "links --devices cpu:0,cpu:1 --bytes 4096 --output a.csv,a.json,a.md --plot a.svg,a.png";
    let said = success(&ridgepoint(folder, line)?)?;
    for expected in [
        "cpu:1: CPU emulator 1",
        "copy, GB/s",
        "load latency, ns",
        "not a GPU's",
        "a.svg",
    ] {
        if !said.contains(expected) {
            return Err(format!("no {expected}: {said}").into());
        }
    }
    let csv = fs::read_to_string(folder.join("a.csv"))?;
    same(&csv.lines().count(), &(1 + expected(2)))?;
    let header = "quantity,from,to,value,unit,rms_percent,samples,bytes,by,way,note,from_device,to_device,emulated,checked,format";
    same(&csv.lines().next(), &Some(header))?;
    let read: Vec<LinkRow> = serde_json::from_slice(&fs::read(folder.join("a.json"))?)?;
    check_all(&read, 2, "cpu:", "CPU emulator")?;
    same(
        &fs::read_to_string(folder.join("a.svg"))?.starts_with("<svg"),
        &true,
    )?;
    same(
        &fs::read(folder.join("a.png"))?.starts_with(b"\x89PNG"),
        &true,
    )?;
    let drawn = success(&ridgepoint(
        folder,
        "links --devices cpu:0,cpu:1 --bytes 4096 --quiet --plot -",
    )?)?;
    same(&drawn.contains("kernel reads, GB/s"), &true)
}

fn refusals(folder: &Path) -> Result<(), Failed> {
    for (line, status, words) in [
        (
            "links --devices cpu:0 --bytes 17",
            2,
            "17 given; expected a multiple of 16",
        ),
        (
            "links --devices cpu:0 --bytes 8",
            2,
            "expected a whole number from 16",
        ),
        // At once: what is sent is not computed first, which would take hours.
        (
            "links --devices cpu:0,cpu:1 --bytes 2^40",
            2,
            "the arrays take 6597069766656 bytes of host memory",
        ),
        ("links --devices auto", 2, "expected all, cuda:N or cpu:N"),
        ("links --devices cpu:64", 2, "expected all, cuda:N or cpu:N"),
        ("links --devices=", 2, "expected all, cuda:N or cpu:N"),
        (
            "links --devices cuda:0,cpu:0",
            2,
            "a GPU and an emulated device do not reach each other",
        ),
        ("links --devices cpu:1,cpu:1", 2, "cpu:1 is named twice"),
        (
            "links --devices cpu:0 --quiet",
            2,
            "--quiet would leave nothing",
        ),
        (
            "links --devices cpu:0 --plot x.gif",
            2,
            "must end in .svg or .png",
        ),
    ] {
        let output = ridgepoint(folder, line)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(status) || !said.contains(words) {
            return Err(format!("{line}: {:?}: {said}", output.status).into());
        }
    }
    Ok(())
}

/// With no GPU in sight.
fn default_devices(folder: &Path) -> Result<(), Failed> {
    let run = |line: &str| {
        let mut command = Command::new(support::ridgepoint());
        command.args(line.split(' ')).current_dir(folder);
        command.env("CUDA_VISIBLE_DEVICES", "").output()
    };
    for line in [
        "links --quiet --format json --rounds 1",
        "links --quiet --format json --rounds 1 --devices all",
    ] {
        let said = success(&run(line)?)?;
        let rows: Vec<LinkRow> = serde_json::from_str(&said)?;
        check_all(&rows, 2, "cpu:", "CPU emulator")?;
    }
    Ok(())
}

fn saved_chart(folder: &Path) -> Result<(), Failed> {
    for line in [
        "ceilings --device cpu --n 1000 --runs 1 --output ceilings.json",
        "roofline --device cpu --n 1000 --k 1,100 --runs 1 --ceilings ceilings.json --quiet --output rows.csv",
        "links --devices cpu:0,cpu:1 --bytes 4096 --quiet --output links.json",
        "chart rows.csv --ceilings ceilings.json --links links.json --output chart.svg",
    ] {
        success(&ridgepoint(folder, line)?)?;
    }
    let chart = fs::read_to_string(folder.join("chart.svg"))?;
    same(&chart.contains("link cpu:1 -&gt; cpu:0 (kernel"), &true)?;
    // Those of emulated devices are no roof of an H200, which the sweep predicts.
    let line =
        "roofline --device cpu --n 1000 --k 1 --runs 1 --links links.json --output other.csv";
    let refused = ridgepoint(folder, line)?;
    same(&refused.status.code(), &Some(3))?;
    let said = String::from_utf8(refused.stderr)?;
    same(
        &said.contains("no measured link to NVIDIA H200: it has those of CPU emulator"),
        &true,
    )?;
    // As a machine with two H200 has them.
    let text = fs::read_to_string(folder.join("links.json"))?;
    let mut rows: Vec<LinkRow> = serde_json::from_str(&text)?;
    for row in &mut rows {
        row.to_device = "NVIDIA H200".to_owned();
        row.value = row.value.map(|_| 390e9);
    }
    fs::write(folder.join("h200.json"), serde_json::to_string(&rows)?)?;
    success(&ridgepoint(
        folder,
        "roofline --device cpu --n 1000 --k 1 --runs 1 --links h200.json --output h200.csv --plot h200.svg",
    )?)?;
    let chart = fs::read_to_string(folder.join("h200.svg"))?;
    let is_drawn = chart.contains("link cpu:") && chart.contains("(kernel reads) 390");
    same(&is_drawn, &true)
}

fn two_gpus() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let rows = rows(folder.path(), "--devices cuda:0,cuda:1 --bytes 2^26")?;
    let bare: Vec<LinkRow> = rows
        .iter()
        .filter(|row| row.value.is_some())
        .cloned()
        .collect();
    same(&rows.len(), &expected(2))?;
    same(&rows.iter().all(|row| !row.emulated), &true)?;
    // Where there is no peer access, copies still have figures.
    let copies = bare.iter().filter(|row| row.quantity == LinkQuantity::Copy);
    same(&copies.count(), &6)?;
    match rows.iter().find(|row| row.value.is_none()) {
        None => check_all(&rows, 2, "cuda:", ""),
        Some(row) => same(&row.note.is_empty(), &false),
    }
}
