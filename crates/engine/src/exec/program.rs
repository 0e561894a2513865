//! A function as warps execute it.

use std::ops::{Deref, Range};
use std::sync::Arc;

use ptx::{MatchMode, ReduxOperator, ShuffleMode, SpecialRegister, VoteMode};

use super::access::Access;
use super::bulk::Bulk;
use super::fragment::Product;
use super::mbarrier::Mbarrier;
use super::op::Op;
use super::registers::Kind;
use super::signature::Signature;
use super::slot_map::SlotMap;
use super::steps::Steps;
use super::verify;
use super::wgmma::{Touch, Wgmma};
use crate::count::Function;
use crate::memory::FrameLayout;

/// A function as warps execute it: decoded, and [verified](super::verify).
#[derive(Debug)]
pub(crate) struct Program {
    decoded: Decoded,
    /// Which fields of each operation are slots.
    pub(crate) signatures: Vec<Signature>,
}

impl Program {
    /// The program of a draft.
    ///
    /// # Errors
    /// Something of it is not what its user wants.
    pub(crate) fn verified(draft: Draft) -> Result<Program, verify::Fault> {
        verify::check(&draft)?;
        let [signatures, _] = draft.signatures;
        let decoded = draft.decoded;
        Ok(Program {
            decoded,
            signatures,
        })
    }
}

impl Function for Program {
    #[inline(always)]
    fn index(&self) -> u32 {
        self.decoded.index
    }

    fn blocks(&self) -> usize {
        self.decoded.blocks.len()
    }

    fn accesses(&self) -> usize {
        self.decoded.accesses.len()
    }

    fn copies(&self) -> usize {
        self.decoded.bulks.len()
    }
}

impl Program {
    /// The instruction that comes next at a point, in a program for a debugger.
    pub(crate) fn instruction_at(&self, at: Point) -> u32 {
        let block = &self.decoded.blocks[at.block as usize];
        let steps = self.decoded.steps.as_ref();
        let steps = steps.map(|it| &it.of_blocks[at.block as usize]);
        let next = steps.and_then(|it| it.iter().find(|it| it.first >= block.start + at.op));
        next.map_or(block.instruction, |it| it.instruction)
    }
}

impl Deref for Program {
    type Target = Decoded;

    fn deref(&self) -> &Decoded {
        &self.decoded
    }
}

/// A decoded function that nobody has verified, and what the handlers of its operations ask, and of those that a
/// launch runs.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) decoded: Decoded,
    pub(crate) signatures: [Vec<Signature>; 2],
}

/// A decoded function. Its blocks are in reverse postorder, so that a lower number is further back.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) name: String,
    /// Which function of the module.
    pub(crate) index: u32,
    pub(crate) ops: Vec<Op>,
    pub(crate) blocks: Vec<Block>,
    /// Bytes of its registers.
    pub(crate) register_bytes: u32,
    /// The slots in them.
    pub(crate) slots: SlotMap,
    /// Constants and the slots that hold them in all lanes.
    pub(crate) constants: Vec<Constant>,
    /// Special registers that a launch fixes for each warp of a block, and the slots.
    pub(crate) launch_specials: Vec<(SpecialRegister, u32)>,
    /// Special registers that a block fixes.
    pub(crate) block_specials: Vec<(SpecialRegister, u32)>,
    /// Instructions of no side effect whose result is the same for all blocks, run once per warp and launch.
    pub(crate) launch_ops: Vec<Op>,
    /// Its accesses to memory; an operation has an index.
    pub(crate) accesses: Vec<Access>,
    /// Its products of matrices; an operation has an index.
    pub(crate) products: Vec<Product>,
    /// Its products of four warps; an operation has an index.
    pub(crate) wgmmas: Vec<Wgmma>,
    /// Its instructions that may reach registers in flight; an operation has an index.
    pub(crate) touches: Vec<Touch>,
    /// Instructions on tensor memory.
    pub(crate) tensor_memory: Vec<super::tensor_memory::Instruction>,
    /// Its instructions on mbarriers; an operation has an index.
    pub(crate) mbarriers: Vec<Mbarrier>,
    /// Its copies of many bytes; an operation has an index.
    pub(crate) bulks: Vec<Bulk>,
    /// Its video instructions; an operation has an index.
    pub(crate) videos: Vec<crate::arith::video::Instruction>,
    /// Slots of operands that are lists; an operation has the place of the first.
    pub(crate) lists: Vec<u32>,
    /// Where parameters lie.
    pub(crate) parameters: Vec<Parameter>,
    /// Where returned values lie.
    pub(crate) returns: Vec<Words>,
    /// Registers and words of returned values that may be read before they are written.
    pub(crate) unset: Vec<Unset>,
    /// The local memory that an activation takes.
    pub(crate) frame: Arc<FrameLayout>,
    /// How many steps a group goes through at most before it asks whether the launch's time is over.
    pub(crate) steps_per_look: u32,
    /// Where each instruction begins, for a debugger.
    pub(crate) steps: Option<Steps>,
}

/// How many operations a group executes at most before it asks whether the launch's time is over: few enough that the
/// slowest, which take microseconds, take less than a second, and so many that the question takes nothing.
const OPS_PER_LOOK: u32 = 1 << 16;

/// Returns how many steps a group goes through before it has executed [`OPS_PER_LOOK`] operations, at least one.
pub(crate) fn steps_per_look(blocks: &[Block]) -> u32 {
    let ops = |block: &Block| blocks[block.through as usize].end - block.start;
    let most = blocks.iter().map(ops).max().unwrap_or(0);
    (OPS_PER_LOOK / most.max(1)).max(1)
}

/// The same bits in all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Constant {
    pub(crate) slot: u32,
    pub(crate) kind: Kind,
    pub(crate) bits: u128,
}

/// A parameter: of a kernel at a place in the launch's, of a function in words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parameter {
    /// Bits of the kernel's parameters, in all lanes of a slot.
    Launch {
        /// First byte in the parameters of the launch.
        offset: u32,
        /// Bytes that are read; those above them are zero or the sign.
        bytes: u32,
        signed: bool,
        slot: u32,
        kind: Kind,
    },
    /// A function's.
    Call(Words),
}

/// Memory of a call's parameter: each 4 bytes a slot of words. Or a register of 64 bits, whose slot has both of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) slot: u32,
    pub(crate) count: u32,
    /// Whether it is one slot of 64 bits; then there are two words.
    pub(crate) is_double: bool,
}

impl Words {
    /// A register or a constant of 32 or 64 bits. None: of another kind.
    pub(crate) fn of_slot(slot: u32, kind: Kind) -> Option<Words> {
        let (count, is_double) = match kind {
            Kind::Word => (1, false),
            Kind::Double => (2, true),
            Kind::Predicate | Kind::Quad => return None,
        };
        Some(Words {
            slot,
            count,
            is_double,
        })
    }

    /// Its slots.
    pub(crate) fn slots(self) -> impl Iterator<Item = u32> {
        let count = if self.is_double { 1 } else { self.count };
        (0..count).map(move |word| self.slot + word * Kind::Word.bytes())
    }

    /// The slot of one of its words, and the bits of the slot above which it lies.
    pub(crate) fn place(self, word: u32) -> (u32, u32) {
        match self.is_double {
            true => (self.slot, 32 * word),
            false => (self.slot + word * Kind::Word.bytes(), 0),
        }
    }
}

/// A register, or a word of a returned value, that a function may read before it has written it.
#[derive(Debug)]
pub(crate) struct Unset {
    pub(crate) slot: u32,
    /// The bits that may be read.
    pub(crate) bits: u128,
    pub(crate) name: String,
}

/// Instructions that run one after another.
#[derive(Debug)]
pub(crate) struct Block {
    /// Its first operation and the one behind its last.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// For whom a group waits before the first.
    pub(crate) gate: Option<Gate>,
    /// The last of the blocks that a whole warp runs one after another from here: behind each but this one lies
    /// the next, whose gate is for all. Their operations follow each other, too.
    pub(crate) through: u32,
    /// The continuation behind that block.
    pub(crate) then: Then,
    /// The instruction that says so.
    pub(crate) instruction: u32,
    /// The function's instructions that a warp issues that runs it, hoisted ones and the last one too.
    pub(crate) issues: Range<u32>,
}

impl Block {
    /// Finds for each block through which ones a whole warp goes on.
    pub(crate) fn link(blocks: &mut [Block]) {
        for index in (0..blocks.len()).rev() {
            blocks[index].through = match blocks.get(index + 1) {
                Some(next) if blocks[index].leads_to(index as u32 + 1, next) => next.through,
                _ => index as u32,
            };
        }
    }

    /// Whether a whole warp that has run it runs the next one, whatever its registers hold.
    fn leads_to(&self, number: u32, next: &Block) -> bool {
        let is_open = next.gate.is_none_or(|gate| gate.is_for_all);
        is_open && self.end == next.start && matches!(self.then, Then::Jump(to) if to == number)
    }
}

/// Lanes wait for others of the warp before an instruction that works across lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    /// Lanes that take part, for each lane.
    pub(crate) members: u32,
    /// Whether those are all of the warp's and nothing else is to be done: a whole warp passes.
    pub(crate) is_for_all: bool,
    /// The slot of the values that they give each other, and its kind.
    pub(crate) source: Option<(u32, Kind)>,
    /// The same for instructions that meet, wherever they stand.
    pub(crate) meeting: Meeting,
    /// Of a shuffle the slots that say, with its mode, from which lane a lane reads: PTX's b and c.
    pub(crate) from: Option<(u32, u32)>,
}

/// Joint action of lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// `bar.warp.sync`, which orders memory.
    Sync,
    Shuffle(ShuffleMode),
    Vote(VoteMode),
    Match(MatchMode),
    Reduction(ReduxOperator),
    Election,
    /// An instruction on matrices, by its index: no other meets it.
    Matrix(u32),
    /// A wait for products of four warps, but for so many groups: for the other warps, too.
    Products(u32),
    /// A wait for the threads of the cluster, by its index: no other meets it.
    Cluster(u32),
    /// The same, of lanes that need not come together.
    ClusterByLane,
}

/// Where a group goes on.
#[derive(Debug)]
pub(crate) enum Then {
    Jump(u32),
    /// Lanes whose predicate is the wanted one go to the first block, others to the second.
    Branch {
        predicate: u32,
        wanted: bool,
        taken: u32,
        otherwise: u32,
    },
    /// By an index in a slot of words; beyond the last is undefined.
    Switch {
        index: u32,
        targets: Box<[u32]>,
    },
    Barrier {
        barrier: Barrier,
        next: u32,
    },
    Call {
        call: Box<Call>,
        next: u32,
    },
    /// Of the activation.
    Return,
    /// Of the thread.
    Exit,
    Trap,
}

/// `barrier.sync`, `barrier.arrive`, `barrier.red`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    /// A slot of words: which of the 16.
    pub(crate) id: u32,
    /// A slot of words: how many threads; none for all of the block.
    pub(crate) threads: Option<u32>,
    /// Whether all lanes of a warp must come to it together.
    pub(crate) aligned: bool,
    pub(crate) action: BarrierAction,
}

/// The action of a barrier besides counting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BarrierAction {
    /// Waits.
    Sync,
    /// Does not wait.
    Arrive,
    /// Waits, and gives a slot what was said of a predicate.
    Reduce {
        operation: BarrierReduction,
        destination: u32,
        predicate: u32,
        wanted: bool,
    },
}

/// The reduction of the threads' predicates by `barrier.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierReduction {
    /// How many are true, into a slot of words.
    Count,
    And,
    Or,
}

/// A call of a function.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<Words>,
    pub(crate) returns: Vec<Words>,
}

/// Who is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    /// A function of the module, by its index.
    Function(u32),
    /// The function whose address lies in a slot of 64 bits.
    Address(u32),
    /// A function that the driver defines.
    Builtin(Builtin),
    /// None, but an instruction that changes the stack.
    Stack(Stack),
}

/// Instructions that change the stack of the running function, or tell where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    /// `alloca`: of so many bytes, the address.
    Allocate {
        /// The address is a multiple of this.
        alignment: u32,
    },
    /// `stacksave`
    Save,
    /// `stackrestore`
    Restore,
}

/// Functions that the driver defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    /// `int vprintf(const char* format, const void* values)`
    Print,
    /// `void __assertfail(const char* message, const char* file, unsigned line, const char* function, size_t character_size)`
    AssertFail,
    /// `void* malloc(size_t bytes)`
    Allocate,
    /// `void free(void* memory)`
    Free,
}

/// An operation of a block: where a group of lanes has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) block: u32,
    /// Counted from the block's first.
    pub(crate) op: u32,
}

impl Point {
    /// Before the first operation of a block.
    pub(crate) fn start_of(block: u32) -> Point {
        Point { block, op: 0 }
    }
}
