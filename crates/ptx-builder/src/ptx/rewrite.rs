//! Names the state space in accesses through addresses that are known to be of one, and declares
//! the memory that they lie in.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::access::Access;
use super::body::Body;
use super::edit::{Edits, position};
use super::globals::Globals;
use super::instruction::{Instruction, is_name};
use super::parse::{Function, Module};
use super::spaces::{Spaces, Value, address_operands, is_relative};

const SHARED: &str = "__shared_";
const DYNAMIC_SHARED: &str = "__dynamic_shared";
const CONSTANT: &str = "__constant__";

/// What ptx-std defines because the compiler may call it, and LLVM keeps though nothing does.
const LIBRARY_CALL: &str = "memcmp";

/// The dynamic part of shared memory begins after the static one, and is aligned for what the
/// widest copies of the hardware ask for.
const DECLARE_DYNAMIC_SHARED: &str = "\n.extern .shared .align 128 .b8 __dynamic_shared[];";

/// Whether the function is there for the compiler to call, and nothing calls it.
fn is_unused_library_call(module: &Module<'_>, function: &Function<'_>) -> bool {
    let bodies = module.functions.iter().filter_map(|one| one.body.as_ref());
    function.name == LIBRARY_CALL
        && !bodies
            .flat_map(|body| &body.instructions)
            .any(|instruction| instruction.sources().contains(&LIBRARY_CALL))
}

/// Declares the shared memory that the functions name.
pub(crate) fn declare_shared(module: &Module<'_>, edits: &mut Edits) {
    let declared: HashSet<&str> = module.variables.iter().map(|one| one.name).collect();
    let bodies = module.functions.iter().filter_map(|one| one.body.as_ref());
    let named: BTreeSet<&str> = bodies
        .flat_map(|body| &body.instructions)
        .flat_map(Instruction::sources)
        .filter(|name| !declared.contains(name))
        .collect();
    for symbol in named {
        if symbol == DYNAMIC_SHARED {
            edits.insert(module.head_end, DECLARE_DYNAMIC_SHARED);
        } else if let Some((align, size)) = shared_layout(symbol) {
            // PTX has no arrays of no bytes.
            let size = size.max(1);
            edits.insert(
                module.head_end,
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
pub(crate) fn place_constants(module: &Module<'_>, edits: &mut Edits) {
    for variable in &module.variables {
        if let Some(space) = variable.space()
            && variable.name.starts_with(CONSTANT)
        {
            edits.replace(position(module.text, space), ".const");
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

/// Rewrites a function: in registers that are of a space, addresses are those of its window. Leaves
/// it out if nothing needs it.
pub(crate) fn function(
    module: &Module<'_>,
    function: &Function<'_>,
    spaces: &Spaces<'_>,
    edits: &mut Edits,
) {
    let Some(body) = &function.body else { return };
    if is_unused_library_call(module, function) {
        edits.replace(position(module.text, function.linkage).start..body.end, "");
        return;
    }
    let mut rewrite = Rewrite {
        module,
        spaces,
        of_space: spaces.registers(),
        converted: 0,
    };
    let origins = rewrite.drop_conversions(body, edits);
    for (index, instruction) in body.instructions.iter().enumerate() {
        if !origins.contains(&index) {
            rewrite.instruction(instruction, edits);
        }
    }
    rewrite.declare_converted(body, edits);
}

/// Names global memory in a kernel's atomics, and accesses with an order, whose addresses the kernel was given.
pub(crate) fn global_atomics(
    module: &Module<'_>,
    function: &Function<'_>,
    spaces: &Spaces<'_>,
    edits: &mut Edits,
) {
    let globals = Globals::of(function);
    let instructions = function.body.iter().flat_map(|body| &body.instructions);
    for instruction in instructions {
        if let Some(access) = Access::of(instruction)
            && globals.has(access.address)
            && spaces.value(access.address) == Value::Plain
            && let Some(opcode) = access.opcode_in_global()
        {
            edits.replace(position(module.text, instruction.opcode), opcode);
        }
    }
}

/// Where in the text the accesses of the function begin whose address is of shared or constant memory only at times.
pub(crate) fn left_generic(
    module: &Module<'_>,
    function: &Function<'_>,
    spaces: Option<&Spaces<'_>>,
) -> Vec<u32> {
    let (Some(body), Some(spaces)) = (&function.body, spaces) else {
        return Vec::new();
    };
    let is_mixed = |access: &Access<'_>| spaces.value(access.address) == Value::Mixed;
    let instructions = body.instructions.iter();
    let mixed = instructions.filter(|one| Access::of(one).as_ref().is_some_and(is_mixed));
    mixed
        .map(|instruction| module.position(instruction.text) as u32)
        .collect()
}

struct Rewrite<'a, 't> {
    module: &'a Module<'t>,
    spaces: &'a Spaces<'t>,
    of_space: HashSet<&'t str>,
    /// How many copies were made: generic addresses, or those of a window.
    converted: usize,
}

impl<'t> Rewrite<'_, 't> {
    /// Leaves only the `mov` where an address of a space is taken, and returns the indices of those
    /// instructions.
    fn drop_conversions(&self, body: &Body<'t>, edits: &mut Edits) -> HashSet<usize> {
        let mut done = HashSet::new();
        for origin in &self.spaces.origins {
            let (take, convert) = (origin.instruction, origin.instruction + 1);
            done.extend([take, convert]);
            let (take, convert) = (&body.instructions[take], &body.instructions[convert]);
            if self.of_space.contains(take.operands[0]) {
                let start = position(self.module.text, take.text).end;
                let end = position(self.module.text, convert.text).end;
                edits.replace(start..end, "");
            }
        }
        done
    }

    fn instruction(&mut self, instruction: &Instruction<'t>, edits: &mut Edits) {
        self.access_by_nullable(instruction, edits);
        let sources = instruction.sources();
        if !sources.iter().any(|name| self.of_space.contains(name)) {
            return;
        }
        let keeps_address = self.name_space(instruction, edits);
        let mut copies = BTreeMap::new();
        for name in sources {
            let at = position(self.module.text, name);
            let stays =
                keeps_address == Some(at.start) || self.is_window_operand(instruction, name);
            let Some(space) = self.spaces.space(name).filter(|_| !stays) else {
                continue;
            };
            let copy = copies.entry(name).or_insert_with(|| {
                let copy = self.copy();
                let convert = format!("cvta.{}.u64 {copy}, {name};\n\t", space.name());
                edits.insert(self.module.position(instruction.text), convert);
                copy
            });
            edits.replace(at, copy.clone());
        }
    }

    /// Takes an access to the window where its address is generic because it might be null, which where
    /// it is accessed it is not.
    fn access_by_nullable(&mut self, instruction: &Instruction<'t>, edits: &mut Edits) {
        let Some(access) = Access::of(instruction) else {
            return;
        };
        let Value::OrNull(space) = self.spaces.value(access.address) else {
            return;
        };
        let Some(opcode) = access.opcode_in(space) else {
            return;
        };
        let (window, address) = (self.copy(), access.address);
        let convert = format!("cvta.to.{}.u64 {window}, {address};\n\t", space.name());
        edits.insert(self.module.position(instruction.text), convert);
        edits.replace(position(self.module.text, instruction.opcode), opcode);
        edits.replace(position(self.module.text, address), window);
    }

    /// A register of our own.
    fn copy(&mut self) -> String {
        self.converted += 1;
        format!("%ptxstd_g{}", self.converted - 1)
    }

    /// Names the space of an access, and returns where the address stands that may stay.
    fn name_space(&self, instruction: &Instruction<'t>, edits: &mut Edits) -> Option<usize> {
        let access = Access::of(instruction)?;
        let space = self.spaces.space(access.address)?;
        let opcode = access.opcode_in(space)?;
        edits.replace(position(self.module.text, instruction.opcode), opcode);
        Some(self.module.position(access.address))
    }

    /// Whether the operand is used as the address of a window that it is.
    fn is_window_operand(&self, instruction: &Instruction<'t>, name: &str) -> bool {
        let operands = &instruction.operands;
        let at = |operand: &&str| operand.as_ptr() == name.as_ptr();
        let Some(index) = operands.iter().position(at) else {
            return false;
        };
        let makes_address = operands
            .first()
            .is_some_and(|one| self.of_space.contains(one));
        if makes_address {
            return address_operands(instruction).contains(&index);
        }
        is_relative(instruction) && self.are_of_one_space(operands.get(1..3))
    }

    fn are_of_one_space(&self, operands: Option<&[&str]>) -> bool {
        let Some(&[one, two]) = operands else {
            return false;
        };
        let space = self.spaces.space(one);
        space.is_some() && space == self.spaces.space(two)
    }

    fn declare_converted(&self, body: &Body<'t>, edits: &mut Edits) {
        if self.converted > 0 {
            let registers = format!("\n\t.reg .b64 \t%ptxstd_g<{}>;", self.converted);
            edits.insert(body.start, registers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 7.8\n.target sm_90\n.address_size 64\n";
    const SHARED_ORIGIN: &str = "mov.u64 %rd1, __shared_a__16_64; cvta.shared.u64 %rd1, %rd1;";

    fn rewritten(text: &str) -> String {
        let module = Module::parse(text).expect("PTX");
        let mut edits = Edits::default();
        declare_shared(&module, &mut edits);
        place_constants(&module, &mut edits);
        for one in &module.functions {
            let spaces = Spaces::of(one.body.as_ref().expect("a body"));
            super::function(&module, one, &spaces, &mut edits);
        }
        strip_constant_mark(&edits.apply(text))
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
            format!("{HEAD}.func () memcmp() {{\nret;\n}}\n.entry k() {{\n{call} ret;\n}}\n")
        };
        let called = module("call.uni (), memcmp, ();");
        assert_eq!(rewritten(&called), called);
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
                "@%p1 frobnicate.b64 %rd4, %rd1, %rd1;",
                "cvta.shared.u64 %ptxstd_g0, %rd1; \
                 @%p1 frobnicate.b64 %rd4, %ptxstd_g0, %ptxstd_g0;",
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
