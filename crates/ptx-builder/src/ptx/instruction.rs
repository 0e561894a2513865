//! Where the parts of an instruction lie in the text.

/// An instruction. Every part is a slice of the module's text, so that it can be replaced there.
#[derive(Clone, Debug)]
pub(crate) struct Instruction<'t> {
    /// From the guard or the opcode to the last operand, without the semicolon.
    pub(crate) text: &'t str,
    /// `@%p1`, `@!%p1`.
    pub(crate) guard: Option<&'t str>,
    /// With all its modifiers: `ld.global.v2.b32`.
    pub(crate) opcode: &'t str,
    /// Vectors and argument lists are one operand: `{%r1, %r2}`.
    pub(crate) operands: Vec<&'t str>,
}

/// Instructions whose first operand is not a result.
const WITHOUT_RESULT: &[&str] = &[
    "st",
    "red",
    "bra",
    "brx",
    "ret",
    "exit",
    "trap",
    "bar",
    "barrier",
    "membar",
    "fence",
    "cp",
    "prefetch",
    "prefetchu",
    "discard",
    "nanosleep",
    "setmaxnreg",
    "griddepcontrol",
    "stmatrix",
    "brkpt",
    "pmevent",
    "applypriority",
];

impl<'t> Instruction<'t> {
    /// Reads the text of an instruction, without its semicolon.
    pub(crate) fn parse(text: &'t str) -> Self {
        let (guard, rest) = match text.strip_prefix('@') {
            Some(_) => split_word(text),
            None => (text, text),
        };
        let guard = text.starts_with('@').then_some(guard);
        let (opcode, operands) = split_word(rest.trim_start());
        Instruction {
            text,
            guard,
            opcode,
            operands: split_operands(operands),
        }
    }

    /// The opcode without its modifiers.
    pub(crate) fn base(&self) -> &'t str {
        self.opcode.split('.').next().unwrap_or(self.opcode)
    }

    /// The registers that the instruction writes.
    pub(crate) fn results(&self) -> Vec<&'t str> {
        let (results, _) = self.results_and_sources();
        results.iter().flat_map(|one| names(one)).collect()
    }

    /// Every register or symbol that the instruction reads, each mention once.
    pub(crate) fn sources(&self) -> Vec<&'t str> {
        let (_, sources) = self.results_and_sources();
        sources.iter().flat_map(|one| names(one)).collect()
    }

    fn results_and_sources(&self) -> (&[&'t str], &[&'t str]) {
        let has_result = match self.operands.first() {
            None => false,
            Some(first) if self.base() == "call" => first.starts_with('('),
            Some(first) => !first.starts_with('[') && !WITHOUT_RESULT.contains(&self.base()),
        };
        self.operands.split_at(usize::from(has_result))
    }

    /// What a `call` calls: a function's name, or a register.
    pub(crate) fn callee(&self) -> Option<&'t str> {
        if self.base() != "call" {
            return None;
        }
        self.operands
            .iter()
            .copied()
            .find(|operand| !operand.starts_with('('))
    }
}

/// Registers and symbols in an operand. Numbers such as `0f3F800000` are none, and of `%tid.x` it
/// is `%tid`.
pub(crate) fn names(operand: &str) -> impl Iterator<Item = &str> {
    operand
        .split(|c: char| !is_name(c))
        .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
        .filter(|word| !word.is_empty() && !is_component(operand, word))
}

pub(crate) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// Whether `word` is the `x` of `%tid.x`.
fn is_component(operand: &str, word: &str) -> bool {
    let start = word.as_ptr() as usize - operand.as_ptr() as usize;
    operand[..start].ends_with('.')
}

fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], &text[end..])
}

/// Splits at the commas that stand in no bracket.
fn split_operands(text: &str) -> Vec<&str> {
    let mut operands = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                operands.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        operands.push(last);
    }
    operands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Instruction<'_> {
        Instruction::parse(text)
    }

    #[test]
    fn guard_opcode_and_operands_are_told_apart() {
        let branch = parse("@!%p1 bra \t$L__BB0_2");
        assert_eq!(branch.guard, Some("@!%p1"));
        assert_eq!((branch.opcode, branch.base()), ("bra", "bra"));
        assert_eq!(branch.operands, ["$L__BB0_2"]);
        let load = parse("ld.global.v2.b32 {%r1, %r2}, [%rd1+8]");
        assert_eq!(load.operands, ["{%r1, %r2}", "[%rd1+8]"]);
        assert!(parse("trap").operands.is_empty());
    }

    #[test]
    fn results_and_sources_are_told_apart() {
        let cases: [(&str, &[&str], &[&str]); 7] = [
            ("add.s64 %rd1, %rd1, 8", &["%rd1"], &["%rd1"]),
            ("st.b64 [%rd1+-4], %rd2", &[], &["%rd1", "%rd2"]),
            ("ld.v2.b32 {%r1, %r2}, [%rd1]", &["%r1", "%r2"], &["%rd1"]),
            ("mov.u32 %r1, %tid.x", &["%r1"], &["%tid"]),
            ("mov.b32 %r1, 0f3F800000", &["%r1"], &[]),
            (
                "call.uni (retval0), f, (param0)",
                &["retval0"],
                &["f", "param0"],
            ),
            ("prefetch.global.L2 [%rd1]", &[], &["%rd1"]),
        ];
        for (text, results, sources) in cases {
            let instruction = parse(text);
            assert_eq!(instruction.results(), results, "{text}");
            assert_eq!(instruction.sources(), sources, "{text}");
        }
    }

    #[test]
    fn the_callee_is_a_name_or_a_register() {
        assert_eq!(parse("call.uni (r), f, (a)").callee(), Some("f"));
        assert_eq!(parse("call.uni f, ()").callee(), Some("f"));
        assert_eq!(parse("call (r), %rd1, (a), proto").callee(), Some("%rd1"));
        assert_eq!(parse("bra f").callee(), None);
    }
}
