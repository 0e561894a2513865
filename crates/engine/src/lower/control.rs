//! Branches, calls, barriers; parameters, addresses and special registers.

use ptx::{
    Call, IndirectTargets, Operand, Operation, ParameterStorage, Reg, Returned, Space,
    SpecialRegister, Symbol,
};

use super::flow::End;
use super::handler::handler;
use super::locals::ALIGNMENT;
use super::{Lowered, Lowering};
use crate::exec::cluster;
use crate::exec::op::unary;
use crate::exec::parameter_bounds::parameter_bounds;
use crate::exec::program::{
    Barrier, BarrierAction, BarrierReduction, Builtin, Callee, Parameter, Stack, Then, Words,
};
use crate::exec::registers::{Kind, LANES};
use crate::limits::MAX_LOCAL_BYTES;
use crate::memory::windows;

/// Returns the kind of a special register.
pub(crate) fn kind_of_special(special: SpecialRegister) -> Kind {
    use SpecialRegister::{Clock64, CurrentGraphExec, Globaltimer, Gridid, Pm64};
    match special {
        Clock64 | CurrentGraphExec | Globaltimer | Gridid | Pm64(_) => Kind::Double,
        SpecialRegister::IsExplicitCluster => Kind::Predicate,
        _ => Kind::Word,
    }
}

/// Whether a special register is the same for a thread in all blocks.
pub(crate) fn is_fixed_by_launch(special: SpecialRegister) -> bool {
    use SpecialRegister::{
        AggrSmemSize, DynamicSmemSize, Envreg, Laneid, LanemaskEq, LanemaskGe, LanemaskGt,
        LanemaskLe, LanemaskLt, Nctaid, Nsmid, Ntid, Nwarpid, Tid, TotalSmemSize, Warpid,
    };
    matches!(
        special,
        Tid(_)
            | Ntid(_)
            | Nctaid(_)
            | Laneid
            | Warpid
            | Nwarpid
            | Nsmid
            | LanemaskEq
            | LanemaskLe
            | LanemaskLt
            | LanemaskGe
            | LanemaskGt
            | TotalSmemSize
            | AggrSmemSize
            | DynamicSmemSize
            | Envreg(1 | 2)
    )
}

impl Lowering<'_> {
    /// Gives the parameters and returned values of a function their words.
    ///
    /// # Errors
    /// One of them lies in a register of another kind than calls pass.
    pub(super) fn signature(&mut self) -> Lowered<()> {
        let function = self.function;
        if function.kind == ptx::FunctionKind::Entry {
            return Ok(());
        }
        for parameter in &function.parameters {
            let words = self.words_of_parameter(parameter)?;
            self.parameters.push(Parameter::Call(words));
        }
        for parameter in &function.returns {
            let words = self.words_of_parameter(parameter)?;
            self.returns.push(words);
        }
        Ok(())
    }

    fn words_of_parameter(&mut self, parameter: &ptx::Parameter) -> Lowered<Words> {
        match parameter.storage {
            ParameterStorage::Memory | ParameterStorage::Register(None) => {
                Ok(self.words(parameter.bytes))
            }
            ParameterStorage::Register(Some(_)) if parameter.elements.is_some() => {
                Err(format!("`{}`, a vector in registers", parameter.name))
            }
            ParameterStorage::Register(Some(register)) => self.words_of_register(register),
        }
    }

    /// The words of a register that calls pass.
    fn words_of_register(&mut self, register: Reg) -> Lowered<Words> {
        let (slot, kind) = self.slots.of(register);
        let bits = self.register_bits(register);
        let words = Words::of_slot(slot, kind).filter(|_| bits >= 32);
        words.ok_or_else(|| format!("a register of {bits} bits that is passed"))
    }

    /// Words for so many bytes, which are few: `declarations::check` has seen to that.
    fn words(&mut self, bytes: u64) -> Words {
        let count = bytes.div_ceil(4) as u32;
        let slot = self.slots.add_row(Kind::Word, count);
        Words {
            slot,
            count,
            is_double: false,
        }
    }

    /// The words of a variable that holds parameters, if it is one.
    pub(super) fn words_of(&mut self, symbol: Symbol) -> Lowered<Words> {
        match symbol {
            Symbol::Parameter(index) => match self.parameters.get(index as usize) {
                Some(Parameter::Call(words)) => Ok(*words),
                _ => Err("no parameter of a function".to_owned()),
            },
            Symbol::Return(index) => Ok(self.returns[index as usize]),
            Symbol::Body(index) => {
                if let Some(words) = self.variables.get(&index) {
                    return Ok(*words);
                }
                let body = self.function.body.as_ref().expect("it has one");
                let bytes = body.variables[index as usize].bytes;
                let words = self.words(bytes);
                self.variables.insert(index, words);
                Ok(words)
            }
            Symbol::Module(_) | Symbol::Function(_) => {
                Err("a parameter outside of a function".to_owned())
            }
        }
    }

    /// The slot of a special register, and its kind.
    pub(super) fn special(&mut self, special: SpecialRegister) -> Lowered<(u32, Kind)> {
        use SpecialRegister::{
            Clock, Clock64, ClockHi, Ctaid, Globaltimer, GlobaltimerHi, GlobaltimerLo, Smid,
        };
        let kind = kind_of_special(special);
        match special {
            special if is_fixed_by_launch(special) => Ok((self.fixed_special(special), kind)),
            Ctaid(_) | Smid => Ok((self.fixed_special(special), kind)),
            special if cluster::is_special(special) => Ok((self.fixed_special(special), kind)),
            SpecialRegister::Gridid => Ok((self.constant(kind, 1), kind)),
            // What the emulator has nothing of: counters, what a driver of other languages gives, shared memory of
            // the system's own, a graph that knows of its launches.
            SpecialRegister::Pm(_)
            | SpecialRegister::Pm64(_)
            | SpecialRegister::Envreg(_)
            | SpecialRegister::ReservedSmemOffsetBegin
            | SpecialRegister::ReservedSmemOffsetEnd
            | SpecialRegister::ReservedSmemOffsetCap
            | SpecialRegister::ReservedSmemOffset(_)
            | SpecialRegister::CurrentGraphExec => Ok((self.constant(kind, 0), kind)),
            Clock | Clock64 | ClockHi | Globaltimer | GlobaltimerLo | GlobaltimerHi => {
                self.time(special)
            }
            other => Err(format!("the special register {other:?}")),
        }
    }

    /// Nanoseconds stand for cycles. As a multiprocessor's, the clock has begun long before the launch.
    fn time(&mut self, special: SpecialRegister) -> Lowered<(u32, Kind)> {
        let whole = self.scratch(Kind::Double);
        let run = match special {
            SpecialRegister::Clock | SpecialRegister::Clock64 | SpecialRegister::ClockHi => {
                handler!([d: Kind::Double], |c, op| {
                    const BEGAN: u64 = (1 << 44) + (1 << 30);
                    let now = BEGAN + c.at.launch.started.elapsed().as_nanos() as u64;
                    c.at.has_read_time = true;
                    c.set_running(op.d, &[now; LANES]);
                })
            }
            _ => handler!([d: Kind::Double], |c, op| {
                let now = std::time::SystemTime::UNIX_EPOCH.elapsed();
                let now = now.map_or(0, |it| it.as_nanos() as u64);
                c.at.has_read_time = true;
                c.set_running(op.d, &[now; LANES]);
            }),
        };
        self.emit_masked(run, whole, [0; 3], 0);
        let slot = match special {
            SpecialRegister::Clock | SpecialRegister::GlobaltimerLo => {
                self.resized(whole, Kind::Double, Kind::Word)?
            }
            SpecialRegister::ClockHi | SpecialRegister::GlobaltimerHi => {
                let high = self.scratch(Kind::Word);
                let run = handler!(|c, op| unary(c, op, |a: u64| (a >> 32) as u32));
                self.emit_to(run, high, Kind::Word, &[whole]);
                high
            }
            _ => whole,
        };
        Ok((slot, kind_of_special(special)))
    }

    /// The slot with the address of a symbol, in its own space.
    pub(super) fn address_of(&mut self, symbol: Symbol, offset: i64) -> Lowered<u32> {
        let address = match symbol {
            Symbol::Module(index) if self.layout.is_panic_record(index) => {
                return Ok(self.address_of_panic_record(offset));
            }
            Symbol::Module(index) => self.layout.address_of_variable(index)?,
            Symbol::Function(function) => windows::FUNCTIONS + 16 * u64::from(function.0),
            Symbol::Parameter(index) if self.function.kind == ptx::FunctionKind::Entry => {
                u64::from(parameter_bounds(self.function)[index as usize].offset)
            }
            Symbol::Body(index) => {
                let body = self.function.body.as_ref().expect("it has one");
                match body.variables[index as usize].space {
                    Space::Local => return Ok(self.address_of_local(index, offset)),
                    Space::Shared => self.layout.address_of_shared(self.index, index)?,
                    _ => return Err("the address of a call's parameter".to_owned()),
                }
            }
            Symbol::Parameter(_) | Symbol::Return(_) => {
                return Err("the address of a function's parameter".to_owned());
            }
        };
        Ok(self.constant(
            Kind::Double,
            u128::from(address.wrapping_add_signed(offset)),
        ))
    }

    /// Each launch has its own.
    fn address_of_panic_record(&mut self, offset: i64) -> u32 {
        let address = self.scratch(Kind::Double);
        let run = handler!([d: Kind::Double], |c, op| {
            let record = c.at.launch.panic_record;
            *c.slot_mut(op.d) = [record.wrapping_add(op.aux); LANES];
        });
        self.push(run, Some(Kind::Double), address, [0; 3], offset as u64);
        address
    }

    fn address_of_local(&mut self, index: u32, offset: i64) -> u32 {
        let offset = i64::from(self.locals.offset(index)) + offset;
        let address = self.scratch(Kind::Double);
        let run = handler!([d: Kind::Double], |c, op| {
            let frame = u64::from(c.at.local.frame);
            *c.slot_mut(op.d) = [frame.wrapping_add(op.aux); LANES];
        });
        self.push(run, Some(Kind::Double), address, [0; 3], offset as u64);
        address
    }

    /// How a block ends.
    pub(super) fn then(&mut self, end: &End) -> Lowered<Then> {
        let body = self.function.body.as_ref().expect("it has one");
        Ok(match end {
            End::Falls(next) => Then::Jump(*next as u32),
            End::Return => Then::Return,
            End::Splits {
                guard,
                taken,
                otherwise,
                ..
            } => Then::Branch {
                predicate: self.read(&Operand::Register(guard.register), Kind::Predicate)?,
                wanted: !guard.negated,
                taken: *taken as u32,
                otherwise: *otherwise as u32,
            },
            End::By {
                instruction,
                targets,
            } => match &body.instructions[*instruction].operation {
                Operation::BranchIndexed(branch) => Then::Switch {
                    index: self.read(&branch.index, Kind::Word)?,
                    targets: targets.iter().map(|&it| it as u32).collect(),
                },
                Operation::Barrier(barrier) => Then::Barrier {
                    barrier: self.barrier(barrier)?,
                    next: targets[0] as u32,
                },
                Operation::Call(call) => self.call(call, targets[0] as u32)?,
                Operation::Alloca(it) => {
                    let alignment = it.alignment.unwrap_or(0).max(ALIGNMENT);
                    if alignment > MAX_LOCAL_BYTES {
                        return Err(format!("an alignment of {alignment} bytes"));
                    }
                    let which = Stack::Allocate { alignment };
                    let size = Some((it.size, it.ty));
                    self.stack(which, size, Some(it.d), targets[0] as u32)?
                }
                Operation::Stacksave(it) => {
                    self.stack(Stack::Save, None, Some(it.d), targets[0] as u32)?
                }
                Operation::Stackrestore(it) => {
                    let to = Some((it.a, it.ty));
                    self.stack(Stack::Restore, to, None, targets[0] as u32)?
                }
                Operation::Exit => Then::Exit,
                _ => Then::Trap,
            },
        })
    }

    fn barrier(&mut self, barrier: &ptx::Barrier) -> Lowered<Barrier> {
        use BarrierReduction::{And, Count, Or};
        let mut reduce = |operation, d, predicate| {
            let predicate = self.read_predicate(predicate)?;
            let destination = self.write(d).0;
            Ok::<_, String>(BarrierAction::Reduce {
                operation,
                destination,
                predicate,
                wanted: true,
            })
        };
        let action = match &barrier.action {
            ptx::BarrierAction::Sync => BarrierAction::Sync,
            ptx::BarrierAction::Arrive => BarrierAction::Arrive,
            ptx::BarrierAction::Popc { d, predicate } => reduce(Count, *d, predicate)?,
            ptx::BarrierAction::And { p, predicate } => reduce(And, *p, predicate)?,
            ptx::BarrierAction::Or { p, predicate } => reduce(Or, *p, predicate)?,
        };
        Ok(Barrier {
            id: self.read(&barrier.id, Kind::Word)?,
            threads: match &barrier.threads {
                Some(threads) => Some(self.read(threads, Kind::Word)?),
                None => None,
            },
            aligned: barrier.aligned,
            action,
        })
    }

    /// An instruction on the stack, which has an operand and a result as a call has them.
    fn stack(
        &mut self,
        which: Stack,
        operand: Option<(Operand, ptx::Type)>,
        result: Option<Reg>,
        next: u32,
    ) -> Lowered<Then> {
        let mut arguments = Vec::new();
        if let Some((operand, ty)) = operand {
            let kind = super::slots::kind(ty);
            let words = Words::of_slot(self.read(&operand, kind)?, kind);
            arguments.push(words.ok_or("an operand of another type")?);
        }
        let mut returns = Vec::new();
        if let Some(register) = result {
            returns.push(self.words_of_register(register)?);
        }
        let call = crate::exec::program::Call {
            callee: Callee::Stack(which),
            arguments,
            returns,
        };
        Ok(Then::Call {
            call: Box::new(call),
            next,
        })
    }

    fn call(&mut self, call: &Call, next: u32) -> Lowered<Then> {
        let callee = match &call.callee {
            ptx::Callee::Direct(function) => {
                let callee = &self.layout.module.functions[function.0 as usize];
                match (&callee.body, builtin(&callee.name)) {
                    (Some(_), _) => Callee::Function(function.0),
                    (None, Some(builtin)) => Callee::Builtin(builtin),
                    (None, None) => {
                        return Err(format!("`{}`, which nothing defines", callee.name));
                    }
                }
            }
            ptx::Callee::Indirect { address, .. } => {
                Callee::Address(self.read(address, Kind::Double)?)
            }
        };
        let mut arguments = Vec::new();
        for (index, argument) in call.arguments.iter().enumerate() {
            arguments.push(match *argument {
                Operand::Symbol { symbol, offset: 0 } => self.words_of(symbol)?,
                Operand::Register(register) => self.words_of_register(register)?,
                Operand::Immediate(bits) => {
                    let ty = self.type_of_parameter(call, index);
                    let ty = ty.ok_or("a constant of unknown type as an argument")?;
                    let kind = super::slots::kind(ty);
                    let slot = self.constant(kind, bits.into());
                    let words = Words::of_slot(slot, kind);
                    words.ok_or_else(|| format!("a constant of {} bits", ty.bits()))?
                }
                Operand::Symbol { .. } | Operand::Special(_) => {
                    return Err("an argument that is no variable".to_owned());
                }
            });
        }
        let mut returns = Vec::new();
        for returned in &call.returns {
            match returned {
                Returned::Variable(symbol) => returns.push(self.words_of(*symbol)?),
                Returned::Nowhere => {}
                Returned::Register(register) => returns.push(self.words_of_register(*register)?),
            }
        }
        if let ptx::Callee::Direct(function) = &call.callee {
            let callee = &self.layout.module.functions[function.0 as usize];
            let (given, expected) = (arguments.len(), callee.parameters.len());
            if given < expected {
                let name = &callee.name;
                return Err(format!(
                    "a call of `{name}` with {given} arguments; it takes {expected}"
                ));
            }
        }
        let call = crate::exec::program::Call {
            callee,
            arguments,
            returns,
        };
        Ok(Then::Call {
            call: Box::new(call),
            next,
        })
    }
}

impl Lowering<'_> {
    /// The type of a parameter of what is called, where it is declared.
    fn type_of_parameter(&self, call: &Call, index: usize) -> Option<ptx::Type> {
        let body = self.function.body.as_ref()?;
        let function = |id: ptx::FunctionId| &self.layout.module.functions[id.0 as usize];
        let parameters = match call.callee {
            ptx::Callee::Direct(id) => &function(id).parameters,
            ptx::Callee::Indirect { targets, .. } => match targets? {
                IndirectTargets::Prototype(index) => &body.prototypes[index as usize].parameters,
                IndirectTargets::Targets(index) => {
                    let targets = &body.call_targets[index as usize];
                    &function(*targets.functions.first()?).parameters
                }
            },
        };
        let parameter = parameters.get(index)?;
        parameter.elements.is_none().then_some(parameter.ty)
    }
}

/// Whether a function of this name is the device's own.
pub(crate) fn is_builtin(name: &str) -> bool {
    builtin(name).is_some()
}

fn builtin(name: &str) -> Option<Builtin> {
    Some(match name {
        "vprintf" => Builtin::Print,
        "__assertfail" => Builtin::AssertFail,
        "malloc" => Builtin::Allocate,
        "free" => Builtin::Free,
        _ => return None,
    })
}
