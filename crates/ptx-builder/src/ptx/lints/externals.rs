//! `unresolved-external`

use ::ptx::{Function, FunctionId, Linkage, Module, Space, Symbol, Variable};

use super::super::{panics, rewrite};
use super::{Report, Subject, readable};

/// Functions that the driver gives to every module.
const OF_THE_DRIVER: &[&str] = &["vprintf", "malloc", "free", "__assertfail"];

/// Finds names that are used and not defined.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    let mut reports = Vec::new();
    for function in subject.defined() {
        for (index, instruction) in function.body.instructions.iter().enumerate() {
            instruction.visit_symbols(|symbol| {
                if let Some(name) = undefined(subject.module, symbol) {
                    reports.push(subject.report(function, index, message(name)));
                }
            });
        }
    }
    reports
}

/// The name of the symbol, if neither the module nor the driver nor a later step defines it.
fn undefined(module: &Module, symbol: Symbol) -> Option<&str> {
    let name = match symbol {
        Symbol::Module(variable) => undefined_variable(&module.variables[variable as usize])?,
        Symbol::Function(id) => undefined_function(module, id)?,
        Symbol::Body(_) | Symbol::Parameter(_) | Symbol::Return(_) => return None,
    };
    let later = rewrite::is_declared_later(name) || panics::is_defined_later(name);
    (!later).then_some(name)
}

/// Dynamic shared memory is declared as what is elsewhere, too.
fn undefined_variable(variable: &Variable) -> Option<&str> {
    let elsewhere = variable.linkage == Linkage::External && variable.space != Space::Shared;
    elsewhere.then_some(&variable.name)
}

fn undefined_function(module: &Module, id: FunctionId) -> Option<&str> {
    let function: &Function = &module.functions[id.0 as usize];
    let known = function.body.is_some()
        || OF_THE_DRIVER.contains(&function.name.as_str())
        || module.aliases.iter().any(|(alias, _)| *alias == id);
    (!known).then_some(&function.name)
}

fn message(name: &str) -> String {
    let remedy = match name {
        "memcmp" | "bcmp" => "compare slices element by element",
        "fmod" | "fmodf" => "take the remainder with the crate libm",
        _ => {
            "define it in the kernel crate or in a crate that it depends on (a kernel cannot use \
             functions of C)"
        }
    };
    format!(
        "{} is used and nothing defines it: {remedy}",
        readable(name)
    )
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    #[test]
    fn functions_and_variables_that_nothing_defines_are_found() {
        let module = "
.extern .func missing();
.extern .global .align 4 .u32 COUNTER;
.entry k()
{
.loc 1 7 3
call.uni missing, ();
ld.global.b32 %r1, [COUNTER];
mov.b64 %rd1, NOWHERE;
ret;
}";
        let lines = lines(Lint::UnresolvedExternal, module);
        assert_eq!(lines.len(), 3, "{lines:?}");
        for (line, name) in lines.iter().zip(["missing", "COUNTER", "NOWHERE"]) {
            let start = format!("kernel k, kernels/src/lib.rs:7: unresolved-external: {name} is");
            assert!(line.starts_with(&start), "{line}");
        }
    }

    #[test]
    fn what_the_compiler_itself_calls_has_a_remedy_of_its_own() {
        let module = ".extern .func memcmp; .entry k() { call.uni memcmp, (); ret; }";
        let lines = lines(Lint::UnresolvedExternal, module);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].ends_with("compare slices element by element"),
            "{lines:?}"
        );
    }

    #[test]
    fn what_is_defined_or_the_drivers_is_silent() {
        let module = "
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .func unused();
.func helper();
.visible .global .align 4 .u32 COUNTER;
.func helper() { ret; }
.entry k(.param .u64 k_param_0)
{
.local .align 4 .b8 __local_depot0[12];
.reg .b64 %SPL;
.param .b64 param0;
mov.b64 %SPL, __local_depot0;
ld.param.b64 %rd1, [k_param_0];
mov.u64 %rd2, __shared_a__4_4; cvta.shared.u64 %rd2, %rd2;
mov.u64 %rd2, __dynamic_shared; cvta.shared.u64 %rd2, %rd2;
mov.u32 %r1, WARP_SZ;
mov.b32 %r1, 0f3F800000;
{ .param .b32 retval0; .reg .b32 x; mov.b32 x, %r1; mov.b32 %r1, x;
call.uni (retval0), vprintf, (param0);
call.uni helper, ();
ld.param.b32 %r2, [retval0]; }
prototype_0: .callprototype (.param .b32 _) _ (.param .b64 _);
{ .param .b32 retval0; call (retval0), %rd2, (param0), prototype_0; }
ld.global.b32 %r1, [COUNTER+4];
ret;
}";
        assert_eq!(lines(Lint::UnresolvedExternal, module), [""; 0]);
    }
}
