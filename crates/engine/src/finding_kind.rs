//! The kinds of findings, a row each.

use std::fmt;

/// Why two accesses that race are not atomic for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RaceReason {
    /// At least one is neither atomic nor relaxed.
    Weak,
    /// Both are strong, and the scope of one leaves the other out.
    Scope,
    /// Both are strong, and of different sizes.
    Size,
    /// They are of two launches, of which one begins when the other lets it, and has not waited for its end.
    Dependent,
}

impl fmt::Display for RaceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RaceReason::Weak => "",
            RaceReason::Scope => "; the scope of one leaves the other out",
            RaceReason::Size => "; atomics of different sizes",
            RaceReason::Dependent => {
                "; a launch that may begin before another ends waits for it by `griddepcontrol.wait`"
            }
        })
    }
}

/// How much a finding weighs. Every kind has one, in its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Wrong by the letter of PTX's memory model, though no value depends on it: the launch goes on, unless it is strict.
    Benign,
    /// Wrong: the launch ends.
    Error,
}

impl Severity {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Benign => "benign",
            Severity::Error => "error",
        }
    }
}

/// A kind as a table shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The variant of [`FindingKind`].
    pub variant: &'static str,
    /// The name, with which most reports begin.
    pub name: &'static str,
    /// How much its findings weigh.
    pub severity: Severity,
    /// The description, in sentences.
    pub meaning: &'static [&'static str],
}

/// The severity that a row names; an error where it names none.
macro_rules! severity {
    () => {
        Severity::Error
    };
    ($severity:ident) => {
        Severity::$severity
    };
}

/// Makes [`FindingKind`] of rows: a doc comment, which is the kind's row in docs/testing-kernels.md, too; the variant with its data;
/// its name; how its reports end, with its data in braces; and its severity, where it is no error.
macro_rules! kinds {
    ($($(#[doc = $meaning:literal])+
        $variant:ident $({ $($(#[doc = $of:literal])+ $field:ident: $ty:ty,)+ })? = $name:literal, $hint:literal $(, $severity:ident)?;)+) => {
        /// The kind of a finding, with the data that this kind alone has.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[doc = $meaning])+ $variant $({ $($(#[doc = $of])+ $field: $ty,)+ })?,)+
        }

        impl FindingKind {
            /// All kinds, in the order of their declaration.
            pub const ROWS: &[Row] = &[$(Row {
                variant: stringify!($variant),
                name: $name,
                severity: severity!($($severity)?),
                meaning: &[$($meaning),+],
            }),+];

            /// The name, with which most reports of this kind begin.
            pub fn name(self) -> &'static str {
                match self {
                    $(FindingKind::$variant { .. } => $name,)+
                }
            }

            /// How much findings of this kind weigh.
            pub fn severity(self) -> Severity {
                match self {
                    $(FindingKind::$variant { .. } => severity!($($severity)?),)+
                }
            }

            /// How reports of this kind end: why it is wrong, where the accesses alone do not show it.
            #[expect(unused_variables, reason = "most kinds have data that their end does not name")]
            pub(crate) fn hint(self) -> String {
                match self {
                    $(FindingKind::$variant $({ $($field,)+ })? => format!($hint),)+
                }
            }
        }
    };
}

kinds! {
    /// Two threads access the same bytes, at least one of them writes, and nothing orders the accesses.
    Race {
        /// Why the two accesses are not atomic for each other.
        reason: RaceReason,
    } = "race", "{reason}";

    /// Plain stores of two threads write equal values to the same bytes, and nothing orders them: whichever comes last, the bytes
    /// are the same.
    EqualStores = "stores of equal values", "", Benign;

    /// A thread uses a value that has never been written.
    Uninitialised = "uninitialised", "";

    /// A thread uses what an asynchronous copy reads or writes, and has not waited for the copy.
    PendingCopy = "asynchronous copy without a wait", "";

    /// A block ends while a bulk copy may still read or write its shared memory.
    CopyAtExit = "asynchronous copy without a wait", ", and its block has ended";

    /// A thread uses memory that a product of matrices reads or writes, and has not waited for the product.
    PendingProduct = "product without a wait", "";

    /// A thread uses a register that a product of matrices reads or writes, and has not waited for the product.
    PendingRegister = "product without a wait", "";

    /// A thread reaches a register that a load of tensor memory writes, and has not waited for the load. Assemblers wait for the
    /// register themselves.
    EarlyRegister = "load of tensor memory without a wait", "", Benign;

    /// A product of matrices uses a register that its warp has written since the warp's last `wgmma.fence`. Assemblers put a fence there
    /// themselves, and may run the products one after another.
    UnfencedRegister = "no fence for a product", "; `wgmma.fence` between the two is missing", Benign;

    /// A copy or a product reaches, through the asynchronous proxy, what a thread has written, without a proxy fence
    /// between the two.
    NoProxyFence = "no proxy fence", "; `fence.proxy.async` between the two is missing";

    /// A copy counts its bytes at an mbarrier of its own block that was initialised without a fence for the asynchronous proxy since:
    /// GPUs keep mbarriers where both proxies see them.
    UnfencedMbarrier = "no proxy fence for an mbarrier",
        "; `fence.proxy.async` or `fence.mbarrier_init` between the two is missing", Benign;

    /// A thread invalidates an mbarrier after others have waited for it, and nothing orders their waits before that: each had its answer
    /// by then.
    WaitBeforeInval = "wait before `mbarrier.inval`", "", Benign;

    /// A thread invalidates an mbarrier after others have arrived at it, and nothing orders their arrivals before that: each had
    /// counted by then.
    ArrivalBeforeInval = "arrival before `mbarrier.inval`", "", Benign;

    /// Bytes are read by `ld.global.nc` and written in the same launch.
    ReadOnlyLoad = "read-only load of data that the kernel writes",
        "; `ld.global.nc` is for what no thread of the launch writes";

    /// A heap block that a launch leaves behind, and that no buffer, `static` or other heap block points to.
    Leak = "leak", "";

    /// The access does not lie within a buffer, a variable or an array.
    OutOfBounds = "out of bounds", "";

    /// The access lies in memory that was freed.
    UseAfterFree = "use after free", "";

    /// The address is null, or within the first 64 KiB.
    NullPointer = "null pointer", "";

    /// A write to constant memory, or to a variable that the kernel declares constant.
    ConstantWrite = "write to constant memory", "";

    /// A write by way of a parameter `&T` or `&[T]`.
    SharedReferenceWrite = "write through a shared reference", "";

    /// The access lies in the memory of another device, which this one was given no access to.
    NoPeerAccess {
        /// The emulated device whose memory it is.
        owner: u32,
        /// The emulated device that runs the kernel.
        device: u32,
    } = "no peer access", ", which is memory of cpu:{owner}; the kernel runs on cpu:{device}";

    /// The address lies in the shared memory of another block.
    OtherBlock = "shared memory of another block", "";

    /// The address lies in the local memory of another thread.
    OtherThread = "local memory of another thread", "";

    /// The access is atomic or orders others, and lies in local memory: only global and shared memory has such accesses.
    AtomicOnLocal = "atomic or ordered access to local memory", "";

    /// The address is not a multiple of the alignment that the access requires.
    Misaligned {
        /// The alignment, in bytes.
        alignment: u32,
    } = "misaligned", ", with an alignment of {alignment} bytes";

    /// The address belongs to another state space.
    OtherSpace = "address of another state space", "";

    /// `free` of an address at which no heap block begins.
    NotAllocated = "free of what was not allocated", "";

    /// `free` of a heap block that was freed before.
    DoubleFree = "double free", "";

    /// Threads that must stay together go separate ways: at a barrier of the block, or where lanes of a warp meet.
    Divergence = "divergence", "";

    /// Threads of a block wait for others that never come.
    Stuck = "stuck", "";

    /// A thread waits for the end of a phase of an mbarrier, which never comes.
    EndlessPhase {
        /// Arrivals that the phase still expects.
        arrivals: u32,
        /// Bytes that the phase still expects.
        bytes: i64,
    } = "no end of a phase", "";

    /// An instruction is used as PTX forbids.
    Misuse = "misuse", "";
}
