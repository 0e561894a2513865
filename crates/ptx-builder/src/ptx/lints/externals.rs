//! `unresolved-external`

use std::collections::HashSet;

use super::super::body::Body;
use super::super::instruction::{Instruction, names};
use super::super::{panics, rewrite};
use super::{Report, Subject, readable};

/// What the driver gives to every module.
const OF_THE_DRIVER: &[&str] = &["vprintf", "malloc", "free", "__assertfail"];

/// Finds names that are used and not defined.
pub(super) fn check(subject: &Subject<'_, '_>) -> Vec<Report> {
    let known = defined_names(subject);
    let mut reports = Vec::new();
    for function in subject.defined() {
        let local = local_names(function.body);
        for (index, instruction) in function.body.instructions.iter().enumerate() {
            let symbols = symbols(instruction).into_iter();
            let unknown = symbols.filter(|name| {
                let declared = local.contains(name) || known.contains(name);
                let later = rewrite::is_declared_later(name) || panics::is_defined_later(name);
                !declared && !later && !function.function.has_parameter(name)
            });
            for name in unknown {
                reports.push(subject.report(function, index, message(name)));
            }
        }
    }
    reports
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

fn defined_names<'t>(subject: &Subject<'_, 't>) -> HashSet<&'t str> {
    let functions = subject.module.functions.iter();
    let functions = functions
        .filter(|one| one.body.is_some())
        .map(|one| one.name);
    let variables = subject.module.variables.iter();
    let is_external = |text: &str| text.split_whitespace().any(|word| word == ".extern");
    let variables = variables
        // Dynamic shared memory is declared so.
        .filter(|one| !is_external(one.text) || one.space() == Some(".shared"))
        .map(|one| one.name);
    functions
        .chain(variables)
        .chain(OF_THE_DRIVER.iter().copied())
        .collect()
}

fn local_names<'t>(body: &Body<'t>) -> HashSet<&'t str> {
    let labels = body.labels.iter().map(|label| label.name);
    body.declared.iter().copied().chain(labels).collect()
}

/// The names in the operands that stand for an address. Elsewhere a bare name can be a special
/// value, such as `WARP_SZ`.
fn symbols<'t>(instruction: &Instruction<'t>) -> Vec<&'t str> {
    let operands = instruction.operands.iter().copied();
    let addresses: Vec<&str> = match instruction.base() {
        "call" => instruction.callee().into_iter().collect(),
        "mov" => operands.skip(1).collect(),
        _ => operands.filter(|one| one.starts_with('[')).collect(),
    };
    addresses
        .into_iter()
        .flat_map(names)
        .filter(|name| !name.starts_with('%') && *name != "WARP_SZ")
        .collect()
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
.reg .b64 %rd<3>;
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
call (retval0), %rd2, (param0), prototype_0;
ld.global.b32 %r1, [COUNTER+4];
ret;
}";
        assert_eq!(lines(Lint::UnresolvedExternal, module), [""; 0]);
    }
}
