//! Reports of a child to its parent: lines of text.

use std::io::{Write as _, stdout};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The seed at work. The parent names it if the child dies.
pub fn at(seed: u64) {
    *BEGAN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    line(&format!("at {seed}"));
}

/// Adds to a number of the summary.
pub fn add(key: &str, count: u64) {
    if count > 0 {
        line(&format!("add {count} {key}"));
    }
}

/// Says that something was found at a seed, which may be looked at again, and counts it.
pub fn found(seed: u64, key: &str) {
    line(&format!("found {seed} {key}"));
    add(key, 1);
}

/// Says how many seeds were not begun, for the time was over.
pub fn left(count: usize) {
    line(&format!("left {count}"));
}

/// Says something in the log; each line of it by itself.
pub fn say(text: &str) {
    let lines: Vec<String> = text.lines().map(|it| format!("say {it}")).collect();
    line(&lines.join("\n"));
}

fn line(text: &str) {
    let mut out = stdout().lock();
    // Without a parent nobody needs it any more.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// When the seed at work was begun.
static BEGAN: Mutex<Option<Instant>> = Mutex::new(None);

/// When no more seeds are begun.
static END: OnceLock<Instant> = OnceLock::new();

/// Sets when the time of this process is over.
pub fn end_after(time: Duration) {
    // A process has one.
    let _ = END.set(Instant::now() + time);
}

/// Whether the time is over: what is not begun is left.
pub fn is_over() -> bool {
    END.get().is_some_and(|it| Instant::now() >= *it)
}

/// Ends this process where a seed takes longer or more memory than it may.
pub fn watch(seconds: u64, mebibytes: u64) {
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_millis(100));
            let began = *BEGAN.lock().unwrap_or_else(PoisonError::into_inner);
            if began.is_some_and(|it| it.elapsed().as_secs() >= seconds) {
                eprintln!("fuzz: longer than {seconds} s");
                std::process::exit(124);
            }
            let used = resident();
            if used > mebibytes {
                eprintln!("fuzz: {used} MiB of memory; a seed may have {mebibytes}");
                std::process::exit(125);
            }
        }
    });
}

/// MiB of memory that this process has.
fn resident() -> u64 {
    let read = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = read.split(' ').nth(1).and_then(|it| it.parse::<u64>().ok());
    pages.unwrap_or(0) >> 8
}
