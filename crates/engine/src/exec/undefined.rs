//! Operations of a warp in which something is undefined: each is executed, and what becomes undefined by it is told to the
//! checker, which keeps it ([`check::undefined`](crate::check::undefined)).
//!
//! Which bits of a result come from undefined bits is found by executing the operation with each undefined source at all zeros
//! and at all ones: no other description of an instruction is needed, for all that move, choose or combine bits. Sums and
//! comparisons grow or shrink with each source, so that its extremes tell the same of them.

mod accesses;
mod bits;

use std::slice;

use super::access::Act;
use super::checked::{self, site};
use super::gates::{read, write};
use super::op::{self, Context, Op};
use super::program::{Call, Callee, Program, Then, Unset, Words};
use super::registers::{Kind, LANES, lanes_of};
use super::signature::{Aux, CARRY_IN, CARRY_OUT, Signature, Table};
use super::spread::Spread;
use super::wgmma::Left;
use crate::arith::tensor;
use crate::check::Accessors;
use crate::check::undefined::{OriginId, RegisterId, Use, Value};

use bits::{across, any, carried, extreme, joined, ones, packed, parts, whole};

pub(super) use accesses::{
    after_atomic, before_atomic, loaded, loaded_part, place, stored, swapped, tensor_loaded, there,
    unchanged,
};

/// A slot and its kind.
type Slot = (u32, Kind);

/// The slots that an operation reads and writes.
#[derive(Debug, Default)]
struct Operands {
    sources: Vec<Slot>,
    results: Vec<Slot>,
}

/// Executes operations of the running program step by step.
///
/// # Safety
/// As for their handlers.
#[cold]
pub(super) unsafe fn run(context: &mut Context<'_>, ops: &[Op]) {
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let program = unsafe { &*context.at.program };
    for (op, signature) in ops.iter().zip(signatures(program, ops)) {
        // SAFETY: the contract of this function.
        unsafe { step(context, op, signature, program) };
    }
    let checking = context.at.checking.as_ref();
    let is_left = checking.is_some_and(|it| !it.undefined.is_empty());
    context.at.tracks = is_left;
}

/// How many of the first operations neither read nor write what may be undefined.
#[cold]
pub(super) fn unconcerned(context: &Context<'_>, ops: &[Op]) -> usize {
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let program = unsafe { &*context.at.program };
    let reach = Reach::of(context);
    let with_signatures = ops.iter().zip(signatures(program, ops));
    with_signatures
        .take_while(|(op, signature)| reach.leaves_out(op, signature))
        .count()
}

/// The signatures of some operations of a program.
fn signatures<'p>(program: &'p Program, ops: &[Op]) -> &'p [Signature] {
    let first = ops
        .as_ptr()
        .addr()
        .wrapping_sub(program.ops.as_ptr().addr());
    let first = first / size_of::<Op>();
    program.signatures.get(first..).unwrap_or_default()
}

/// The slots of the running activation that may be undefined, a bit each: several slots share one. A register that is undefined and not
/// used again, as of what lanes have not loaded, costs the operations that leave it out no more than this.
#[derive(Clone, Copy)]
struct Reach(u64);

impl Reach {
    fn of(context: &Context<'_>) -> Reach {
        let Some(checking) = &context.at.checking else {
            return Reach(0);
        };
        let slots = checking.undefined.slots(context.registers.addr() as u64);
        Reach(slots.fold(0, |all, slot| all | Reach::bit(slot)))
    }

    fn bit(slot: u32) -> u64 {
        1 << (slot.wrapping_mul(0x9e37_79b1) >> 26)
    }

    /// Whether an operation neither reads nor writes any of them, and loads nothing.
    fn leaves_out(self, op: &Op, signature: &Signature) -> bool {
        let own = |slot: u32, kind: Option<Kind>| kind.map_or(0, |_| Reach::bit(slot));
        let aux = match signature.aux {
            Aux::Number => 0,
            Aux::Slot(_) => Reach::bit(op.aux as u32),
            Aux::Above(bits) => Reach::bit((op.aux >> bits) as u32),
            Aux::Access(_) | Aux::Index(_) | Aux::List => return false,
        };
        let all = own(op.d, signature.d)
            | own(op.a, signature.a)
            | own(op.b, signature.b)
            | own(op.c, signature.c)
            | aux;
        !op.accesses_memory && op.spread != Spread::Access && self.0 & all == 0
    }
}

/// Executes one operation.
///
/// # Safety
/// As for its handler; the signature is the operation's, of the running program.
pub(super) unsafe fn step(
    context: &mut Context<'_>,
    op: &Op,
    signature: &Signature,
    program: &Program,
) {
    let operands = Operands::of(op, signature, program);
    let undefined: Vec<(usize, Value)> = (operands.sources.iter().enumerate())
        .filter_map(|(index, &(slot, _))| Some((index, of(context, slot, context.mask)?)))
        .collect();
    if op.spread == Spread::Access {
        // SAFETY: the contract of this function.
        unsafe { step_access(context, op, program) };
        return;
    }
    let result = match undefined.is_empty() {
        true => None,
        // SAFETY: the contract of this function.
        false => unsafe { result(context, op, &operands, &undefined) },
    };
    // SAFETY: the contract of this function.
    unsafe { op::run_masked(context, slice::from_ref(op)) };
    for (index, &(slot, kind)) in operands.results.iter().enumerate() {
        match &result {
            None => define(context, slot, context.mask),
            Some(value) if index == 0 => set(context, slot, context.mask, value),
            Some(value) => set(context, slot, context.mask, &whole(value, kind)),
        }
    }
}

/// Returns the undefined bits of an operation's first result, before it is executed.
///
/// # Safety
/// As for [`step`].
unsafe fn result(
    context: &mut Context<'_>,
    op: &Op,
    operands: &Operands,
    undefined: &[(usize, Value)],
) -> Option<Value> {
    let &(_, kind) = operands.results.first()?;
    let is_logic = (operands.sources.iter().chain(&operands.results))
        .all(|&(_, kind)| kind == Kind::Predicate);
    let spread = match op.spread {
        Spread::Across => Spread::Across,
        _ if is_logic => Spread::Bits(3),
        other => other,
    };
    let all = any(undefined);
    // SAFETY: the contract of this function.
    unsafe {
        match spread {
            Spread::Bits(carriers) if undefined.iter().all(|it| it.0 < carriers.into()) => {
                probed(context, op, operands, (undefined, None))
            }
            Spread::Sum => {
                let reached = probed(context, op, operands, (undefined, None));
                Some(joined(&all, reached.as_ref()))
            }
            Spread::Order(bits) if kind == Kind::Predicate => {
                let sign = 1 << (bits - 1);
                probed(context, op, operands, (undefined, Some(sign)))
            }
            Spread::Shuffle => {
                report(context, undefined, 1.., op.instruction, Use::Lane);
                shuffled(context, op, operands, undefined)
            }
            Spread::Carries => Some(carried(&all, kind)),
            Spread::Packs(bits) => Some(packed(undefined, bits.into())),
            Spread::Parts(widths) => Some(parts(&all, widths)),
            Spread::Equality => compared(context, operands, undefined),
            Spread::Across => across(&all, kind, context.mask),
            Spread::Divides => {
                report(context, undefined, 1..2, op.instruction, Use::Divisor);
                Some(whole(&all, kind))
            }
            Spread::Bits(_) | Spread::Order(_) | Spread::Whole | Spread::Access => {
                Some(whole(&all, kind))
            }
        }
    }
}

impl Operands {
    fn of(op: &Op, signature: &Signature, program: &Program) -> Operands {
        let mut all = Operands::default();
        let fields = [
            (op.a, signature.a),
            (op.b, signature.b),
            (op.c, signature.c),
        ];
        let slots = fields
            .into_iter()
            .filter_map(|(slot, kind)| Some((slot, kind?)));
        all.sources.extend(slots);
        all.results.extend(signature.d.map(|kind| (op.d, kind)));
        match signature.aux {
            Aux::Slot(Kind::Predicate) => all.results.push((op.aux as u32, Kind::Predicate)),
            Aux::Slot(kind) => all.sources.push((op.aux as u32, kind)),
            Aux::Above(bits) => {
                let carry = ((op.aux >> bits) as u32, Kind::Predicate);
                let does = |flag: u64| (op.aux & flag != 0).then_some(carry);
                all.sources.extend(does(CARRY_IN));
                all.results.extend(does(CARRY_OUT));
            }
            Aux::List => {
                let list = &program.lists[op.aux as usize..][..op.b as usize];
                let slots = list.iter().map(|&slot| (slot, Kind::Word));
                match signature.a {
                    Some(_) => all.results.extend(slots),
                    None => all.sources.extend(slots),
                }
            }
            Aux::Index(Table::Products) => all.product(op, program),
            Aux::Index(Table::Wgmmas) => all.wgmma(op, program),
            Aux::Index(_) | Aux::Number | Aux::Access(_) => {}
        }
        all
    }

    fn product(&mut self, op: &Op, program: &Program) {
        let product = &program.products[op.aux as usize];
        for factor in [&product.a, &product.b] {
            let kind = kind_of(factor.of);
            self.sources
                .extend(factor.slots.iter().map(|&it| (it, kind)));
        }
        let kind = kind_of_sum(product.c.of);
        self.sources
            .extend(product.c.slots.iter().map(|&it| (it, kind)));
        let kind = kind_of_sum(product.d.of);
        self.results
            .extend(product.d.slots.iter().map(|&it| (it, kind)));
    }

    /// The sum that is added to is left aside: whether it is, is known when the product is executed.
    fn wgmma(&mut self, op: &Op, program: &Program) {
        let product = &program.wgmmas[op.aux as usize];
        if let Left::Registers(factor) = &product.a {
            let kind = kind_of(factor.of);
            self.sources
                .extend(factor.slots.iter().map(|&it| (it, kind)));
        }
        let kind = kind_of_sum(product.d.of);
        self.results
            .extend(product.d.slots.iter().map(|&it| (it, kind)));
    }
}

fn kind_of(element: tensor::Element) -> Kind {
    super::fragment::kind_of(element)
}

fn kind_of_sum(sum: tensor::Sum) -> Kind {
    super::fragment::kind_of_sum(sum)
}

/// Executes an access. What it loads and stores, [`loaded`] and [`stored`] are told by the checks.
///
/// # Safety
/// As for [`step`].
unsafe fn step_access(context: &mut Context<'_>, op: &Op, program: &Program) {
    let access = &program.accesses[op.aux as usize];
    let address = of(context, op.a, context.mask);
    let to = match access.act {
        Act::CopyFrom { to, .. } => of(context, to, context.mask),
        _ => None,
    };
    let image = access.image.iter();
    let places: Vec<_> = image
        .flat_map(|it| it.coordinates.iter().chain(&it.layer))
        .collect();
    let places = places
        .into_iter()
        .filter_map(|&slot| of(context, slot, context.mask));
    let addresses = address.into_iter().chain(to).chain(places);
    let addresses: Vec<_> = addresses.map(|it| (0, it)).collect();
    report(context, &addresses, .., op.instruction, Use::Address);
    if matches!(access.act, Act::Load { .. }) {
        let slots = access.data.iter().filter_map(|it| it.slot);
        slots.for_each(|slot| define(context, slot, context.mask));
    }
    // SAFETY: the contract of this function.
    unsafe { op::run_masked(context, slice::from_ref(op)) };
}

/// Reports undefined values by which lanes decide how a block of instructions ends.
pub(super) fn at_end(context: &mut Context<'_>, then: &Then, mask: u32, instruction: u32) {
    let mut decides = |slot, by| {
        let value = of(context, slot, mask);
        let value: Vec<_> = value.into_iter().map(|it| (0, it)).collect();
        context.mask = mask;
        report(context, &value, .., instruction, by);
    };
    match then {
        Then::Branch { predicate, .. } => decides(*predicate, Use::Condition),
        Then::Switch { index, .. } => decides(*index, Use::Condition),
        Then::Barrier { barrier, .. } => {
            decides(barrier.id, Use::Operand);
            barrier
                .threads
                .into_iter()
                .for_each(|it| decides(it, Use::Operand));
        }
        Then::Call { call, .. } => match call.callee {
            Callee::Address(slot) => decides(slot, Use::Function),
            Callee::Builtin(_) | Callee::Stack(_) => {
                let words = call.arguments.iter().flat_map(|it| it.slots());
                words.for_each(|it| decides(it, Use::Operand));
            }
            Callee::Function(_) => {}
        },
        Then::Jump(_) | Then::Return | Then::Exit | Then::Trap => {}
    }
}

/// The driver's function has returned defined values.
pub(super) fn returned(context: &mut Context<'_>, call: &Call, mask: u32) {
    let words = call.returns.iter().flat_map(|it| it.slots());
    words.for_each(|slot| define(context, slot, mask));
}

/// Copies what is undefined of a parameter from one activation's registers to another's.
pub(super) fn passed(
    context: &mut Context<'_>,
    (from, given): (*mut u8, Words),
    (to, taken): (*mut u8, Words),
    mask: u32,
) {
    if !context.at.tracks {
        return;
    }
    let Some(checking) = &mut context.at.checking else {
        return;
    };
    let registers = &mut checking.undefined;
    for word in 0..given.count.min(taken.count) {
        let ((from_slot, right), (to_slot, left)) = (given.place(word), taken.place(word));
        let (from, to) = (id(from, from_slot), id(to, to_slot));
        // Of a slot of two words the other one stays as it is.
        let kept = registers.of(to, mask).unwrap_or_default();
        let mut value = registers.of(from, mask).unwrap_or_default();
        for lane in 0..LANES {
            let (half, bits) = (ones(32) << left, kept.bits[lane]);
            value.bits[lane] = (value.bits[lane] >> right & ones(32)) << left;
            if taken.is_double && bits & !half != 0 {
                value.bits[lane] |= bits & !half;
                value.origins[lane] = kept.origins[lane];
            }
        }
        registers.set(to, mask, &value);
    }
}

/// The registers of an activation of some lanes begin anew: nothing is written yet of those that the program may read before it
/// writes them.
pub(super) fn begun(context: &mut Context<'_>, program: &Program, registers: *mut u8, lanes: u32) {
    let Some(checking) = &mut context.at.checking else {
        return;
    };
    let block = checking.block();
    let all = &mut checking.undefined;
    if context.at.tracks {
        all.forget(registers.addr() as u64);
    }
    for Unset { slot, bits, name } in &program.unset {
        let of = (program.index, *slot);
        let origin = checking.checker.unset(block, of, name);
        let value = Value {
            bits: [*bits; LANES],
            origins: [origin; LANES],
        };
        all.set(id(registers, *slot), lanes, &value);
    }
    context.at.tracks = !all.is_empty();
}

/// An activation has ended: what was undefined in it is of no matter.
pub(super) fn ended(context: &mut Context<'_>, registers: *mut u8) {
    if let Some(checking) = &mut context.at.checking
        && context.at.tracks
    {
        checking.undefined.forget(registers.addr() as u64);
        context.at.tracks = !checking.undefined.is_empty();
    }
}

/// The undefined value of a slot of the running activation, where something of some lanes is.
pub(super) fn of(context: &Context<'_>, slot: u32, mask: u32) -> Option<Value> {
    let checking = context.at.checking.as_ref()?;
    checking.undefined.of(id(context.registers, slot), mask)
}

/// Lanes of a slot have an undefined value.
pub(super) fn set(context: &mut Context<'_>, slot: u32, mask: u32, value: &Value) {
    let id = id(context.registers, slot);
    if let Some(checking) = &mut context.at.checking {
        checking.undefined.set(id, mask, value);
    }
}

/// Lanes of a slot have got a value that is defined, by no operation whose results are known.
#[inline]
pub(super) fn written(context: &mut Context<'_>, slot: u32, mask: u32) {
    if context.at.tracks {
        define(context, slot, mask);
    }
}

/// Lanes of a slot have a defined value.
pub(super) fn define(context: &mut Context<'_>, slot: u32, mask: u32) {
    let id = id(context.registers, slot);
    if let Some(checking) = &mut context.at.checking {
        checking.undefined.define(id, mask);
    }
}

fn id(registers: *mut u8, slot: u32) -> RegisterId {
    RegisterId {
        registers: registers.addr() as u64,
        slot,
    }
}

/// Reports the first undefined lane of some sources, by their numbers.
fn report(
    context: &mut Context<'_>,
    undefined: &[(usize, Value)],
    sources: impl std::ops::RangeBounds<usize>,
    instruction: u32,
    by: Use,
) {
    let mut meant = undefined.iter().filter(|it| sources.contains(&it.0));
    let Some((_, value)) = meant.next() else {
        return;
    };
    let lanes = value.lanes() & context.mask;
    let warp = context.at.warp;
    let at = site(context.at.function_index(), instruction);
    let Some(checking) = context.at.checking.as_mut().filter(|_| lanes != 0) else {
        return;
    };
    let lane = lanes.trailing_zeros();
    let who = Accessors {
        block: checking.block(),
        warp,
        mask: 1 << lane,
    };
    let found = checking
        .checker
        .used(who, value.origins[lane as usize], at, by);
    checked::found(context, instruction, found);
}

/// Executes an operation with each of its undefined sources at all zeros and all ones: the bits that differ are undefined. With
/// a bit that may be a sign, at the least and the greatest signed number, too.
///
/// # Safety
/// As for [`step`].
unsafe fn probed(
    context: &mut Context<'_>,
    op: &Op,
    operands: &Operands,
    (undefined, sign): (&[(usize, Value)], Option<u128>),
) -> Option<Value> {
    let &(result, kind) = operands.results.first()?;
    let extremes = if sign.is_some() { 4usize } else { 2 };
    let mut sources: Vec<(Slot, &Value, [u128; LANES])> = Vec::new();
    // SAFETY: the slots are those of a verified program, of their kinds.
    unsafe {
        for (index, value) in undefined {
            let slot = operands.sources[*index];
            if sources.iter().all(|it| it.0 != slot) {
                sources.push((slot, value, read(context, slot.0, slot.1)));
            }
        }
        let before = read(context, result, kind);
        let mut first = None;
        let mut bits = [0; LANES];
        for choice in 0..extremes.pow(sources.len() as u32) {
            let mut left = choice;
            for ((slot, kind), value, now) in &sources {
                let given = std::array::from_fn(|lane| {
                    let unknown = value.bits[lane];
                    now[lane] & !unknown | extreme(unknown, left % extremes, sign)
                });
                left /= extremes;
                write(context, *slot, *kind, &given);
            }
            (op.run)(context, op);
            let got = read(context, result, kind);
            let first = first.get_or_insert(got);
            for lane in lanes_of(context.mask) {
                bits[lane] |= got[lane] ^ first[lane];
            }
        }
        write(context, result, kind, &before);
        for ((slot, kind), _, now) in &sources {
            write(context, *slot, *kind, now);
        }
        let origins = any(undefined).origins;
        Some(Value { bits, origins }).filter(|it| it.lanes() != 0)
    }
}

/// Shuffles the undefined bits and their origins as the operation shuffles values.
///
/// # Safety
/// As for [`step`].
unsafe fn shuffled(
    context: &mut Context<'_>,
    op: &Op,
    operands: &Operands,
    undefined: &[(usize, Value)],
) -> Option<Value> {
    let value = &undefined.iter().find(|it| it.0 == 0)?.1;
    let (from, to) = (operands.sources[0].0, operands.results[0].0);
    let p = operands.results.get(1).map_or(0, |it| it.0);
    // SAFETY: the slots are those of a verified program, of their kinds.
    unsafe {
        let kept = [from, to].map(|slot| *context.slot::<u32>(slot));
        let answers = context.predicate(p);
        let mut through = |lanes: [u32; LANES]| {
            *context.slot_mut(from) = lanes;
            (op.run)(context, op);
            let got = *context.slot::<u32>(to);
            *context.slot_mut(to) = kept[1];
            *context.slot_mut(from) = kept[0];
            got
        };
        let bits = through(value.bits.map(|it| it as u32)).map(u128::from);
        let origins = through(value.origins.map(OriginId::number)).map(OriginId::of);
        context.set_predicate(p, answers);
        Some(Value { bits, origins }).filter(|it| it.lanes() & context.mask != 0)
    }
}

/// Whether lanes' values are equal: decided by defined bits that differ, and by two copies of one undefined value.
///
/// # Safety
/// As for [`step`].
unsafe fn compared(
    context: &Context<'_>,
    operands: &Operands,
    undefined: &[(usize, Value)],
) -> Option<Value> {
    let [a, b] = [0, 1].map(|index| {
        let value = undefined.iter().find(|it| it.0 == index);
        value.map(|it| it.1).unwrap_or_default()
    });
    let [&(slot_a, kind_a), &(slot_b, kind_b)] =
        [operands.sources.first()?, operands.sources.get(1)?];
    // SAFETY: the slots are those of a verified program, of their kinds.
    let (now_a, now_b) = unsafe { (read(context, slot_a, kind_a), read(context, slot_b, kind_b)) };
    let mut value = any(undefined);
    for lane in 0..LANES {
        let unknown = a.bits[lane] | b.bits[lane];
        let differ = now_a[lane] ^ now_b[lane];
        let are_one = a.bits[lane] == b.bits[lane]
            && a.origins[lane] == b.origins[lane]
            && differ & unknown == 0;
        let is_decided = differ & !unknown != 0 || are_one;
        value.bits[lane] = u128::from(unknown != 0 && !is_decided);
    }
    Some(value).filter(|it| it.lanes() & context.mask != 0)
}
