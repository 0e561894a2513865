//! Costs of an instruction of the PTX on a multiprocessor: slots of the schedulers, cycles of a pipe, and how long its
//! result takes.
//!
//! `ptxas` makes other instructions of the PTX. What it does nearly always is a rule here; the rest is in the interval of
//! the prediction. Rates are those of "Throughput of Native Arithmetic Instructions" in the CUDA C++ Programming Guide, latencies
//! those that `ridgepoint ceilings` has measured.

use ::occupancy::Arithmetic;
use ptx::{Class, Half, Operation, Precision, Type};

use super::board::Board;
use super::demand::Resource;
use crate::model::TensorType;

/// Warps for which the schedulers of a multiprocessor issue an instruction in a cycle.
pub(super) const ISSUED: f64 = 4.0;
/// Lanes of a multiprocessor that exchange values in a cycle.
const EXCHANGED: f64 = 32.0;
/// Lanes of a warp.
const LANES: f64 = 32.0;

/// The cost of an instruction for a warp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// Instructions of the machine that are issued.
    pub(super) slots: f64,
    /// The pipe that they go through, and the cycles that it is busy.
    pub(super) pipe: Option<(Resource, f64)>,
    /// When the result is there.
    pub(super) latency: Latency,
}

/// The time until a dependent instruction can be issued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Latency {
    /// So many cycles.
    Cycles(f64),
    /// That of a load from global memory: its accesses say from which level.
    Load,
    /// That of a change of global memory whose old value is read.
    Atomic,
    /// When all warps of the block are there.
    Barrier,
}

impl Cost {
    const NOTHING: Cost = Cost {
        slots: 0.0,
        pipe: None,
        latency: Latency::Cycles(0.0),
    };

    /// The cost on a board of an instruction of a class, of that many operations of each thread.
    pub(super) fn of(operation: &Operation, board: &Board, operations: f64) -> Cost {
        let facts = operation.facts();
        let kind = Kinds {
            board,
            element: facts.element,
        };
        match facts.class {
            Class::Fma | Class::Add | Class::Multiply => kind.float(1.0),
            Class::Special => kind.special(operation),
            Class::Tensor => kind.tensor(operations),
            Class::Integer => kind.integer(operation),
            Class::Logic => kind.logic(operation),
            Class::Compare => match kind.is_float() {
                // The smaller of two floats is found where integers are compared.
                true if kind.element != Some(Type::F64) => kind.alu(1.0),
                true => kind.float(1.0),
                false => kind.alu(kind.words()),
            },
            Class::Convert => kind.convert(operation),
            // Renamed, or read from a register of the hardware as an operand.
            Class::Move => Cost::NOTHING,
            Class::Load | Class::Store | Class::Atomic | Class::Copy => kind.memory(operation),
            Class::Shuffle => kind.shuffle(operation),
            Class::Barrier => Cost {
                latency: Latency::Barrier,
                ..Cost::slots(1.0, 0.0)
            },
            Class::Control | Class::Call | Class::Fence | Class::Other => Cost::slots(1.0, 0.0),
        }
    }

    fn slots(slots: f64, cycles: f64) -> Cost {
        Cost {
            slots,
            pipe: None,
            latency: Latency::Cycles(cycles),
        }
    }
}

/// The board and the type, which decide the cost within a class.
struct Kinds<'b> {
    board: &'b Board,
    element: Option<Type>,
}

impl Kinds<'_> {
    fn is_float(&self) -> bool {
        self.element.is_some_and(Type::is_float)
    }

    /// Registers of the type, of 32 bits.
    fn words(&self) -> f64 {
        let bits = self.element.map_or(32, Type::bits);
        f64::from(bits.div_ceil(32).max(1))
    }

    fn pipe(&self, arithmetic: Arithmetic) -> f64 {
        let lanes = self.board.gpu.capability.lanes(arithmetic);
        f64::from(lanes.unwrap_or(LANES as u32))
    }

    /// Instructions of a pipe with so many lanes, one behind the other.
    fn through(resource: Resource, lanes: f64, slots: f64, cycles: f64) -> Cost {
        Cost {
            slots,
            pipe: Some((resource, slots * LANES / lanes)),
            latency: Latency::Cycles(slots * cycles),
        }
    }

    fn alu(&self, slots: f64) -> Cost {
        let lanes = self.pipe(Arithmetic::I32);
        Kinds::through(Resource::Integer, lanes, slots, self.board.facts.cycles.f32)
    }

    fn multiply(&self, slots: f64) -> Cost {
        let lanes = self.pipe(Arithmetic::I32);
        Kinds::through(
            Resource::Multiply,
            lanes,
            slots,
            self.board.facts.cycles.f32,
        )
    }

    fn float(&self, slots: f64) -> Cost {
        let cycles = &self.board.facts.cycles;
        match self.element {
            Some(Type::F64) => {
                Kinds::through(Resource::F64, self.pipe(Arithmetic::F64), slots, cycles.f64)
            }
            Some(Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) => {
                // Results are counted in pairs.
                let lanes = self.pipe(Arithmetic::F16x2) / 2.0;
                Kinds::through(Resource::F16, lanes, slots, cycles.f16)
            }
            _ => Kinds::through(Resource::F32, self.pipe(Arithmetic::F32), slots, cycles.f32),
        }
    }

    /// Approximations are one instruction; what is rounded correctly begins with one, and multiply-adds make it exact.
    fn special(&self, operation: &Operation) -> Cost {
        /// Multiply-adds of a quotient or a root that is rounded correctly.
        const EXACT: f64 = 8.0;
        let cycles = self.board.facts.cycles.special;
        let one = Kinds::through(
            Resource::Special,
            self.pipe(Arithmetic::Special),
            1.0,
            cycles,
        );
        let is_exact = match operation {
            Operation::FloatDiv(it) => matches!(it.precision, Precision::Rounded(_)),
            Operation::Rcp(it) | Operation::Sqrt(it) => {
                matches!(it.precision, Precision::Rounded(_))
            }
            _ => false,
        };
        let more = match is_exact {
            true => self.float(EXACT),
            false => return one,
        };
        let Latency::Cycles(after) = more.latency else {
            return one;
        };
        Cost {
            slots: one.slots + more.slots,
            latency: Latency::Cycles(cycles + after),
            ..one
        }
    }

    fn tensor(&self, operations: f64) -> Cost {
        let cycles = self.board.facts.cycles.shared;
        let element = self.element.and_then(|it| TensorType::of_ptx(it.name()));
        let rate = element.and_then(|it| self.board.tensor_operations(it));
        Cost {
            pipe: rate.map(|rate| (Resource::Tensor, LANES * operations / rate)),
            ..Cost::slots(1.0, cycles)
        }
    }

    fn integer(&self, operation: &Operation) -> Cost {
        /// Instructions of a product of 64 bits: three products of halves, and their sum.
        const PRODUCT: f64 = 4.0;
        /// Instructions of a quotient of 32 bits, by a reciprocal.
        const QUOTIENT: f64 = 16.0;
        let (half, ty) = match operation {
            Operation::IntegerMul(it) => (it.half, it.ty),
            Operation::IntegerMad(it) => (it.half, it.ty),
            Operation::IntegerDiv(_) | Operation::IntegerRem(_) => {
                return self.alu(QUOTIENT * self.words() * self.words());
            }
            _ => return self.alu(self.words()),
        };
        match ty.bits() > 32 {
            true if half == Half::Hi => self.multiply(2.0 * PRODUCT),
            true => self.multiply(PRODUCT),
            false => self.multiply(1.0),
        }
    }

    fn logic(&self, operation: &Operation) -> Cost {
        match (operation, self.element) {
            // A small shift of an index is a part of the addition behind it.
            (Operation::Shl(it), Some(Type::B64))
                if matches!(it.b, ptx::Operand::Immediate(..=4)) =>
            {
                Cost::NOTHING
            }
            _ => self.alu(self.words()),
        }
    }

    fn convert(&self, operation: &Operation) -> Cost {
        let Operation::Cvt(it) = operation else {
            // Of an address, whose bits stay.
            return Cost::NOTHING;
        };
        let cycles = self.board.facts.cycles.f16;
        match (it.to.is_float(), it.from.is_float()) {
            // The upper half of an index is 0, or is cut off.
            (false, false) if it.to.bits() >= 32 && !it.from.is_signed() => Cost::NOTHING,
            (false, false) => self.alu(1.0),
            (true, true) if it.to.bits() <= 32 && it.from.bits() <= 32 => self.alu(1.0),
            _ => {
                let lanes = self.pipe(Arithmetic::Special);
                Kinds::through(Resource::Special, lanes, 1.0, cycles)
            }
        }
    }

    fn memory(&self, operation: &Operation) -> Cost {
        use ptx::Space::{Param, ParamEntry, ParamFunction, Shared};
        let cycles = &self.board.facts.cycles;
        let shared = |it: f64| Cost::slots(1.0, it);
        match operation {
            // An operand from constant memory.
            Operation::Ld(it) if matches!(it.space, Param | ParamEntry | ParamFunction) => {
                Cost::NOTHING
            }
            Operation::Ld(it) if it.space == Shared => shared(cycles.shared),
            Operation::Ldmatrix(_) => shared(cycles.shared),
            Operation::Atom(it) if it.space == Shared => shared(cycles.shared_atomic),
            Operation::Ld(_) | Operation::Ldu(_) => Cost {
                latency: Latency::Load,
                ..Cost::slots(1.0, 0.0)
            },
            Operation::Atom(_) => Cost {
                latency: Latency::Atomic,
                ..Cost::slots(1.0, 0.0)
            },
            _ => Cost::slots(1.0, 1.0),
        }
    }

    fn shuffle(&self, operation: &Operation) -> Cost {
        let cycles = &self.board.facts.cycles;
        match operation {
            Operation::Shfl(_) => Kinds::through(Resource::Shuffle, EXCHANGED, 1.0, cycles.shuffle),
            _ => Cost {
                latency: Latency::Cycles(cycles.vote),
                ..self.alu(1.0)
            },
        }
    }
}
