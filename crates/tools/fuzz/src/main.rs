//! Runs random programs and mutants, and says what differs or ends its process.

use std::fs::File;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

use fuzz::arguments::Arguments;
use fuzz::children::{self, CHILD, Total, Work};
use fuzz::compare::{COMPARED, Comparison, DIFFERENT, OPTIMISED};
use fuzz::device::{Device, Emulator, Gpu, Level, MOST, Mode};
use fuzz::program::{Class, Classes, Program, STATEMENTS, generate_long, module};
use fuzz::targets::{self, Modules, NAMES, PANICS, RUN, Settings};
use fuzz::{report, seeds};

const HELP: &str = "Look for faults with random inputs

Usage: ridgepoint-fuzz programs [OPTIONS]   Run random PTX programs on several devices, and compare all bits
       ridgepoint-fuzz show [OPTIONS]       Print the module of a seed's program, or of as many as --count says
       ridgepoint-fuzz mutant [OPTIONS]     Print the mutant of a seed that `modules` runs
       ridgepoint-fuzz replay FILE..        Load and launch PTX files in this process
       ridgepoint-fuzz TARGET [OPTIONS]     Give mutants to a reader: modules (PTX, which is launched), rows, launch-files, frames;
                                            calls: sequences of calls of the emulated driver

Options:
  --seed N           First seed [default: 0]
  --count N          Number of seeds [default: 1000]
  --seeds FILE       The seeds of a file instead, with spaces, commas or lines between them; 5..9 are 5 to 8
  --time SECONDS     Begin no more seeds, and make no more differences smaller, after this time
  --jobs N           Processes at the same time [default: one per core]
  --log FILE         Differences, panics and crashes, each with its seed [default: ridgepoint-fuzz.log]
  --devices LIST     programs: cpu (the engine with and without checks), cuda, or both [default: cpu, and cuda where there is a driver]
  --batch N          programs: programs per module [default: 50]
  --statements N     programs, show: statements per kernel [default: 28]
  --level N          programs: how much the GPU's assembler optimises, 0 to 4 [default: 4]; what differs is run again at 0
  --shrink N         programs: differences that are made smaller after all seeds were run [default: 20]
  --without CLASSES  programs, show: leave classes out, such as approximate,nan [default: nan,bounded]
  --only CLASSES     programs, show: leave all others out
  --corpus FOLDER    modules, rows: files beside those of this program; may be repeated
  --cores N          modules, replay: cores of launches without checks [default: 1]
  --die-at N         mutants: the process aborts at this seed, which shows that it is named

Exit status: 0 nothing was found, 1 something was, or nothing was run, 2 a wrong option or a missing device
";

/// Seconds that a module of programs, or a mutant, may take.
const SECONDS: [u64; 2] = [300, 20];

/// Seconds that what was begun may take after the time is over.
const LATE: u64 = 15;

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
    /// As many seeds as `--count` says, or those of `--seeds`.
    seeds: Vec<u64>,
    /// A child's own seeds.
    of_child: Option<Vec<u64>>,
    batch: Option<usize>,
    jobs: usize,
    /// When no more seeds are begun.
    end: Option<Instant>,
    log: String,
    began: Instant,
}

impl Common {
    /// `count` is the number of seeds where nobody gives one.
    fn of(arguments: &mut Arguments, count: u64) -> Result<Common, String> {
        let began = Instant::now();
        let first: u64 = arguments.value("--seed")?.unwrap_or(0);
        let count = arguments.value("--count")?.unwrap_or(count);
        let seeds = match arguments.value::<String>("--seeds")? {
            Some(path) => seeds::read(&path)?,
            None if count > seeds::MOST => {
                return Err(format!("--count {count}: at most {} seeds", seeds::MOST));
            }
            None => (first..first.saturating_add(count)).collect(),
        };
        let of_child = last::<String>(arguments, CHILD)?;
        let cores = std::thread::available_parallelism().map_or(1, |it| it.get());
        // A child is told after its parent's own options.
        let time = last::<f64>(arguments, "--time")?.map(Duration::try_from_secs_f64);
        let time = time.transpose().map_err(|it| format!("--time: {it}"))?;
        Ok(Common {
            seeds,
            of_child: of_child.as_deref().map(seeds::parse).transpose()?,
            batch: last(arguments, "--batch")?,
            jobs: arguments.value("--jobs")?.unwrap_or(cores),
            end: time.map(|it| began + it),
            log: arguments
                .value("--log")?
                .unwrap_or_else(|| "ridgepoint-fuzz.log".to_owned()),
            began,
        })
    }

    /// Runs children with these words on these seeds, so many seconds longer than `--time` says.
    fn run(
        &self,
        words: &[String],
        seeds: Vec<u64>,
        [batch, chunk]: [usize; 2],
        (log, longer): (&File, u64),
    ) -> Total {
        let work = Work {
            arguments: words.to_vec(),
            seeds,
            batch,
            chunk,
            jobs: self.jobs,
            end: self.end.map(|it| it + Duration::from_secs(longer)),
        };
        children::run(&work, log)
    }

    fn log(&self) -> Result<File, String> {
        File::create(&self.log).map_err(|it| format!("{}: {it}", self.log))
    }

    /// Prepares a child: when it ends, and what it may take.
    fn watch(&self, seconds: u64) {
        let left = self
            .end
            .map(|it| it.saturating_duration_since(Instant::now()));
        left.into_iter().for_each(report::end_after);
        // What hangs may not keep the summary back for long.
        let most = left.map_or(seconds, |it| it.as_secs() + LATE);
        report::watch(seconds.min(most), MEBIBYTES);
    }

    /// The seeds for a summary, and how many of them were done.
    fn done(&self, total: &Total) -> String {
        let all = match self.seeds.len() {
            // Those of a file would be a long line.
            count if !seeds::text(&self.seeds).contains("..") => format!("{count} seeds"),
            _ => format!("seeds {}", seeds::text(&self.seeds)),
        };
        let count = self.seeds.len() as u64;
        match total.seeds < count {
            true => format!("{all}, {} of them before the time was over", total.seeds),
            false => all,
        }
    }

    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }
}

fn print(total: &Total) {
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
}

/// The last value of an option.
fn last<T: FromStr>(arguments: &mut Arguments, name: &str) -> Result<Option<T>, String> {
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

/// The option with which a child makes differences smaller.
const SMALLER: &str = "--smaller";

fn programs(mut arguments: Arguments, words: Vec<String>) -> Result<ExitCode, String> {
    let common = Common::of(&mut arguments, 1000)?;
    let comparison = Comparison {
        classes: classes(&mut arguments)?,
        statements: arguments.value("--statements")?.unwrap_or(STATEMENTS),
        batch: common.batch.unwrap_or(50).max(1),
    };
    let shrunk = arguments.value("--shrink")?.unwrap_or(20);
    // A second run of some seeds is told after the first one's.
    let level = last(&mut arguments, "--level")?.unwrap_or(MOST);
    let devices: Vec<String> = arguments.list("--devices")?;
    let is_smaller = arguments.flag(SMALLER);
    arguments.end()?;
    if let Some(seeds) = &common.of_child {
        common.watch(SECONDS[0]);
        let mut devices = opened(&devices, comparison.batch, level)?;
        match is_smaller {
            true => comparison.shrink(&mut devices, seeds)?,
            false => comparison.run(&mut devices, seeds)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    compare(&common, comparison, &words, shrunk)
}

/// Runs all seeds, then those that ended their process without the optimiser, and then makes differences smaller.
fn compare(
    common: &Common,
    comparison: Comparison,
    words: &[String],
    shrunk: usize,
) -> Result<ExitCode, String> {
    let log = common.log()?;
    let batch = comparison.batch;
    let seeds = common.seeds.clone();
    // Each child has a context, which takes a while to make.
    let chunk = (seeds.len() / 64)
        .clamp(batch, 2000)
        .next_multiple_of(batch);
    let total = common.run(words, seeds, [batch, chunk], (&log, 0));
    print(&total);
    let crashed: Vec<u64> = total.crashes.values().flatten().copied().collect();
    let with = |option: &[&str]| {
        let options = option.iter().map(|it| (*it).to_owned());
        words
            .iter()
            .cloned()
            .chain(options)
            .collect::<Vec<String>>()
    };
    let again = common.run(&with(&["--level", "0"]), crashed, [1, 1], (&log, LATE));
    let ended = total.crashed() as u64 - again.of(COMPARED).min(total.crashed() as u64);
    let (equal, different) = (total.of(COMPARED), total.of(DIFFERENT));
    let optimised = total.of(OPTIMISED) + again.of(COMPARED);
    println!(
        "{}: {equal} programs agree in all bits, {optimised} differ or end their process by the assembler's optimiser alone, \
         {different} differ, {ended} ended their process; {:.1} s",
        common.done(&total),
        common.seconds()
    );
    let keys = [DIFFERENT, OPTIMISED].iter();
    let found = keys.filter_map(|it| total.found.get(*it)).flatten();
    let found: Vec<u64> = found.copied().take(shrunk).collect();
    let shrunk = common.run(&with(&[SMALLER]), found, [1, 1], (&log, 0));
    print(&shrunk);
    let failures = [total.failure, again.failure, shrunk.failure];
    match failures.into_iter().flatten().next() {
        Some(failure) => Err(failure),
        None => Ok(status(equal, different + ended)),
    }
}

/// The devices of a child, the GPU first.
fn opened(names: &[String], batch: usize, level: Level) -> Result<Vec<Box<dyn Device>>, String> {
    let mut opened: Vec<Box<dyn Device>> = Vec::new();
    let has_driver = cuda_loader::driver().is_ok();
    let wants = |name: &str| match names {
        [] => name == "cpu" || has_driver,
        named => named.iter().any(|it| it == name),
    };
    if let Some(unknown) = names
        .iter()
        .find(|it| !["cpu", "cuda"].contains(&it.as_str()))
    {
        return Err(format!("--devices {unknown}: expected cpu or cuda"));
    }
    if wants("cuda") {
        opened.push(Box::new(Gpu::open(0, batch, level)?));
    }
    opened.push(Box::new(Emulator(Mode::Unchecked)));
    if wants("cpu") {
        opened.push(Box::new(Emulator(Mode::Checked)));
    }
    for device in &opened {
        report::add(&format!("processes with {}", device.name()), 1);
    }
    Ok(opened)
}

fn show(mut arguments: Arguments) -> Result<ExitCode, String> {
    let common = Common::of(&mut arguments, 1)?;
    let classes = classes(&mut arguments)?;
    let statements = arguments.value("--statements")?.unwrap_or(STATEMENTS);
    arguments.end()?;
    let seeds = common.seeds.iter();
    let programs: Vec<Program> = seeds
        .map(|it| generate_long(*it, classes, statements))
        .collect();
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
    let common = Common::of(&mut arguments, 1)?;
    let corpus = corpus(&mut arguments)?;
    arguments.end()?;
    let modules = Modules::new(&corpus, 1).map_err(|it| it.to_string())?;
    for seed in &common.seeds {
        print!("{}", modules.mutant_of(*seed));
    }
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
    let common = Common::of(&mut arguments, 1000)?;
    let settings = Settings {
        corpus: corpus(&mut arguments)?,
        cores: arguments.value("--cores")?.unwrap_or(1).max(1),
        dies_at: arguments.value("--die-at")?,
    };
    arguments.end()?;
    if let Some(seeds) = &common.of_child {
        common.watch(SECONDS[1]);
        targets::run(name, &settings, seeds).map_err(|it| it.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let chunk = (common.seeds.len() / 64).clamp(1, 5000);
    let total = common.run(
        &words,
        common.seeds.clone(),
        [1, chunk],
        (&common.log()?, 0),
    );
    print(&total);
    let (run, panics) = (total.of(RUN), total.of(PANICS));
    println!(
        "{name}, {}: {} mutants, {panics} panics, {} ended their process; {:.1} s",
        common.done(&total),
        total.seeds,
        total.crashed(),
        common.seconds()
    );
    match total.failure {
        Some(failure) => Err(failure),
        None => Ok(status(run, panics + total.crashed() as u64)),
    }
}

/// 1 where something was found, or nothing was done.
fn status(done: u64, found: u64) -> ExitCode {
    match (done, found) {
        (1.., 0) => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    }
}
