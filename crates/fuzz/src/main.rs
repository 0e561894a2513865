//! Runs random programs and mutants, and says what differs or ends its process.

use std::fs::File;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fuzz::arguments::Arguments;
use fuzz::children::{self, CHILD, Total, Work};
use fuzz::compare::{COMPARED, Comparison, DIFFERENT};
use fuzz::device::{Device, Emulator, Gpu, Mode};
use fuzz::program::{Class, Classes, Program, generate, module};
use fuzz::report;
use fuzz::targets::{self, Modules, NAMES, PANICS, RUN, Settings};

const HELP: &str = "Look for faults with random inputs

Usage: ridgepoint-fuzz programs [OPTIONS]   Run random PTX programs on several devices, and compare all bits
       ridgepoint-fuzz show [OPTIONS]       Print the module of a seed's program, or of as many as --count says
       ridgepoint-fuzz mutant [OPTIONS]     Print the mutant of a seed that `modules` runs
       ridgepoint-fuzz replay FILE..        Load and launch PTX files in this process
       ridgepoint-fuzz TARGET [OPTIONS]     Give mutants to a reader: modules (PTX, which is launched), rows, launch-files, frames

Options:
  --seed N           First seed [default: 0]
  --count N          Number of seeds [default: 1000]
  --time SECONDS     Begin no more seeds after this time
  --jobs N           Processes at the same time [default: one per core]
  --log FILE         Differences, panics and crashes, each with its seed [default: ridgepoint-fuzz.log]
  --devices LIST     programs: cpu (the engine with and without checks), cuda, or both [default: cpu, and cuda where there is a driver]
  --batch N          programs: programs per module [default: 50]
  --shrink N         programs: differences per process that are made smaller [default: 5]
  --without CLASSES  programs, show: leave classes out, such as approximate,nan [default: nan,bounded]
  --only CLASSES     programs, show: leave all others out
  --corpus FOLDER    modules, rows: files beside those of this program; may be repeated
  --cores N          modules, replay: cores of launches without checks [default: 1]
  --die-at N         mutants: the process aborts at this seed, which shows that it is named

Exit status: 0 nothing was found, 1 something was, or nothing was run, 2 a wrong option or a missing device
";

/// Seconds that a module of programs, or a mutant, may take.
const SECONDS: [u64; 2] = [300, 20];

/// MiB that a process may have: a sanitizer and a driver need some themselves.
const MEBIBYTES: u64 = 6000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() || words.iter().any(|it| it == "--help") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let mut arguments = Arguments::new(words.clone());
    let command = arguments.word().unwrap_or_default();
    let outcome = match command.as_str() {
        "programs" => programs(arguments, words),
        "show" => show(arguments),
        "replay" => replay(arguments),
        "mutant" => mutant(arguments),
        name if NAMES.contains(&name) => mutants(name, arguments, words),
        other => Err(format!("{other}: no such command; --help lists them")),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("fuzz: {error}");
        ExitCode::from(2)
    })
}

/// The options of all runs.
struct Common {
    seed: u64,
    count: u64,
    /// As `count`, for who needs one.
    shown: u64,
    batch: Option<u64>,
    is_child: bool,
    jobs: Option<usize>,
    time: Option<u64>,
    log: Option<String>,
}

impl Common {
    fn of(arguments: &mut Arguments) -> Result<Common, String> {
        let count = last(arguments, "--count")?;
        Ok(Common {
            is_child: arguments.flag(CHILD),
            jobs: arguments.value("--jobs")?,
            time: arguments.value("--time")?,
            log: arguments.value("--log")?,
            // A child is told after its parent's own options.
            seed: last(arguments, "--seed")?.unwrap_or(0),
            count: count.unwrap_or(1000),
            shown: count.unwrap_or(1),
            batch: last(arguments, "--batch")?,
        })
    }

    /// Runs children, and prints the summary.
    fn run(&self, words: Vec<String>, batch: u64, chunk: u64) -> Result<(Total, f64), String> {
        let path = self.log.as_deref().unwrap_or("ridgepoint-fuzz.log");
        let log = File::create(path).map_err(|it| format!("{path}: {it}"))?;
        let cores = std::thread::available_parallelism().map_or(1, |it| it.get());
        let work = Work {
            arguments: words,
            first: self.seed,
            count: self.count,
            batch,
            chunk,
            jobs: self.jobs.unwrap_or(cores),
            time: self.time.map(Duration::from_secs),
        };
        let began = Instant::now();
        let total = children::run(&work, log).map_err(|it| it.to_string())?;
        for (key, count) in &total.counts {
            println!("{count:>10} {key}");
        }
        for (how, seeds) in &total.crashes {
            println!(
                "{:>10} processes ended, first at seed {}: {how}",
                seeds.len(),
                seeds[0]
            );
        }
        Ok((total, began.elapsed().as_secs_f64()))
    }
}

/// The last value of an option.
fn last(arguments: &mut Arguments, name: &str) -> Result<Option<u64>, String> {
    let mut last = None;
    while let Some(value) = arguments.value(name)? {
        last = Some(value);
    }
    Ok(last)
}

fn classes(arguments: &mut Arguments) -> Result<Classes, String> {
    let without: Option<String> = arguments.value("--without")?;
    let only: Vec<Class> = arguments.list("--only")?;
    if !only.is_empty() {
        let others: Vec<Class> = Class::all().filter(|it| !only.contains(it)).collect();
        return Ok(Classes::without(&others));
    }
    match without {
        None => Ok(Classes::default()),
        Some(list) => {
            let names = list.split(',').filter(|it| !it.is_empty());
            let classes: Result<Vec<Class>, String> = names.map(str::parse).collect();
            Ok(Classes::without(&classes?))
        }
    }
}

fn programs(mut arguments: Arguments, words: Vec<String>) -> Result<ExitCode, String> {
    let common = Common::of(&mut arguments)?;
    let classes = classes(&mut arguments)?;
    let shrunk = arguments.value("--shrink")?.unwrap_or(5);
    let devices: Vec<String> = arguments.list("--devices")?;
    arguments.end()?;
    let batch = common.batch.unwrap_or(50).max(1);
    if common.is_child {
        return child(
            &common,
            &devices,
            Comparison {
                classes,
                batch,
                shrunk,
            },
        );
    }
    // Each child has a context, which takes a while to make.
    let chunk = (common.count / 64)
        .clamp(batch, 2000)
        .next_multiple_of(batch);
    let (total, seconds) = common.run(words, batch, chunk)?;
    let (compared, different) = (total.of(COMPARED), total.of(DIFFERENT));
    println!(
        "seeds {}..{}: {compared} programs agree in all bits, {different} differ, {} ended their process; {seconds:.1} s",
        common.seed,
        common.seed.saturating_add(common.count),
        total.crashed()
    );
    Ok(status(compared, different + total.crashed() as u64))
}

fn child(common: &Common, devices: &[String], comparison: Comparison) -> Result<ExitCode, String> {
    report::watch(SECONDS[0], MEBIBYTES);
    let mut opened: Vec<Box<dyn Device>> = Vec::new();
    let has_driver = cuda_loader::driver().is_ok();
    let wants = |name: &str| match devices {
        [] => name == "cpu" || has_driver,
        named => named.iter().any(|it| it == name),
    };
    if let Some(unknown) = devices
        .iter()
        .find(|it| !["cpu", "cuda"].contains(&it.as_str()))
    {
        return Err(format!("--devices {unknown}: expected cpu or cuda"));
    }
    if wants("cuda") {
        opened.push(Box::new(Gpu::open(0, comparison.batch as usize)?));
    }
    opened.push(Box::new(Emulator(Mode::Unchecked)));
    if wants("cpu") {
        opened.push(Box::new(Emulator(Mode::Checked)));
    }
    for device in &opened {
        report::add(&format!("processes with {}", device.name()), 1);
    }
    comparison.run(&mut opened, common.seed, common.count)?;
    Ok(ExitCode::SUCCESS)
}

fn show(mut arguments: Arguments) -> Result<ExitCode, String> {
    let common = Common::of(&mut arguments)?;
    let classes = classes(&mut arguments)?;
    arguments.end()?;
    let seeds = common.seed..common.seed.saturating_add(common.shown);
    let programs: Vec<Program> = seeds.map(|it| generate(it, classes)).collect();
    print!("{}", module(&programs));
    Ok(ExitCode::SUCCESS)
}

fn replay(mut arguments: Arguments) -> Result<ExitCode, String> {
    report::watch(SECONDS[1], MEBIBYTES);
    let cores = arguments.value("--cores")?.unwrap_or(1).max(1);
    let mut files = 0;
    while let Some(path) = arguments.word() {
        let text = std::fs::read(&path).map_err(|it| format!("{path}: {it}"))?;
        targets::replay(&String::from_utf8_lossy(&text), cores);
        files += 1;
    }
    arguments.end()?;
    Ok(status(files, 0))
}

fn mutant(mut arguments: Arguments) -> Result<ExitCode, String> {
    let common = Common::of(&mut arguments)?;
    let corpus = corpus(&mut arguments)?;
    arguments.end()?;
    let modules = Modules::new(&corpus, 1).map_err(|it| it.to_string())?;
    print!("{}", modules.mutant_of(common.seed));
    Ok(ExitCode::SUCCESS)
}

/// The folders of a corpus.
fn corpus(arguments: &mut Arguments) -> Result<Vec<String>, String> {
    let mut corpus: Vec<String> = Vec::new();
    while let Some(folder) = arguments.value("--corpus")? {
        corpus.push(folder);
    }
    Ok(corpus)
}

fn mutants(name: &str, mut arguments: Arguments, words: Vec<String>) -> Result<ExitCode, String> {
    let common = Common::of(&mut arguments)?;
    let settings = Settings {
        corpus: corpus(&mut arguments)?,
        cores: arguments.value("--cores")?.unwrap_or(1).max(1),
        dies_at: arguments.value("--die-at")?,
    };
    arguments.end()?;
    if common.is_child {
        report::watch(SECONDS[1], MEBIBYTES);
        targets::run(name, &settings, common.seed, common.count).map_err(|it| it.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (total, seconds) = common.run(words, 1, (common.count / 64).clamp(1, 5000))?;
    let (run, panics) = (total.of(RUN), total.of(PANICS));
    println!(
        "{name}, seeds {}..{}: {} mutants, {panics} panics, {} ended their process; {seconds:.1} s",
        common.seed,
        common.seed.saturating_add(common.count),
        total.seeds,
        total.crashed()
    );
    Ok(status(run, panics + total.crashed() as u64))
}

/// 1 where something was found, or nothing was done.
fn status(done: u64, found: u64) -> ExitCode {
    match (done, found) {
        (1.., 0) => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    }
}
