//! Kernels with bugs of two devices, each with a host thread of its own.

use std::thread;

use cuda_std::launch::{Entry, Home, Signature, SliceMut};
use planted_kernels::peers::{self, ELEMENTS};
use ridgepoint_driver::{Device, DriverError, LaunchConfig, Stream};

use crate::{Needs, places};

/// The signature of a launch of either device: the memories of both, and its rank.
pub struct Pair;

impl Signature for Pair {
    type Arguments<'a> = (SliceMut<'a, u32>, SliceMut<'a, u32>, u32);
}

/// A kernel with a bug that takes two devices, and its correct twin.
pub struct PairBug {
    /// The kernel's name.
    pub name: &'static str,
    /// The kernel.
    pub kernel: fn() -> Entry<Pair>,
    /// Its twin.
    pub fixed: fn() -> Entry<Pair>,
    /// Whether both devices reach each other's memory.
    pub access: Access,
    /// The emulator's report of one of the launches.
    pub report: Report,
}

/// The emulator's report: `{WORD}` stands for a place, as in [`Bug::report`](crate::Bug::report).
pub enum Report {
    /// A race of two ranks, of which either may come first.
    Race {
        /// The element.
        on: &'static str,
        /// The access that rank 0 does and did, where, and the linear index of the thread that is told of where it did it first.
        first: Does,
        /// The same of rank 1.
        second: Does,
        /// Why.
        why: Why,
    },
    /// Of rank 0: `{0}` and `{1}` stand for the devices.
    Text(&'static str),
}

/// An access: what is done, what was done, where, and the last thread that did it.
pub type Does = (&'static str, &'static str, &'static str, u32);

/// Why two accesses race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing of the system's scope is between them.
    NoOrder,
    /// The scope of rank 0's is the device.
    ScopeOfFirst,
    /// The scope of either is the device.
    ScopeOfBoth,
}

/// Whether the devices were allowed to reach each other's memory before the launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Each device reaches the other's memory.
    Allowed,
    /// Neither does, and the launch is not told whose the memory is.
    NotAllowed,
}

/// The final contents of both ranks' memories, or how launches have failed.
pub type Ran = Result<[Vec<u32>; 2], Vec<DriverError>>;

/// A rank's memory, for the other's thread, too.
#[derive(Clone, Copy)]
struct Shared {
    address: usize,
    home: Option<&'static Home>,
}

impl PairBug {
    /// Launches a kernel on both devices at the same time.
    ///
    /// # Errors
    /// Memory or a kernel cannot be had. What became of the launches is in the result.
    pub fn run(&self, devices: [&Device; 2], entry: Entry<Pair>) -> Result<Ran, DriverError> {
        if self.access == Access::Allowed {
            devices[0].enable_peer_access(devices[1])?;
            devices[1].enable_peer_access(devices[0])?;
        }
        let zeros = || vec![0u32; ELEMENTS];
        let mut buffers = [
            devices[0].buffer_from(&zeros())?,
            devices[1].buffer_from(&zeros())?,
        ];
        let shared = buffers.each_mut().map(|it| {
            let all = it.slice_mut(..);
            let home = all.home().filter(|_| self.access == Access::Allowed);
            let address = all.as_ptr().expose_provenance();
            Shared { address, home }
        });
        let launched = thread::scope(|scope| {
            let ranks = [0, 1].map(|rank| {
                let device = devices[rank];
                scope.spawn(move || launch(device, entry, shared, rank as u32))
            });
            ranks.map(|it| it.join().expect("it returns"))
        });
        let errors: Vec<DriverError> = launched.into_iter().filter_map(Result::err).collect();
        match errors.is_empty() {
            true => Ok(Ok([buffers[0].to_vec()?, buffers[1].to_vec()?])),
            false => Ok(Err(errors)),
        }
    }

    /// All that the emulator may say, with files, lines and the devices of both ranks.
    pub fn expected(&self, devices: [&str; 2]) -> Vec<String> {
        let texts = match &self.report {
            Report::Text(text) => {
                let text = text.replace("{0}", devices[0]).replace("{1}", devices[1]);
                vec![text]
            }
            Report::Race {
                on,
                first,
                second,
                why,
            } => {
                let sides = [(devices[0], first), (devices[1], second)];
                let narrow = (*why == Why::ScopeOfFirst).then_some(devices[0]);
                vec![
                    race(on, sides, *why, narrow.unwrap_or(devices[0])),
                    race(on, [sides[1], sides[0]], *why, narrow.unwrap_or(devices[1])),
                ]
            }
        };
        let all = texts.iter();
        all.map(|text| places(self.name, text, Needs::Any))
            .collect()
    }
}

/// Returns the text of a race between what is done now and what was done before.
fn race(on: &str, [now, before]: [(&str, &Does); 2], why: Why, narrow: &str) -> String {
    let ((device, now), (other, before)) = (now, before);
    let wide = if narrow == device { other } else { device };
    let why = match why {
        Why::NoOrder => "what one device does comes before what another does by fences and atomics of the system's \
            scope alone"
            .to_owned(),
        _ => format!("the scope of the access on {narrow} is the device, and the other is on {wide}"),
    };
    format!(
        "race on {on}: block [0, 0, 0], thread [0, 0, 0] {} it at {}, and block 0, thread {} of another launch on \
        {other} {} it at {}; {why}",
        now.0, now.2, before.3, before.1, before.2
    )
}

fn launch(
    device: &Device,
    entry: Entry<Pair>,
    shared: [Shared; 2],
    rank: u32,
) -> Result<(), DriverError> {
    let prepared = device.prepare(entry, LaunchConfig::blocks(1, 32))?;
    let stream = Stream::new(device)?;
    let [first, second] = shared.map(|it| {
        let start = std::ptr::with_exposed_provenance_mut(it.address);
        // SAFETY: a buffer of so many elements, which outlives both launches, of that device.
        unsafe {
            let all = SliceMut::from_raw(start, ELEMENTS);
            it.home
                .map_or(SliceMut::from_raw(start, ELEMENTS), |home| all.of(home))
        }
    });
    // SAFETY: none for the kernel with the bug, which is why the program that launches it does nothing else.
    // The buffers outlive the wait.
    unsafe { prepared.launch(&stream, &(first, second, rank)) }?;
    stream.synchronize()
}

macro_rules! pairs {
    ($($name:ident / $fixed:ident: $access:ident, $report:expr;)*) => {
        /// All of them.
        pub const PAIR_BUGS: &[PairBug] = &[$(PairBug {
            name: stringify!($name),
            kernel: || peers::$name::entry().with_signature(),
            fixed: || peers::$fixed::entry().with_signature(),
            access: Access::$access,
            report: $report,
        }),*];
    };
}

const MESSAGE: &str = "element 32 of `second` (of 128)";
const WRITES: Does = ("writes", "wrote", "{writes}", 0);
const SENDS: Does = ("writes", "wrote", "{writes} (inlined at {sends})", 0);
const WRITES_TWICE: Does = ("writes", "wrote", "{writes} (inlined at {twice})", 0);
const READS_TWICE: Does = ("reads", "read", "{reads} (inlined at {twice})", 0);
const READS: Does = ("reads", "read", "{reads}", 0);
const RECEIVES: Does = ("reads", "read", "{reads} (inlined at {receives})", 0);
const COUNTS: Does = ("atomically accesses", "atomically accessed", "{both}", 31);

/// Rank 1 reads the message that rank 0 writes, or has read it.
const fn unordered(first: Does, second: Does) -> Report {
    Report::Race {
        on: MESSAGE,
        first,
        second,
        why: Why::NoOrder,
    }
}

pairs! {
    flag_before_data / flag_before_data_fixed: Allowed, unordered(WRITES, RECEIVES);
    fence_of_the_device / fence_of_the_device_fixed: Allowed, unordered(SENDS, RECEIVES);
    flag_without_fence / flag_without_fence_fixed: Allowed, unordered(SENDS, RECEIVES);
    atomic_of_the_device / atomic_of_the_device_fixed: Allowed, Report::Race {
        on: "element 3 of `first` (of 128)",
        first: COUNTS,
        second: COUNTS,
        why: Why::ScopeOfBoth,
    };
    store_of_the_device / store_of_the_device_fixed: Allowed, Report::Race {
        on: "element 1 of `second` (of 128)",
        first: WRITES,
        second: READS,
        why: Why::ScopeOfFirst,
    };
    buffer_reused / buffer_reused_fixed: Allowed, unordered(WRITES_TWICE, READS_TWICE);
    told_before_read / told_before_read_fixed: Allowed, unordered(WRITES_TWICE, READS_TWICE);
    no_peer_access / no_peer_access_fixed: NotAllowed, Report::Text(
        "no peer access: block [0, 0, 0], thread [0, 0, 0] reads element 32 of `second` (of 128) at {at}, which is memory \
        of {1}; the kernel runs on {0}"
    );
}
