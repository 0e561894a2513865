//! Which function calls which, and which kernel a function works for.

use std::collections::{HashMap, HashSet};

use super::flow::Flow;
use super::instruction::Instruction;
use super::parse::{Function, Kind, Module};

/// The functions of a module that have a body, with their control flow and their calls.
#[derive(Debug)]
pub(crate) struct Calls {
    flows: Vec<Option<Flow>>,
    /// By function index: what it calls, and whether it then goes on.
    callees: Vec<Vec<Callee>>,
    /// Functions from which a panic is the way out.
    never_returns: HashSet<String>,
}

#[derive(Clone, Copy, Debug)]
struct Callee {
    function: usize,
    in_panic: bool,
}

impl Calls {
    pub(crate) fn new(module: &Module<'_>) -> Self {
        let mut never_returns: HashSet<String> = module
            .functions
            .iter()
            .filter(|function| function.is_noreturn())
            .map(|function| function.name.to_owned())
            .collect();
        let flow = |function: &Function<'_>, never_returns: &HashSet<String>| {
            let is_panic = |instruction: &Instruction<'_>| {
                let callee = instruction.callee();
                instruction.base() == "trap"
                    || callee.is_some_and(|name| never_returns.contains(name))
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
            never_returns.extend(found.iter().cloned());
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

    /// Whether a call of the function is a panic.
    pub(crate) fn never_returns(&self, function: &str) -> bool {
        self.never_returns.contains(function)
    }

    pub(crate) fn flow(&self, function: usize) -> Option<&Flow> {
        self.flows[function].as_ref()
    }

    /// The functions that run when no kernel panics: entries, and what they call on the way, but
    /// for those that are passed over and what only they call.
    pub(crate) fn ordinary(
        &self,
        module: &Module<'_>,
        pass_over: impl Fn(usize) -> bool,
    ) -> HashSet<usize> {
        let entries = indices(module, |function| function.kind == Kind::Entry);
        self.reach(entries, |callee| {
            !callee.in_panic && !pass_over(callee.function)
        })
    }

    /// Whether the function, or one that it calls in turn, calls `name`.
    pub(crate) fn leads_to(&self, module: &Module<'_>, function: usize, name: &str) -> bool {
        self.reach(vec![function], |_| true)
            .iter()
            .any(|&reached| module.functions[reached].name == name)
    }

    /// The name of the first kernel that calls the function, itself or through others.
    pub(crate) fn kernel_of(&self, module: &Module<'_>, function: usize) -> Option<String> {
        indices(module, |one| one.kind == Kind::Entry)
            .into_iter()
            .find(|&entry| self.reach(vec![entry], |_| true).contains(&function))
            .map(|entry| module.functions[entry].name.to_owned())
    }

    fn reach(&self, mut open: Vec<usize>, follow: impl Fn(&Callee) -> bool) -> HashSet<usize> {
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

fn indices(module: &Module<'_>, which: impl Fn(&Function<'_>) -> bool) -> Vec<usize> {
    (0..module.functions.len())
        .filter(|&index| which(&module.functions[index]))
        .collect()
}

/// The functions that have no way back to their callers and one to a panic, but for those known.
fn without_return(
    module: &Module<'_>,
    flows: &[Option<Flow>],
    known: &HashSet<String>,
) -> HashSet<String> {
    let functions = module.functions.iter().zip(flows);
    functions
        .filter(|(function, flow)| {
            let (Some(body), Some(flow)) = (&function.body, flow) else {
                return false;
            };
            let mut instructions = body.instructions.iter();
            let ends = !instructions.any(|one| one.base() == "ret");
            let panics = flow.blocks.iter().any(|block| block.panics);
            function.kind == Kind::Function && ends && panics && !known.contains(function.name)
        })
        .map(|(function, _)| function.name.to_owned())
        .collect()
}

fn calls_one_of(function: &Function<'_>, names: &HashSet<String>) -> bool {
    let instructions = function.body.iter().flat_map(|body| &body.instructions);
    instructions
        .filter_map(|instruction| instruction.callee())
        .any(|callee| names.contains(callee))
}

/// A function whose address is taken counts as called: an indirect call may follow.
fn callees(module: &Module<'_>, flows: &[Option<Flow>]) -> Vec<Vec<Callee>> {
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (index, function) in module.functions.iter().enumerate() {
        // A declaration stands before its definition, which takes its place.
        by_name.insert(function.name, index);
    }
    let of = |function: &Function<'_>, flow: &Option<Flow>| -> Option<Vec<Callee>> {
        let (body, flow) = (function.body.as_ref()?, flow.as_ref()?);
        let instructions = body.instructions.iter().enumerate();
        let callees = instructions.flat_map(|(index, instruction)| {
            let in_panic = flow.panics_at(index);
            let sources = instruction.sources().into_iter();
            sources
                .filter_map(|name| by_name.get(name))
                .map(move |&function| Callee { function, in_panic })
                .collect::<Vec<_>>()
        });
        Some(callees.collect())
    };
    let functions = module.functions.iter().zip(flows);
    functions
        .map(|(function, flow)| of(function, flow).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
.func panics() .noreturn { call.uni fmt, (); trap; }
.func fmt() { ret; }
.func helper() { call.uni vprintf, (); ret; }
.extern .func vprintf;
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
        let module = Module::parse(&text).expect("PTX");
        let calls = Calls::new(&module);
        for name in ["panics", "outer"] {
            assert!(calls.never_returns(name), "{name}");
        }
        for name in ["fmt", "helper", "vprintf", "prints", "spins"] {
            assert!(!calls.never_returns(name), "{name}");
        }
    }

    #[test]
    fn what_only_a_panic_runs_is_not_ordinary() {
        let module = Module::parse(TEXT).expect("PTX");
        let calls = Calls::new(&module);
        let mut ordinary: Vec<_> = calls
            .ordinary(&module, |_| false)
            .into_iter()
            .map(|index| module.functions[index].name)
            .collect();
        ordinary.sort_unstable();
        assert_eq!(ordinary, ["checks", "helper", "prints", "vprintf"]);
        let index = |name| {
            let named = |one: &Function<'_>| one.name == name;
            module
                .functions
                .iter()
                .position(named)
                .expect("it is there")
        };
        assert!(calls.leads_to(&module, index("prints"), "vprintf"));
        assert!(!calls.leads_to(&module, index("checks"), "vprintf"));
        let kernel = |name| calls.kernel_of(&module, index(name));
        assert_eq!(kernel("fmt").as_deref(), Some("checks"));
        assert_eq!(kernel("lonely"), None);
    }
}
