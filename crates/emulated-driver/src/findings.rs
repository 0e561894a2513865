//! Reports on the process: findings on standard error and as files, and the record of launches.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{LazyLock, Mutex, Once};
use std::time::{Duration, Instant};

use engine::{Severity, check};

use crate::counts;
use crate::handles::lock;
use crate::logs;
use crate::report::{FAILURE, Found, Launched, Record, Side};
use crate::settings::settings;

thread_local! {
    /// The lines that this thread prints, where somebody wants to hear them.
    static HEARD: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Prints a line for people, which the driver's log has, too.
pub(crate) fn say(text: &str) {
    eprintln!("ridgepoint: {text}");
    logs::add(text);
    // A program may call the driver as its thread ends, when nobody hears any more.
    let _ = HEARD.try_with(|heard| {
        if let Some(lines) = &mut *heard.borrow_mut() {
            lines.push(text.to_owned());
        }
    });
}

/// Nobody hears when this has gone, though what was heard has panicked.
struct Deaf;

impl Drop for Deaf {
    fn drop(&mut self) {
        let _ = HEARD.try_with(RefCell::take);
    }
}

/// Runs something, and returns what it has said besides.
pub(crate) fn heard<R>(run: impl FnOnce() -> R) -> (R, String) {
    let _ = HEARD.try_with(|it| it.replace(Some(Vec::new())));
    let deaf = Deaf;
    let result = run();
    let lines = HEARD.try_with(RefCell::take).ok().flatten();
    drop(deaf);
    (result, lines.unwrap_or_default().join("\n"))
}

/// The record as it is and as it was last written.
struct Kept {
    record: Record,
    /// The findings and the numbers of their files, by kernel, kind, memory and lines.
    findings: BTreeMap<String, (usize, Found)>,
    written: Option<Instant>,
}

static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(|| {
    Mutex::new(Kept {
        record: Record {
            program: program(),
            ..Record::default()
        },
        findings: BTreeMap::new(),
        written: None,
    })
});

fn program() -> String {
    let words = std::env::args_os().map(|it| it.to_string_lossy().into_owned());
    name_of(words)
}

/// The name of a program that was started with these words; of Python's that of its script or module.
fn name_of(mut words: impl Iterator<Item = String>) -> String {
    let name = |path: &str| {
        let name = Path::new(path).file_name();
        name.map_or(path.to_owned(), |it| it.to_string_lossy().into_owned())
    };
    let first = name(&words.next().unwrap_or_default());
    if !first.starts_with("python") {
        return first;
    }
    while let Some(word) = words.next() {
        match word.as_str() {
            "-m" => return words.next().unwrap_or(first),
            // Each has a value.
            "-W" | "-X" => _ = words.next(),
            "-c" | "-" => break,
            option if option.starts_with('-') => {}
            script => return name(script),
        }
    }
    first
}

/// A launch has ended, or has been refused.
pub(crate) fn launched(kernel: &str, seeds: u64, has_failed: bool) {
    write_at_exit();
    let mut kept = lock(&KEPT);
    if !settings().is_checked {
        kept.record.unchecked += 1;
    } else {
        if !kept.record.kernels.contains_key(kernel) {
            kept.record
                .kernels
                .insert(kernel.to_owned(), Default::default());
        }
        if let Some(launches) = kept.record.kernels.get_mut(kernel) {
            launches.all += 1;
            launches.failed += u64::from(has_failed);
            launches.seeds = launches.seeds.max(seeds);
        }
    }
    kept.write_if_due(has_failed);
}

/// A function was called that is not emulated: it is named once, and then this is true.
pub(crate) fn is_absent(function: &str) -> bool {
    let mut kept = lock(&KEPT);
    let is_new = kept.record.absent.insert(function.to_owned());
    if is_new {
        say(&format!(
            "{function} is not emulated; it answers CUDA_ERROR_NOT_SUPPORTED"
        ));
    }
    is_new
}

/// The cause of a finding.
#[derive(Clone, Copy)]
pub(crate) enum Cause<'a> {
    /// The checks of the engine.
    Checks(&'a check::Finding),
    /// A thread that failed by itself, a limit, or the emulator.
    Failure,
    /// A launch that the device refuses.
    Refused,
    /// A call's bytes outside of an allocation, told without addresses.
    Outside(&'a str),
}

impl Cause<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Cause::Checks(finding) => finding.kind.name(),
            Cause::Failure => FAILURE,
            Cause::Refused => "refused launch",
            Cause::Outside(_) => "call outside of an allocation",
        }
    }

    fn severity(&self) -> Severity {
        match self {
            Cause::Checks(finding) if !settings().is_strict => finding.kind.severity(),
            _ => Severity::Error,
        }
    }

    /// The part of a finding by which it is known again.
    fn key(&self, kernel: &str, text: &str) -> String {
        match self {
            Cause::Checks(finding) => format!("{kernel}: {}", finding.brief()),
            Cause::Failure | Cause::Refused => text.to_owned(),
            Cause::Outside(brief) => (*brief).to_owned(),
        }
    }

    fn sides(&self) -> (Option<Side>, Option<Side>) {
        match self {
            Cause::Checks(finding) => (
                Some(Side::of(&finding.now)),
                finding.before.as_ref().map(Side::of),
            ),
            _ => (None, None),
        }
    }
}

/// A finding: printed where it is the first of its kind at its lines, and written each time, with how often it was found.
pub(crate) fn found(text: &str, launch: Option<Launched>, cause: Cause<'_>) {
    write_at_exit();
    let mut kept = lock(&KEPT);
    kept.record.of_host += u64::from(launch.is_none());
    let kernel = launch.as_ref().map_or("", |it| &it.kernel);
    let key = cause.key(kernel, text);
    let next = (kept.findings.len() + 1, kept.found(text, launch, cause));
    let (number, found) = kept.findings.entry(key).or_insert(next);
    found.times += 1;
    if found.times == 1 {
        say(&format!("{}{text}", found.mark()));
        if let Some(launch) = &found.launch {
            say(&format!("  {}", shape(launch)));
        }
    }
    let is_new_benign = found.times == 1 && found.is_benign();
    write(found, *number);
    kept.record.benign += u64::from(is_new_benign);
    kept.write_if_due(true);
}

/// `in <<<(4, 1, 1), (256, 1, 1), 0 bytes>>>, under seed 3`
fn shape(launch: &Launched) -> String {
    let ([x, y, z], [a, b, c]) = (launch.grid, launch.block);
    let seed = launch.seed.map_or(String::new(), |seed| {
        format!(
            ", under seed {seed}; {}={seed} runs it alone",
            crate::settings::SEED
        )
    });
    let shared = launch.dynamic_shared;
    format!("in <<<({x}, {y}, {z}), ({a}, {b}, {c}), {shared} bytes>>>{seed}")
}

fn write(found: &Found, number: usize) {
    let Some(folder) = &settings().findings else {
        return;
    };
    let name = format!("finding-{}-{number}.json", std::process::id());
    let written = fs::create_dir_all(folder).and_then(|()| {
        let text = serde_json::to_string_pretty(found)?;
        fs::write(folder.join(&name), text + "\n")
    });
    if let Err(error) = written {
        say(&format!(
            "cannot write {}: {error}",
            folder.join(&name).display()
        ));
    }
}

impl Kept {
    /// A finding that has not been counted yet.
    fn found(&self, text: &str, launch: Option<Launched>, cause: Cause<'_>) -> Found {
        let (now, before) = cause.sides();
        Found {
            kind: cause.kind().to_owned(),
            severity: cause.severity().name().to_owned(),
            text: text.to_owned(),
            times: 0,
            program: self.record.program.clone(),
            launch,
            now,
            before,
        }
    }

    /// Writes the record where it is new, important, or a second old: a program may end in any way.
    fn write_if_due(&mut self, is_important: bool) {
        const PERIOD: Duration = Duration::from_secs(1);
        let is_due = self.written.is_none_or(|it| it.elapsed() > PERIOD);
        if is_due || is_important {
            self.write();
        }
    }

    fn write(&mut self) {
        self.written = Some(Instant::now());
        let Some(folder) = &settings().record else {
            return;
        };
        let path = folder.join(format!("{}.json", std::process::id()));
        if let Ok(text) = serde_json::to_string(&self.record) {
            // A record that cannot be written is missing in the summary alone: findings are printed.
            let _ = fs::write(path, text);
        }
    }
}

/// The library has no main: what it has to say at the end is said by a handler.
fn write_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler is a function of this library, which is never unloaded (`-z nodelete`).
        unsafe { libc::atexit(finish) };
    });
}

extern "C" fn finish() {
    let written = std::panic::catch_unwind(|| {
        let mut kept = lock(&KEPT);
        kept.write();
        let all = kept.findings.values().map(|it| &it.1);
        for found in all.filter(|it| it.times > 1) {
            let Found { text, times, .. } = found;
            say(&format!("{}found {times} times: {text}", found.mark()));
        }
        counts::print();
    });
    // Nothing can be done about it as the process ends.
    drop(written);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_named_by_their_scripts() {
        for (line, expected) in [
            ("./saxpy data.py", "saxpy"),
            ("/usr/bin/python3 train.py --epochs 3", "train.py"),
            ("python -m pytest -q tests/test_all.py", "pytest"),
            ("python3.11 -u -X dev /opt/bin/pytest tests/a.py", "pytest"),
            ("python -c code.py", "python"),
            ("python", "python"),
            ("", ""),
        ] {
            let words = line.split(' ').map(str::to_owned);
            assert_eq!(name_of(words), expected, "{line}");
        }
    }
}
