//! Arguments compared with the parameters that a kernel's PTX declares.

use std::borrow::Cow;

use crate::driver::demangled;
use crate::table::counted;
use ptx::{Function, FunctionKind, Kind as Sort, Module, Parameter};

use super::argument::{Argument, Kind};

/// The kernel of this name, of this name before a compiler mangled it, or the only one.
///
/// # Errors
/// In words: there is no such kernel, or several to choose from, and the names that there are.
pub(super) fn kernel<'m>(module: &'m Module, name: Option<&str>) -> Result<&'m Function, String> {
    let is_kernel = |it: &&Function| it.kind == FunctionKind::Entry && it.body.is_some();
    let kernels: Vec<&Function> = module.functions.iter().filter(is_kernel).collect();
    let names: Vec<Cow<'_, str>> = kernels.iter().map(|it| demangled(&it.name)).collect();
    let listed = || match names.len() {
        0 => "it has none".to_owned(),
        _ => format!("it has {}", names.join(", ")),
    };
    match (name, &kernels[..]) {
        (None, [only]) => Ok(only),
        (None, _) => Err(format!(
            "no kernel is named: {}; name one of them",
            listed()
        )),
        (Some(name), _) => {
            if let Some(found) = kernels.iter().find(|it| it.name == name) {
                return Ok(found);
            }
            let meant = |whole: &str| whole == name || without_arguments(whole) == name;
            let mut all = kernels.iter().zip(&names).filter(|(_, it)| meant(it));
            match (all.next(), all.next()) {
                (Some((only, _)), None) => Ok(only),
                (None, _) => Err(format!("there is no kernel {name}: {}", listed())),
                (Some(_), Some(_)) => {
                    let mangled: Vec<&str> = kernels.iter().map(|it| it.name.as_str()).collect();
                    Err(format!(
                        "several kernels are called {name}; name one of {}",
                        mangled.join(", ")
                    ))
                }
            }
        }
    }
}

/// The last part of a path, without the arguments of a template: `scale` of `ns::scale<float>`.
pub(super) fn without_arguments(whole: &str) -> &str {
    let path = whole.split_once('<').map_or(whole, |(path, _)| path);
    path.rsplit_once("::").map_or(path, |(_, last)| last)
}

/// Fails where the arguments are not the kernel's.
///
/// # Errors
/// In words: how many arguments there are and should be, or the first that its parameter does not fit.
pub(super) fn check(kernel: &Function, arguments: &[Argument]) -> Result<(), String> {
    let name = &kernel.name;
    if arguments.len() != kernel.parameters.len() {
        let types: Vec<String> = kernel.parameters.iter().map(declared).collect();
        return Err(format!(
            "{name} takes {}, and {} given; its PTX has the parameters {}",
            counted(kernel.parameters.len() as u64, "argument"),
            match arguments.len() {
                1 => "1 is".to_owned(),
                given => format!("{given} are"),
            },
            types.join(", "),
        ));
    }
    for (place, (argument, parameter)) in arguments.iter().zip(&kernel.parameters).enumerate() {
        fits(argument, parameter).map_err(|why| {
            let declared = declared(parameter);
            format!("argument {place} of {name} is {argument}, and the PTX has {declared}: {why}")
        })?;
    }
    Ok(())
}

/// A parameter as PTX declares it.
fn declared(parameter: &Parameter) -> String {
    let ty = parameter.ty.name();
    match parameter.elements {
        Some(elements) => format!(".{ty}[{elements}]"),
        None => format!(".{ty}"),
    }
}

fn fits(argument: &Argument, parameter: &Parameter) -> Result<(), String> {
    let bytes = argument.kind.size();
    let is_pointer = argument.kind.is_memory() || matches!(argument.kind, Kind::Same(_));
    let is_float = match &argument.kind {
        Kind::Value(element, _) => Some(element.is_float()),
        Kind::Bytes(_) | Kind::Structure(_) => None,
        Kind::Buffer(_) | Kind::Pointer(_) | Kind::Same(_) | Kind::Texture(_) => Some(false),
    };
    if bytes as u64 != parameter.bytes {
        let what = if is_pointer { "a pointer" } else { "it" };
        return Err(format!("{what} has {bytes} bytes, not {}", parameter.bytes));
    }
    let declared = parameter.ty.kind();
    match (is_float, declared) {
        (Some(false), Sort::Float) if is_pointer => Err("that is no pointer".to_owned()),
        (Some(false), Sort::Float) => Err("that is floating point".to_owned()),
        (Some(true), Sort::Unsigned | Sort::Signed) => Err("that is an integer".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
        .visible .entry one(.param .u32 n, .param .f32 a, .param .b32 b, .param .u64 x, \
        .param .align 8 .b8 s[12]) { ret; }\n.visible .entry two() { ret; }";

    fn checked(words: &str) -> Result<(), String> {
        let module = ptx::parse(PTX).expect("PTX");
        let words = words.split_whitespace();
        let arguments: Vec<Argument> = words.map(|it| it.parse().expect("an argument")).collect();
        check(kernel(&module, Some("one"))?, &arguments)
    }

    #[test]
    fn arguments_that_fit_are_taken() {
        let bytes = "bytes:000102030405060708090a0b";
        assert_eq!(
            checked(&format!("u32:5 f32:1 f32:1 f32[8] {bytes}")),
            Ok(())
        );
        assert_eq!(
            checked(&format!("i32:-5 f32:1 u32:1 u64:0 {bytes}")),
            Ok(())
        );
    }

    #[test]
    fn the_argument_that_does_not_fit_is_named_with_its_parameter() {
        for (words, expected) in [
            (
                "u32:5",
                "one takes 5 arguments, and 1 is given; its PTX has the parameters .u32, .f32",
            ),
            (
                "u64:5 f32:1 f32:1 f32[8] bytes:00",
                "argument 0 of one is u64:5, and the PTX has .u32: it has 8 bytes, not 4",
            ),
            (
                "f32:5 f32:1 f32:1 f32[8] bytes:00",
                "argument 0 of one is f32:5, and the PTX has .u32: that is an integer",
            ),
            (
                "u32:5 u32:1 f32:1 f32[8] bytes:00",
                "argument 1 of one is u32:1, and the PTX has .f32: that is floating point",
            ),
            (
                "u32:5 f32[8] f32:1 f32[8] bytes:00",
                "a pointer has 8 bytes, not 4",
            ),
            (
                "u32:5 f32:1 f32:1 f32[8] bytes:00",
                "argument 4 of one is bytes:00, and the PTX has .b8[12]: it has 1 bytes, not 12",
            ),
        ] {
            let error = checked(words).expect_err("refused");
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_kernel_that_is_not_there_is_told_with_those_that_are() {
        let module = ptx::parse(PTX).expect("PTX");
        for (name, expected) in [
            (
                None,
                "no kernel is named: it has one, two; name one of them",
            ),
            (Some("three"), "there is no kernel three: it has one, two"),
        ] {
            assert_eq!(
                kernel(&module, name).map(|it| it.line),
                Err(expected.to_owned())
            );
        }
    }
}
