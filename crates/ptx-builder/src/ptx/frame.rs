//! What a function does with its stack frame.

use std::collections::HashSet;

use super::body::Body;
use super::instruction::{Instruction, names};

/// The instructions that use a frame, by index. Those that only take its address are none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Those that store a value in it.
    pub(crate) writes: Vec<usize>,
    /// Those that load from it, or give its address away.
    pub(crate) others: Vec<usize>,
}

impl Uses {
    /// Of the body's frame, if it has one.
    pub(crate) fn of(body: &Body<'_>) -> Option<Uses> {
        let frame = body.frame?;
        let mut addresses: HashSet<&str> = HashSet::from([frame.name, "%SP", "%SPL"]);
        loop {
            let known = addresses.len();
            let uses = Uses::through(body, &mut addresses);
            if addresses.len() == known {
                return Some(uses);
            }
        }
    }

    /// Adds to the addresses those that are made of them.
    fn through<'t>(body: &Body<'t>, addresses: &mut HashSet<&'t str>) -> Uses {
        let mut uses = Uses::default();
        for (index, instruction) in body.instructions.iter().enumerate() {
            let is_address = |operand: &&str| names(operand).any(|name| addresses.contains(name));
            let sources = instruction.sources();
            if !sources.iter().any(|name| addresses.contains(name)) {
                continue;
            }
            let results = instruction.results();
            if is_address_arithmetic(instruction) && !results.is_empty() {
                addresses.extend(results);
            } else if is_local_store(instruction)
                && !instruction.operands[1..].iter().any(is_address)
            {
                uses.writes.push(index);
            } else {
                uses.others.push(index);
            }
        }
        uses
    }
}

fn is_address_arithmetic(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.base(), "mov" | "add" | "or" | "cvta")
}

/// And not one that passes an argument.
fn is_local_store(instruction: &Instruction<'_>) -> bool {
    instruction.base() == "st" && !instruction.opcode.starts_with("st.param")
}

#[cfg(test)]
mod tests {
    use super::super::parse::Module;
    use super::*;

    fn uses(instructions: &str) -> Uses {
        let text = format!(
            ".entry k() {{ .local .align 8 .b8 __local_depot0[16]; mov.b64 %SPL, __local_depot0; \
             cvta.local.u64 %SP, %SPL; add.u64 %rd1, %SP, 0; add.u64 %rd2, %SPL, 8; {instructions} }}"
        );
        let module = Module::parse(&text).expect("PTX");
        let body = module.functions[0].body.as_ref().expect("a body");
        Uses::of(body).expect("a frame")
    }

    #[test]
    fn stores_are_told_from_what_reads_the_frame_or_gives_it_away() {
        let cases: [(&str, &[usize], &[usize]); 5] = [
            ("ret;", &[], &[]),
            (
                "st.local.b64 [%rd2], %rd9; st.b32 [%rd1+4], 1; ret;",
                &[4, 5],
                &[],
            ),
            ("st.local.b64 [%rd2], %rd1;", &[], &[4]),
            (
                "st.param.b64 [param0], %rd1; ld.local.b32 %r1, [%rd2];",
                &[],
                &[4, 5],
            ),
            // An address that is made further down, for the next turn.
            (
                "$L: ld.local.b32 %r1, [%rd5]; add.s64 %rd5, %rd2, %rd9; bra $L;",
                &[],
                &[4],
            ),
        ];
        for (instructions, writes, others) in cases {
            let found = uses(instructions);
            assert_eq!(
                (&found.writes[..], &found.others[..]),
                (writes, others),
                "{instructions}"
            );
        }
    }
}
