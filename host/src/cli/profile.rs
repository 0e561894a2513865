//! `ridgepoint profile`: what a kernel does, counted.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::described::{Described, failure};
use super::destination::{Destination, Unfinished};
use super::files::Files;
use super::lists::whole;
use super::roofline::sweep_failure;
use super::run::shape;
use super::shared::Program;
use super::suite::{Study, Suite, Workloads};
use super::{Failure, driver_failure, roofs, streams};
use crate::driver::{Device, Emulation};
use crate::kernels::{newest_report, report_of};
use crate::model::GpuRoofs;
use crate::profile::{self, Formula, Profile, Resources, Subject};
use crate::standalone::{Standalone, StandaloneError};
use crate::sweep::{self, Plan};
use crate::workload::Bench;

const HELP: &str = "\
ridgepoint profile saxpy.ptx saxpy --grid 64 --block 256 \\
    --arg i32:16384 --arg f32:2.5 --arg f32[16384]=random --arg f32[16384]=ones
ridgepoint profile --workload horner --axis n=2^16 --axis k=10 --page horner.html
cargo bench -- profile

The emulator executes the kernel's PTX and counts exactly what it does, without a GPU. Times are predicted:
the least that a GPU with these roofs needs. Nothing is measured.";

#[derive(Args)]
#[command(after_help = HELP, allow_negative_numbers = true)]
pub(super) struct Arguments {
    #[command(flatten)]
    described: Described,

    #[command(flatten)]
    workloads: Workloads,

    #[command(flatten)]
    shown: Shown,
}

/// What is shown of the counts.
#[derive(Args)]
struct Shown {
    #[command(flatten)]
    roofs: roofs::Arguments,

    /// Number of hottest lines to show
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = whole::<u64>(0..=10_000))]
    lines: u64,

    /// Write all counts to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the annotated source to this file, as a self-contained HTML page
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, program: Program) -> Result<(), Failure> {
    let (described, workloads) = (&arguments.described, &arguments.workloads);
    match (described.is_given(), workloads.is_default()) {
        (true, true) => {
            let standalone = described.read(&[])?;
            arguments.shown.with(|gpu| counted_file(&standalone, gpu))
        }
        // A bench target has workloads of its own to profile.
        (false, is_default) if !is_default || matches!(program, Program::Bench(..)) => {
            described.refuse_without_file()?;
            let shown = &arguments.shown;
            shown.with(|gpu| counted_workloads(workloads, gpu))
        }
        (true, false) => Err(Failure::Usage(
            "a file of PTX and --workload: name one of them".to_owned(),
        )),
        (false, _) => Err(Failure::Usage(
            "nothing to profile: name a file of PTX, or --workload".to_owned(),
        )),
    }
}

/// The emulator that counts.
fn emulation() -> Emulation {
    Emulation {
        is_counted: true,
        ..Emulation::default()
    }
}

/// Why a report says nothing of a kernel.
const UNREPORTED: &str = "the report of ptxas does not have the kernel";

fn counted_file(standalone: &Standalone, gpu: &GpuRoofs) -> Result<Found, Failure> {
    let device = Device::emulator_with(emulation(), &[]).map_err(driver_failure)?;
    let loaded = device.load(standalone.file()).map_err(driver_failure)?;
    match standalone.run_loaded(&loaded) {
        Ok(_) => {}
        Err(StandaloneError::Driver(error)) if error.is_finding() => {
            return Err(Failure::Found(error.to_string()));
        }
        Err(error) => return Err(failure(error)),
    }
    let config = standalone.config();
    let report = report_of(standalone.text(), gpu.gpu.capability);
    let resources = report.and_then(|it| {
        Resources::of(&it, standalone.kernel(), config, gpu.gpu.capability)
            .ok_or_else(|| UNREPORTED.to_owned())
    });
    let counts = loaded.take_counts();
    let profiles = counts.iter().map(|counts| {
        let subject = Subject {
            at: shape(config),
            ptx_file: standalone.file().display().to_string(),
            ptx: Some(standalone.text()),
            gpu,
            resources: resources.clone(),
            formula: None,
        };
        Profile::new(counts, subject)
    });
    Ok(Found {
        profiles: profiles.collect(),
        ..Found::default()
    })
}

fn counted_workloads(workloads: &Workloads, gpu: &GpuRoofs) -> Result<Found, Failure> {
    let selected = workloads.select(Study::Sweep, true)?;
    let plan = workloads.plan(selected, Plan::default())?;
    let ptx = Suite::get().ptx;
    let bench = Bench::emulator(emulation(), ptx).map_err(driver_failure)?;
    let counted = sweep::count(&bench, &plan).map_err(sweep_failure)?;
    for reason in &counted.left_out {
        streams::say(&format!("left out: {reason}"));
    }
    let report = newest_report(ptx);
    let mut found = Found::default();
    for point in &counted.points {
        let formula = Formula::of(&point.work, &point.overhead);
        let wrong = formula.and_then(|it| it.compare(&point.counts));
        let named = |reason: String| format!("{}: {reason}", point.name);
        found.wrong.extend(wrong.map(named));
        for counts in &point.counts {
            let report = report.as_ref();
            let resources = match report {
                Some(it) => Resources::of(it, &counts.kernel, point.config, gpu.gpu.capability)
                    .ok_or_else(|| UNREPORTED.to_owned()),
                None => Err(
                    "there is no report of ptxas; `ridgepoint doctor` says how to get it"
                        .to_owned(),
                ),
            };
            let subject = Subject {
                at: format!("{}, {}", point.name, shape(point.config)),
                ptx_file: "PTX".to_owned(),
                ptx: None,
                gpu,
                resources,
                // Of all its kernels together.
                formula: formula.filter(|_| point.counts.len() == 1),
            };
            found.profiles.push(Profile::new(counts, subject));
        }
    }
    Ok(found)
}

/// What was counted, and where workloads say something else.
#[derive(Default)]
struct Found {
    profiles: Vec<Profile>,
    /// Both figures.
    wrong: Vec<String>,
}

/// What the JSON file holds.
#[derive(Serialize)]
struct Document<'p> {
    ridgepoint: &'static str,
    profiles: &'p [Profile],
}

impl Shown {
    /// Opens the files, and shows and writes what `count` gives.
    fn with(&self, count: impl FnOnce(&GpuRoofs) -> Result<Found, Failure>) -> Result<(), Failure> {
        let files = Files::default().outputs("--json", &self.json);
        files.outputs("--page", &self.page).check()?;
        let open = |path: &Option<PathBuf>| {
            let path = path.as_ref();
            path.map(|path| Destination::open(path, Unfinished::IsNothing))
                .transpose()
        };
        let (json, page) = (open(&self.json)?, open(&self.page)?);
        let Found { profiles, wrong } = count(&self.roofs.gpu())?;
        if profiles.is_empty() {
            return Err(Failure::Failed(
                "nothing was counted: no kernel was launched".to_owned(),
            ));
        }
        for profile in &profiles {
            streams::say(&profile::text(profile, self.lines as usize));
        }
        if let Some(json) = json {
            let document = Document {
                ridgepoint: env!("CARGO_PKG_VERSION"),
                profiles: &profiles,
            };
            json.write_whole(|file| Ok(serde_json::to_writer_pretty(file, &document)?))?;
        }
        if let Some(page) = page {
            let html = profile::page(&profiles);
            page.write_whole(|file| file.write_all(html.as_bytes()))?;
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(Failure::Found(wrong.join("\n"))),
        }
    }
}
