//! Functions that take and return registers, as PTX allows it besides `.param`: brought to loads and stores of parameters in
//! memory, as all compilers write them, so that nothing behind this knows of another way.

use ptx::{
    Address, Base, Body, CacheHints, Call, Callee, Function, FunctionKind, Guard, IndirectTargets,
    Instruction, Ld, Linkage, Module, Operand, Operation, Order, Parameter, ParameterStorage, Reg,
    Returned, Space, St, Symbol, Type, Variable,
};

/// Has all that a module's functions pass lie in memory. What is left is passed in a way that no call can take: a constant of
/// unknown type.
pub(crate) fn in_memory(module: &mut Module) {
    for index in 0..module.functions.len() {
        let Some(body) = module.functions[index].body.take() else {
            continue;
        };
        let mut rewriting = Rewriting::of(body);
        rewriting.calls(module);
        if module.functions[index].kind == FunctionKind::Device {
            rewriting.parameters(&module.functions[index]);
        }
        module.functions[index].body = Some(rewriting.done());
    }
}

/// A body, and what comes before and behind each instruction. What comes before the instruction behind the last one stands at
/// the end.
struct Rewriting {
    body: Body,
    /// What the function begins with.
    first: Vec<Instruction>,
    before: Vec<Vec<Instruction>>,
    behind: Vec<Vec<Instruction>>,
}

impl Rewriting {
    fn of(body: Body) -> Rewriting {
        let count = body.instructions.len();
        Rewriting {
            body,
            first: Vec::new(),
            before: vec![Vec::new(); count + 1],
            behind: vec![Vec::new(); count],
        }
    }

    /// What calls pass in registers is stored before and loaded behind them.
    fn calls(&mut self, module: &Module) {
        for index in 0..self.body.instructions.len() {
            let Operation::Call(call) = &self.body.instructions[index].operation else {
                continue;
            };
            let mut call = call.clone();
            let types = types(module, &self.body, &call);
            for (place, argument) in call.arguments.iter_mut().enumerate() {
                let given = match *argument {
                    Operand::Register(register) => Some(self.type_of(register)),
                    Operand::Immediate(_) => None,
                    Operand::Special(_) | Operand::Symbol { .. } => continue,
                };
                let declared = types.get(place).copied();
                let Some(ty) = declared.or(given) else {
                    continue;
                };
                let symbol = self.variable(ty);
                let store = store(ty, symbol, *argument);
                self.before[index].push(like(&self.body, index, store, None));
                *argument = Operand::Symbol { symbol, offset: 0 };
            }
            for returned in &mut call.returns {
                let Returned::Register(register) = *returned else {
                    continue;
                };
                let ty = self.type_of(register);
                let symbol = self.variable(ty);
                let load = load(ty, symbol, register);
                let guard = self.body.instructions[index].guard;
                self.behind[index].push(like(&self.body, index, load, guard));
                *returned = Returned::Variable(symbol);
            }
            self.body.instructions[index].operation = Operation::Call(call);
        }
    }

    /// Parameters in registers are loaded at the beginning, and returned ones stored at the end.
    fn parameters(&mut self, function: &Function) {
        if self.body.instructions.is_empty() {
            return;
        }
        for (index, parameter) in (0..).zip(&function.parameters) {
            if let Some(register) = register(parameter) {
                let load = load(parameter.ty, Symbol::Parameter(index), register);
                self.first.push(like(&self.body, 0, load, None));
            }
        }
        let last = self.body.instructions.len() - 1;
        for (index, parameter) in (0..).zip(&function.returns) {
            let Some(register) = register(parameter) else {
                continue;
            };
            for (place, before) in self.before.iter_mut().enumerate() {
                let instruction = self.body.instructions.get(place);
                if instruction.is_none_or(|it| matches!(it.operation, Operation::Ret { .. })) {
                    let value = Operand::Register(register);
                    let store = store(parameter.ty, Symbol::Return(index), value);
                    before.push(like(&self.body, place.min(last), store, None));
                }
            }
        }
    }

    fn type_of(&self, register: Reg) -> Type {
        self.body.registers[register.0 as usize].ty
    }

    /// Another variable for a parameter of a call.
    fn variable(&mut self, ty: Type) -> Symbol {
        self.body.variables.push(Variable {
            name: "a parameter in a register".to_owned(),
            space: Space::Param,
            linkage: Linkage::Private,
            ty,
            vector: 1,
            dimensions: Vec::new(),
            bytes: ty.bytes().into(),
            alignment: ty.bytes(),
            initial: None,
            managed: false,
            line: 0,
        });
        Symbol::Body(self.body.variables.len() as u32 - 1)
    }

    /// The body with all instructions, and labels where they belong.
    fn done(mut self) -> Body {
        let is_changed = |all: &[Vec<Instruction>]| all.iter().any(|it| !it.is_empty());
        if self.first.is_empty() && !is_changed(&self.before) && !is_changed(&self.behind) {
            return self.body;
        }
        let mut all = self.first;
        let mut places = Vec::new();
        let instructions = std::mem::take(&mut self.body.instructions);
        let behind = self.behind.into_iter().chain([Vec::new()]);
        let instructions = instructions.into_iter().map(Some).chain([None]);
        for ((instruction, before), behind) in instructions.zip(self.before).zip(behind) {
            places.push(all.len() as u32);
            all.extend(before);
            all.extend(instruction);
            all.extend(behind);
        }
        for label in &mut self.body.labels {
            label.position = places[label.position as usize];
        }
        self.body.instructions = all;
        self.body
    }
}

/// The types of the parameters of what is called, as far as it is known.
fn types(module: &Module, body: &Body, call: &Call) -> Vec<Type> {
    let of = |parameters: &[Parameter]| parameters.iter().map(|it| it.ty).collect();
    let function = |id: ptx::FunctionId| of(&module.functions[id.0 as usize].parameters);
    match call.callee {
        Callee::Direct(id) => function(id),
        Callee::Indirect { targets, .. } => match targets {
            Some(IndirectTargets::Prototype(index)) => {
                of(&body.prototypes[index as usize].parameters)
            }
            Some(IndirectTargets::Targets(index)) => {
                let all = &body.call_targets[index as usize].functions;
                all.first().map_or_else(Vec::new, |id| function(*id))
            }
            None => Vec::new(),
        },
    }
}

/// The register that a parameter lies in. A vector's parts would be several, which no call is read to pass.
fn register(parameter: &Parameter) -> Option<Reg> {
    match parameter.storage {
        ParameterStorage::Register(register) if parameter.elements.is_none() => register,
        ParameterStorage::Register(_) | ParameterStorage::Memory => None,
    }
}

/// An instruction at the place of another.
fn like(body: &Body, index: usize, operation: Operation, guard: Option<Guard>) -> Instruction {
    Instruction {
        operation,
        guard,
        ..body.instructions[index].clone()
    }
}

fn load(ty: Type, from: Symbol, to: Reg) -> Operation {
    Operation::Ld(Box::new(Ld {
        space: Space::Param,
        order: Order::Weak,
        scope: None,
        read_only: false,
        unified: false,
        hints: no_hints(),
        ty,
        d: vec![Some(to)],
        address: address(from),
    }))
}

fn store(ty: Type, to: Symbol, value: Operand) -> Operation {
    Operation::St(Box::new(St {
        space: Space::Param,
        order: Order::Weak,
        scope: None,
        hints: no_hints(),
        ty,
        address: address(to),
        a: vec![value],
    }))
}

fn address(symbol: Symbol) -> Address {
    Address {
        base: Base::Symbol(symbol),
        offset: 0,
    }
}

fn no_hints() -> CacheHints {
    CacheHints {
        operator: None,
        level1: None,
        level2: None,
        prefetch: None,
        policy: None,
    }
}
