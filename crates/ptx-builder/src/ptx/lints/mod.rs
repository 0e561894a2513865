//! Lints of the PTX, and their consequences.

mod atomics;
mod barriers;
mod externals;
mod generic_access;
mod panics;
mod parameters;
mod refused;
mod remainder;
mod stack;
mod stand_in;
#[cfg(test)]
pub(crate) mod testing;
mod unread;

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use ::ptx::{Body, Function, Module};

use super::Options;
use super::calls::Calls;
use super::flow::Flow;
use super::kernels::Description;
use super::places::{Place, Sources};
use super::source::Source;
pub(crate) use refused::{by_assembler, by_parser};
pub(crate) use unread::{unknown, unread};

macro_rules! lints {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $level:ident, $check:path;)*) => {
        /// Something in the PTX that makes a kernel wrong or slow.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Lint {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nNamed `", $name, "`; [`Level::", stringify!($level), "`] by default.")]
                $variant,
            )*
        }

        impl Lint {
            /// Every lint.
            pub const ALL: &[Lint] = &[$(Lint::$variant),*];

            /// As messages name it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Lint::$variant => $name,)*
                }
            }

            /// Returns the level if [`crate::CudaBuilder::lint`] sets no other.
            pub fn default_level(self) -> Level {
                match self {
                    $(Lint::$variant => Level::$level,)*
                }
            }

            fn check(self, subject: &Subject<'_>) -> Vec<Report> {
                match self {
                    $(Lint::$variant => $check(subject),)*
                }
            }
        }
    };
}

lints! {
    /// An entry's parameters are not those that the kernel's author wrote, so that a launch would
    /// pass them wrongly.
    EntryParameters = "entry-parameters", Deny, parameters::check;
    /// A function or variable is used that nothing defines: the driver refuses the module.
    UnresolvedExternal = "unresolved-external", Deny, externals::check;
    /// A barrier or a warp-wide exchange was copied into two arms of a branch, where not all of its
    /// threads meet.
    DuplicatedBarrier = "duplicated-barrier", Deny, barriers::check;
    /// An access to shared or constant memory whose address may be of another space, so that it is
    /// made through the slower generic path.
    GenericSharedAccess = "generic-shared-access", Deny, generic_access::check;
    /// An instruction that Ridgepoint's parser does not know, so that no other lint looks at the module, and the
    /// emulator cannot execute it.
    UnknownPtx = "unknown-ptx", Deny, unread::check;
    /// PTX that `ptxas` refuses, and with it each driver: no kernel of the module can be loaded. Where `ptxas` is not
    /// found the parser alone looks for it.
    PtxasRefuses = "ptxas-refuses", Deny, refused::check;
    /// The address of a static that stands in for shared or constant memory, which has no bytes itself.
    StandInAddress = "stand-in-address", Deny, stand_in::check;
    /// An atomic of `core::sync::atomic` whose order the compiler has dropped, as it does before Rust 1.99.
    UnorderedAtomic = "unordered-atomic", Deny, atomics::check;
    /// A stack frame of the kernel's own: it lies in local memory, which is off the chip.
    LocalMemory = "local-memory", Warn, stack::check;
    /// A check in a loop that panics, such as that of an index.
    PanicInLoop = "panic-in-loop", Warn, panics::check;
    /// `%` of floats, which the compiler makes of the rounded quotient.
    InexactRemainder = "inexact-remainder", Warn, remainder::check;
    /// Code that keeps tensor cores waiting, as `ptxas` finds it: `wgmma` one after the other, `setmaxnreg` that is
    /// ignored, local memory beside either. Without `ptxas` nothing is found.
    TensorCoreLoss = "tensor-core-loss", Deny, in_machine_code;
}

/// Of a lint that PTX does not show: `crate::resources` looks for it once there is machine code.
fn in_machine_code(_: &Subject<'_>) -> Vec<Report> {
    Vec::new()
}

impl fmt::Display for Lint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Consequence of a [`Lint`] that finds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Nothing.
    Allow,
    /// Cargo shows it as a warning.
    Warn,
    /// The build fails.
    Deny,
}

/// A [`Finding`]'s weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The build fails.
    Error,
    /// The build goes on.
    Warning,
}

/// One place where a [`Lint`] was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// Whether the build fails.
    pub severity: Severity,
    /// The lint.
    pub lint: Lint,
    /// The kernel, or a function that no kernel calls.
    pub kernel: String,
    /// The line of the source, if the PTX tells.
    pub place: Option<Place>,
    /// The problem, and what to do about it.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "kernel {}", self.kernel)?;
        if let Some(place) = &self.place {
            write!(formatter, ", {place}")?;
        }
        write!(formatter, ": {}: {}", self.lint, self.message)
    }
}

/// The level of each lint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels(BTreeMap<Lint, Level>);

impl Levels {
    pub(crate) fn set(&mut self, lint: Lint, level: Level) {
        self.0.insert(lint, level);
    }

    pub(crate) fn severity(&self, lint: Lint) -> Option<Severity> {
        let level = self.0.get(&lint).copied();
        match level.unwrap_or(lint.default_level()) {
            Level::Allow => None,
            Level::Warn => Some(Severity::Warning),
            Level::Deny => Some(Severity::Error),
        }
    }
}

/// A finding of one lint: a [`Finding`] but for its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    kernel: String,
    place: Option<Place>,
    message: String,
}

/// Looks for everything that is not allowed. The same words about the same line are said once.
pub(crate) fn check(subject: &Subject<'_>, levels: &Levels) -> Vec<Finding> {
    let mut findings = Vec::new();
    for &lint in Lint::ALL {
        let Some(severity) = levels.severity(lint) else {
            continue;
        };
        for report in lint.check(subject) {
            if allows(subject.descriptions, &report.kernel, lint) {
                continue;
            }
            let finding = report.finding(lint, severity);
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// Whether the kernel's author has switched the lint off for it.
fn allows(descriptions: &[Description], kernel: &str, lint: Lint) -> bool {
    descriptions
        .iter()
        .filter(|one| one.name == kernel)
        .any(|one| one.allowed.iter().any(|name| name == lint.name()))
}

impl Report {
    fn finding(self, lint: Lint, severity: Severity) -> Finding {
        Finding {
            severity,
            lint,
            kernel: self.kernel,
            place: self.place,
            message: self.message,
        }
    }
}

/// A module with all that is known about it.
pub(crate) struct Subject<'a> {
    /// The text that was parsed.
    text: &'a str,
    module: &'a Module,
    /// Where accesses begin in the text that may be to shared or constant memory, or to another.
    left_generic: &'a HashSet<u32>,
    descriptions: &'a [Description],
    sources: &'a Sources,
    /// Major and minor version of the one that made the PTX.
    compiler: (u32, u32),
    calls: Calls,
}

/// A function of the module that has a body.
#[derive(Clone, Copy)]
struct Defined<'a> {
    index: usize,
    function: &'a Function,
    body: &'a Body,
    flow: &'a Flow,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(
        source: &'a Source<'_>,
        left_generic: &'a HashSet<u32>,
        descriptions: &'a [Description],
        options: &'a Options,
    ) -> Self {
        Subject {
            text: source.text,
            module: &source.module,
            left_generic,
            descriptions,
            sources: &options.sources,
            compiler: options.compiler,
            calls: Calls::new(&source.module),
        }
    }

    fn defined(&self) -> impl Iterator<Item = Defined<'_>> {
        let functions = self.module.functions.iter().enumerate();
        functions.filter_map(|(index, function)| {
            Some(Defined {
                index,
                function,
                body: function.body.as_ref()?,
                flow: self.calls.flow(index)?,
            })
        })
    }

    /// The functions that run when no kernel panics, without those that make text of values.
    fn ordinary(&self) -> impl Iterator<Item = Defined<'_>> {
        let ordinary = self.calls.ordinary(self.module, |function| {
            readable(&self.module.functions[function].name).contains("core::fmt::")
                || self.calls.leads_to(self.module, function, "vprintf")
        });
        self.defined()
            .filter(move |function| ordinary.contains(&function.index))
    }

    /// Reports something about an instruction.
    fn report(&self, within: Defined<'_>, instruction: usize, message: String) -> Report {
        let place = self.sources.place(self.module, within.body, instruction);
        let kernel = self.calls.kernel_of(self.module, within.index);
        let name = readable(&within.function.name);
        let message = match &kernel {
            Some(kernel) if *kernel != name => format!("in {name}: {message}"),
            _ => message,
        };
        let kernel = kernel.unwrap_or(name);
        let described = self.descriptions.iter().find(|one| one.name == kernel);
        Report {
            place: place.or_else(|| described.map(|one| one.place.clone())),
            kernel,
            message,
        }
    }
}

/// The name as it stands in the source.
pub(crate) fn readable(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}
