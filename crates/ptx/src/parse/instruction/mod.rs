//! Instructions, one file per family: which modifiers each takes, then which operands.

mod asynchronous;
mod atomic;
mod compare;
mod control;
mod float;
mod integer;
mod matrix;
mod mbarrier;
mod memory;
mod movement;
mod other;
mod synchronisation;
mod video;

use super::opcode::Opcode;
use super::{Parser, Result};
use crate::Operation;

impl<'a> Parser<'a> {
    /// The instruction of this opcode: the next token is its first operand.
    pub(super) fn operation(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let families = [
            Self::arithmetic,
            Self::logic_and_movement,
            Self::memory_access,
            Self::control_flow,
            Self::together,
            Self::matrices,
        ];
        for family in families {
            if let Some(operation) = family(self, op)? {
                return Ok(operation);
            }
        }
        self.other(op)
    }

    /// Integers and floats.
    fn arithmetic(&mut self, op: &mut Opcode<'a>) -> Result<Option<Operation>> {
        if let Some(named) = video::named(op.name) {
            return self.video(op, named).map(Some);
        }
        let float = op.peek_type().is_some_and(crate::Type::is_float);
        match op.name {
            "add" | "sub" | "mul" | "mad" | "fma" | "div" | "min" | "max" | "abs" | "neg"
                if float =>
            {
                self.float(op)
            }
            "add" | "sub" | "addc" | "subc" => self.integer_sum(op),
            "mul" | "mad" | "madc" | "mul24" | "mad24" => self.integer_product(op),
            "sad" | "div" | "rem" | "min" | "max" | "abs" | "neg" => self.integer(op),
            "popc" | "clz" | "brev" | "bfind" | "fns" | "bfe" | "bfi" | "szext" | "bmsk"
            | "dp4a" | "dp2a" => self.bits(op),
            "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "testp"
            | "copysign" => self.float(op),
            _ => return Ok(None),
        }
        .map(Some)
    }

    fn logic_and_movement(&mut self, op: &mut Opcode<'a>) -> Result<Option<Operation>> {
        match op.name {
            "set" | "setp" | "selp" | "slct" => self.comparison(op),
            "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "shf" | "shl" | "shr" => {
                self.logic(op)
            }
            "mov" => self.mov(op),
            "shfl" => self.shfl(op),
            "prmt" => self.prmt(op),
            "cvt" if op.has("pack") => self.cvt_pack(op),
            "cvt" if op.peek_type().is_some_and(is_quadruple) => self.cvt_four(op),
            "cvt" => self.cvt(op),
            "isspacep" | "cvta" | "mapa" | "getctarank" => self.addresses(op),
            _ => return Ok(None),
        }
        .map(Some)
    }

    fn memory_access(&mut self, op: &mut Opcode<'a>) -> Result<Option<Operation>> {
        match op.name {
            "ld" => self.ld(op),
            "ldu" => self.ldu(op),
            "st" if op.has("async") => self.st_async(op),
            "st" if op.has("bulk") => self.st_bulk(op),
            "st" => self.st(op),
            "createpolicy" => self.create_policy(op),
            "red" if op.has("async") => self.red_async(op),
            "atom" => self.atom(op),
            "red" => self.red(op),
            "prefetch" | "prefetchu" | "applypriority" | "discard" => self.cache(op),
            "cp" => self.cp(op),
            _ => return Ok(None),
        }
        .map(Some)
    }

    fn control_flow(&mut self, op: &mut Opcode<'a>) -> Result<Option<Operation>> {
        match op.name {
            "bra" | "brx" | "ret" => self.branch(op),
            "call" => self.call(op),
            "exit" => Ok(Operation::Exit),
            "trap" => Ok(Operation::Trap),
            "brkpt" => Ok(Operation::Brkpt),
            "nanosleep" | "pmevent" | "setmaxnreg" => self.thread(op),
            "stacksave" | "stackrestore" | "alloca" => self.stack(op),
            _ => return Ok(None),
        }
        .map(Some)
    }

    fn together(&mut self, op: &mut Opcode<'a>) -> Result<Option<Operation>> {
        match op.name {
            "bar" | "barrier" => self.barrier(op),
            "membar" => self.membar(op),
            "fence" => self.fence(op),
            "vote" | "match" | "activemask" | "redux" | "elect" => self.warp(op),
            "griddepcontrol" => {
                let action = op.want(
                    "`.wait` or `.launch_dependents`",
                    crate::Griddepcontrol::from_name,
                )?;
                Ok(Operation::Griddepcontrol(action))
            }
            "mbarrier" => self.mbarrier(op),
            _ => return Ok(None),
        }
        .map(Some)
    }

    fn matrices(&mut self, op: &mut Opcode<'a>) -> Result<Option<Operation>> {
        match op.name {
            "mma" => self.mma(op),
            "wmma" => self.wmma(op),
            "ldmatrix" | "stmatrix" | "movmatrix" => self.matrix_move(op),
            "wgmma" => self.wgmma(op),
            _ => return Ok(None),
        }
        .map(Some)
    }
}

const fn is_quadruple(ty: crate::Type) -> bool {
    use crate::Type;
    matches!(
        ty,
        Type::E4m3x4 | Type::E5m2x4 | Type::E3m2x4 | Type::E2m3x4 | Type::E2m1x4
    )
}
