//! Memory accesses and the state space that their opcode names.

use ::ptx::{Address, Base, CacheHints, Instruction, Operation, Order, Reg, Scope};

use super::spaces::Space;

/// A load, a store or an atomic that names no state space, so that the hardware finds it out from
/// the address each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access<'t> {
    /// The register that holds the address.
    pub(crate) address: Reg,
    pub(crate) opcode: &'t str,
    /// Where in the opcode the state space is to be named.
    space_at: usize,
}

impl<'t> Access<'t> {
    /// `None` for every other instruction of the text, and for those that fit only generic and global addresses.
    pub(crate) fn of(instruction: &Instruction, text: &'t str) -> Option<Self> {
        let Base::Register(address) = address(&instruction.operation)?.base else {
            return None;
        };
        let opcode = instruction.opcode(text);
        let mut parts = opcode.split('.');
        let name = parts.next().unwrap_or_default();
        let before_space = parts.take_while(|part| {
            Order::from_name(part).is_some() || Scope::from_name(part).is_some()
        });
        let space_at = name.len() + before_space.map(|part| 1 + part.len()).sum::<usize>();
        Some(Access {
            address,
            opcode,
            space_at,
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

/// The address of an access to which a state space may be added.
fn address(operation: &Operation) -> Option<&Address> {
    let (space, free, address) = match operation {
        Operation::Ld(it) => {
            let free = !it.read_only && !it.unified && are_of_any_space(&it.hints);
            (it.space, free, &it.address)
        }
        Operation::St(it) => (it.space, are_of_any_space(&it.hints), &it.address),
        Operation::Atom(it) => (it.space, it.policy.is_none(), &it.address),
        Operation::Red(it) => (it.space, it.policy.is_none(), &it.address),
        _ => return None,
    };
    (free && space == ::ptx::Space::Generic).then_some(address)
}

/// Whether the hints fit memory of any space.
fn are_of_any_space(hints: &CacheHints) -> bool {
    let CacheHints {
        operator: _,
        level1,
        level2,
        prefetch,
        policy,
    } = hints;
    level1.is_none() && level2.is_none() && prefetch.is_none() && policy.is_none()
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing;
    use super::*;

    fn in_space(instruction: &str, space: Space) -> Option<String> {
        let text = testing::module(&format!(
            ".entry k(.param .b32 k_param_0) {{ .global .b32 TABLE[2]; .reg .f32 %f<2>; {instruction}; }}"
        ));
        let module = ::ptx::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let body = module.functions[0].body.as_ref().expect("a body");
        Access::of(&body.instructions[0], &text)?.opcode_in(space)
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
