//! Memory accesses and the state space that their opcode names.

use super::instruction::{Instruction, names};
use super::spaces::Space;

/// A load, a store or an atomic that names no state space, so that the hardware finds it out from
/// the address each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access<'t> {
    /// The register that holds the address.
    pub(crate) address: &'t str,
    /// Where in the opcode the state space is to be named.
    space_at: usize,
    opcode: &'t str,
}

/// What stands before the state space.
const ORDERS_AND_SCOPES: &[&str] = &[
    "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta", "cluster",
    "gpu", "sys",
];

/// What stands in its place, or fits only generic and global addresses.
const FIXED: &[&str] = &[
    "global", "shared", "local", "const", "param", "generic", "nc", "level", "L1", "L2", "unified",
    "async", "bulk",
];

impl<'t> Access<'t> {
    /// `None` for every other instruction.
    pub(crate) fn of(instruction: &Instruction<'t>) -> Option<Self> {
        let address = match instruction.base() {
            "ld" | "atom" => instruction.operands.get(1),
            "st" | "red" => instruction.operands.first(),
            _ => None,
        }?;
        let inner = address.strip_prefix('[')?.strip_suffix(']')?;
        let mut named = names(inner);
        let (address, None) = (named.next()?, named.next()) else {
            return None;
        };
        let opcode = instruction.opcode;
        let mut modifiers = opcode.split('.').skip(1);
        let fixed = |modifier: &str| {
            let name = modifier.split(':').next().unwrap_or(modifier);
            FIXED.contains(&name)
        };
        if !address.starts_with('%') || modifiers.clone().any(fixed) {
            return None;
        }
        let mut space_at = instruction.base().len();
        while let Some(modifier) = modifiers.next()
            && ORDERS_AND_SCOPES.contains(&modifier)
        {
            space_at += 1 + modifier.len();
        }
        Some(Access {
            address,
            space_at,
            opcode,
        })
    }

    /// The opcode that names the space. `None` if there is no such instruction: constant memory
    /// can only be read, and with no order.
    pub(crate) fn opcode_in(&self, space: Space) -> Option<String> {
        let (order, rest) = self.opcode.split_at(self.space_at);
        let possible = match space {
            Space::Shared => true,
            Space::Constant => matches!(order, "ld" | "ld.weak"),
        };
        possible.then(|| format!("{order}.{}{rest}", space.name()))
    }

    /// The opcode that names global memory, of an atomic or of an access with an order. `ptxas` needs no name in the others.
    pub(crate) fn opcode_in_global(&self) -> Option<String> {
        let (order, rest) = self.opcode.split_at(self.space_at);
        let is_plain = matches!(order, "ld" | "ld.weak" | "st" | "st.weak");
        (!is_plain).then(|| format!("{order}.global{rest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_space(text: &str, space: Space) -> Option<String> {
        Access::of(&Instruction::parse(text))?.opcode_in(space)
    }

    #[test]
    fn the_space_is_named_where_the_grammar_wants_it() {
        for (text, expected) in [
            ("ld.b32 %r1, [%rd1]", "ld.shared.b32"),
            ("ld.v4.b32 {%r1,%r2,%r3,%r4}, [%rd1+16]", "ld.shared.v4.b32"),
            ("ld.volatile.b32 %r1, [%rd1]", "ld.volatile.shared.b32"),
            (
                "ld.acquire.sys.b32 %r1, [%rd1+-4]",
                "ld.acquire.sys.shared.b32",
            ),
            (
                "st.release.gpu.b64 [%rd1], %rd2",
                "st.release.gpu.shared.b64",
            ),
            ("st.b8 [%rd1], 1", "st.shared.b8"),
            ("atom.add.u32 %r1, [%rd1], %r2", "atom.shared.add.u32"),
            (
                "atom.acq_rel.cta.cas.b32 %r1, [%rd1], 1, 2",
                "atom.acq_rel.cta.shared.cas.b32",
            ),
            (
                "red.relaxed.gpu.add.f32 [%rd1], %r2",
                "red.relaxed.gpu.shared.add.f32",
            ),
        ] {
            assert_eq!(in_space(text, Space::Shared).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_names_a_space_or_has_no_register_is_left_alone() {
        for text in [
            "ld.global.b32 %r1, [%rd1]",
            "ld.relaxed.sys.global.b32 %r1, [%rd1]",
            "ld.shared::cluster.b32 %r1, [%rd1]",
            "ld.param.b32 %r1, [k_param_0]",
            "ld.b32 %r1, [TABLE+4]",
            "ld.L1::no_allocate.b32 %r1, [%rd1]",
            "prefetch.L2 [%rd1]",
            "mov.b32 %r1, %r2",
        ] {
            assert_eq!(in_space(text, Space::Shared), None, "{text}");
        }
    }

    #[test]
    fn constant_memory_is_only_read() {
        let constant = |text| in_space(text, Space::Constant);
        assert_eq!(
            constant("ld.b32 %r1, [%rd1]").as_deref(),
            Some("ld.const.b32")
        );
        assert_eq!(constant("ld.volatile.b32 %r1, [%rd1]"), None);
        assert_eq!(constant("st.b32 [%rd1], %r1"), None);
        assert_eq!(constant("atom.add.u32 %r1, [%rd1], 1"), None);
    }
}
