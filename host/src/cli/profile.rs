//! `ridgepoint profile`: what a kernel does, counted.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::console::Console;
use super::destination::{Destination, Unfinished};
use super::files::Files;
use super::launch_options::{Described, failure};
use super::option_values::whole;
use super::profile_program::Outputs;
use super::roofline::{predictor, sweep_failure};
use super::run::shape;
use super::suite::{Study, Suite, Workloads};
use super::workload_commands::Program;
use super::{Failure, driver_failure, limits, profile_program, roofs, row_format, streams};
use crate::driver::{Device, Emulation};
use crate::kernels::{newest_report, report_of};
use crate::model::GpuRoofs;
use crate::prediction::{Predictor, Predictors};
use crate::profile::{self, Formula, Profile, Resources, Subject};
use crate::report::Format;
use crate::standalone::{Standalone, StandaloneError};
use crate::sweep::{self, Plan};
use crate::workload::Bench;

/// In the words of `ridgepoint`; a bench target's are the same behind its own.
const USAGE: &str = "\
ridgepoint profile [OPTIONS] [FILE.ptx] [ENTRY]
       ridgepoint profile [OPTIONS] -- <PROGRAM>...";

const HELP: &str = "\
Examples:
  ridgepoint profile saxpy.ptx saxpy --grid 64 --block 256 \\
      --arg i32:16384 --arg f32:2.5 \\
      --arg f32[16384]=random --arg f32[16384]=ones
  ridgepoint profile --workload horner --axis n=2^16 --axis k=10 \\
      --page horner.html
  cargo bench -- profile
  ridgepoint profile --page power.html -- python power.py

The emulator executes the kernel's PTX and counts exactly what it does, without a GPU. Times are predicted: the \
shortest that the roofs of the GPU allow, and the one of a model with its interval. Nothing is measured. A program is run on GPUs, if there are any, and recorded: \
its calls with their lines, its waits, and what its GPUs did.";

#[derive(Args)]
#[command(after_help = HELP, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    described: Described,

    #[command(flatten)]
    workloads: Workloads,

    #[command(flatten)]
    limits: limits::Arguments,

    #[command(flatten)]
    of_program: profile_program::Arguments,
}

/// The counts that are shown.
#[derive(Args)]
struct Shown {
    #[command(flatten)]
    roofs: roofs::Arguments,

    /// Predict the time of a launch of so many times as many blocks as are counted, each like these
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = whole::<u64>(1..=1 << 40))]
    times: u64,

    /// Number of hottest lines to show
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = whole::<u64>(0..=10_000))]
    lines: u64,

    /// Write all counts to this JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the annotated source to this file, as a self-contained HTML page
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,

    #[command(flatten)]
    printed: row_format::Arguments,
}

/// A line of the source, for programs.
#[derive(Serialize)]
struct Row<'p> {
    kernel: &'p str,
    at: &'p str,
    file: &'p str,
    line: u32,
    share_percent: f64,
    instructions: u64,
    flop: u64,
    bytes: u64,
    sectors: u64,
    wavefronts: u64,
    conflicts: u64,
    divergences: u64,
    text: &'p str,
}

pub(super) fn run(arguments: &Arguments, program: Program) -> Result<(), Failure> {
    if arguments.of_program.is_given() {
        let shown = &arguments.shown;
        let has_roofs = shown.roofs.is_given();
        arguments.of_program.refuse_without_counters(has_roofs)?;
        let outputs = Outputs {
            json: &shown.json,
            page: &shown.page,
            timeline: &arguments.of_program.timeline,
            csv: &arguments.of_program.csv,
            plot: &arguments.of_program.plot,
            roofs: &shown.roofs,
            printed: &shown.printed,
        };
        let opened = outputs.open()?;
        return arguments.of_program.around(|folder| opened.show(folder));
    }
    arguments.of_program.refuse_without_program()?;
    let (described, workloads) = (&arguments.described, &arguments.workloads);
    let emulation = arguments.limits.limit(emulation());
    match (described.is_given(), workloads.is_default()) {
        (true, true) => {
            let standalone = described.read()?;
            let shown = &arguments.shown;
            shown.with(|gpu, console| {
                counted_file(&standalone, emulation, (gpu, shown.times, console))
            })
        }
        // A bench target has workloads of its own to profile.
        (false, is_default) if !is_default || matches!(program, Program::Bench(..)) => {
            described.refuse_without_file()?;
            let shown = &arguments.shown;
            shown.with(|gpu, console| {
                counted_workloads(workloads, emulation, (gpu, shown.times, console))
            })
        }
        (true, false) => Err(Failure::Usage(
            "a PTX file and workloads cannot be profiled at once: name one or the other".to_owned(),
        )),
        (false, _) => Err(Failure::Usage(
            "nothing to profile: name a PTX file, or a workload with --kernel".to_owned(),
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

fn counted_file(
    standalone: &Standalone,
    emulation: Emulation,
    (gpu, times, console): (&GpuRoofs, u64, &Console),
) -> Result<Found, Failure> {
    console.begin(standalone.kernel().to_owned());
    let device = Device::emulator_with(emulation, &[]).map_err(driver_failure)?;
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
    let resources = report.as_ref().map_err(Clone::clone).and_then(|it| {
        Resources::of(it, standalone.kernel(), config, gpu.gpu.capability)
            .ok_or_else(|| UNREPORTED.to_owned())
    });
    let ptx_file = standalone.file().display().to_string();
    let source = (ptx_file.as_str(), standalone.text());
    let predictor = Predictor::of_file(gpu.gpu.clone(), source, report.ok());
    let counts = loaded.take_counts();
    let profiles = counts.iter().map(|counts| {
        let subject = Subject {
            at: shape(config),
            ptx_file: ptx_file.clone(),
            ptx: Some(standalone.text()),
            gpu,
            resources: resources.clone(),
            formula: None,
            config,
            predictor: predictor.as_ref().map_err(String::as_str),
            times,
        };
        Profile::new(counts, subject)
    });
    Ok(Found {
        profiles: profiles.collect(),
        ..Found::default()
    })
}

fn counted_workloads(
    workloads: &Workloads,
    emulation: Emulation,
    (gpu, times, console): (&GpuRoofs, u64, &Console),
) -> Result<Found, Failure> {
    let selected = workloads.select(Study::Sweep, true)?;
    let plan = workloads.plan(selected, Plan::default())?;
    let ptx = Suite::get().ptx;
    let bench = Bench::emulator(emulation, ptx).map_err(driver_failure)?;
    let mut begun = 0;
    let begin = |name: &str, count: usize| {
        console.estimate(begun, count as u64);
        console.begin(name.to_owned());
        begun += 1;
    };
    let counted = sweep::count(&bench, &plan, begin).map_err(sweep_failure)?;
    for reason in &counted.left_out {
        console.say(&format!("left out: {reason}"));
    }
    let report = newest_report(ptx);
    let own = predictor(bench.device(), Some(gpu.gpu.clone()));
    let mut predictors = Predictors::new(own);
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
                config: point.config,
                predictor: predictors.of(point.file.as_deref()),
                times,
            };
            found.profiles.push(Profile::new(counts, subject));
        }
    }
    Ok(found)
}

/// Profiles, and where workloads say something else.
#[derive(Default)]
struct Found {
    profiles: Vec<Profile>,
    /// Both figures.
    wrong: Vec<String>,
}

/// The contents of the JSON file.
#[derive(Serialize)]
struct Document<'p> {
    ridgepoint: &'static str,
    profiles: &'p [Profile],
}

impl Shown {
    /// Opens the files, and shows and writes what `count` gives.
    fn with(
        &self,
        count: impl FnOnce(&GpuRoofs, &Console) -> Result<Found, Failure>,
    ) -> Result<(), Failure> {
        if self.json.is_none() && self.page.is_none() {
            self.printed.refuse_silence()?;
        }
        let files = Files::default().outputs("--json", &self.json);
        files.outputs("--page", &self.page).check()?;
        let open = |path: &Option<PathBuf>| {
            let path = path.as_ref();
            path.map(|path| Destination::open(path, Unfinished::IsNothing))
                .transpose()
        };
        let (json, page) = (open(&self.json)?, open(&self.page)?);
        let console = self.printed.console(0);
        let found = count(&self.roofs.gpu(), &console);
        console.finish();
        let Found { profiles, wrong } = found?;
        if profiles.is_empty() {
            return Err(Failure::Failed(
                "nothing was counted: no kernel was launched".to_owned(),
            ));
        }
        let document = Document {
            ridgepoint: env!("CARGO_PKG_VERSION"),
            profiles: &profiles,
        };
        self.show(&document, &console)?;
        if let Some(json) = json {
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

    /// The profiles as text, as one document, or as rows of lines.
    fn show(&self, document: &Document<'_>, console: &Console) -> Result<(), Failure> {
        if self.printed.format() == Some(Format::Json) {
            let text = serde_json::to_string_pretty(document).map_err(Failure::failed)?;
            streams::print(format!("{text}\n").as_bytes());
            return Ok(());
        }
        let rows = document.profiles.iter().flat_map(Row::all);
        let rows: Vec<Row<'_>> = rows.collect();
        self.printed.show(&rows, console, |_| {
            let texts = document.profiles.iter();
            let texts = texts.map(|it| profile::text(it, self.lines as usize));
            texts.collect::<Vec<_>>().join("\n")
        })
    }
}

impl<'p> Row<'p> {
    /// A row for each line, the hottest first.
    fn all(profile: &'p Profile) -> impl Iterator<Item = Row<'p>> {
        profile.lines.iter().map(|line| Row {
            kernel: &profile.kernel,
            at: &profile.at,
            file: &line.file,
            line: line.line,
            share_percent: 100.0 * line.share,
            instructions: line.sums.warps,
            flop: line.sums.flop,
            bytes: line.sums.bytes,
            sectors: line.sums.sectors,
            wavefronts: line.sums.wavefronts,
            conflicts: line.sums.conflicts,
            divergences: line.sums.splits,
            text: line.text.as_deref().unwrap_or_default(),
        })
    }
}
