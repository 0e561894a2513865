//! Output for the user while a sweep runs.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::streams;
use crate::driver::printable;
use crate::report::Width;

/// Where text for people goes. A reader that goes away is no error: the results are in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Standard output.
    Stdout,
    /// Standard error, where standard output carries the results.
    Stderr,
    /// Nowhere.
    Nothing,
}

/// How often the bar shows the time.
const TICK: Duration = Duration::from_millis(200);

pub(super) struct Console {
    target: Target,
    bar: ProgressBar,
}

impl Console {
    /// A console with a progress bar of `steps`, which is shown on a terminal only.
    pub(super) fn new(target: Target, steps: u64) -> Console {
        let bar = if target != Target::Nothing && io::stderr().is_terminal() {
            ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        let console = Console { target, bar };
        console.expect(steps);
        console
    }

    /// Says how many steps there are, 0 where that is not known: then there is nothing to estimate.
    pub(super) fn expect(&self, steps: u64) {
        let template = match steps {
            0 => "{spinner} {elapsed} {wide_msg}",
            _ => "{bar:30} {pos}/{len} {elapsed}, about {eta} left: {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        self.bar.set_length(steps);
    }

    /// How many of the steps are done, and how many there are as it looks now.
    pub(super) fn estimate(&self, done: u64, of: u64) {
        self.expect(of);
        self.bar.set_position(done);
    }

    /// The room for text.
    pub(super) fn width(&self) -> Width {
        match self.target {
            Target::Stdout => streams::width_of_output(),
            Target::Stderr => streams::width_of_errors(),
            Target::Nothing => Width::Any,
        }
    }

    /// Says what is being done.
    pub(super) fn begin(&self, what: String) {
        self.bar.set_message(printable(&what).into_owned());
        // A step may take seconds, during which the time goes on.
        self.bar.enable_steady_tick(TICK);
    }

    /// One step is done.
    pub(super) fn step(&self) {
        self.bar.inc(1);
    }

    pub(super) fn say(&self, text: &str) {
        self.bar.suspend(|| match self.target {
            Target::Stdout => streams::say(text),
            Target::Stderr => streams::complain(text),
            Target::Nothing => {}
        });
    }

    /// Warnings are shown even where nothing else is.
    pub(super) fn warn(&self, text: &str) {
        self.bar
            .suspend(|| streams::complain(&format!("warning: {text}")));
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Also where something fails: its message stands on a line of its own.
impl Drop for Console {
    fn drop(&mut self) {
        self.finish();
    }
}
