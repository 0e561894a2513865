//! Names the state space in accesses through addresses that are known to be of one, and declares
//! the memory that they lie in.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ::ptx::{Access as Accessed, Instruction, Linkage, Reg, Space, Span, Symbol};

use super::access::Access;
use super::division;
use super::edit::{Edits, position};
use super::globals::Globals;
use super::source::{Definition, Source};
use super::spaces::{Spaces, Value, address_operands, relative};

const SHARED: &str = "__shared_";
const DYNAMIC_SHARED: &str = "__dynamic_shared";
/// The mark of statics that belong in constant memory.
pub(super) const CONSTANT: &str = "__constant__";

/// The functions that ptx-std defines because the compiler may call them, or this crate, and LLVM keeps though nothing does.
const LIBRARY_CALLS: [&str; 2] = ["memcmp", division::FUNCTION];

/// The dynamic part of shared memory begins after the static one, and is aligned for what the
/// widest copies of the hardware ask for.
const DECLARE_DYNAMIC_SHARED: &str = "\n.extern .shared .align 128 .b8 __dynamic_shared[];";

/// Whether the function is there to be called, and nothing calls it.
fn is_unused_library_call(source: &Source<'_>, definition: Definition<'_>) -> bool {
    let symbol = Symbol::Function(definition.spans.function);
    LIBRARY_CALLS.contains(&definition.function.name.as_str()) && !source.named().contains(&symbol)
}

/// Declares the shared memory that the functions name.
pub(crate) fn declare_shared(source: &Source<'_>, edits: &mut Edits) {
    let variables = source.module.variables.iter();
    let undeclared: BTreeSet<&str> = variables
        .filter(|it| it.linkage == Linkage::External && it.space == Space::Generic)
        .map(|it| it.name.as_str())
        .collect();
    for symbol in undeclared {
        if symbol == DYNAMIC_SHARED {
            edits.insert(source.spans.head_end, DECLARE_DYNAMIC_SHARED);
        } else if let Some((align, size)) = shared_layout(symbol) {
            // PTX has no arrays of no bytes.
            let size = size.max(1);
            edits.insert(
                source.spans.head_end,
                format!("\n.shared .align {align} .b8 {symbol}[{size}];"),
            );
        }
    }
}

/// Whether [`declare_shared`] declares the symbol.
pub(crate) fn is_declared_later(symbol: &str) -> bool {
    symbol == DYNAMIC_SHARED || shared_layout(symbol).is_some()
}

/// Alignment and size, from `__shared_UID__ALIGN_SIZE`.
fn shared_layout(symbol: &str) -> Option<(u64, u64)> {
    let (_, layout) = symbol.strip_prefix(SHARED)?.rsplit_once("__")?;
    let (align, size) = layout.split_once('_')?;
    Some((align.parse().ok()?, size.parse().ok()?))
}

/// Moves the statics that are marked so from global to constant memory.
pub(crate) fn place_constants(source: &Source<'_>, edits: &mut Edits) {
    for declaration in &source.spans.declarations {
        let mut names = declaration
            .variables
            .iter()
            .filter_map(|it| source.name(*it));
        if names.any(|name| name.starts_with(CONSTANT)) {
            edits.replace(declaration.space.clone(), ".const");
        }
    }
}

/// Takes the mark off the names of constants. It is made after the other edits, since it stands
/// within what they replace.
pub(crate) fn strip_constant_mark(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(CONSTANT) {
        let (before, marked) = rest.split_at(at);
        result.push_str(before);
        let is_start = !before.ends_with(is_name);
        let kept = if is_start { "" } else { CONSTANT };
        result.push_str(kept);
        rest = &marked[CONSTANT.len()..];
    }
    result.push_str(rest);
    result
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

/// Rewrites a function: in registers that are of a space, addresses are those of its window. Leaves
/// it out if nothing needs it.
pub(crate) fn function(
    source: &Source<'_>,
    definition: Definition<'_>,
    spaces: &Spaces,
    edits: &mut Edits,
) {
    if is_unused_library_call(source, definition) {
        edits.replace(definition.spans.span.clone(), "");
        return;
    }
    let mut rewrite = Rewrite {
        source,
        definition,
        spaces,
        converted: 0,
    };
    let origins = rewrite.drop_conversions(edits);
    for (index, instruction) in definition.body.instructions.iter().enumerate() {
        if !origins.contains(&index) {
            rewrite.instruction(instruction, edits);
        }
    }
    rewrite.declare_converted(edits);
}

/// Names global memory in a kernel's atomics, and accesses with an order, whose addresses the kernel was given.
pub(crate) fn global_atomics(
    source: &Source<'_>,
    definition: Definition<'_>,
    spaces: &Spaces,
    edits: &mut Edits,
) {
    let globals = Globals::of(definition);
    for instruction in &definition.body.instructions {
        if let Some(access) = Access::of(instruction, source.text)
            && globals.has(access.address)
            && spaces.held(access.address) == Value::Plain
            && let Some(opcode) = access.opcode_in_global()
        {
            edits.replace(position(source.text, access.opcode), opcode);
        }
    }
}

/// Where in the text the accesses of the function begin whose address is of shared or constant memory only at times.
pub(crate) fn left_generic(
    source: &Source<'_>,
    definition: Definition<'_>,
    spaces: &Spaces,
) -> Vec<u32> {
    let is_mixed = |access: Access<'_>| spaces.held(access.address) == Value::Mixed;
    let instructions = definition.body.instructions.iter();
    let mixed = instructions.filter(|one| Access::of(one, source.text).is_some_and(is_mixed));
    mixed.map(|instruction| instruction.span.start).collect()
}

struct Rewrite<'s, 't> {
    source: &'s Source<'t>,
    definition: Definition<'s>,
    spaces: &'s Spaces,
    /// How many copies were made: generic addresses, or those of a window.
    converted: usize,
}

impl Rewrite<'_, '_> {
    /// Leaves only the `mov` where an address of a space is taken, and returns the indices of those
    /// instructions.
    fn drop_conversions(&self, edits: &mut Edits) -> HashSet<usize> {
        let mut done = HashSet::new();
        for origin in &self.spaces.origins {
            let (take, convert) = (origin.instruction, origin.instruction + 1);
            done.extend([take, convert]);
            let instructions = &self.definition.body.instructions;
            let taken = instructions[take].definitions();
            if taken.iter().any(|it| self.spaces.space(*it).is_some()) {
                let start = self.source.statement(&instructions[take]).end;
                let end = self.source.statement(&instructions[convert]).end;
                edits.replace(start..end, "");
            }
        }
        done
    }

    fn instruction(&mut self, instruction: &Instruction, edits: &mut Edits) {
        self.access_by_nullable(instruction, edits);
        let mentions = self.definition.mentions(instruction);
        let read = mentions.iter().filter(|it| it.access == Accessed::Use);
        if !read
            .clone()
            .any(|it| self.spaces.space_of(it.operand).is_some())
        {
            return;
        }
        let named = self.name_space(instruction, edits);
        let mut copies = BTreeMap::new();
        for (index, mention) in read.enumerate() {
            let Some(register) = mention.operand.register() else {
                continue;
            };
            let stays =
                named == Some(mention.span.start) || self.is_window_operand(instruction, index);
            let Some(space) = self.spaces.space(register).filter(|_| !stays) else {
                continue;
            };
            let copy = copies.entry(register).or_insert_with(|| {
                let copy = self.copy();
                let name = self.source.slice(&mention.span);
                let convert = format!("cvta.{}.u64 {copy}, {name};\n\t", space.name());
                edits.insert(instruction.span.start, convert);
                copy
            });
            edits.replace(mention.span.clone(), copy.clone());
        }
    }

    /// Takes an access to the window where its address is generic because it might be null, which where
    /// it is accessed it is not.
    fn access_by_nullable(&mut self, instruction: &Instruction, edits: &mut Edits) {
        let Some(access) = Access::of(instruction, self.source.text) else {
            return;
        };
        let Value::OrNull(space) = self.spaces.held(access.address) else {
            return;
        };
        let (Some(opcode), Some(at)) = (
            access.opcode_in(space),
            self.address_of(instruction, access.address),
        ) else {
            return;
        };
        let (window, address) = (self.copy(), self.source.slice(&at));
        let convert = format!("cvta.to.{}.u64 {window}, {address};\n\t", space.name());
        edits.insert(instruction.span.start, convert);
        edits.replace(position(self.source.text, access.opcode), opcode);
        edits.replace(at, window);
    }

    /// Where an access has its address: of all that it reads, the first in a store and in a load.
    fn address_of(&self, instruction: &Instruction, address: Reg) -> Option<Span> {
        let mentions = self.definition.mentions(instruction);
        let mut read = mentions.iter().filter(|it| it.access == Accessed::Use);
        let first = read
            .next()
            .filter(|it| it.operand.register() == Some(address));
        first.map(|mention| mention.span.clone())
    }

    /// A register of our own.
    fn copy(&mut self) -> String {
        self.converted += 1;
        format!("%ptxstd_g{}", self.converted - 1)
    }

    /// Names the space of an access, and returns where the address stands that may stay.
    fn name_space(&self, instruction: &Instruction, edits: &mut Edits) -> Option<u32> {
        let access = Access::of(instruction, self.source.text)?;
        let space = self.spaces.space(access.address)?;
        let opcode = access.opcode_in(space)?;
        let address = self.address_of(instruction, access.address)?;
        edits.replace(position(self.source.text, access.opcode), opcode);
        Some(address.start)
    }

    /// Whether the operand of this index, among those that are read, is used as the address of a window that it is.
    fn is_window_operand(&self, instruction: &Instruction, index: usize) -> bool {
        let operation = &instruction.operation;
        let made = instruction.definitions();
        if made.iter().any(|it| self.spaces.space(*it).is_some()) {
            return address_operands(operation).contains(&index);
        }
        let spaces = relative(operation).map(|pair| pair.map(|it| self.spaces.space_of(it)));
        index < 2 && spaces.is_some_and(|[one, two]| one.is_some() && one == two)
    }

    fn declare_converted(&self, edits: &mut Edits) {
        if let Some(body) = &self.definition.spans.body
            && self.converted > 0
        {
            let registers = format!("\n\t.reg .b64 \t%ptxstd_g<{}>;", self.converted);
            edits.insert(body.start + 1, registers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing::{self, HEAD};
    use super::*;

    const SHARED_ORIGIN: &str = "mov.u64 %rd1, __shared_a__16_64; cvta.shared.u64 %rd1, %rd1;";

    /// Rewritten, where some registers are declared that are not in what comes out.
    fn rewritten(functions: &str) -> String {
        let text = testing::module(functions);
        let source = Source::parse(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
        let mut edits = Edits::default();
        declare_shared(&source, &mut edits);
        place_constants(&source, &mut edits);
        for one in source.definitions() {
            super::function(&source, one, &Spaces::of(one), &mut edits);
        }
        strip_constant_mark(&edits.apply(&text)).replace(testing::REGISTERS, "")
    }

    /// The instructions of a rewritten kernel that takes the address of shared memory.
    fn body(instructions: &str) -> String {
        let text = rewritten(&format!(
            "{HEAD}.entry k() {{\n{SHARED_ORIGIN}\n{instructions}\n}}\n"
        ));
        let (_, body) = text.split_once("{\n").expect("a body");
        body.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_function_for_the_compiler_to_call_stays_if_it_is_called() {
        let module = |call: &str| {
            format!(".func () memcmp() {{\nret;\n}}\n.entry k() {{\n{call} ret;\n}}\n")
        };
        let called = module("call.uni (), memcmp, ();");
        assert_eq!(rewritten(&called), format!("{HEAD}{called}"));
        let alone = rewritten(&module(""));
        assert_eq!(alone, format!("{HEAD}\n.entry k() {{\n ret;\n}}\n"));
    }

    #[test]
    fn accesses_are_of_the_window_and_the_conversion_is_gone() {
        assert_eq!(
            body("add.s64 %rd2, %rd1, 4; ld.b32 %r1, [%rd2]; st.b32 [%rd1+8], %r1;"),
            "mov.u64 %rd1, __shared_a__16_64; add.s64 %rd2, %rd1, 4; \
             ld.shared.b32 %r1, [%rd2]; st.shared.b32 [%rd1+8], %r1; }"
        );
    }

    #[test]
    fn every_other_use_gets_the_generic_address() {
        for (before, after) in [
            (
                "st.global.b64 [%rd9], %rd1;",
                "cvta.shared.u64 %ptxstd_g0, %rd1; st.global.b64 [%rd9], %ptxstd_g0;",
            ),
            (
                "st.b64 [%rd1], %rd1;",
                "cvta.shared.u64 %ptxstd_g0, %rd1; st.shared.b64 [%rd1], %ptxstd_g0;",
            ),
            (
                "st.param.b64 [param0], %rd1;",
                "cvta.shared.u64 %ptxstd_g0, %rd1; st.param.b64 [param0], %ptxstd_g0;",
            ),
            (
                "setp.eq.b64 %p1, %rd1, 0;",
                "cvta.shared.u64 %ptxstd_g0, %rd1; setp.eq.b64 %p1, %ptxstd_g0, 0;",
            ),
            (
                "@%p1 max.u64 %rd4, %rd1, %rd1;",
                "cvta.shared.u64 %ptxstd_g0, %rd1; \
                 @%p1 max.u64 %rd4, %ptxstd_g0, %ptxstd_g0;",
            ),
            (
                "mov.b64 {%r1, %r2}, %rd1;",
                "cvta.shared.u64 %ptxstd_g0, %rd1; mov.b64 {%r1, %r2}, %ptxstd_g0;",
            ),
            (
                "mad.lo.s64 %rd4, %rd1, %rd1, %rd1;",
                "cvta.shared.u64 %ptxstd_g0, %rd1; \
                 mad.lo.s64 %rd4, %ptxstd_g0, %ptxstd_g0, %rd1;",
            ),
            (
                "selp.b64 %rd4, %rd1, %rd9, %p1; ld.b32 %r1, [%rd4];",
                "cvta.shared.u64 %ptxstd_g0, %rd1; \
                 selp.b64 %rd4, %ptxstd_g0, %rd9, %p1; ld.b32 %r1, [%rd4];",
            ),
        ] {
            assert_eq!(
                body(before),
                format!(".reg .b64 %ptxstd_g<1>; mov.u64 %rd1, __shared_a__16_64; {after} }}")
            );
        }
    }

    #[test]
    fn an_unknown_instruction_stays_as_it_is_and_may_write_what_it_names() {
        assert_eq!(
            body(
                "add.s64 %rd2, %rd1, 4; @%p1 frobnicate.b64 %rd2, [%rd4+2]; \
                 st.b32 [%rd1], %r1; st.b32 [%rd2], %r1;"
            ),
            ".reg .b64 %ptxstd_g<1>; mov.u64 %rd1, __shared_a__16_64; \
             cvta.shared.u64 %ptxstd_g0, %rd1; add.s64 %rd2, %ptxstd_g0, 4; \
             @%p1 frobnicate.b64 %rd2, [%rd4+2]; \
             st.shared.b32 [%rd1], %r1; st.b32 [%rd2], %r1; }"
        );
        let text = "@%p1 frobnicate.b64 %rd4, %rd1, %rd1;";
        assert_eq!(body(text), format!("{SHARED_ORIGIN} {text} }}"));
        let text = rewritten(".entry k() { frobnicate.b64 %rd1, __shared_a__16_64; ret; }");
        assert!(
            text.contains(".shared .align 16 .b8 __shared_a__16_64[64];"),
            "{text}"
        );
    }

    #[test]
    fn a_register_that_no_other_can_stand_for_stays_generic() {
        let text = ".reg .v2 .b64 v; mov.b64 v.x, %rd1; mov.b64 v.y, %rd1; st.v2.b64 [%rd9], v;";
        assert_eq!(
            body(text),
            ".reg .b64 %ptxstd_g<2>; mov.u64 %rd1, __shared_a__16_64; .reg .v2 .b64 v; \
             cvta.shared.u64 %ptxstd_g0, %rd1; mov.b64 v.x, %ptxstd_g0; \
             cvta.shared.u64 %ptxstd_g1, %rd1; mov.b64 v.y, %ptxstd_g1; st.v2.b64 [%rd9], v; }"
        );
    }

    #[test]
    fn an_address_that_may_be_null_is_of_the_window_where_it_is_accessed() {
        let text = body(
            "mov.b64 %rd9, 0;\n@%p1 mov.b64 %rd9, %rd1;\nsetp.eq.b64 %p2, %rd9, 0;\n\
             @!%p2 ld.b32 %r1, [%rd9+4];\nst.b64 [%rd9], %rd1;",
        );
        for part in [
            "@%p1 mov.b64 %rd9, %ptxstd_g0;",
            "setp.eq.b64 %p2, %rd9, 0;",
            "cvta.to.shared.u64 %ptxstd_g1, %rd9; @!%p2 ld.shared.b32 %r1, [%ptxstd_g1+4];",
            "st.shared.b64 [%ptxstd_g2], %ptxstd_g3;",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }

    #[test]
    fn two_addresses_of_one_space_are_compared_and_subtracted_as_they_are() {
        let text = "add.s64 %rd2, %rd1, 8; setp.ne.b64 %p1, %rd1, %rd2; sub.s64 %rd3, %rd2, %rd1;";
        assert_eq!(
            body(text),
            format!("mov.u64 %rd1, __shared_a__16_64; {text} }}")
        );
    }

    #[test]
    fn a_register_that_is_mixed_stays_generic_throughout() {
        let text = "mov.b64 %rd1, %rd9; ld.b32 %r1, [%rd1];";
        assert_eq!(body(text), format!("{SHARED_ORIGIN} {text} }}"));
    }

    #[test]
    fn shared_memory_is_declared_once() {
        let origin = |symbol: &str| format!("mov.u64 %rd1, {symbol}; cvta.shared.u64 %rd1, %rd1;");
        let text = rewritten(&format!(
            "{HEAD}.shared .align 4 .b8 MINE[4];\n.entry a() {{ {} {} }}\n.entry b() {{ {} {} {} }}\n",
            origin("__shared_my_crate__x__16_64"),
            origin("MINE"),
            origin("__shared_my_crate__x__16_64"),
            origin("__shared_empty__8_0"),
            origin("__dynamic_shared"),
        ));
        let declarations: Vec<_> = text
            .lines()
            .filter(|line| line.contains(".shared .align"))
            .collect();
        assert_eq!(
            declarations,
            [
                ".extern .shared .align 128 .b8 __dynamic_shared[];",
                ".shared .align 8 .b8 __shared_empty__8_0[1];",
                ".shared .align 16 .b8 __shared_my_crate__x__16_64[64];",
                ".shared .align 4 .b8 MINE[4];",
            ]
        );
    }

    #[test]
    fn constants_move_to_constant_memory_and_lose_their_mark() {
        let text = rewritten(&format!(
            "{HEAD}\t// .globl\t__constant__T\n\
             .visible .global .align 4 .b8 __constant__T[8] = {{1, 2}};\n\
             .visible .global .align 4 .u32 my__constant__;\n\
             .entry k() {{ mov.u64 %rd1, __constant__T; cvta.const.u64 %rd1, %rd1; \
             ld.b32 %r1, [%rd1]; }}\n"
        ));
        for part in [
            ".visible .const .align 4 .b8 T[8] = {1, 2};",
            ".visible .global .align 4 .u32 my__constant__;",
            "{ mov.u64 %rd1, T; ld.const.b32 %r1, [%rd1]; }",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }
}
