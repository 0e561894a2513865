//! Which function calls which, and which kernel a function works for.

use std::collections::HashSet;

use ::ptx::{Callee, Function, FunctionId, FunctionKind, Instruction, Module, Operation, Symbol};

use super::flow::Flow;

/// The functions of a module that have a body, with their control flow and their calls.
#[derive(Debug)]
pub(crate) struct Calls {
    flows: Vec<Option<Flow>>,
    /// By function index: what it calls, and whether it then goes on.
    callees: Vec<Vec<Called>>,
    /// Functions from which a panic is the way out.
    never_returns: HashSet<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Called {
    function: usize,
    in_panic: bool,
}

impl Calls {
    pub(crate) fn new(module: &Module) -> Self {
        let mut never_returns: HashSet<usize> =
            indices(module, |function| function.directives.noreturn).collect();
        let flow = |function: &Function, never_returns: &HashSet<usize>| {
            let is_panic = |instruction: &Instruction| {
                instruction.operation == Operation::Trap
                    || callee(instruction).is_some_and(|callee| never_returns.contains(&callee))
            };
            Some(Flow::new(function.body.as_ref()?, is_panic))
        };
        let mut flows: Vec<Option<Flow>> = module
            .functions
            .iter()
            .map(|function| flow(function, &never_returns))
            .collect();
        // Before PTX 6.4 nothing says of a function that it does not return.
        loop {
            let found = without_return(module, &flows, &never_returns);
            if found.is_empty() {
                break;
            }
            never_returns.extend(&found);
            for (function, flow_of) in module.functions.iter().zip(&mut flows) {
                if calls_one_of(function, &found) {
                    *flow_of = flow(function, &never_returns);
                }
            }
        }
        let callees = callees(module, &flows);
        Calls {
            flows,
            callees,
            never_returns,
        }
    }

    /// The functions of which a call is a panic.
    pub(crate) fn never_returning<'m>(&self, module: &'m Module) -> HashSet<&'m str> {
        let functions = self.never_returns.iter();
        functions
            .map(|&function| module.functions[function].name.as_str())
            .collect()
    }

    pub(crate) fn flow(&self, function: usize) -> Option<&Flow> {
        self.flows[function].as_ref()
    }

    /// The functions that run when no kernel panics: entries, and what they call on the way, but
    /// for those that are passed over and what only they call.
    pub(crate) fn ordinary(
        &self,
        module: &Module,
        pass_over: impl Fn(usize) -> bool,
    ) -> HashSet<usize> {
        let entries = indices(module, |function| function.kind == FunctionKind::Entry);
        self.reach(entries.collect(), |called| {
            !called.in_panic && !pass_over(called.function)
        })
    }

    /// Whether the function, or one that it calls in turn, calls `name`.
    pub(crate) fn leads_to(&self, module: &Module, function: usize, name: &str) -> bool {
        self.reach(vec![function], |_| true)
            .iter()
            .any(|&reached| module.functions[reached].name == name)
    }

    /// The names of the entries that run such an instruction, themselves or by what they call in turn.
    pub(crate) fn entries_that_run(
        &self,
        module: &Module,
        wanted: impl Fn(&Instruction) -> bool,
    ) -> HashSet<String> {
        let has = |function: &usize| {
            let body = module.functions[*function].body.iter();
            body.flat_map(|body| &body.instructions).any(&wanted)
        };
        indices(module, |one| one.kind == FunctionKind::Entry)
            .filter(|&entry| self.reach(vec![entry], |_| true).iter().any(has))
            .map(|entry| module.functions[entry].name.clone())
            .collect()
    }

    /// The name of the first kernel that calls the function, itself or through others.
    pub(crate) fn kernel_of(&self, module: &Module, function: usize) -> Option<String> {
        indices(module, |one| one.kind == FunctionKind::Entry)
            .find(|&entry| self.reach(vec![entry], |_| true).contains(&function))
            .map(|entry| module.functions[entry].name.clone())
    }

    fn reach(&self, mut open: Vec<usize>, follow: impl Fn(&Called) -> bool) -> HashSet<usize> {
        let mut reached = HashSet::new();
        while let Some(function) = open.pop() {
            if reached.insert(function) {
                let callees = self.callees[function].iter();
                open.extend(callees.filter(|one| follow(one)).map(|one| one.function));
            }
        }
        reached
    }
}

fn indices(module: &Module, which: impl Fn(&Function) -> bool) -> impl Iterator<Item = usize> {
    (0..module.functions.len()).filter(move |&index| which(&module.functions[index]))
}

/// The function that a call names.
pub(crate) fn callee(instruction: &Instruction) -> Option<usize> {
    match &instruction.operation {
        Operation::Call(call) => match call.callee {
            Callee::Direct(FunctionId(function)) => Some(function as usize),
            Callee::Indirect { .. } => None,
        },
        _ => None,
    }
}

/// The functions that have no way back to their callers and one to a panic, but for those known.
fn without_return(
    module: &Module,
    flows: &[Option<Flow>],
    known: &HashSet<usize>,
) -> HashSet<usize> {
    let panics_only = |index: &usize| {
        let (Some(body), Some(flow)) = (&module.functions[*index].body, &flows[*index]) else {
            return false;
        };
        let is_return = |one: &Instruction| matches!(one.operation, Operation::Ret(_));
        let panics = flow.blocks.iter().any(|block| block.panics);
        panics && !body.instructions.iter().any(is_return)
    };
    indices(module, |function| function.kind == FunctionKind::Device)
        .filter(|index| !known.contains(index))
        .filter(panics_only)
        .collect()
}

fn calls_one_of(function: &Function, functions: &HashSet<usize>) -> bool {
    let instructions = function.body.iter().flat_map(|body| &body.instructions);
    instructions
        .filter_map(callee)
        .any(|callee| functions.contains(&callee))
}

/// A function whose address is taken counts as called: an indirect call may follow.
fn callees(module: &Module, flows: &[Option<Flow>]) -> Vec<Vec<Called>> {
    let of = |function: &Function, flow: &Option<Flow>| -> Option<Vec<Called>> {
        let (body, flow) = (function.body.as_ref()?, flow.as_ref()?);
        let mut called = Vec::new();
        for (index, instruction) in body.instructions.iter().enumerate() {
            let in_panic = flow.panics_at(index);
            instruction.visit_symbols(|symbol| {
                if let Symbol::Function(FunctionId(function)) = symbol {
                    let function = function as usize;
                    called.push(Called { function, in_panic });
                }
            });
        }
        Some(called)
    };
    let functions = module.functions.iter().zip(flows);
    functions
        .map(|(function, flow)| of(function, flow).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing::parse;
    use super::*;

    const TEXT: &str = "
.func fmt();
.extern .func vprintf;
.func panics() .noreturn { call.uni fmt, (); trap; }
.func fmt() { ret; }
.func helper() { call.uni vprintf, (); ret; }
.func lonely() { ret; }
.entry prints() { call.uni helper, (); ret; }
.entry checks() { @%p1 bra $BAD; ret; $BAD: call.uni panics, (); exit; }
";

    #[test]
    fn before_ptx_6_4_a_function_that_only_panics_is_known_by_what_it_does() {
        let text = TEXT.replace(" .noreturn", "")
            + "
.func outer() { call.uni panics, (); exit; trap; exit; }
.func spins() { $L: bra.uni $L; }
";
        let module = parse(&text);
        let mut panics = Vec::from_iter(Calls::new(&module).never_returning(&module));
        panics.sort_unstable();
        assert_eq!(panics, ["outer", "panics"]);
    }

    #[test]
    fn what_only_a_panic_runs_is_not_ordinary() {
        let module = parse(TEXT);
        let calls = Calls::new(&module);
        let mut ordinary: Vec<_> = calls
            .ordinary(&module, |_| false)
            .into_iter()
            .map(|index| module.functions[index].name.as_str())
            .collect();
        ordinary.sort_unstable();
        assert_eq!(ordinary, ["checks", "helper", "prints", "vprintf"]);
        let index = |name| {
            let named = |one: &Function| one.name == name;
            let position = module.functions.iter().position(named);
            position.expect("it is there")
        };
        assert!(calls.leads_to(&module, index("prints"), "vprintf"));
        assert!(!calls.leads_to(&module, index("checks"), "vprintf"));
        let kernel = |name| calls.kernel_of(&module, index(name));
        assert_eq!(kernel("fmt").as_deref(), Some("checks"));
        assert_eq!(kernel("lonely"), None);
    }
}
