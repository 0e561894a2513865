//! Kernels whose threads swap atomics or wait for what others write.

use std::collections::BTreeSet;

use ptx::{AtomicOperator, Function, Module, Operation, Order, Space, Symbol};

/// Whether a kernel, or a function that it may call, swaps atomics or reads what others may write meanwhile: such a kernel may go
/// wrong in very few orders of its threads.
pub(super) fn is_lock_free(module: &Module, kernel: &Function) -> bool {
    let index = module
        .functions
        .iter()
        .position(|it| it.name == kernel.name);
    let mut left: Vec<usize> = index.into_iter().collect();
    let mut seen: BTreeSet<usize> = left.iter().copied().collect();
    while let Some(function) = left.pop() {
        let Some(body) = &module.functions[function].body else {
            continue;
        };
        for instruction in &body.instructions {
            if swaps_or_waits(&instruction.operation) {
                return true;
            }
            instruction.visit_symbols(&mut |symbol| {
                if let Symbol::Function(function) = symbol
                    && seen.insert(function.0 as usize)
                {
                    left.push(function.0 as usize);
                }
            });
        }
    }
    false
}

fn swaps_or_waits(operation: &Operation) -> bool {
    match operation {
        Operation::Atom(it) => {
            matches!(
                it.operator,
                AtomicOperator::CompareAndSwap | AtomicOperator::Exchange
            )
        }
        Operation::Ld(it) => {
            let is_strong = it.order != Order::Weak;
            is_strong && matches!(it.space, Space::Global | Space::Shared | Space::Generic)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swaps_and_strong_loads_count_in_the_kernel_and_in_what_it_calls() {
        let reduce = "red.global.add.u32 [%rd1], 1;";
        let call = "call.uni helper, (%rd1);";
        for (kernel, helper, expected) in [
            (reduce, "", false),
            ("ld.global.u32 %r1, [%rd1];", "", false),
            ("atom.global.add.u32 %r1, [%rd1], 1;", "", false),
            ("atom.global.cas.b32 %r1, [%rd1], 0, 1;", "", true),
            ("atom.global.exch.b32 %r1, [%rd1], 1;", "", true),
            ("ld.volatile.global.u32 %r1, [%rd1];", "", true),
            ("ld.acquire.gpu.global.u32 %r1, [%rd1];", "", true),
            (call, reduce, false),
            (call, "atom.global.cas.b32 %r1, [%rd1], 0, 1;", true),
            // Of a function that the kernel does not call.
            (reduce, "atom.global.cas.b32 %r1, [%rd1], 0, 1;", false),
        ] {
            let registers = ".reg .b64 %rd<2>; .reg .b32 %r<2>;";
            let text = format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n\
                 .func helper(.reg .b64 %p) {{ {registers} mov.u64 %rd1, %p; {helper} ret; }}\n\
                 .visible .entry k(.param .u64 y) {{ {registers} ld.param.u64 %rd1, [y]; {kernel} ret; }}\n"
            );
            let module = ptx::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let of = module.function("k").expect("it has one");
            assert_eq!(is_lock_free(&module, of), expected, "{kernel} {helper}");
        }
    }
}
