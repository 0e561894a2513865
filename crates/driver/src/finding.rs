//! Findings of the emulator: what threads do that they must not.
//!
//! [`DriverError::finding`](crate::DriverError::finding) has the finding of a launch, or of a copy, that was refused. Its text is
//! for people; [`Finding`] has the same for programs: the [`Kind`] with its data, the memory, and both sides.
//!
//! ```
//! use cuda_std::prelude::*;
//! use ridgepoint_driver::finding::{Agent, Kind, RaceReason, Verb};
//! use ridgepoint_driver::{Device, DriverError, Emulation, LaunchConfig, Stream};
//!
//! # const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
//! #     .visible .entry last(.param .u64 y)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n\
//! #     ld.param.u64 %rd1, [y];\nmov.u32 %r1, %tid.x;\ncvta.to.global.u64 %rd2, %rd1;\n\
//! #     st.global.u32 [%rd2], %r1;\nret;\n}\n";
//! /// Every thread writes the first element.
//! ///
//! /// # Safety
//! /// One thread, and `y` is not empty.
//! #[kernel]
//! pub unsafe fn last(y: *mut u32) {
//!     unsafe { *y = thread::thread_idx_x() };
//! }
//!
//! # fn main() -> Result<(), DriverError> {
//! let checked = Emulation { is_checked: true, ..Emulation::default() };
//! # /*
//! let device = Device::emulator_with(checked, PTX)?;
//! # */
//! # let device = Device::emulator_with(checked, &[(70, PTX, None)])?;
//! # // SAFETY: it is what the kernel does.
//! # let entry = unsafe { last::entry().of_any_ptx() };
//! # /*
//! let entry = last::entry();
//! # */
//! let mut y = device.buffer_zeroed(1)?;
//! let prepared = device.prepare(entry, LaunchConfig::blocks(1, 64))?;
//! let stream = Stream::new(&device)?;
//! // SAFETY: none: 64 threads write one element.
//! let error = unsafe { prepared.launch(&stream, &(y.slice_mut(..),)) }.expect_err("a race");
//!
//! let finding = error.finding().expect("the checks have found it");
//! match finding.kind {
//!     Kind::Race { reason: RaceReason::Weak } => {
//!         let before = finding.before.as_ref().expect("two accesses");
//!         assert_eq!((finding.now.verb, before.verb), (Verb::Write, Verb::Write));
//!         assert_eq!(before.agent, Agent::Thread { block: 0, thread: 0 });
//!         assert_eq!(finding.now.thread.expect("of this launch").thread, [1, 0, 0]);
//!     }
//!     Kind::Misaligned { alignment } => std::println!("a multiple of {alignment} bytes"),
//!     kind => panic!("{}", kind.name()),
//! }
//! let part = finding.place.as_ref().and_then(|place| place.below.as_ref()).expect("a buffer");
//! assert_eq!((&*part.label.name, part.element()), ("y", 0));
//! # Ok(())
//! # }
//! ```
//!
//! `docs/testing-kernels.md` has a table of all kinds, as [`Kind::ROWS`] has: each [`Row`] is a variant, its name in reports, and
//! what it means. [`Side`] has more of what each thread did: an [`Access`] with its [`Strength`], [`Order`] and [`Scope`], and the
//! [`LaunchId`] of its launch. A [`Place`] lies in a [`Part`] of memory, which has a [`MemoryKind`] and a [`Label`].
//!
//! ```
//! use ridgepoint_driver::finding::*;
//!
//! /// A few words on a finding.
//! fn brief(finding: &Finding) -> String {
//!     let strength = match finding.now.access {
//!         Some(Access::Read(strength) | Access::Write(strength)) => strength,
//!         Some(Access::Atomic(order, scope)) => Strength::Strong(order, scope),
//!         None => Strength::Weak,
//!     };
//!     let order = match strength {
//!         Strength::Strong(Order::Relaxed, Scope::Block) => "relaxed, in its block",
//!         Strength::Strong(..) => "strong",
//!         Strength::Weak => "plain",
//!     };
//!     let kinds = |part: &Part| match part.kind {
//!         MemoryKind::Shared | MemoryKind::DynamicShared => "shared memory",
//!         _ => "other memory",
//!     };
//!     let whose = |part: &Part| -> Label { part.label.clone() };
//!     let at = |place: &Place| place.nearest().map(|part| format!("{} {}", kinds(part), whose(part).name));
//!     let before: Option<&Side> = finding.before.as_ref();
//!     let launches: Vec<LaunchId> = before.into_iter().filter_map(|side| side.launch).collect();
//!     let who: Option<Thread> = finding.now.thread;
//!     format!("{order}: {:?}, {who:?}, {launches:?}", finding.place.as_ref().and_then(at))
//! }
//!
//! let names: Vec<&str> = Kind::ROWS.iter().map(|Row { name, .. }| *name).collect();
//! assert!(names.contains(&"race") && names.contains(&"leak"));
//! ```

pub use engine::check::{
    AccessKind as Access, Agent, LaunchId, Order, Scope, Side, Strength, Verb,
};
pub use engine::memory::{Kind as MemoryKind, Label, Part, Place};
pub use engine::{Finding, FindingKind as Kind, FindingRow as Row, RaceReason, Severity, Thread};

use engine::demangled;

use std::fmt;

/// A [benign](Severity::Benign) finding of a launch that went on, for [`Device::take_benign`](crate::Device::take_benign).
///
/// It displays as a report, with the kernel's name.
///
/// ```
/// use ridgepoint_driver::finding::{Benign, Kind};
/// use ridgepoint_driver::{Device, DeviceChoice, DriverError};
///
/// /// Reports of benign findings, but of stores of equal values.
/// fn others(device: &Device) -> Vec<String> {
///     let mut all: Vec<Benign> = device.take_benign();
///     all.retain(|it| it.finding.kind != Kind::EqualStores);
///     all.iter().map(Benign::to_string).collect()
/// }
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// assert!(others(&device).is_empty());
/// # Ok::<(), DriverError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Benign {
    /// The kernel.
    pub kernel: String,
    /// The finding.
    pub finding: Finding,
}

impl fmt::Display for Benign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", demangled(&self.kernel), self.finding)
    }
}
