//! Panics that cost a kernel next to nothing.
//!
//! What a panic does ends in ptx-std's handler, which leaves a record for the host. A call costs a kernel
//! the registers that calls are passed in, so here the handler, and the functions of `core` that lead
//! to it, are put at the end of each function that panics, and the calls become branches. Of those
//! functions nothing ever returns.
//!
//! The record says the place by its address. The host cannot read the device's memory after a panic, so
//! the places of a module are put side by side, and their texts into a table that the host reads when it
//! loads the module.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::body::Body;
use super::calls::Calls;
use super::edit::{Edits, position};
use super::frame::Uses;
use super::instruction::{Instruction, is_name};
use super::lints::readable;
use super::parse::{Function, Kind, Module, ParseError, Variable};

/// The address of the record, and whether a thread has panicked.
const RECORD: &str = "__ptx_std_panic";
const DECLARE_RECORD: &str = "\n.visible .global .align 8 .b8 __ptx_std_panic[16];";

/// Stands for the number of the kind in ptx-std's handler.
const KIND: &str = "__ptx_std_panic_kind";
const KIND_REGISTER: &str = "%ptxstd_kind";

/// The places, [`WORDS`] words each.
const PLACES: &str = "__ptx_std_panic_places";
const WORDS: usize = 3;

/// The number of places; each of them as text; the kinds, from 1 on. A line each.
const TEXTS: &str = "__ptx_std_panic_texts";

/// What the functions say that the compiler calls. The rest is known by its place alone.
const KINDS: &[(&str, &str)] = &[
    ("core::panicking::panic_bounds_check", "index out of bounds"),
    ("core::slice::index::", "range out of the slice's bounds"),
    (
        "core::str::slice_error_fail",
        "range out of the string's bounds",
    ),
    (
        "core::option::unwrap_failed",
        "called `Option::unwrap()` on a `None` value",
    ),
    (
        "core::option::expect_failed",
        "called `Option::expect()` on a `None` value",
    ),
    (
        "core::result::unwrap_failed",
        "called `Result::unwrap()` on an `Err` value",
    ),
    (
        "core::panicking::assert_failed",
        "an assertion about two values failed",
    ),
    (
        "core::panicking::panic_const::panic_const_add_overflow",
        "attempt to add with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_sub_overflow",
        "attempt to subtract with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_mul_overflow",
        "attempt to multiply with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_div_overflow",
        "attempt to divide with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_rem_overflow",
        "attempt to take the remainder with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_neg_overflow",
        "attempt to negate with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_shl_overflow",
        "attempt to shift left with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_shr_overflow",
        "attempt to shift right with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_div_by_zero",
        "attempt to divide by zero",
    ),
    (
        "core::panicking::panic_const::panic_const_rem_by_zero",
        "attempt to take the remainder with a divisor of zero",
    ),
    (
        "core::cell::panic_already",
        "a `RefCell` is already borrowed",
    ),
    (
        "alloc::alloc::handle_alloc_error",
        "the device's heap has no more memory",
    ),
    ("alloc::raw_vec::", "too large for a vector"),
];

/// Whether [`rewrite`] defines the symbol, or writes something else in its place.
pub(crate) fn is_defined_later(symbol: &str) -> bool {
    symbol == RECORD || symbol == KIND
}

/// Takes the panics into the functions that panic, and declares what they use. A module without ptx-std's
/// record stays as it is.
///
/// # Errors
/// As [`Module::parse`].
pub(crate) fn rewrite(text: &str) -> Result<String, ParseError> {
    if !text.contains(RECORD) {
        return Ok(text.to_owned());
    }
    let text = gather_places(&Module::parse(text)?);
    Ok(inline(&Module::parse(&text)?))
}

/// Puts the places side by side and adds the table of their texts.
fn gather_places(module: &Module<'_>) -> String {
    let places = places(module);
    let mut edits = Edits::default();
    edits.insert(module.head_end, DECLARE_RECORD);
    let numbers: HashMap<&str, usize> = places
        .iter()
        .enumerate()
        .map(|(number, place)| (place.variable.name, number))
        .collect();
    for (number, place) in places.iter().enumerate() {
        let declaration = with_semicolon(position(module.text, place.variable.text));
        let all = match number + 1 == places.len() {
            true => declare_places(&places),
            false => String::new(),
        };
        edits.replace(declaration, all);
    }
    for instruction in bodies(module).flat_map(|body| &body.instructions) {
        for name in instruction.sources() {
            if let Some(number) = numbers.get(name) {
                let offset = number * WORDS * size_of::<u64>();
                edits.replace(position(module.text, name), format!("{PLACES}+{offset}"));
            }
        }
    }
    edits.apply(module.text)
}

fn with_semicolon(statement: Range<usize>) -> Range<usize> {
    statement.start..statement.end + 1
}

/// A `core::panic::Location`.
struct PanicPlace<'t> {
    variable: &'t Variable<'t>,
    /// What the variable holds.
    words: &'t str,
    text: String,
}

/// The places of the module that nothing but instructions names, each by itself.
fn places<'t>(module: &'t Module<'t>) -> Vec<PanicPlace<'t>> {
    let texts: HashMap<&str, &str> = module
        .variables
        .iter()
        .map(|variable| (variable.name, variable.text))
        .collect();
    let mut taken: HashSet<&str> = HashSet::new();
    for variable in &module.variables {
        if let Some((_, value)) = variable.text.split_once('=') {
            taken.extend(value.split(|c: char| !is_name(c)));
        }
    }
    // `[NAME+16]`, which would need a sum.
    let instructions = bodies(module).flat_map(|body| &body.instructions);
    for instruction in instructions.filter(|one| one.base() != "mov") {
        taken.extend(instruction.sources());
    }
    let variables = module.variables.iter();
    variables
        .filter(|variable| !taken.contains(variable.name))
        .filter_map(|variable| place(variable, &texts))
        .collect()
}

/// `.global .align 8 .u64 NAME[3] = {generic(FILE), 10, 51539607559}`
fn place<'t>(variable: &'t Variable<'t>, texts: &HashMap<&str, &str>) -> Option<PanicPlace<'t>> {
    let (declarator, value) = variable.text.split_once('=')?;
    let of_words = declarator.starts_with(".global .align 8 .u64 ");
    if !of_words || !declarator.trim_end().ends_with("[3]") {
        return None;
    }
    let words = value.trim().strip_prefix('{')?.strip_suffix('}')?;
    let (file, rest) = words.strip_prefix("generic(")?.split_once("),")?;
    let (len, line_and_column) = rest.split_once(',')?;
    let len: usize = len.trim().parse().ok()?;
    let line_and_column: u64 = line_and_column.trim().parse().ok()?;
    let (_, bytes) = texts.get(file)?.split_once('=')?;
    let bytes = bytes.trim().strip_prefix('{')?.strip_suffix('}')?;
    let bytes: Vec<u8> = bytes
        .split(',')
        .map(|byte| byte.trim().parse().ok())
        .collect::<Option<_>>()?;
    let file = std::str::from_utf8(bytes.get(..len)?).ok()?;
    let (line, column) = (line_and_column as u32, line_and_column >> u32::BITS);
    let is_place = !file.contains('\n') && line > 0 && column > 0;
    is_place.then(|| PanicPlace {
        variable,
        words,
        text: format!("{file}:{line}:{column}"),
    })
}

fn declare_places(places: &[PanicPlace<'_>]) -> String {
    let words: Vec<&str> = places.iter().map(|place| place.words).collect();
    let mut text = format!("{}\n", places.len());
    for place in places {
        text += &place.text;
        text.push('\n');
    }
    for (_, kind) in KINDS {
        text += kind;
        text.push('\n');
    }
    format!(
        ".visible .global .align 8 .u64 {PLACES}[{}] = {{{}}};\n{}",
        words.len() * WORDS,
        words.join(", "),
        declare_bytes(TEXTS, &text),
    )
}

fn declare_bytes(name: &str, text: &str) -> String {
    let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
    let (len, bytes) = (bytes.len(), bytes.join(","));
    format!(".visible .global .align 1 .b8 {name}[{len}] = {{{bytes}}};")
}

fn bodies<'m, 't>(module: &'m Module<'t>) -> impl Iterator<Item = &'m Body<'t>> {
    module.functions.iter().filter_map(|one| one.body.as_ref())
}

/// Puts what a panic does at the end of each function that panics.
fn inline(module: &Module<'_>) -> String {
    let inlining = Inlining::new(module);
    let mut edits = Edits::default();
    for (index, function) in module.functions.iter().enumerate() {
        if inlining.goes(function) {
            edits.replace(extent(module, function), "");
        } else {
            inlining.take_into(index, &mut edits);
        }
    }
    edits.apply(module.text)
}

/// From the first word of a function, or of its declaration, to its end.
fn extent(module: &Module<'_>, function: &Function<'_>) -> Range<usize> {
    let end = match &function.body {
        Some(body) => body.end,
        None => module.text[function.attributes_at..]
            .find(';')
            .map_or(module.text.len(), |at| function.attributes_at + at + 1),
    };
    position(module.text, function.linkage).start..end
}

struct Inlining<'m, 't> {
    module: &'m Module<'t>,
    /// The functions that can be put into others, by name.
    panics: BTreeMap<&'t str, Panic<'m, 't>>,
    /// Names that stand elsewhere than in a call that is replaced.
    mentioned: HashSet<&'t str>,
}

/// A function that leads to the record and from which nothing returns.
struct Panic<'m, 't> {
    number: usize,
    function: &'m Function<'t>,
    body: &'m Body<'t>,
    /// By number, the width of each parameter that it reads.
    parameters: BTreeMap<usize, &'t str>,
}

impl<'m, 't> Inlining<'m, 't> {
    fn new(module: &'m Module<'t>) -> Self {
        let calls = Calls::new(module);
        let mut panics: BTreeMap<&str, Panic<'_, '_>> = BTreeMap::new();
        for (number, function) in module.functions.iter().enumerate() {
            if let Some(body) = &function.body
                && calls.never_returns(function.name)
                && let Some(parameters) = plain_parameters(function)
            {
                let panic = Panic {
                    number,
                    function,
                    body,
                    parameters,
                };
                panics.insert(function.name, panic);
            }
        }
        // A function that calls another stays one.
        loop {
            let fits = |panic: &Panic<'_, '_>| {
                let mut instructions = panic.body.instructions.iter();
                instructions.all(|one| match one.callee() {
                    Some(callee) => callee != panic.function.name && panics.contains_key(callee),
                    None => true,
                })
            };
            let Some(other) = panics.values().find(|panic| !fits(panic)) else {
                break;
            };
            let name = other.function.name;
            panics.remove(name);
        }
        let records = recording(&panics);
        panics.retain(|name, _| records.contains(name));
        let mentioned = mentioned(module, &panics);
        Inlining {
            module,
            panics,
            mentioned,
        }
    }

    /// Whether nothing needs the function any longer.
    fn goes(&self, function: &Function<'_>) -> bool {
        let is_private = !["visible", "weak", "extern"]
            .iter()
            .any(|word| function.linkage.contains(word));
        is_private
            && self.panics.contains_key(function.name)
            && !self.mentioned.contains(function.name)
    }

    /// Puts the panics that the function calls at its end.
    fn take_into(&self, index: usize, edits: &mut Edits) {
        let Some(body) = &self.module.functions[index].body else {
            return;
        };
        let mut needed = BTreeSet::new();
        let unread = self.branch(body, true, &mut needed, edits);
        self.drop_frame(body, &unread, edits);
        let mut open: Vec<&str> = needed.iter().copied().collect();
        while let Some(name) = open.pop() {
            let instructions = self.panics[name].body.instructions.iter();
            let callees = instructions.filter_map(Instruction::callee);
            for panic in callees.filter_map(|callee| self.panics.get(callee)) {
                if needed.insert(panic.function.name) {
                    open.push(panic.function.name);
                }
            }
        }
        // The handler may stand as a function, too.
        replace_kind(self.module, body, "0", edits);
        if needed.is_empty() {
            return;
        }
        let mut registers = format!("\n\t.reg .b32 \t{KIND_REGISTER};");
        let mut bodies = String::new();
        for name in needed {
            let panic = &self.panics[name];
            for (parameter, width) in &panic.parameters {
                registers += &format!("\n\t.reg .{width} \t{};", panic.register(*parameter));
            }
            bodies += &format!("{}:\n{}\n", panic.label(), self.text_of(panic));
        }
        edits.insert(body.start, registers);
        edits.insert(body.end - 1, bodies);
    }

    /// The body, for another function.
    fn text_of(&self, panic: &Panic<'_, '_>) -> String {
        let module = self.module;
        let mut edits = Edits::default();
        self.branch(panic.body, false, &mut BTreeSet::new(), &mut edits);
        replace_kind(module, panic.body, KIND_REGISTER, &mut edits);
        for instruction in &panic.body.instructions {
            if let Some((parameter, width)) = parameter_read(panic.function, instruction) {
                let (result, from) = (instruction.operands[0], panic.register(parameter));
                let copy = format!("mov.{width} \t{result}, {from}");
                edits.replace(position(module.text, instruction.text), copy);
            }
        }
        let whole = panic.body.start - 1..panic.body.end;
        edits.apply_within(module.text, whole)
    }

    /// Leaves out a frame that held only what a panic's message would have said.
    fn drop_frame(&self, body: &Body<'t>, unread: &[&str], edits: &mut Edits) {
        let (Some(frame), Some(uses)) = (body.frame, Uses::of(body)) else {
            return;
        };
        let is_unread = |index: &usize| {
            let text = body.instructions[*index].text;
            unread.iter().any(|one| one.as_ptr() == text.as_ptr())
        };
        if unread.is_empty() || !uses.others.iter().all(is_unread) {
            return;
        }
        let text = self.module.text;
        let stores = uses
            .writes
            .iter()
            .map(|&index| body.instructions[index].text);
        for statement in stores.chain([frame.declaration]) {
            edits.replace(with_semicolon(position(text, statement)), "");
        }
        for name in body.instructions.iter().flat_map(Instruction::sources) {
            if name == frame.name {
                edits.replace(position(text, name), "0");
            }
        }
    }

    /// Makes branches of the calls, and returns the instructions that passed what nothing reads.
    /// `says_kind` is set where it is the function's own panic.
    fn branch(
        &self,
        body: &Body<'t>,
        says_kind: bool,
        needed: &mut BTreeSet<&'t str>,
        edits: &mut Edits,
    ) -> Vec<&'t str> {
        let mut unread = Vec::new();
        for (index, instruction) in body.instructions.iter().enumerate() {
            let called = instruction.callee().and_then(|name| self.panics.get(name));
            let Some(panic) = called else { continue };
            needed.insert(panic.function.name);
            unread.extend(self.pass_arguments(panic, &body.instructions[..=index], edits));
            let kind = match says_kind {
                true => format!(
                    "mov.b32 \t{KIND_REGISTER}, {};\n\t",
                    kind(panic.function.name)
                ),
                false => String::new(),
            };
            let branch = format!("{kind}bra.uni \t{}", panic.label());
            edits.replace(position(self.module.text, instruction.text), branch);
        }
        unread
    }

    /// Makes copies of what passes the arguments to the call, the last of the instructions. Returns those
    /// that pass what nothing reads.
    fn pass_arguments(
        &self,
        panic: &Panic<'_, '_>,
        instructions: &[Instruction<'t>],
        edits: &mut Edits,
    ) -> Vec<&'t str> {
        let text = self.module.text;
        let mut unread = Vec::new();
        let Some((call, before)) = instructions.split_last() else {
            return unread;
        };
        let list = call.operands.last().copied().unwrap_or_default();
        let arguments: Vec<&str> = list
            .trim_matches(['(', ')'])
            .split(',')
            .map(str::trim)
            .collect();
        let begin = text[..position(text, call.text).start]
            .rfind('{')
            .unwrap_or(0);
        let own = before
            .iter()
            .rev()
            .take_while(|one| position(text, one.text).start > begin);
        for pass in own.filter(|one| one.opcode.starts_with("st.param")) {
            let name = pass.operands[0].trim_matches(['[', ']']);
            let number = arguments.iter().position(|argument| *argument == name);
            let read = number.and_then(|number| Some((number, panic.parameters.get(&number)?)));
            let statement = position(text, pass.text);
            match read {
                Some((number, width)) => {
                    let (to, value) = (panic.register(number), pass.operands[1]);
                    edits.replace(statement, format!("mov.{width} \t{to}, {value}"));
                }
                None => {
                    unread.push(pass.text);
                    edits.replace(with_semicolon(statement), "");
                }
            }
        }
        unread
    }
}

impl Panic<'_, '_> {
    fn label(&self) -> String {
        format!("$ptxstd_panic_{}", self.number)
    }

    fn register(&self, parameter: usize) -> String {
        format!("%ptxstd_panic_{}_{parameter}", self.number)
    }
}

/// The parameters that the function reads, if it does no more with them and each is a register wide.
fn plain_parameters<'t>(function: &Function<'t>) -> Option<BTreeMap<usize, &'t str>> {
    let body = function.body.as_ref()?;
    let returns = function.linkage.contains('(');
    if function.kind == Kind::Entry || returns || body.frame.is_some() {
        return None;
    }
    let mut parameters = BTreeMap::new();
    for instruction in &body.instructions {
        let mut sources = instruction.sources().into_iter();
        if sources.any(|name| function.has_parameter(name)) {
            let (number, width) = parameter_read(function, instruction)?;
            parameters.insert(number, width);
        }
    }
    Some(parameters)
}

/// The number and the width of the parameter that the instruction loads.
fn parameter_read<'t>(
    function: &Function<'t>,
    instruction: &Instruction<'t>,
) -> Option<(usize, &'t str)> {
    let width = instruction.opcode.strip_prefix("ld.param.")?;
    let name = instruction
        .operands
        .get(1)?
        .strip_prefix('[')?
        .strip_suffix(']')?;
    let number = function.parameters.iter().position(|parameter| {
        let declared = parameter.split_whitespace().last();
        declared == Some(name)
    })?;
    matches!(width, "b32" | "b64").then_some((number, width))
}

/// Of the functions, those that lead to the record.
fn recording<'t>(panics: &BTreeMap<&'t str, Panic<'_, 't>>) -> HashSet<&'t str> {
    let mut recording = HashSet::new();
    loop {
        let before = recording.len();
        for (&name, panic) in panics {
            let leads = panic.body.instructions.iter().any(|one| {
                let mut sources = one.sources().into_iter();
                sources.any(|source| source == RECORD || recording.contains(source))
            });
            if leads {
                recording.insert(name);
            }
        }
        if recording.len() == before {
            return recording;
        }
    }
}

/// Names in variables, and in instructions but for calls of the panics.
fn mentioned<'t>(
    module: &Module<'t>,
    panics: &BTreeMap<&'t str, Panic<'_, 't>>,
) -> HashSet<&'t str> {
    let values = module.variables.iter().filter_map(|variable| {
        let (_, value) = variable.text.split_once('=')?;
        Some(value.split(|c: char| !is_name(c)))
    });
    let mut mentioned: HashSet<&str> = values.flatten().collect();
    for instruction in bodies(module).flat_map(|body| &body.instructions) {
        let callee = instruction
            .callee()
            .filter(|name| panics.contains_key(name));
        let sources = instruction.sources().into_iter();
        mentioned.extend(sources.filter(|name| Some(*name) != callee));
    }
    mentioned
}

fn replace_kind(module: &Module<'_>, body: &Body<'_>, with: &str, edits: &mut Edits) {
    for instruction in &body.instructions {
        for name in instruction
            .sources()
            .into_iter()
            .filter(|name| *name == KIND)
        {
            edits.replace(position(module.text, name), with);
        }
    }
}

/// The number of the kind, from 1 on, or 0.
fn kind(function: &str) -> usize {
    let name = readable(function);
    let known = KINDS.iter().position(|(start, _)| name.starts_with(start));
    known.map_or(0, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "_RNvNtCs_4core9panicking18panic_bounds_check";

    /// A kernel with two checks, as LLVM writes it, and the functions that its panics go through. `call` is
    /// at the end of the kernel, and `more` after all.
    fn module(call: &str, more: &str) -> String {
        format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n\
.func {INDEX}(.param .b64 i_0, .param .b64 i_1, .param .b64 i_2);
.func handler(.param .b64 h_0);
.global .align 1 .b8 FILE[11] = {{115, 114, 99, 47, 108, 105, 98, 46, 114, 115}};
.global .align 8 .u64 HERE[3] = {{generic(FILE), 10, 51539607559}};
.global .align 8 .u64 THERE[3] = {{generic(FILE), 10, 21474836490}};
.global .align 8 .u64 OTHER[3] = {{generic(FILE), 11, 0}};
.entry k() {{
.local .align 8 .b8 \t__local_depot0[16];
.reg .b64 %rd<9>;
mov.b64 %SPL, __local_depot0;
add.u64 %rd8, %SPL, 8;
st.local.b64 [%rd8], %rd2;
@%p1 bra $A;
{call} ret;
$A: {{ // callseq 0, 0
.param .b64 param0; .param .b64 param1; .param .b64 param2;
st.param.b64 [param1], %rd8;
st.param.b64 [param0], %rd4;
mov.b64 %rd11, HERE;
cvta.global.u64 %rd12, %rd11;
st.param.b64 [param2], %rd12;
call.uni {INDEX}, (param0, param1, param2);
}} // callseq 0
trap; exit;
}}
.func {INDEX}(.param .b64 i_0, .param .b64 i_1, .param .b64 i_2) {{
.reg .b64 %rd<2>;
{{ .param .b64 param0; ld.param.b64 %rd1, [i_2]; st.param.b64 [param0], %rd1;
call.uni handler, (param0); }}
trap; exit;
}}
.func handler(.param .b64 h_0) {{
.reg .b64 %rd<3>;
ld.volatile.global.b64 %rd1, [__ptx_std_panic];
ld.param.b64 %rd2, [h_0];
mov.b32 %r1, __ptx_std_panic_kind;
trap; exit;
}}
{more}"
        )
    }

    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_panic_is_taken_into_the_kernel_and_its_functions_and_frame_go() {
        let text = words(&rewrite(&module("", "")).expect("PTX"));
        for part in [
            "mov.b64 %SPL, 0; add.u64 %rd8, %SPL, 8; @%p1 bra $A;",
            "mov.b64 %rd11, __ptx_std_panic_places+0; cvta.global.u64 %rd12, %rd11; \
             mov.b64 %ptxstd_panic_3_2, %rd12; mov.b32 %ptxstd_kind, 1; bra.uni $ptxstd_panic_3;",
            "$ptxstd_panic_3: { .reg .b64 %rd<2>; { .param .b64 param0; mov.b64 %rd1, %ptxstd_panic_3_2; \
             mov.b64 %ptxstd_panic_4_0, %rd1; bra.uni $ptxstd_panic_4; }",
            "mov.b64 %rd2, %ptxstd_panic_4_0; mov.b32 %r1, %ptxstd_kind; trap;",
            ".reg .b32 %ptxstd_kind;",
            ".reg .b64 %ptxstd_panic_3_2;",
            DECLARE_RECORD.trim(),
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
        for part in [
            ".func",
            "call.uni",
            "depot",
            "%rd4",
            "_panic_3_0",
            "st.local",
        ] {
            assert!(!text.contains(part), "{part:?} is in:\n{text}");
        }
    }

    #[test]
    fn places_lie_side_by_side_and_have_their_texts() {
        let text = rewrite(&module("mov.b64 %rd1, THERE;", "")).expect("PTX");
        for part in [
            "__ptx_std_panic_places[6] = {generic(FILE), 10, 51539607559, generic(FILE), 10, 21474836490};",
            "mov.b64 %rd1, __ptx_std_panic_places+24;",
            ".u64 OTHER[3] = ",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
        assert!(!text.contains("HERE"), "{text}");
        let (_, table) = text.split_once("__ptx_std_panic_texts[").expect("a table");
        let (_, bytes) = table.split_once("= {").expect("its bytes");
        let (bytes, _) = bytes.split_once('}').expect("their end");
        let bytes: Vec<u8> = bytes.split(',').flat_map(str::parse).collect();
        let table = String::from_utf8(bytes).expect("text");
        let lines: Vec<&str> = table.lines().collect();
        let expected = [
            "2",
            "src/lib.rs:7:12",
            "src/lib.rs:10:5",
            "index out of bounds",
        ];
        assert_eq!(lines[..4], expected);
    }

    #[test]
    fn what_is_used_otherwise_stays() {
        // A frame that something else reads, a place that a table names, a function whose address is
        // taken, and one that calls what returns.
        let call = "ld.local.b64 %rd3, [%rd8]; mov.b64 %rd5, handler; call.uni says, ();
call.uni ends, ();";
        let more = ".global .align 8 .u64 TABLE[1] = {generic(HERE)};
.func traps() { trap; exit; }
.func ends() { @%p1 bra $E; call.uni handler, (param0); $E: call.uni traps, (); trap; exit; }
.func returns() { ret; }
.func says() { call.uni returns, (); call.uni handler, (param0); trap; exit; }";
        let text = words(&rewrite(&module(call, more)).expect("PTX"));
        for part in [
            "__local_depot0[16]",
            "st.local.b64 [%rd8], %rd2;",
            "mov.b64 %rd11, HERE;",
            ".func handler(.param .b64 h_0) {",
            "mov.b32 %r1, 0; trap;",
            "call.uni says, ();",
            ".func says()",
            "bra.uni $ptxstd_panic_6;",
            "$E: call.uni traps, (); trap;",
            ".func traps()",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }

    #[test]
    fn a_module_without_a_record_stays_as_it_is() {
        let text = module("", "").replace("__ptx_std_panic", "SOMETHING");
        assert_eq!(rewrite(&text).expect("PTX"), text);
    }
}
