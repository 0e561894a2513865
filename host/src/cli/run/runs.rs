//! The launches of a check, one in each order, and what was found.

use std::env;
use std::ops::ControlFlow;
use std::time::Instant;

use super::orders::{Order, Orders, listed};
use super::{Arguments, kernels, side_by_side, told};
use crate::cli::Failure;
use crate::cli::all_gpus::{Short, without};
use crate::cli::console::Console;
use crate::cli::launch_options::failure;
use crate::driver::finding::Benign;
use crate::driver::{Device, Emulation, apart, cores, free_host_memory};
use crate::report::counted;
use crate::standalone::{After, Standalone, StandaloneError, Unexpected};

/// Runs all orders, as many at a time as there are cores and memory for, whatever is found in one of them; but those after one that
/// a limit has ended are left out, even if they have begun, and further seeds are tried only as long as nothing is found.
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
    let threads = threads(standalone, device);
    let launch = |order| Launched::of(standalone, device, (order, arguments));
    let first = orders.first.iter().copied();
    console.begin(orders.first[0].name());
    side_by_side::each(first, threads, launch, |launched| {
        runs.note(launched)?;
        console.step();
        if let Some(next) = orders.first.get(runs.done.len()) {
            console.begin(next.name());
        }
        Ok(match runs.is_endless {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    let left = orders.first.len() - runs.done.len();
    if !orders.search.is_zero() && runs.failed == 0 {
        let until = Instant::now() + orders.search;
        console.begin("further seeds".to_owned());
        let further = orders.further().take_while(|_| Instant::now() < until);
        side_by_side::each(further, threads, launch, |launched| {
            runs.note(launched)?;
            Ok(match runs.failed {
                0 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            })
        })?;
    }
    console.finish();
    runs.end(standalone, left, orders)
}

/// Memory that a launch may need beside its buffers and their checks: what is known of the order of its threads.
const BESIDE: u64 = 256 << 20;

/// How many launches run at a time: one, if they print, or if they allocate, because the heap is the device's and not a launch's.
fn threads(standalone: &Standalone, device: &Device) -> usize {
    let text = standalone.text();
    if text.contains("vprintf") || text.contains("malloc") {
        return 1;
    }
    let bytes = device.bytes_with_checks(standalone.memory_bytes());
    let fit = free_host_memory() / bytes.saturating_add(BESIDE);
    cores().min(usize::try_from(fit).unwrap_or(usize::MAX))
}

/// The result of a launch.
struct Launched {
    order: Order,
    benign: Vec<Benign>,
    ran: Result<(Vec<After>, Vec<Unexpected>), StandaloneError>,
}

impl Launched {
    fn of(
        standalone: &Standalone,
        device: &Device,
        (order, arguments): (Order, &Arguments),
    ) -> Launched {
        let Arguments {
            limits, severity, ..
        } = arguments;
        let emulation = Emulation {
            schedule: order.schedule(),
            is_checked: true,
            ..Emulation::default()
        };
        let emulation = severity.judge(limits.limit(emulation));
        let device = device.with_emulation(emulation);
        let device = device.expect("a device that is emulated");
        let (ran, benign) = apart(|| {
            let loaded = match device.load(standalone.file()) {
                Ok(loaded) => loaded,
                Err(error) => return (Err(error.into()), Vec::new()),
            };
            let ran = standalone.run_loaded(&loaded).and_then(|after| {
                let unexpected = standalone.unexpected(&after)?;
                Ok((after, unexpected))
            });
            (ran, loaded.take_benign())
        });
        Launched { order, benign, ran }
    }
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
    fn note(&mut self, Launched { order, benign, ran }: Launched) -> Result<(), Failure> {
        for benign in benign {
            let found = (benign.finding.brief(), true);
            self.found(found, order, || {
                format!("benign: {benign} ({})", order.name())
            });
        }
        self.done.push(order);
        match ran {
            Ok((after, unexpected)) => {
                self.failed += u64::from(!unexpected.is_empty());
                for it in unexpected {
                    let brief = format!("{} is not as expected", it.place.title());
                    self.found_in_order(brief, order, &it.text);
                }
                self.compare(after, &order.name());
            }
            Err(StandaloneError::Driver(error)) if error.is_finding() => {
                self.failed += 1;
                self.is_endless = error.is_endless();
                let text = told(&error, &self.arguments.limits);
                let brief = error
                    .finding()
                    .map_or_else(|| text.clone(), |it| it.brief());
                self.found_in_order(brief, order, &text);
            }
            Err(error) => return Err(failure(error)),
        }
        Ok(())
    }

    /// Notes something wrong with a launch, with the command that repeats it.
    fn found_in_order(&mut self, brief: String, order: Order, text: &str) {
        self.found((brief, false), order, || {
            let words = without(env::args_os().skip(1), &REPLACED);
            let words = words.iter().map(|it| it.to_string_lossy().into_owned());
            let (name, replay) = (order.name(), order.replay(words));
            format!("{text} ({name})\n  replay: {replay}")
        });
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
            self.differs = Some(format!("{} under {when}", first.place.title()));
        }
    }

    fn end(
        self,
        standalone: &Standalone,
        left: usize,
        orders: &Orders,
    ) -> Result<Vec<After>, Failure> {
        let kernels = kernels(standalone);
        let what_runs = match standalone.launches().len() {
            1 => "launch",
            _ => "run",
        };
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
            [Order::InOrder] => format!("1 {what_runs}, in order"),
            [order] => format!("1 {what_runs}, under {}", order.name()),
            _ => format!(
                "{}, in order and under {}",
                counted(launches as u64, what_runs),
                counted(launches as u64 - 1, "seed")
            ),
        };
        console.say(&format!("Checked {kernels}: {schedules}; {what}."));
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
            let launches = counted(left as u64, what_runs);
            console.say(&format!(
                "note: left out: {launches} in other orders, which may go on for as long"
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
