//! Calls: number, sizes and types of what is passed are the callee's.

use super::{Within, symbol_of};
use crate::instruction::Wanted;
use crate::{
    Call, Callee, FunctionId, IndirectTargets, Operand, Operation, Parameter, ParameterStorage,
    Reg, Returned, Space, Symbol, Variable,
};

/// The parameters and results of a callee.
struct Signature<'m> {
    name: &'m str,
    returns: &'m [Parameter],
    parameters: &'m [Parameter],
    variadic: bool,
}

pub(super) fn check(within: &Within<'_>, operation: &Operation) -> Result<(), String> {
    let Operation::Call(call) = operation else {
        return Ok(());
    };
    let Some(callee) = signature(within, call) else {
        return Ok(());
    };
    let (passed, taken) = (call.arguments.len(), callee.parameters.len());
    if passed < taken || (passed > taken && !callee.variadic) {
        return Err(format!(
            "the number of arguments is {passed}; `{}` takes {taken}",
            callee.name
        ));
    }
    let (kept, returned) = (call.returns.len(), callee.returns.len());
    if kept != returned {
        return Err(format!(
            "the number of results is {kept}; `{}` returns {returned}",
            callee.name
        ));
    }
    for (parameter, argument) in callee.parameters.iter().zip(&call.arguments) {
        passes(within, parameter, *argument)
            .map_err(|found| mismatch(&callee, parameter, &found))?;
    }
    for (parameter, result) in callee.returns.iter().zip(&call.returns) {
        returns(within, parameter, *result)
            .map_err(|found| mismatch(&callee, parameter, &found))?;
    }
    Ok(())
}

/// None: nothing is known of the callee.
fn signature<'m>(within: &Within<'m>, call: &Call) -> Option<Signature<'m>> {
    let of = |id: FunctionId| {
        let function = within.module.functions.get(id.0 as usize)?;
        let unknown =
            function.body.is_none() && function.variadic && function.parameters.is_empty();
        (!unknown).then_some(Signature {
            name: &function.name,
            returns: &function.returns,
            parameters: &function.parameters,
            variadic: function.variadic,
        })
    };
    match call.callee {
        Callee::Direct(id) => of(id),
        Callee::Indirect { targets, .. } => match targets? {
            IndirectTargets::Targets(index) => {
                let list = within.body.call_targets.get(index as usize)?;
                of(*list.functions.first()?)
            }
            IndirectTargets::Prototype(index) => {
                let prototype = within.body.prototypes.get(index as usize)?;
                Some(Signature {
                    name: &prototype.name,
                    returns: &prototype.returns,
                    parameters: &prototype.parameters,
                    variadic: prototype.variadic,
                })
            }
        },
    }
}

fn mismatch(callee: &Signature<'_>, parameter: &Parameter, found: &str) -> String {
    format!(
        "{found} is not `{}` of `{}`, which is {}",
        parameter.name,
        callee.name,
        shape(
            parameter.ty.name(),
            parameter.elements.map(|_| parameter.bytes),
            parameter.alignment
        )
    )
}

/// `.b32`, `12 bytes of `.b8`, aligned to 4`
fn shape(ty: &str, array: Option<u64>, alignment: u32) -> String {
    match array {
        None => format!("`.{ty}`"),
        Some(bytes) => format!("{bytes} bytes of `.{ty}`, aligned to {alignment}"),
    }
}

fn passes(within: &Within<'_>, parameter: &Parameter, argument: Operand) -> Result<(), String> {
    match argument {
        Operand::Register(register) => in_register(within, parameter, register),
        Operand::Immediate(_) => match parameter.elements {
            None => Ok(()),
            Some(_) => Err("a constant".to_owned()),
        },
        Operand::Special(_) => Err("a register of the hardware".to_owned()),
        Operand::Symbol { .. } => match symbol_of(argument) {
            Some(symbol) => in_memory(within, parameter, symbol),
            None => Ok(()),
        },
    }
}

fn returns(within: &Within<'_>, parameter: &Parameter, result: Returned) -> Result<(), String> {
    match result {
        Returned::Nowhere => Ok(()),
        Returned::Register(register) => in_register(within, parameter, register),
        Returned::Variable(symbol) => in_memory(within, parameter, symbol),
    }
}

fn in_register(within: &Within<'_>, parameter: &Parameter, register: Reg) -> Result<(), String> {
    let register = within.register(register);
    let vector = matches!(parameter.storage, ParameterStorage::Register(_));
    let wanted = match parameter.ty.bits() {
        0..16 => Wanted::AtLeast(parameter.ty),
        _ => Wanted::Exactly(parameter.ty),
    };
    let fits = (parameter.elements.is_none() || vector) && wanted.takes(register.ty);
    match fits {
        true => Ok(()),
        false => Err(format!(
            "`{}`, a register of `.{}`,",
            register.name,
            register.ty.name()
        )),
    }
}

fn in_memory(within: &Within<'_>, parameter: &Parameter, symbol: Symbol) -> Result<(), String> {
    let variable = match within.variable(symbol) {
        Some(variable) if variable.space == Space::Param => variable,
        Some(_) => return Ok(()),
        None => {
            let own = matches!(symbol, Symbol::Parameter(index)
                if within.function.parameters.get(index as usize)
                    .is_some_and(|it| it.storage == ParameterStorage::Memory));
            return match own {
                true => Err(format!(
                    "`{}`, the function's own parameter,",
                    within.name(symbol)
                )),
                false => Ok(()),
            };
        }
    };
    match same_shape(parameter, variable) {
        true => Ok(()),
        false => {
            let array = is_array(variable).then_some(variable.bytes);
            let shape = shape(variable.ty.name(), array, variable.alignment);
            Err(format!("`{}`, {shape},", variable.name))
        }
    }
}

const fn is_array(variable: &Variable) -> bool {
    !variable.dimensions.is_empty() || variable.vector > 1
}

fn same_shape(parameter: &Parameter, variable: &Variable) -> bool {
    let aligned = parameter.alignment == variable.alignment;
    match (parameter.elements, is_array(variable)) {
        (Some(_), true) => aligned && parameter.bytes == variable.bytes,
        (None, false) => aligned && Wanted::Exactly(parameter.ty).takes(variable.ty),
        _ => false,
    }
}
