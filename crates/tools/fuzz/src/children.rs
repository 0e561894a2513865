//! Runs seeds in processes of their own, so that one that ends by a signal is named and the others go on.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::seeds;
use crate::targets::ENVIRONMENT;

/// The option that makes a process a child. Its value names the child's seeds.
pub const CHILD: &str = "--child";

/// Seeds, and how they are run.
#[derive(Clone, Debug)]
pub struct Work {
    /// The command and its options, without seeds.
    pub arguments: Vec<String>,
    /// The seeds, each once.
    pub seeds: Vec<u64>,
    /// Seeds that a child does together; if it dies they are done one by one.
    pub batch: usize,
    /// Seeds that a child gets.
    pub chunk: usize,
    /// Children at the same time.
    pub jobs: usize,
    /// No more seeds are begun after it.
    pub end: Option<Instant>,
}

/// The sum of the children's reports.
#[derive(Clone, Debug, Default)]
pub struct Total {
    /// Numbers by what they count.
    pub counts: BTreeMap<String, u64>,
    /// The seeds at which children died, by how.
    pub crashes: BTreeMap<String, Vec<u64>>,
    /// The seeds that children have found something at, by the key of what it is.
    pub found: BTreeMap<String, Vec<u64>>,
    /// How many seeds were done.
    pub seeds: u64,
    /// Why some were not: a child did not begin, or the log cannot be written.
    pub failure: Option<String>,
}

impl Total {
    /// A number; 0 if nothing was counted.
    pub fn of(&self, key: &str) -> u64 {
        self.counts.get(key).copied().unwrap_or(0)
    }

    /// How many seeds ended their process.
    pub fn crashed(&self) -> usize {
        self.crashes.values().map(Vec::len).sum()
    }
}

/// The places of the seeds that a child has to do, and how many it does at once.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: usize,
    end: usize,
    batch: usize,
}

/// How far a child came.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// The seed that it began last.
    at: Option<u64>,
    /// Seeds that it did not begin, for the time was over.
    left: u64,
}

struct Shared<'w> {
    work: &'w Work,
    next: AtomicUsize,
    total: Mutex<Total>,
    log: Mutex<&'w File>,
    is_broken: AtomicBool,
}

/// Runs all seeds, and writes what children say to the log. After a failure no more are begun.
pub fn run(work: &Work, log: &File) -> Total {
    let shared = Shared {
        work,
        next: AtomicUsize::new(0),
        total: Mutex::default(),
        log: Mutex::new(log),
        is_broken: AtomicBool::new(false),
    };
    let outcomes: Vec<io::Result<()>> = thread::scope(|scope| {
        let jobs: Vec<_> = (0..work.jobs.max(1))
            .map(|job| {
                let shared = &shared;
                scope.spawn(move || shared.job(job))
            })
            .collect();
        let joined = jobs.into_iter().map(|it| it.join());
        joined
            .map(|it| it.unwrap_or_else(|_| Err(io::Error::other("a job's thread panicked"))))
            .collect()
    });
    let mut total = shared
        .total
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let failure = outcomes.into_iter().find_map(Result::err);
    total.failure = failure.map(|it| it.to_string());
    total
}

impl Shared<'_> {
    fn job(&self, job: usize) -> io::Result<()> {
        let errors =
            std::env::temp_dir().join(format!("ridgepoint-fuzz.{}.{job}", std::process::id()));
        let mut ranges = VecDeque::new();
        while !self.is_over() {
            let Some(range) = ranges.pop_front().or_else(|| self.take()) else {
                break;
            };
            let outcome = self.child(range, &errors, &mut ranges);
            if outcome.is_err() {
                self.is_broken.store(true, Ordering::Relaxed);
                return outcome;
            }
        }
        // Where no child was started there is none.
        let _ = fs::remove_file(errors);
        Ok(())
    }

    fn is_over(&self) -> bool {
        let is_late = self.work.end.is_some_and(|it| Instant::now() >= it);
        is_late || self.is_broken.load(Ordering::Relaxed)
    }

    /// The next seeds, if there are some.
    fn take(&self) -> Option<Range> {
        let chunk = self.work.chunk.max(1);
        let first = self.next.fetch_add(chunk, Ordering::Relaxed);
        let count = self.work.seeds.len();
        (first < count).then(|| Range {
            first,
            end: count.min(first + chunk),
            batch: self.work.batch.max(1),
        })
    }

    /// Runs a child. What it leaves is added to the ranges.
    fn child(
        &self,
        range: Range,
        errors: &std::path::Path,
        left: &mut VecDeque<Range>,
    ) -> io::Result<()> {
        let seeds = &self.work.seeds[range.first..range.end];
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(&self.work.arguments)
            .args([CHILD, &seeds::text(seeds)])
            .args(["--batch", &range.batch.to_string()]);
        if let Some(end) = self.work.end {
            let left = end.saturating_duration_since(Instant::now());
            command.args(["--time", &left.as_secs_f64().to_string()]);
        }
        let mut child = command
            // What a driver compiles is compiled, and when it is loaded.
            .envs([
                ("CUDA_CACHE_DISABLE", "1"),
                ("CUDA_MODULE_LOADING", "EAGER"),
            ])
            .envs(ENVIRONMENT)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(errors)?)
            .spawn()?;
        let progress = self.listen(&mut child)?;
        let status = child.wait()?;
        if status.success() {
            self.total().seeds += seeds.len() as u64 - progress.left.min(seeds.len() as u64);
            return Ok(());
        }
        let began = |at| seeds.iter().position(|it| *it == at);
        let Some(begun) = progress.at.and_then(began) else {
            let said = said(errors);
            return Err(io::Error::other(format!(
                "a child did not begin: {status}: {said}"
            )));
        };
        let at = range.first + begun;
        let end = range.end.min(at + range.batch);
        if end < range.end {
            left.push_front(Range {
                first: end,
                ..range
            });
        }
        self.total().seeds += begun as u64;
        if range.batch > 1 {
            left.push_front(Range {
                first: at,
                end,
                batch: 1,
            });
            return Ok(());
        }
        self.total().seeds += 1;
        self.crash(self.work.seeds[at], status, &said(errors))
    }

    /// Reads what a child says until it ends. Gives how far it came.
    fn listen(&self, child: &mut Child) -> io::Result<Progress> {
        let mut progress = Progress::default();
        let Some(out) = child.stdout.take() else {
            return Ok(progress);
        };
        for line in BufReader::new(out).lines() {
            // What a dying child leaves may be half a line.
            let Ok(line) = line else { break };
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "at" => progress.at = rest.parse().ok().or(progress.at),
                "left" => progress.left = rest.parse().unwrap_or(0),
                "found" => {
                    let (seed, key) = rest.split_once(' ').unwrap_or((rest, ""));
                    let mut total = self.total();
                    let seeds = total.found.entry(key.to_owned()).or_default();
                    seeds.extend(seed.parse::<u64>());
                }
                "add" => {
                    let (count, key) = rest.split_once(' ').unwrap_or((rest, ""));
                    *self.total().counts.entry(key.to_owned()).or_default() +=
                        count.parse().unwrap_or(0);
                }
                "say" => self.log(rest)?,
                _ => {}
            }
        }
        Ok(progress)
    }

    fn crash(&self, seed: u64, status: ExitStatus, errors: &str) -> io::Result<()> {
        let how = signature(status, errors);
        let mut total = self.total();
        let seeds = total.crashes.entry(how.clone()).or_default();
        seeds.push(seed);
        let is_new = seeds.len() == 1;
        drop(total);
        self.log(&format!("seed {seed}: the process ended: {how}"))?;
        match is_new {
            true => self.log(errors),
            false => Ok(()),
        }
    }

    fn total(&self) -> std::sync::MutexGuard<'_, Total> {
        self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, text: &str) -> io::Result<()> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(log, "{text}")
    }
}

/// The beginning of what a child wrote to standard error.
fn said(errors: &std::path::Path) -> String {
    let bytes = fs::read(errors).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..bytes.len().min(6000)]).into_owned()
}

/// A line that crashes of one reason have in common: a sanitizer's summary, or the first thing said.
fn signature(status: ExitStatus, errors: &str) -> String {
    let summary = errors.lines().find(|it| it.starts_with("SUMMARY:"));
    let own = errors.lines().find(|it| it.starts_with("fuzz: "));
    let first = errors.lines().find(|it| !it.trim().is_empty());
    match summary.or(own).or(first) {
        // Numbers differ from seed to seed.
        Some(line) => format!(
            "{status}; {}",
            line.replace(|it: char| it.is_ascii_digit(), "")
        ),
        None => status.to_string(),
    }
}
