//! The changes of an instruction.

use std::fmt;

use ptx::{Class, Instruction, Operand, Operation, Space, Type};

use super::floats::Floats;
use super::site::Site;

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The kinds of changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Operator { $($(#[$doc])* $name,)* }

        impl Operator {
            /// All of them.
            pub const ALL: &[Operator] = &[$(Operator::$name),*];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Operator::$name => $text),* }
            }
        }
    };
}

operators! {
    /// Without a barrier, a fence or a wait.
    Synchronization = "synchronization",
    /// A weaker order, or a smaller scope.
    Order = "order",
    /// A branch that is never taken, or always; an instruction without its guard.
    Guard = "guard",
    /// `<` for `<=`, `==` for `!=`, and the like.
    Comparison = "comparison",
    /// The next element.
    Index = "index",
    /// Another lane.
    Shuffle = "shuffle",
    /// Another constant.
    Constant = "constant",
    /// A difference for a sum, the larger for the smaller.
    Arithmetic = "arithmetic",
}

impl fmt::Display for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Operator {
    /// Whether it changes how threads meet in memory or exchange values: those who call a library for it chose that.
    #[must_use]
    pub const fn is_of_memory(self) -> bool {
        use Operator::*;
        matches!(self, Synchronization | Order | Index | Shuffle)
    }

    /// Whether what it changes shows in some orders of threads alone.
    #[must_use]
    pub const fn is_of_order(self) -> bool {
        matches!(self, Operator::Synchronization | Operator::Order)
    }
}

/// A comparison and its neighbour.
const NEIGHBOURS: [(&str, &str); 8] = [
    ("lt", "le"),
    ("gt", "ge"),
    ("lo", "ls"),
    ("hi", "hs"),
    ("eq", "ne"),
    ("ltu", "leu"),
    ("gtu", "geu"),
    ("equ", "neu"),
];

/// The texts that may stand in place of the instruction's. `is_backward` is of a branch: without a condition it may never end.
pub(super) fn changes(
    site: &Site<'_>,
    is_backward: bool,
    floats: &Floats,
) -> Vec<(Operator, String)> {
    let mut changes = Vec::new();
    let mut add = |operator, texts: Vec<String>| {
        changes.extend(texts.into_iter().map(|text| (operator, text)));
    };
    add(Operator::Synchronization, without_synchronization(site));
    add(Operator::Order, weaker(site));
    add(Operator::Guard, without_guard(site, is_backward));
    add(Operator::Comparison, other_comparison(site));
    add(Operator::Index, next_element(site));
    add(Operator::Shuffle, next_lane(site));
    add(Operator::Constant, other_constants(site, floats));
    add(Operator::Arithmetic, other_arithmetic(site));
    changes
}

fn without_synchronization(site: &Site<'_>) -> Vec<String> {
    use Operation as O;
    match &site.instruction.operation {
        O::Barrier(it)
            if matches!(
                it.action,
                ptx::BarrierAction::Sync | ptx::BarrierAction::Arrive
            ) =>
        {
            vec![String::new()]
        }
        O::BarrierWarp(_)
        | O::BarrierCluster(_)
        | O::Fence(_)
        | O::CpAsyncWaitGroup(_)
        | O::CpAsyncWaitAll
        | O::CpAsyncCommitGroup
        | O::CpAsyncBulkWaitGroup(_)
        | O::CpAsyncBulkCommitGroup
        | O::WgmmaFence
        | O::WgmmaWaitGroup(_)
        | O::WgmmaCommitGroup
        | O::Tcgen05Wait(_)
        | O::Griddepcontrol(ptx::Griddepcontrol::Wait) => vec![String::new()],
        O::MbarrierWait(_) => {
            // The answer of a wait that does not wait.
            let opcode = site.opcode();
            let operands = site.text[opcode.end..].trim_start();
            let answer = operands.split([',', ' ']).next().unwrap_or_default();
            vec![site.under_guard(&format!("setp.eq.u32 {answer}, 0, 0;"))]
        }
        _ => Vec::new(),
    }
}

/// Whether a change narrows the scope of an access to the block's own shared memory: nobody else is in the wider one, as long as no block
/// maps another's.
pub(super) fn narrows_within_block(instruction: &Instruction, text: &str, after: &str) -> bool {
    use Operation as O;
    let space = match &instruction.operation {
        O::Ld(it) => it.space,
        O::St(it) => it.space,
        O::Atom(it) => it.space,
        O::Red(it) => it.space,
        _ => return false,
    };
    space == Space::Shared && after.contains(".cta") && !text.contains(".cta")
}

fn weaker(site: &Site<'_>) -> Vec<String> {
    use Operation as O;
    let orders: &[(&str, &str)] = match &site.instruction.operation {
        // Whose scope is the one there is.
        O::Ld(it) if it.order == ptx::Order::Mmio => return Vec::new(),
        O::St(it) if it.order == ptx::Order::Mmio => return Vec::new(),
        O::Ld(_) | O::St(_) => &[
            ("acquire", "relaxed"),
            ("release", "relaxed"),
            ("volatile", ""),
        ],
        O::Atom(_) | O::Red(_) => &[
            ("acq_rel", "relaxed"),
            ("acquire", "relaxed"),
            ("release", "relaxed"),
        ],
        O::Fence(ptx::Fence::Thread { .. }) => &[("sc", "acq_rel")],
        _ => return Vec::new(),
    };
    let scopes = [
        ("sys", "cta"),
        ("gpu", "cta"),
        ("gl", "cta"),
        ("cluster", "cta"),
    ];
    let weaker = orders.iter().chain(&scopes);
    let mut texts: Vec<String> = weaker
        .filter_map(|(from, to)| site.with_modifier(from, to))
        .collect();
    // A weak access has neither an order nor a scope.
    let is_relaxed = match &site.instruction.operation {
        O::Ld(it) => it.order == ptx::Order::Relaxed,
        O::St(it) => it.order == ptx::Order::Relaxed,
        _ => false,
    };
    if is_relaxed {
        let opcode = site.opcode();
        let is_kept = |part: &&str| !matches!(*part, "relaxed" | "sys" | "gpu" | "cta" | "cluster");
        let parts: Vec<&str> = site.text[opcode.clone()]
            .split('.')
            .filter(is_kept)
            .collect();
        texts.push(site.with(opcode, &parts.join(".")));
    }
    texts
}

fn without_guard(site: &Site<'_>, is_backward: bool) -> Vec<String> {
    if site.instruction.guard.is_none() {
        return Vec::new();
    }
    match &site.instruction.operation {
        Operation::Branch(_) if is_backward => vec![String::new()],
        Operation::Branch(_) => vec![String::new(), site.without_guard()],
        Operation::Trap => Vec::new(),
        _ => vec![site.without_guard()],
    }
}

fn other_comparison(site: &Site<'_>) -> Vec<String> {
    if !matches!(
        site.instruction.operation,
        Operation::Setp(_) | Operation::Set(_)
    ) {
        return Vec::new();
    }
    let both = NEIGHBOURS.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    both.filter_map(|(from, to)| site.with_modifier(from, to))
        .collect()
}

/// Accesses of the element behind, one for each address of the instruction.
fn next_element(site: &Site<'_>) -> Vec<String> {
    use Operation as O;
    let in_shared_or_global = |space: Space| {
        matches!(
            space,
            Space::Global | Space::Shared | Space::SharedCluster | Space::Generic
        )
    };
    let bytes = match &site.instruction.operation {
        O::Ld(it) if in_shared_or_global(it.space) => it.ty.bytes() * it.d.len() as u32,
        O::St(it) if in_shared_or_global(it.space) => it.ty.bytes() * it.a.len() as u32,
        O::Atom(it) => it.ty.bytes() * it.a.len() as u32,
        O::Red(it) => it.ty.bytes() * it.a.len() as u32,
        O::CpAsync(it) => it.size,
        _ => return Vec::new(),
    };
    let offsets = site.offsets().into_iter();
    let shifted = offsets.map(|(span, offset)| {
        let offset = offset + i64::from(bytes);
        let sign = if offset < 0 { "" } else { "+" };
        site.with(span, &format!("{sign}{offset}"))
    });
    shifted.collect()
}

/// Another lane or distance. Of a butterfly half the bit, or twice the lowest: with the next number the steps of a sum still
/// reach all lanes.
fn next_lane(site: &Site<'_>) -> Vec<String> {
    let Operation::Shfl(it) = &site.instruction.operation else {
        return Vec::new();
    };
    let Operand::Immediate(lane) = it.b else {
        return Vec::new();
    };
    let other = match (it.mode, lane) {
        (ptx::ShuffleMode::Butterfly, 0..=1) => 2,
        (ptx::ShuffleMode::Butterfly, lane) => lane / 2,
        (_, lane) => (lane + 1) & 31,
    };
    let mut immediates = site.immediates();
    let span = immediates.find(|(_, bits)| *bits == lane).map(|it| it.0);
    span.into_iter()
        .map(|span| site.with(span, &other.to_string()))
        .collect()
}

fn other_constants(site: &Site<'_>, floats: &Floats) -> Vec<String> {
    use Operation as O;
    let facts = site.instruction.operation.facts();
    let computes = match &site.instruction.operation {
        // Whose constants choose what is done, and those that have changes of their own.
        O::Setp(_) | O::Set(_) | O::Lop3(_) | O::Prmt(_) | O::Video(_) | O::Shfl(_) | O::Ld(_) => {
            false
        }
        O::Mov(it) => it.ty != Type::Pred,
        _ => facts.is_pure,
    };
    if !computes {
        return Vec::new();
    }
    let selects = matches!(site.instruction.operation, O::Selp(_));
    site.immediates()
        .map(|(span, bits)| {
            let one = floats.one(&site.instruction.operation);
            let other = || constant(&site.text[span.clone()], bits, selects);
            let other = one.map_or_else(other, str::to_owned);
            site.with(span, &other)
        })
        .collect()
}

/// Another constant: of a float twice the value, or 1 where that is the same or no number; of an integer the next one. What a
/// selection takes is often looked at for being 0 alone.
fn constant(text: &str, bits: u64, selects: bool) -> String {
    let is = |prefix: &str| {
        text.get(..2)
            .is_some_and(|it| it.eq_ignore_ascii_case(prefix))
    };
    let twice = |value: f64| match value {
        value if value == 0.0 || !value.is_finite() => 1.0,
        value => 2.0 * value,
    };
    if is("0f") {
        let value = f32::from_bits(bits as u32);
        return format!("0f{:08X}", (twice(value.into()) as f32).to_bits());
    }
    if is("0d") {
        let value = f64::from_bits(bits);
        return format!("0d{:016X}", twice(value).to_bits());
    }
    let written = text.parse::<i64>().ok();
    match written {
        Some(0) => "1".to_owned(),
        Some(_) if selects => "0".to_owned(),
        Some(value) => value.wrapping_add(1).to_string(),
        None if selects => "0".to_owned(),
        None => format!("{:#x}", bits.wrapping_add(1)),
    }
}

/// Changed where all operands are registers: a constant has a change of its own.
fn other_arithmetic(site: &Site<'_>) -> Vec<String> {
    use Operation as O;
    let opcode = site.opcode();
    let text = &site.text[opcode.clone()];
    let carries = text.split('.').any(|part| part == "cc");
    let (from, to) = match &site.instruction.operation {
        // Packed sums have no difference.
        O::IntegerAdd(it) if matches!(it.ty, Type::U16x2 | Type::S16x2) => return Vec::new(),
        _ if carries || site.immediates().next().is_some() => return Vec::new(),
        O::IntegerAdd(_) | O::FloatAdd(_) if text.starts_with("add.") => ("add", "sub"),
        O::IntegerSub(_) | O::FloatSub(_) if text.starts_with("sub.") => ("sub", "add"),
        O::IntegerMin(_) | O::FloatMin(_) => ("min", "max"),
        O::IntegerMax(_) | O::FloatMax(_) => ("max", "min"),
        _ => return Vec::new(),
    };
    debug_assert!(matches!(
        site.instruction.operation.facts().class,
        Class::Integer | Class::Add | Class::Compare
    ));
    site.with_modifier(from, to).into_iter().collect()
}
