//! The loop that LLVM makes of each division of 128-bit numbers, one bit of the quotient per turn.
//!
//! ptx-std has a function that makes all turns at once, [`FUNCTION`]. Where a loop is LLVM's word for word, but for the names of
//! registers, it is asked before each turn. It says whether the numbers are those of a division, as LLVM's always are, and
//! the loop is left; if not, the loop makes its turn. So the result is the loop's, whatever the registers hold.

use std::collections::{HashMap, HashSet};

use ::ptx::{Instruction, Operation};

use super::edit::Edits;
use super::source::{Definition, Source};

/// Its parameters are the pairs of [`ARGUMENTS`], and it returns the bits, and a carry or [`NOT_DIVIDED`].
pub(crate) const FUNCTION: &str = "__ptx_std_divide";

/// As ptx-std's constant of this name.
const NOT_DIVIDED: u32 = 2;

/// The loop: `?` is before the names that stand for operands. `rest` takes in a bit of the dividend from `bits`, which takes
/// in a bit of the quotient, `carry`. The next one is 1 where the divisor fits.
const TURN: [&str; 20] = [
    "mov.b64 ?a ?b ?rest_high",
    "mov.b64 ?c ?d ?rest_low",
    "shf.l.wrap.b32 ?e ?d ?a 1",
    "shf.l.wrap.b32 ?f ?a ?b 1",
    "mov.b64 ?next_high ?e ?f",
    "mov.b64 ?g ?h ?bits_high",
    "shf.l.wrap.b32 ?i ?h ?c 1",
    "shf.l.wrap.b32 ?j ?c ?d 1",
    "mov.b64 ?next_low ?i ?j",
    "mov.b64 ?k ?l ?bits_low",
    "shf.l.wrap.b32 ?m ?l ?g 1",
    "shf.l.wrap.b32 ?n ?g ?h 1",
    "mov.b64 ?high ?m ?n",
    "shl.b64 ?low ?bits_low 1",
    "or.b64 ?bits_low ?carry_low ?low",
    "or.b64 ?bits_high ?carry_high ?high",
    "sub.cc.s64 ?o ?less_one_low ?next_low",
    "subc.cc.s64 ?p ?less_one_high ?next_high",
    "shr.s64 ?mask ?p 63",
    "and.b64 ?carry_low ?mask 1",
];

/// Takes the divisor of two words away, where the bit is 1.
const BY_TWO_WORDS: [&str; 4] = [
    "and.b64 ?q ?mask ?divisor_low",
    "and.b64 ?r ?mask ?divisor_high",
    "sub.cc.s64 ?rest_low ?next_low ?q",
    "subc.cc.s64 ?rest_high ?next_high ?r",
];

/// The same of a divisor of one word.
const BY_A_WORD: [&str; 3] = [
    "and.b64 ?q ?mask ?divisor_low",
    "sub.cc.s64 ?rest_low ?next_low ?q",
    "subc.cc.s64 ?rest_high ?next_high 0",
];

const COUNT: [&str; 5] = [
    "add.cc.s64 ?turns_low ?turns_low -1",
    "addc.cc.s64 ?turns_high ?turns_high -1",
    "or.b64 ?s ?turns_low ?turns_high",
    "setp.eq.b64 ?done ?s 0",
    "@! ?done bra ?label",
];

/// The loop's numbers in the order of the function's parameters: each is `_low` and `_high`.
const ARGUMENTS: [&str; 6] = ["rest", "bits", "turns", "divisor", "less_one", "carry"];

/// Names of the registers that are read behind a loop.
const RESULTS: [&str; 5] = [
    "bits_low",
    "bits_high",
    "carry_low",
    "turns_low",
    "turns_high",
];

/// A loop that divides.
struct Loop<'t> {
    /// Indices of its first and last instruction.
    first: usize,
    last: usize,
    operands: Operands<'t>,
}

/// The operands that the template's names stand for.
type Operands<'t> = HashMap<&'static str, &'t str>;

/// Has the function asked in each loop of the definition that divides, and returns how many there are.
pub(crate) fn at_once(source: &Source<'_>, definition: Definition<'_>, edits: &mut Edits) -> usize {
    let loops = loops(source, definition);
    for divides in &loops {
        let Loop {
            first,
            last,
            operands,
        } = divides;
        let instructions = &definition.body.instructions;
        let text = question(operands, *first);
        edits.insert(instructions[*first].span.start, text);
        let end = format!("\n$L__ptxstd_divided_{first}:");
        edits.insert(instructions[*last].span.end, end);
    }
    loops.len()
}

/// Declares the function for those before it in the text, which LLVM wrote last.
pub(crate) fn declare(source: &Source<'_>, edits: &mut Edits) {
    if let Some(function) = function(source) {
        let header = function.spans.span.start..function.spans.directives;
        let header = format!("\n{};", source.slice(&header));
        edits.insert(source.spans.head_end, header);
    }
}

/// Returns ptx-std's function, if the module has it.
pub(crate) fn function<'s>(source: &'s Source<'_>) -> Option<Definition<'s>> {
    source.definitions().find(|it| it.function.name == FUNCTION)
}

/// The call, and the way out of the loop that begins at this instruction.
fn question(operands: &Operands<'_>, number: usize) -> String {
    let [d, p] = ["d", "p"].map(|kind| format!("%ptxstd_{kind}{number}_"));
    let mut text = format!(".reg .b64 {d}<3>;\n\t.reg .pred {p}<1>;\n\t{{\n");
    for (place, argument) in ARGUMENTS.iter().enumerate() {
        text += &format!("\t.param .align 8 .b8 ptxstd{place}[16];\n");
        for (offset, word) in [(0, "low"), (8, "high")] {
            let name = format!("{argument}_{word}");
            let value = operands.get(name.as_str()).copied().unwrap_or("0");
            text += &format!("\tst.param.b64 [ptxstd{place}+{offset}], {value};\n");
        }
    }
    text += &format!(
        "\t.param .align 8 .b8 ptxstd_r[24];
\tcall (ptxstd_r), {FUNCTION}, (ptxstd0, ptxstd1, ptxstd2, ptxstd3, ptxstd4, ptxstd5);
\tld.param.b64 {d}0, [ptxstd_r];
\tld.param.b64 {d}1, [ptxstd_r+8];
\tld.param.b64 {d}2, [ptxstd_r+16];
\t}}
\tsetp.ne.b64 {p}0, {d}2, {NOT_DIVIDED};
"
    );
    let values = [0, 1, 2].map(|word| format!("{d}{word}"));
    let values = values.iter().map(String::as_str).chain(["0", "0"]);
    for (result, value) in RESULTS.iter().zip(values) {
        text += &format!("\t@{p}0 mov.b64 {}, {value};\n", operands[result]);
    }
    text + &format!("\t@{p}0 bra $L__ptxstd_divided_{number};\n\t")
}

fn loops<'t>(source: &Source<'t>, definition: Definition<'_>) -> Vec<Loop<'t>> {
    let body = definition.body;
    let starts: HashSet<usize> = body.labels.iter().map(|it| it.position as usize).collect();
    let at = |&first: &usize| {
        [&BY_TWO_WORDS[..], &BY_A_WORD[..]].iter().find_map(|take| {
            let lines = TURN.iter().chain(*take).chain(&COUNT);
            let last = first + TURN.len() + take.len() + COUNT.len() - 1;
            let instructions = body.instructions.get(first..=last)?;
            let operands = operands(source, instructions, lines.copied())?;
            let whole = !(first + 1..=last).any(|inner| starts.contains(&inner))
                && returns_to(definition, last, first);
            let found = Loop {
                first,
                last,
                operands,
            };
            (whole && found.is_apart(source, definition)).then_some(found)
        })
    };
    let mut ordered: Vec<usize> = starts.iter().copied().collect();
    ordered.sort_unstable();
    ordered.iter().filter_map(at).collect()
}

/// Whether the branch leads to the instruction.
fn returns_to(definition: Definition<'_>, branch: usize, first: usize) -> bool {
    match &definition.body.instructions[branch].operation {
        Operation::Branch(branch) => {
            definition.body.labels[branch.target.0 as usize].position as usize == first
        }
        _ => false,
    }
}

/// Returns what the template's names stand for, if the instructions are the template's.
fn operands<'t>(
    source: &Source<'t>,
    instructions: &[Instruction],
    template: impl Iterator<Item = &'static str>,
) -> Option<Operands<'t>> {
    let mut operands = Operands::new();
    for (instruction, line) in instructions.iter().zip(template) {
        let mut words = words(instruction.text(source.text));
        for expected in line.split(' ') {
            let word = words.next()?;
            match expected.strip_prefix('?') {
                Some(name) if *operands.entry(name).or_insert(word) != word => return None,
                Some(_) => {}
                None if word != expected => return None,
                None => {}
            }
        }
        if words.next().is_some() {
            return None;
        }
    }
    Some(operands)
}

/// Opcode, operands, and the guard's sign apart from its register.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let guard = if text.starts_with("@!") { 2 } else { 0 };
    let (guard, rest) = text.split_at(guard);
    let separators = |c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | ';');
    let rest = rest.split(separators);
    [guard]
        .into_iter()
        .chain(rest)
        .filter(|word| !word.is_empty())
}

impl Loop<'_> {
    /// Whether each register that it writes is one of its own, and only its results are read behind it.
    fn is_apart(&self, source: &Source<'_>, definition: Definition<'_>) -> bool {
        let instructions = &definition.body.instructions;
        let within = self.first..=self.last;
        let own = instructions[within.clone()].iter();
        let written: HashSet<_> = own.flat_map(|one| one.definitions()).collect();
        let mut values: Vec<&str> = Vec::new();
        let mut results = HashSet::new();
        for one in &instructions[within.clone()] {
            for mention in definition.mentions(one) {
                let name = source.slice(&mention.span);
                let register = mention.operand.register();
                if let Some(register) = register.filter(|it| written.contains(it)) {
                    if RESULTS.iter().any(|result| self.operands[result] == name) {
                        results.insert(register);
                    }
                    if !values.contains(&name) {
                        values.push(name);
                    }
                }
            }
        }
        let bound = |value: &&str| self.operands.values().filter(|it| it == &value).count() == 1;
        let others = instructions.iter().enumerate();
        let mut others = others.filter(|(index, _)| !within.contains(index));
        let leaks = others.any(|(_, one)| {
            let mut used = one.uses().into_iter();
            used.any(|register| written.contains(&register) && !results.contains(&register))
        });
        values.iter().all(bound) && !leaks
    }
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing::HEAD;
    use super::*;

    /// Returns the loop as LLVM writes it, whose subtraction `take` is that of a divisor of two words, or of one.
    fn turns(take: &[&str]) -> String {
        let lines = TURN.iter().chain(take).chain(&COUNT);
        let mut text = String::from("$L:\n");
        for line in lines {
            let mut words = line.split(' ').map(|word| match word.strip_prefix('?') {
                Some("label") => "$L".to_owned(),
                Some(name) => format!("%{name}"),
                None => word.to_owned(),
            });
            let opcode = words.next().expect("an opcode");
            let operands: Vec<String> = words.collect();
            text += &match (opcode.as_str(), &operands[..]) {
                ("@!", [guard, ..]) => format!("@!{guard} bra $L;\n"),
                ("mov.b64", [a, b, c]) if c.starts_with("%rest") || c.starts_with("%bits") => {
                    format!("mov.b64 {{{a}, {b}}}, {c};\n")
                }
                ("mov.b64", [a, b, c]) => format!("mov.b64 {a}, {{{b}, {c}}};\n"),
                (opcode, operands) => format!("{opcode} {};\n", operands.join(", ")),
            };
        }
        text
    }

    /// The text with the function asked, if there is a loop that divides.
    fn asked(body: &str) -> Option<String> {
        const WIDE: &str = "rest_low, %rest_high, %bits_low, %bits_high, %turns_low, %turns_high, %divisor_low, \
             %divisor_high, %less_one_low, %less_one_high, %carry_low, %carry_high, %next_low, %next_high, %low, %high, \
             %mask, %o, %p, %q, %r, %s, %x";
        let narrow: Vec<String> = ('a'..='n').map(|name| format!("%{name}")).collect();
        let text = format!(
            "{HEAD}.entry k() {{ .reg .pred %done; .reg .b32 {}; .reg .b64 %{WIDE};\n{body}\nret; }}",
            narrow.join(", ")
        );
        let source = Source::parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        assert!(source.is_known(), "{text}");
        let definition = source.definitions().next().expect("it is defined");
        let mut edits = Edits::default();
        (at_once(&source, definition, &mut edits) > 0).then(|| edits.apply(&text))
    }

    #[test]
    fn the_loop_is_asked_first_and_left_when_all_is_divided() {
        for (take, high) in [(&BY_TWO_WORDS[..], "%divisor_high"), (&BY_A_WORD[..], "0")] {
            let text = asked(&(turns(take) + "mov.b64 %x, %bits_low;")).expect("it divides");
            for part in [
                "st.param.b64 [ptxstd0+0], %rest_low;".to_owned(),
                format!("st.param.b64 [ptxstd3+8], {high};"),
                "mov.b64 %carry_low, %ptxstd_d0_2;".to_owned(),
                "mov.b64 %turns_high, 0;".to_owned(),
                "bra $L__ptxstd_divided_0;".to_owned(),
                "bra $L;\n$L__ptxstd_divided_0:\nmov.b64 %x".to_owned(),
            ] {
                assert!(text.contains(&part), "{part} is not in:\n{text}");
            }
            let source = Source::parse(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
            assert!(source.is_known(), "{text}");
        }
    }

    #[test]
    fn any_other_loop_stays() {
        let divides = turns(&BY_TWO_WORDS);
        for (part, other) in [
            ("shl.b64 %low, %bits_low, 1", "shl.b64 %low, %bits_low, 2"),
            (
                "and.b64 %carry_low, %mask, 1",
                "and.b64 %carry_low, %mask, 3",
            ),
            (
                "sub.cc.s64 %rest_low, %next_low, %q",
                "sub.cc.s64 %rest_low, %next_low, %r",
            ),
            ("shr.s64 %mask, %p, 63", "shr.u64 %mask, %p, 63"),
            ("setp.eq.b64 %done, %s, 0", "$M: setp.eq.b64 %done, %s, 0"),
            ("@!%done bra $L", "@%done bra $L"),
            ("$L:", "$L: add.s64 %x, %x, 1;"),
            // One register for two numbers.
            ("%less_one_high", "%bits_high"),
            ("%carry_high", "%rest_high"),
        ] {
            assert!(divides.contains(part), "{part}");
            assert_eq!(asked(&divides.replace(part, other)), None, "{other}");
        }
        // What only the turns leave is read.
        for left in ["%rest_low", "%next_high", "%mask"] {
            assert_eq!(
                asked(&format!("{divides}mov.b64 %x, {left};")),
                None,
                "{left}"
            );
        }
    }
}
