//! Whether what a module declares fits a GPU, in sizes that cannot wrap around. Everything behind this check may keep
//! the sizes of shared variables and of parameters in 32 bits.

use ptx::{Function, FunctionKind, Module, Space, Variable};

use crate::limits::{MAX_LOCAL_BYTES, max_parameter_bytes};
use crate::reach::shared_variables;

/// Bytes of shared memory of a block that a kernel may declare, on all GPUs. More is asked for by the launch.
const MOST_STATIC_SHARED_BYTES: u64 = 48 << 10;

/// Bytes of constant memory of a module, on all GPUs.
const MOST_CONSTANT_BYTES: u64 = 64 << 10;

/// More bytes of something than there are on a GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{of}: {actual} bytes of {what}; a GPU allows {limit}")]
pub struct TooLarge {
    /// The function or variable that declares them, or `the module`.
    pub of: String,
    /// Of what.
    pub what: &'static str,
    /// How many.
    pub actual: u64,
    /// The most that are allowed.
    pub limit: u64,
}

/// Adds up what is laid out one behind the other, each at a multiple of its alignment.
#[derive(Default)]
struct End(u64);

impl End {
    fn add(&mut self, alignment: u32, bytes: u64) {
        let begin = self
            .0
            .checked_next_multiple_of(u64::from(alignment.max(1)))
            .unwrap_or(u64::MAX);
        self.0 = begin.saturating_add(bytes);
    }

    fn of<'v>(variables: impl Iterator<Item = &'v Variable>) -> u64 {
        let mut end = End::default();
        variables.for_each(|it| end.add(it.alignment, it.bytes));
        end.0
    }

    /// Refuses more than there may be.
    fn at_most(self, limit: u64, of: &str, what: &'static str) -> Result<(), TooLarge> {
        match self.0 > limit {
            true => Err(TooLarge {
                of: of.to_owned(),
                what,
                actual: self.0,
                limit,
            }),
            false => Ok(()),
        }
    }
}

/// Refuses a module of which no GPU could hold a variable or a parameter. Global memory is asked for when the module
/// is loaded.
///
/// # Errors
/// The first that is too large.
pub(crate) fn check(module: &Module) -> Result<(), TooLarge> {
    let in_space = |space: Space| module.variables.iter().filter(move |it| it.space == space);
    End(End::of(in_space(Space::Const))).at_most(
        MOST_CONSTANT_BYTES,
        "the module",
        "constant memory",
    )?;
    for function in &module.functions {
        parameters(module, function)?;
        local(function)?;
    }
    shared(module)
}

/// Refuses an alignment that leaves no room for anything else.
fn aligned(variable: &Variable, limit: u64) -> Result<(), TooLarge> {
    End(variable.alignment.into()).at_most(limit, &variable.name, "alignment")
}

fn parameters(module: &Module, function: &Function) -> Result<(), TooLarge> {
    let mut end = End::default();
    for parameter in function.parameters.iter().chain(&function.returns) {
        end.add(parameter.alignment, parameter.bytes);
    }
    match function.kind {
        FunctionKind::Entry => {
            let limit = max_parameter_bytes(module.version, module.target.arch);
            end.at_most(limit, &function.name, "parameters")
        }
        // A GPU passes them on the thread's stack.
        FunctionKind::Device => end.at_most(MAX_LOCAL_BYTES.into(), &function.name, "parameters"),
    }
}

/// The local variables of a body, and each of what it passes to functions, lie on the thread's stack.
fn local(function: &Function) -> Result<(), TooLarge> {
    let variables = function.body.iter().flat_map(|it| &it.variables);
    let limit = u64::from(MAX_LOCAL_BYTES);
    let of_space = |space: Space| variables.clone().filter(move |it| it.space == space);
    for it in of_space(Space::Param) {
        End(it.bytes).at_most(limit, &it.name, "parameters")?;
    }
    of_space(Space::Local).try_for_each(|it| aligned(it, limit))?;
    let local = End(End::of(of_space(Space::Local)));
    local.at_most(limit, &function.name, "local memory per thread")
}

/// The shared variables that each kernel and the functions that it may call name.
fn shared(module: &Module) -> Result<(), TooLarge> {
    let bodies = module.functions.iter().filter_map(|it| it.body.as_ref());
    let all = bodies.flat_map(|it| &it.variables).chain(&module.variables);
    let shared = all.filter(|it| it.space == Space::Shared);
    shared
        .clone()
        .try_for_each(|it| aligned(it, MOST_STATIC_SHARED_BYTES))?;
    if End::of(shared) <= MOST_STATIC_SHARED_BYTES {
        return Ok(());
    }
    for (index, function) in module.functions.iter().enumerate() {
        if function.kind == FunctionKind::Entry && function.body.is_some() {
            let named = shared_variables(module, index as u32);
            let bytes = End::of(named.into_iter().map(|it| it.of(module)));
            End(bytes).at_most(
                MOST_STATIC_SHARED_BYTES,
                &function.name,
                "static shared memory",
            )?;
        }
    }
    Ok(())
}
