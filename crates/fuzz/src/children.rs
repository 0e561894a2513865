//! Runs seeds in processes of their own, so that one that ends by a signal is named and the others go on.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The option that makes a process a child.
pub const CHILD: &str = "--child";

/// Seeds, and how they are run.
#[derive(Clone, Debug)]
pub struct Work {
    /// The command and its options, without seeds.
    pub arguments: Vec<String>,
    /// The first seed.
    pub first: u64,
    /// How many seeds.
    pub count: u64,
    /// Seeds that a child does together; if it dies they are done one by one.
    pub batch: u64,
    /// Seeds that a child gets.
    pub chunk: u64,
    /// Children at the same time.
    pub jobs: usize,
    /// No more seeds are begun after it.
    pub time: Option<Duration>,
}

/// What children have reported.
#[derive(Clone, Debug, Default)]
pub struct Total {
    /// Numbers by what they count.
    pub counts: BTreeMap<String, u64>,
    /// The seeds at which children died, by how.
    pub crashes: BTreeMap<String, Vec<u64>>,
    /// Seeds that were done.
    pub seeds: u64,
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

/// Seeds that a child has to do, and how many at once.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u64,
    end: u64,
    batch: u64,
}

struct Shared<'w> {
    work: &'w Work,
    next: AtomicU64,
    total: Mutex<Total>,
    log: Mutex<File>,
    is_broken: AtomicBool,
    began: Instant,
}

/// Runs all seeds, and writes what children say to the log.
///
/// # Errors
/// A child cannot be started, or the log cannot be written.
pub fn run(work: &Work, log: File) -> io::Result<Total> {
    let shared = Shared {
        work,
        next: AtomicU64::new(work.first),
        total: Mutex::default(),
        log: Mutex::new(log),
        is_broken: AtomicBool::new(false),
        began: Instant::now(),
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
    outcomes.into_iter().collect::<io::Result<()>>()?;
    Ok(shared
        .total
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner))
}

impl Shared<'_> {
    fn job(&self, job: usize) -> io::Result<()> {
        let errors =
            std::env::temp_dir().join(format!("ridgepoint-fuzz.{}.{job}", std::process::id()));
        let mut ranges = VecDeque::new();
        while let Some(range) = ranges.pop_front().or_else(|| self.take()) {
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

    /// The next seeds, if there are some and there is time.
    fn take(&self) -> Option<Range> {
        let Work {
            first,
            count,
            chunk,
            batch,
            time,
            ..
        } = *self.work;
        let is_over = time.is_some_and(|it| self.began.elapsed() >= it);
        if is_over || self.is_broken.load(Ordering::Relaxed) {
            return None;
        }
        let end = first.saturating_add(count);
        let begin = self.next.fetch_add(chunk.max(1), Ordering::Relaxed);
        (begin < end).then(|| Range {
            first: begin,
            end: end.min(begin.saturating_add(chunk.max(1))),
            batch,
        })
    }

    /// Runs a child. What it leaves is added to the ranges.
    fn child(
        &self,
        range: Range,
        errors: &std::path::Path,
        left: &mut VecDeque<Range>,
    ) -> io::Result<()> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(&self.work.arguments)
            .args([CHILD, "--seed", &range.first.to_string()])
            .args(["--count", &(range.end - range.first).to_string()])
            .args(["--batch", &range.batch.to_string()])
            // What a driver compiles is compiled, and when it is loaded.
            .envs([
                ("CUDA_CACHE_DISABLE", "1"),
                ("CUDA_MODULE_LOADING", "EAGER"),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(errors)?)
            .spawn()?;
        let at = self.listen(&mut child)?;
        let status = child.wait()?;
        let Some(at) = at.filter(|_| !status.success()) else {
            self.total().seeds += range.end - range.first;
            return if status.success() {
                Ok(())
            } else {
                Err(io::Error::other(format!(
                    "a child did not begin: {status}: {}",
                    said(errors)
                )))
            };
        };
        let done = range.end.min(at.saturating_add(range.batch));
        self.total().seeds += done - range.first;
        if done < range.end {
            left.push_front(Range {
                first: done,
                ..range
            });
        }
        if range.batch > 1 {
            self.total().seeds -= done - at;
            left.push_front(Range {
                first: at,
                end: done,
                batch: 1,
            });
            return Ok(());
        }
        self.crash(at, status, &said(errors))
    }

    /// Reads what a child says until it ends. Gives the last seed that it has begun.
    fn listen(&self, child: &mut Child) -> io::Result<Option<u64>> {
        let mut at = None;
        let Some(out) = child.stdout.take() else {
            return Ok(None);
        };
        for line in BufReader::new(out).lines() {
            // What a dying child leaves may be half a line.
            let Ok(line) = line else { break };
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "at" => at = rest.parse().ok().or(at),
                "add" => {
                    let (count, key) = rest.split_once(' ').unwrap_or((rest, ""));
                    *self.total().counts.entry(key.to_owned()).or_default() +=
                        count.parse().unwrap_or(0);
                }
                "say" => self.log(rest)?,
                _ => {}
            }
        }
        Ok(at)
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
