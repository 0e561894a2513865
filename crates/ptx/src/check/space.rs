//! The state space of an access, and that of the variable that it names.

use super::Within;
use crate::{Address, Base, Operation, Space, Symbol};

pub(super) fn check(within: &Within<'_>, operation: &Operation) -> Result<(), String> {
    let Some((accessed, address)) = access(operation) else {
        return Ok(());
    };
    let Base::Symbol(symbol) = address.base else {
        return Ok(());
    };
    if matches!(operation, Operation::St(_)) && matches!(symbol, Symbol::Parameter(_)) {
        let name = within.name(symbol);
        return Err(format!(
            "`{name}` is what the function takes, which is not written"
        ));
    }
    let declared = match symbol {
        Symbol::Parameter(_) | Symbol::Return(_) => Space::Param,
        Symbol::Function(_) => return Ok(()),
        _ => within
            .variable(symbol)
            .map_or(Space::Generic, |it| it.space),
    };
    match reaches(accessed, declared) {
        true => Ok(()),
        false => Err(format!(
            "`{}` lies in `.{}`, which this does not reach",
            within.name(symbol),
            declared.name()
        )),
    }
}

/// Where an instruction goes, and its address.
const fn access(operation: &Operation) -> Option<(Space, &Address)> {
    match operation {
        Operation::Ld(it) => Some((it.space, &it.address)),
        Operation::Ldu(it) => Some((it.space, &it.address)),
        Operation::St(it) => Some((it.space, &it.address)),
        Operation::Atom(it) => Some((it.space, &it.address)),
        Operation::Red(it) => Some((it.space, &it.address)),
        _ => None,
    }
}

/// A space that is not known says nothing; a generic address is none of constants or parameters.
fn reaches(accessed: Space, declared: Space) -> bool {
    use Space as S;
    match (accessed, declared) {
        (S::Generic, S::Const | S::Param) => false,
        (S::Generic, _) | (_, S::Generic | S::Texture) => true,
        (S::SharedCluster | S::Shared, S::Shared) => true,
        (S::Param | S::ParamEntry | S::ParamFunction, S::Param) => true,
        _ => accessed == declared,
    }
}
