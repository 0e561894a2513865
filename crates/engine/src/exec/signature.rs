//! The requirements of a handler on the operation that it executes.

use std::marker::PhantomData;

use super::op::{Context, Op};
use super::registers::Kind;

/// Executes an instruction for a warp.
///
/// # Safety
/// The operation is one of a [`Program`](super::program::Program) that the context has entered: the
/// [verification](super::verify) of the program has established what the handler's [`Signature`] asks.
pub(crate) type Run = unsafe fn(&mut Context<'_>, &Op);

/// A function that executes operations, and what it asks of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    pub(crate) run: Run,
    pub(crate) signature: Signature,
}

/// The kinds that the fields of an operation must have for a handler. Fields that it uses as numbers, or not at all,
/// may be anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The slots that it reads or writes.
    pub(crate) d: Option<Kind>,
    pub(crate) a: Option<Kind>,
    pub(crate) b: Option<Kind>,
    pub(crate) c: Option<Kind>,
    pub(crate) aux: Aux,
}

impl Signature {
    /// One whose fields are set by a function.
    pub(crate) fn of(set: impl FnOnce(&mut Signature)) -> Signature {
        let mut signature = Signature::default();
        set(&mut signature);
        signature
    }
}

/// In `aux` of a chained sum, below the carry's slot: the carry is added.
pub(crate) const CARRY_IN: u64 = 1;
/// The carry is kept.
pub(crate) const CARRY_OUT: u64 = 2;

/// The required meaning of `aux`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Aux {
    /// Anything.
    #[default]
    Number,
    /// A slot.
    Slot(Kind),
    /// The slot of a predicate, above so many bits of something else.
    Above(u32),
    /// The index of an access to memory, of these.
    Access(Mover),
    /// The index of an entry of a table.
    Index(Table),
    /// The place in the program's lists of the first of so many slots of words as `b` says.
    List,
}

/// The accesses that a handler executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mover {
    /// Any.
    Any,
    /// Weak loads, or first halves of copies, of so many elements of so many bytes into slots of lanes of as many
    /// bytes.
    Load { bytes: u32, count: usize },
    /// The same of stores, and of second halves.
    Store { bytes: u32, count: usize },
    /// First halves of copies.
    CopyFrom,
    /// Those of textures and surfaces.
    Image,
}

/// The tables of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Products,
    Wgmmas,
    Touches,
    TensorMemory,
    Mbarriers,
    Bulks,
    Videos,
}

impl From<Table> for Aux {
    fn from(table: Table) -> Aux {
        Aux::Index(table)
    }
}

/// A type that lies in the lanes of a slot.
pub(crate) trait Operand {
    const KIND: Option<Kind>;
}

/// The type of a slot that is a mask of lanes.
pub(crate) struct Predicate;

macro_rules! operands {
    ($($ty:ty: $kind:expr;)*) => {$(
        impl Operand for $ty {
            const KIND: Option<Kind> = $kind;
        }
    )*};
}

operands! {
    (): None;
    Predicate: Some(Kind::Predicate);
    u32: Some(Kind::Word);
    u64: Some(Kind::Double);
    u128: Some(Kind::Quad);
}

/// The proof that an operation was executed whose slots have these types, `d` first. A handler's signature is taken
/// from the type, without executing anything.
pub(crate) struct Executed<D, A = (), B = (), C = ()>(PhantomData<(D, A, B, C)>);

impl<D, A, B, C> Executed<D, A, B, C> {
    pub(crate) const YES: Self = Executed(PhantomData);
}

/// A type that has a signature.
pub(crate) trait Signed {
    const SIGNATURE: Signature;
}

impl<D: Operand, A: Operand, B: Operand, C: Operand> Signed for Executed<D, A, B, C> {
    const SIGNATURE: Signature = Signature {
        d: D::KIND,
        a: A::KIND,
        b: B::KIND,
        c: C::KIND,
        aux: Aux::Number,
    };
}

/// The signature of what a closure gives, which is not called.
pub(crate) fn signature_of<S: Signed>(_: impl Fn(&mut Context<'_>, &Op) -> S) -> Signature {
    S::SIGNATURE
}
