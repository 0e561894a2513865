//! The launches of a check, one in each order, and what was found.

use std::env;
use std::time::Instant;

use super::orders::{Order, Orders, listed};
use super::{Arguments, told};
use crate::cli::Failure;
use crate::cli::all_gpus::{Short, without};
use crate::cli::console::Console;
use crate::cli::launch_options::failure;
use crate::driver::{Device, Emulation, demangled};
use crate::report::counted;
use crate::standalone::{After, Standalone, StandaloneError};

/// Runs all orders, whatever is found in one of them; but none after one that a limit has ended, and further seeds only as long as
/// nothing is found.
pub(super) fn checked(
    standalone: &Standalone,
    device: &Device,
    (orders, arguments, console): (&Orders, &Arguments, &Console),
) -> Result<Vec<After>, Failure> {
    let mut runs = Runs {
        arguments,
        console,
        first: None,
        findings: Vec::new(),
        failed: 0,
        differs: None,
        done: Vec::new(),
        is_endless: false,
    };
    for &order in &orders.first {
        console.begin(order.name());
        runs.run(standalone, device, order)?;
        console.step();
        if runs.is_endless {
            break;
        }
    }
    let left = orders.first.len() - runs.done.len();
    if !orders.search.is_zero() && runs.failed == 0 {
        let until = Instant::now() + orders.search;
        console.begin("further seeds".to_owned());
        for order in orders.further() {
            if runs.failed > 0 || Instant::now() >= until {
                break;
            }
            runs.run(standalone, device, order)?;
        }
    }
    console.finish();
    runs.end(&demangled(standalone.kernel()), left, orders)
}

/// Options that the command which replays a finding has its own of.
const REPLACED: [Short; 4] = [
    Short("--seeds", None),
    Short("--seed", None),
    Short("--search", None),
    Short("--format", Some('f')),
];

/// Something that was found, once for all orders in which it was.
struct Found {
    /// Tells it apart: the kind and the lines, where it has them.
    brief: String,
    is_benign: bool,
    orders: Vec<Order>,
}

/// The results of the launches so far.
struct Runs<'a> {
    arguments: &'a Arguments,
    console: &'a Console,
    first: Option<Vec<After>>,
    findings: Vec<Found>,
    /// Launches in which something was found that is not benign.
    failed: u64,
    /// The first schedule with another result than the first.
    differs: Option<String>,
    /// Launches that have ended, or were ended.
    done: Vec<Order>,
    /// Whether the last one went on until a limit ended it.
    is_endless: bool,
}

impl Runs<'_> {
    fn run(
        &mut self,
        standalone: &Standalone,
        device: &Device,
        order: Order,
    ) -> Result<(), Failure> {
        let Arguments {
            limits, severity, ..
        } = self.arguments;
        let emulation = Emulation {
            schedule: order.schedule(),
            is_checked: true,
            ..Emulation::default()
        };
        let emulation = severity.judge(limits.limit(emulation));
        let device = device.with_emulation(emulation);
        let device = device.expect("a device that is emulated");
        let loaded = device.load(standalone.file());
        let loaded = loaded.map_err(|error| failure(error.into()))?;
        let ran = standalone.run_loaded(&loaded);
        for benign in loaded.take_benign() {
            let found = (benign.finding.brief(), true);
            self.found(found, order, || {
                format!("benign: {benign} ({})", order.name())
            });
        }
        self.done.push(order);
        match ran {
            Ok(after) => self.compare(after, &order.name()),
            Err(StandaloneError::Driver(error)) if error.is_finding() => {
                self.failed += 1;
                self.is_endless = error.is_endless();
                let text = told(&error, limits);
                let brief = error
                    .finding()
                    .map_or_else(|| text.clone(), |it| it.brief());
                self.found((brief, false), order, || {
                    let words = without(env::args_os().skip(1), &REPLACED);
                    let words = words.iter().map(|it| it.to_string_lossy().into_owned());
                    let (name, replay) = (order.name(), order.replay(words));
                    format!("{text} ({name})\n  replay: {replay}")
                });
            }
            Err(error) => return Err(failure(error)),
        }
        Ok(())
    }

    /// Notes what was found, and says it the first time.
    fn found(
        &mut self,
        (brief, is_benign): (String, bool),
        order: Order,
        text: impl FnOnce() -> String,
    ) {
        let same = self.findings.iter_mut().find(|it| it.brief == brief);
        if let Some(found) = same {
            found.orders.push(order);
            return;
        }
        self.console.say(&text());
        self.findings.push(Found {
            brief,
            is_benign,
            orders: vec![order],
        });
    }

    fn compare(&mut self, after: Vec<After>, when: &str) {
        let Some(first) = &self.first else {
            self.first = Some(after);
            return;
        };
        let mut both = first.iter().zip(&after);
        if let (None, Some((first, _))) = (&self.differs, both.find(|(first, it)| !first.is_as(it)))
        {
            self.differs = Some(format!("argument {} under {when}", first.place));
        }
    }

    fn end(self, kernel: &str, left: usize, orders: &Orders) -> Result<Vec<After>, Failure> {
        let (console, launches) = (self.console, self.done.len());
        let benign = self.findings.iter().filter(|it| it.is_benign).count() as u64;
        let mut what = match self.failed {
            0 => "nothing was found".to_owned(),
            failed => format!("something was found in {failed} of them"),
        };
        if benign > 0 {
            what += &format!("; {}", counted(benign, "benign finding"));
        }
        let schedules = match &self.done[..] {
            [Order::InOrder] => "1 launch, in order".to_owned(),
            [order] => format!("1 launch, under {}", order.name()),
            _ => format!(
                "{}, in order and under {}",
                counted(launches as u64, "launch"),
                counted(launches as u64 - 1, "seed")
            ),
        };
        console.say(&format!("Checked {kernel}: {schedules}; {what}."));
        for found in self.findings.iter().filter(|_| launches > 1) {
            let listed = listed(&found.orders, launches);
            let class = if found.is_benign { "benign, " } else { "" };
            console.say(&format!("  {class}{listed}: {}", found.brief));
        }
        if launches > orders.first.len() {
            let seconds = orders.search.as_secs();
            console.say(&format!(
                "note: the kernel swaps atomics or waits for what others write, so further seeds were tried, for at most \
                 {seconds} s (--search)"
            ));
        }
        if self.is_endless && left > 0 {
            let launches = counted(left as u64, "launch");
            console.say(&format!(
                "note: not run: {launches} in other orders, which may go on for as long"
            ));
        }
        if let Some(what) = self.differs {
            console.say(&format!(
                "note: the result depends on the order of threads: {what} differs from the first run"
            ));
        }
        let errors = self.findings.iter().filter(|it| !it.is_benign).count();
        match (errors, self.first) {
            (0, Some(after)) => Ok(after),
            (count, _) => Err(Failure::Found(counted(count as u64, "finding"))),
        }
    }
}
