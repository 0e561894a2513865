//! Synchronization that orders nothing, whatever a launch is given: what dataflow can prove.

use ptx::{
    Barrier, BarrierAction, Body, Completion, Fence, Function, FunctionKind, Instruction, Operand,
    Operation, Space, SpecialRegister, TensorCopy,
};

use crate::lower::fences;

/// The instructions of a function, and which can follow which.
pub(super) struct Flow<'b> {
    body: &'b Body,
    is_kernel: bool,
    next: Vec<Vec<usize>>,
    /// [`OUTSIDE`] is before the first.
    previous: Vec<Vec<usize>>,
}

/// Before the first instruction of a function, or behind its last.
const OUTSIDE: usize = usize::MAX;

impl<'b> Flow<'b> {
    pub(super) fn of(function: &Function, body: &'b Body) -> Flow<'b> {
        let count = body.instructions.len();
        let mut next = Vec::with_capacity(count);
        let mut previous = vec![Vec::new(); count];
        if let Some(first) = previous.first_mut() {
            first.push(OUTSIDE);
        }
        for (at, instruction) in body.instructions.iter().enumerate() {
            let following = following(body, at, instruction);
            for &to in following.iter().filter(|&&to| to != OUTSIDE) {
                previous[to].push(at);
            }
            next.push(following);
        }
        Flow {
            body,
            is_kernel: function.kind == FunctionKind::Entry,
            next,
            previous,
        }
    }

    /// Why the instruction orders nothing, where that is so.
    pub(super) fn superfluous(&self, at: usize) -> Option<&'static str> {
        use Operation as O;
        let instruction = &self.body.instructions[at];
        if instruction.guard.is_some() {
            return None;
        }
        match &instruction.operation {
            O::Barrier(it) if is_whole(it) && it.action == BarrierAction::Sync => {
                self.orders_nothing(at, is_barrier)
            }
            O::BarrierWarp(it) if it.mask == Operand::Immediate(u64::from(u32::MAX)) => {
                self.orders_nothing(at, |it| is_barrier(it) || is_warp_barrier(it))
            }
            O::Fence(Fence::Thread { .. }) => self.orders_nothing(at, |_| false),
            O::Fence(Fence::Proxy(_)) => {
                let uses = |at: usize| begins_copy(&self.body.instructions[at]);
                self.is_clear(at, &self.next, uses, |_| false, AtEnd::Clear)
                    .then_some("nothing behind it uses the asynchronous proxy")
            }
            O::WgmmaFence => {
                let is_fence = |it: &Instruction| matches!(it.operation, O::WgmmaFence);
                let uses = |at: usize| multiplies(&self.body.instructions[at]);
                if self.is_clear(at, &self.next, uses, is_fence, AtEnd::Clear) {
                    return Some("no wgmma is behind it");
                }
                let multiplied = fences::multiplied(self.body);
                let are_alike = fences::are_alike(self.body);
                let accesses = |at: usize| {
                    let instruction = &self.body.instructions[at];
                    if are_alike && matches!(instruction.operation, O::WgmmaMma(_)) {
                        return false;
                    }
                    let mut is_one = calls(instruction);
                    instruction.visit(|_, register| is_one |= multiplied.contains(&register));
                    is_one
                };
                self.is_clear(at, &self.previous, accesses, is_fence, AtEnd::Concerns)
                    .then_some(
                        "no register of a wgmma is accessed between the one before it and it",
                    )
            }
            O::CpAsyncWaitAll => self.waits_for_nothing(at, copies, |it| waits(it, 0)),
            O::CpAsyncWaitGroup(groups) => {
                self.waits_for_nothing(at, copies, |it| waits(it, *groups))
            }
            O::WgmmaWaitGroup(groups) => {
                let is_wait = |it: &Instruction| matches!(&it.operation, O::WgmmaWaitGroup(other) if other <= groups);
                self.waits_for_nothing(at, multiplies, is_wait)
            }
            O::Tcgen05Wait(own) => {
                let begins = |it: &Instruction| match it.operation {
                    O::Tcgen05Load(_) => own.loads,
                    O::Tcgen05Store(_) => !own.loads,
                    _ => false,
                };
                let is_wait = |it: &Instruction| matches!(&it.operation, O::Tcgen05Wait(other) if other == own);
                self.waits_for_nothing(at, begins, is_wait)
            }
            O::CpAsyncBulkWaitGroup(own) => {
                let is_wait = |it: &Instruction| {
                    matches!(&it.operation, O::CpAsyncBulkWaitGroup(other)
                        if other.groups <= own.groups && (own.read || !other.read))
                };
                self.waits_for_nothing(at, copies_in_groups, is_wait)
            }
            _ => None,
        }
    }

    /// Whether accesses on both sides of a barrier or a fence are ordered without it, as far as it closes: on one side there are none,
    /// or on both sides there are reads alone.
    fn orders_nothing(
        &self,
        at: usize,
        closes: impl Fn(&Instruction) -> bool,
    ) -> Option<&'static str> {
        let accesses = |at: usize| accesses(&self.body.instructions[at]);
        let writes = |at: usize| self.writes(at);
        if self.is_clear(at, &self.next, accesses, &closes, AtEnd::Clear) {
            Some("no memory is accessed between it and the next one, or the end")
        } else if self.is_clear(at, &self.previous, accesses, &closes, AtEnd::Clear) {
            Some("no memory is accessed between the one before it, or the beginning, and it")
        } else if self.is_clear(at, &self.previous, writes, &closes, AtEnd::Clear)
            && self.is_clear(at, &self.next, writes, &closes, AtEnd::Clear)
        {
            Some("memory is only read between the one before it and the next one")
        } else {
            None
        }
    }

    /// Whether a wait has nothing to wait for, or the next one waits for the same before it shows.
    fn waits_for_nothing(
        &self,
        at: usize,
        begins: impl Fn(&Instruction) -> bool,
        closes: impl Fn(&Instruction) -> bool,
    ) -> Option<&'static str> {
        let begins = |at: usize| {
            let instruction = &self.body.instructions[at];
            begins(instruction) || calls(instruction)
        };
        let shows = |at: usize| {
            let instruction = &self.body.instructions[at];
            begins(at) || accesses(instruction) || is_barrier(instruction) || commits(instruction)
        };
        if self.is_clear(at, &self.previous, begins, &closes, AtEnd::Clear) {
            Some("nothing is begun between the wait before it, or the beginning, and it")
        } else if self.is_clear(at, &self.next, shows, &closes, AtEnd::Concerns) {
            Some("the next wait is for the same, before anything is accessed")
        } else {
            None
        }
    }

    /// Whether memory may change at an instruction, for this thread or for others: where it writes, and where a wait for copies
    /// ends.
    fn writes(&self, at: usize) -> bool {
        let instruction = &self.body.instructions[at];
        let is_load = instruction.operation.facts().class == ptx::Class::Load;
        let ends_copies = matches!(
            instruction.operation,
            Operation::CpAsyncWaitAll
                | Operation::CpAsyncWaitGroup(_)
                | Operation::CpAsyncBulkWaitGroup(_)
                | Operation::WgmmaWaitGroup(_)
                | Operation::Tcgen05Wait(_)
        );
        match ends_copies {
            true => self.superfluous(at).is_none(),
            false => accesses(instruction) && !is_load,
        }
    }

    /// Whether no way from an instruction meets one that `concerns` before one that `closes` it.
    fn is_clear(
        &self,
        at: usize,
        ways: &[Vec<usize>],
        concerns: impl Fn(usize) -> bool,
        closes: impl Fn(&Instruction) -> bool,
        end: AtEnd,
    ) -> bool {
        let mut is_seen = vec![false; self.body.instructions.len()];
        let mut open = ways[at].clone();
        while let Some(at) = open.pop() {
            if at == OUTSIDE {
                if !self.is_kernel || end == AtEnd::Concerns {
                    return false;
                }
                continue;
            }
            if std::mem::replace(&mut is_seen[at], true) {
                continue;
            }
            if concerns(at) {
                return false;
            }
            let instruction = &self.body.instructions[at];
            // One under a guard does not close the way of the other lanes.
            if instruction.guard.is_some() || !closes(instruction) {
                open.extend(&ways[at]);
            }
        }
        true
    }
}

/// The meaning of a way that leads to the beginning or the end of a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    /// Nothing is there.
    Clear,
    /// The instruction that was to be met is not there.
    Concerns,
}

fn following(body: &Body, at: usize, instruction: &Instruction) -> Vec<usize> {
    let count = body.instructions.len();
    let place = |label: &ptx::LabelId| body.labels[label.0 as usize].position as usize;
    let mut all: Vec<usize> = match &instruction.operation {
        Operation::Branch(it) => vec![place(&it.target)],
        Operation::BranchIndexed(it) => {
            let targets = &body.branch_targets[it.targets as usize];
            targets.labels.iter().map(place).collect()
        }
        Operation::Ret(_) => vec![OUTSIDE],
        _ => Vec::new(),
    };
    if instruction.falls_through() {
        all.push(at + 1);
    }
    for to in &mut all {
        if *to >= count {
            *to = OUTSIDE;
        }
    }
    all
}

/// Whether all threads of the block meet at it, and wait.
fn is_whole(it: &Barrier) -> bool {
    it.threads.is_none() && it.id == Operand::Immediate(0) && it.action != BarrierAction::Arrive
}

fn is_barrier(it: &Instruction) -> bool {
    matches!(&it.operation, Operation::Barrier(it) if is_whole(it))
}

fn is_warp_barrier(it: &Instruction) -> bool {
    matches!(&it.operation, Operation::BarrierWarp(it) if it.mask == Operand::Immediate(u64::from(u32::MAX)))
}

/// Whether it may access memory that other threads see, or looks at the clock, whose order a barrier keeps, too.
fn accesses(instruction: &Instruction) -> bool {
    use ptx::Class as C;
    let mut looks_at_clock = false;
    instruction.visit_specials(|special| {
        use SpecialRegister as S;
        looks_at_clock |= matches!(
            special,
            S::Clock
                | S::ClockHi
                | S::Clock64
                | S::Globaltimer
                | S::GlobaltimerLo
                | S::GlobaltimerHi
        );
    });
    let is_own = |space: Space| {
        matches!(
            space,
            Space::Param | Space::ParamEntry | Space::Const | Space::Local
        )
    };
    let is_access = match &instruction.operation {
        Operation::Ld(it) => !is_own(it.space),
        Operation::St(it) => !is_own(it.space),
        Operation::Mma(_) | Operation::WmmaMma(_) | Operation::BarrierWarp(_) => false,
        Operation::Barrier(it) => !is_whole(it),
        operation => matches!(
            operation.facts().class,
            C::Load | C::Store | C::Atomic | C::Copy | C::Call | C::Barrier | C::Tensor | C::Other
        ),
    };
    is_access || looks_at_clock
}

fn calls(instruction: &Instruction) -> bool {
    matches!(
        instruction.operation,
        Operation::Call(_) | Operation::Other(_)
    )
}

fn commits(instruction: &Instruction) -> bool {
    matches!(
        instruction.operation,
        Operation::CpAsyncCommitGroup
            | Operation::CpAsyncBulkCommitGroup
            | Operation::WgmmaCommitGroup
    )
}

/// Whether it may be the asynchronous proxy's.
fn begins_copy(instruction: &Instruction) -> bool {
    use ptx::Class as C;
    let class = instruction.operation.facts().class;
    matches!(class, C::Copy | C::Tensor | C::Call | C::Other)
}

fn multiplies(instruction: &Instruction) -> bool {
    matches!(instruction.operation, Operation::WgmmaMma(_)) || calls(instruction)
}

fn copies(instruction: &Instruction) -> bool {
    matches!(instruction.operation, Operation::CpAsync(_))
}

fn copies_in_groups(instruction: &Instruction) -> bool {
    match &instruction.operation {
        Operation::CpAsyncBulk(it) => it.completion == Completion::Group,
        Operation::CpReduceAsyncBulk(it) => it.completion == Completion::Group,
        Operation::CpAsyncBulkTensor(it) => {
            matches!(
                it.copy,
                TensorCopy::Store { .. } | TensorCopy::Reduce { .. }
            )
        }
        _ => false,
    }
}

/// Whether it waits until at most so many groups of copies are left.
fn waits(instruction: &Instruction, groups: u32) -> bool {
    match &instruction.operation {
        Operation::CpAsyncWaitAll => true,
        Operation::CpAsyncWaitGroup(other) => *other <= groups,
        _ => false,
    }
}
