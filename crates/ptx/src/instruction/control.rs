//! Branches, calls and what else concerns the thread itself.

use crate::instruction::{Named, Visit, Wanted, operations};
use crate::{Access, Address, Base, FunctionId, LabelId, Operand, Reg, Symbol, Type};

/// The callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// This function.
    Direct(FunctionId),
    /// That whose address is in a register.
    Indirect {
        /// The register.
        address: Operand,
        /// Its possible targets, where they are declared.
        targets: Option<IndirectTargets>,
    },
}

/// The declared targets of an indirect call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndirectTargets {
    /// The functions: an index into [`Body::call_targets`](crate::Body::call_targets).
    Targets(u32),
    /// The signature: an index into [`Body::prototypes`](crate::Body::prototypes).
    Prototype(u32),
}

impl Visit for Callee {
    fn visit(&self, _: Wanted, visitor: &mut dyn FnMut(Named)) {
        match self {
            Self::Direct(function) => {
                visitor(Named::Symbol(Symbol::Function(*function), Wanted::Any));
            }
            Self::Indirect { address, .. } => address.visit(Wanted::Pointer, visitor),
        }
    }
}

/// Where a call puts what is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returned {
    /// In a `.param` variable of the body (or in a returned value of the function).
    Variable(Symbol),
    /// In a register.
    Register(Reg),
    /// Nowhere (`_`).
    Nowhere,
}

impl Visit for Returned {
    fn visit(&self, _: Wanted, visitor: &mut dyn FnMut(Named)) {
        if let Self::Register(register) = self {
            visitor(Named::Register(Access::Define, *register, Wanted::Any));
        }
    }
}

operations! {
    /// To a label.
    pub struct Branch {
        /// `.uni`: all active lanes go the same way.
        pub uniform: bool,
        /// Where to.
        pub target: LabelId,
    }

    /// To a label of a list.
    pub struct BranchIndexed {
        /// `.uni`: all active lanes go the same way.
        pub uniform: bool,
        /// Which one, `u32`.
        pub index: Operand as Wanted::WORD,
        /// The list: an index into [`Body::branch_targets`](crate::Body::branch_targets).
        pub targets: u32,
    }

    /// A call.
    pub struct Call {
        /// `.uni`: all active lanes call the same.
        pub uniform: bool,
        /// The callee.
        pub callee: Callee,
        /// Where to put what is returned.
        pub returns: Vec<Returned>,
        /// `.param` variables (as [`Operand::Symbol`] of [`Symbol::Body`]), registers or immediates.
        pub arguments: Vec<Operand>,
    }

    /// A change of the warp's registers.
    pub struct Setmaxnreg {
        /// `.inc`; else `.dec`.
        pub increase: bool,
        /// How many a thread.
        pub count: u32,
    }

    /// Bytes of the stack.
    pub struct Alloca {
        /// `u32` or `u64`: of d and a.
        pub ty: Type,
        /// Their address, in local memory.
        pub d: Reg as Wanted::Exactly(*ty),
        /// How many.
        pub size: Operand as Wanted::Exactly(*ty),
        /// Alignment, where it is given.
        pub alignment: Option<u32>,
    }

    /// An instruction that is only taken apart. All its registers count as read and written.
    pub struct Other {
        /// The opcode's first part: `tcgen05`, `tex`.
        pub name: String,
        /// The others, in order, without dots: `ld`, `sync`, `aligned`.
        pub modifiers: Vec<String>,
        /// Its operands, in order.
        pub operands: Vec<Argument>,
    }
}

/// An operand of an instruction that is only taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A value.
    Value(Operand),
    /// A negated predicate.
    Negated(Operand),
    /// `{a, b}`.
    List(Vec<Argument>),
    /// `[a]`, `[a, b, {c}]`.
    Address(Address, Vec<Argument>),
    /// `a|b`.
    Pair(Operand, Operand),
    /// `_`.
    Nothing,
}

impl Visit for Argument {
    fn visit(&self, _: Wanted, visitor: &mut dyn FnMut(Named)) {
        match self {
            Self::Value(operand) | Self::Negated(operand) => either(*operand, visitor),
            Self::List(list) => list.visit(Wanted::Any, visitor),
            Self::Address(address, rest) => {
                if let Base::Register(register) = address.base {
                    visitor(Named::Register(Access::Use, register, Wanted::Any));
                }
                rest.visit(Wanted::Any, visitor);
            }
            Self::Pair(first, second) => {
                either(*first, visitor);
                either(*second, visitor);
            }
            Self::Nothing => {}
        }
    }
}

fn either(operand: Operand, visitor: &mut dyn FnMut(Named)) {
    if let Operand::Register(register) = operand {
        visitor(Named::Register(Access::Use, register, Wanted::Any));
        visitor(Named::Register(Access::Define, register, Wanted::Any));
    }
}
