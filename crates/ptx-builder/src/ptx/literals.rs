//! Literals of `f64` in loops.
//!
//! An instruction holds the upper half of one. For any other `ptxas` makes two moves of 32 bits, and makes them again in each round of
//! a loop: as many instructions as `exp` has besides. What is read from constant memory it reads before the loop, into the
//! registers that a warp shares, or leaves to the instruction. So the literals of fused multiply-adds in loops go there.

use std::collections::BTreeMap;

use ::ptx::{Instruction, Operand, Operation, Space, Span, Type};

use super::edit::Edits;
use super::flow::Flow;
use super::source::{Definition, Source};

/// How many a function has in its loops at least: a few cost little.
const LEAST: usize = 4;

/// The table in constant memory.
const TABLE: &str = "__ptxstd_literals";

/// Bytes of the table at most: a quarter of constant memory, half of which is left to the module's own constants.
const GREATEST: usize = 16 << 10;
const GREATEST_OF_OTHERS: u64 = 32 << 10;

/// The module's literals, each with its place in the table.
#[derive(Debug, Default)]
pub(crate) struct Literals(BTreeMap<u64, usize>);

/// A literal in an instruction.
struct Use {
    /// Where the instruction begins.
    at: u32,
    literal: Span,
    bits: u64,
}

/// Whether constant memory has room for a table.
pub(crate) fn have_room(source: &Source<'_>) -> bool {
    let variables = source.module.variables.iter();
    let constants = variables
        .filter(|it| it.space == Space::Const || it.name.starts_with(super::rewrite::CONSTANT));
    constants.map(|it| it.bytes).sum::<u64>() <= GREATEST_OF_OTHERS
}

impl Literals {
    /// Has the function's loops read their literals from the table, if they have enough of them. Not where tensor cores take the
    /// registers: there `ptxas` would keep others in local memory for what it reads before the loop.
    pub(crate) fn read(
        &mut self,
        source: &Source<'_>,
        definition: Definition<'_>,
        edits: &mut Edits,
    ) {
        if multiplies_matrices(source, definition) {
            return;
        }
        let uses = uses_in_loops(definition);
        let mut registers = BTreeMap::new();
        for one in &uses {
            let next = registers.len();
            registers.entry(one.bits).or_insert(next);
        }
        let count = registers.len();
        let fits = 8 * (self.0.len() + count) <= GREATEST;
        let Some(body) = definition
            .spans
            .body
            .as_ref()
            .filter(|_| count >= LEAST && fits)
        else {
            return;
        };
        edits.insert(body.start + 1, format!("\n\t.reg .b64 %ptxstd_l<{count}>;"));
        for Use { at, literal, bits } in uses {
            let next = self.0.len();
            let place = 8 * *self.0.entry(bits).or_insert(next);
            let register = format!("%ptxstd_l{}", registers[&bits]);
            edits.insert(
                at,
                format!("ld.const.b64 {register}, [{TABLE}+{place}];\n\t"),
            );
            edits.replace(literal, register);
        }
    }

    /// Declares the table, and returns whether there is one.
    pub(crate) fn declare(&self, source: &Source<'_>, edits: &mut Edits) -> bool {
        let mut ordered = vec![0; self.0.len()];
        for (&bits, &place) in &self.0 {
            ordered[place] = bits;
        }
        let values: Vec<String> = ordered.iter().map(|bits| format!("{bits:#018x}")).collect();
        if !values.is_empty() {
            let (count, values) = (values.len(), values.join(", "));
            let table = format!("\n.const .align 8 .b64 {TABLE}[{count}] = {{{values}}};");
            edits.insert(source.spans.head_end, table);
        }
        !values.is_empty()
    }
}

fn uses_in_loops(definition: Definition<'_>) -> Vec<Use> {
    let body = definition.body;
    let mut candidates = body
        .instructions
        .iter()
        .enumerate()
        .filter(|(_, it)| is_fused(it));
    if candidates.clone().nth(LEAST - 1).is_none() {
        return Vec::new();
    }
    let flow = Flow::new(body, |_| false);
    let mut loops = BTreeMap::new();
    let mut uses = Vec::new();
    for (index, instruction) in &mut candidates {
        let block = flow.block_of(index);
        if !*loops.entry(block).or_insert_with(|| flow.is_in_loop(block)) {
            continue;
        }
        for mention in definition.mentions(instruction) {
            if let Operand::Immediate(bits) = mention.operand
                && bits as u32 != 0
            {
                uses.push(Use {
                    at: instruction.span.start,
                    literal: mention.span.clone(),
                    bits,
                });
            }
        }
    }
    uses
}

fn multiplies_matrices(source: &Source<'_>, definition: Definition<'_>) -> bool {
    let opcodes = definition.body.instructions.iter();
    let mut opcodes = opcodes.map(|it| it.text(source.text));
    opcodes.any(|opcode| opcode.starts_with("mma.") || opcode.starts_with("wgmma."))
}

fn is_fused(instruction: &Instruction) -> bool {
    matches!(&instruction.operation, Operation::Fma(fma) if fma.ty == Type::F64)
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing::HEAD;
    use super::*;

    /// The text with its literals in the table, if any are.
    fn moved(instructions: &str) -> Option<String> {
        moved_beside("", instructions)
    }

    /// The same of a module with such variables.
    fn moved_beside(variables: &str, instructions: &str) -> Option<String> {
        let text = format!(
            "{HEAD}{variables}.entry k() {{ .reg .pred %p; .reg .b64 %x, %y;\n$L:\n{instructions}\nret; }}"
        );
        let source = Source::parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        let definition = source.definitions().next().expect("it is defined");
        let (mut literals, mut edits) = (Literals::default(), Edits::default());
        if have_room(&source) {
            literals.read(&source, definition, &mut edits);
        }
        literals
            .declare(&source, &mut edits)
            .then(|| edits.apply(&text))
    }

    fn fused(literals: &[&str]) -> String {
        let one = |literal: &&str| format!("fma.rn.f64 %x, %y, %x, {literal};\n");
        literals.iter().map(one).collect()
    }

    const FOUR: [&str; 5] = [
        "0d3FF0000000000001",
        "0d3FF0000000000002",
        "0d3FF0000000000003",
        "0d3FF0000000000001",
        "0d3FF0000000000004",
    ];

    #[test]
    fn literals_in_a_loop_are_read_each_once_from_the_table() {
        let text = moved(&(fused(&FOUR) + "@%p bra $L;")).expect("they are moved");
        for part in [
            ".const .align 8 .b64 __ptxstd_literals[4] = {0x3ff0000000000001, 0x3ff0000000000002,",
            "{\n\t.reg .b64 %ptxstd_l<4>;",
            "ld.const.b64 %ptxstd_l0, [__ptxstd_literals+0];\n\tfma.rn.f64 %x, %y, %x, %ptxstd_l0;",
            "ld.const.b64 %ptxstd_l3, [__ptxstd_literals+24];\n\tfma.rn.f64 %x, %y, %x, %ptxstd_l3;",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
        let source = Source::parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        assert!(source.is_known(), "{text}");
    }

    #[test]
    fn few_literals_short_ones_and_those_of_no_loop_stay() {
        assert_eq!(moved(&(fused(&FOUR[..4]) + "@%p bra $L;")), None, "three");
        let short = [
            "0d3FF0000000000000",
            "0d4000000000000000",
            "0d4010000000000000",
        ];
        let many = fused(&short) + &fused(&FOUR[..3]) + "@%p bra $L;";
        assert_eq!(moved(&many), None, "three that are long");
        assert_eq!(moved(&fused(&FOUR)), None, "no loop");
        let matrices =
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%x, %y}, {%x}, {%y}, {%x, %y};\n";
        assert_eq!(
            moved(&(matrices.to_owned() + &fused(&FOUR) + "@%p bra $L;")),
            None,
            "matrices"
        );
    }

    #[test]
    fn the_table_leaves_constant_memory_to_the_modules_own() {
        let long = fused(&FOUR) + "@%p bra $L;";
        let moved = |variables| moved_beside(variables, &long).is_some();
        assert!(moved(".const .b8 own[32768];\n"));
        assert!(!moved(".const .b8 own[32769];\n"));
        assert!(!moved(".visible .global .b8 __constant__OWN[40000];\n"));
        let many: Vec<String> = (1..=2049).map(|it| format!("0d{it:016X}")).collect();
        let fused = |many: &[String]| {
            let all: Vec<&str> = many.iter().map(String::as_str).collect();
            self::fused(&all) + "@%p bra $L;"
        };
        assert!(super::tests::moved(&fused(&many[1..])).is_some());
        assert!(super::tests::moved(&fused(&many)).is_none());
    }
}
