//! Which registers are read before they are written, from each basic block on.

use std::collections::BTreeSet;

use ptx::{Access, Body, Reg};

use super::flow::{End, Piece};

/// A predicate register, and what it holds.
type Known = (Reg, bool);

/// The registers that each piece needs from before. Those that are `returned` are needed at the end.
///
/// Lanes that come to a guard know what it is where they come from another of the same register: of
/// `@%p ld.global.f32 %f, [%d]; @!%p mov.f32 %f, 0f00000000;`, as tinygrad loads what may lie outside, one always writes `%f`.
pub(super) fn live_in(body: &Body, pieces: &[Piece], returned: &[Reg]) -> Vec<BTreeSet<Reg>> {
    let known = known(pieces);
    let mut live: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); pieces.len()];
    loop {
        let mut changed = false;
        for (index, piece) in pieces.iter().enumerate().rev() {
            let steps = steps(body, piece);
            let mut now: BTreeSet<Reg> = BTreeSet::new();
            let kept = known[index].filter(|it| !defines(&steps, it.0));
            for (target, of_edge) in edges(&piece.end) {
                let known = of_edge.or(kept);
                let behind = behind_guards(pieces, target, known);
                now.extend(&live[behind]);
                // The guards between are asked all the same.
                now.extend(known.filter(|_| behind != target).map(|it| it.0));
            }
            if piece.end == End::Return {
                now.extend(returned);
            }
            for accesses in steps.iter().rev() {
                let of = |wanted| {
                    accesses
                        .iter()
                        .filter(move |it| it.0 == wanted)
                        .map(|it| it.1)
                };
                of(Access::Define).for_each(|register| {
                    now.remove(&register);
                });
                now.extend(of(Access::Use));
            }
            if now.len() != live[index].len() {
                live[index] = now;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}

/// The pieces that follow, and what lanes that go there know.
fn edges(end: &End) -> Vec<(usize, Option<Known>)> {
    match end {
        End::Splits {
            guard,
            taken,
            otherwise,
            ..
        } => vec![
            (*taken, Some((guard.register, !guard.negated))),
            (*otherwise, Some((guard.register, guard.negated))),
        ],
        _ => end.targets().into_iter().map(|it| (it, None)).collect(),
    }
}

/// What all lanes know that come to a piece: those of one other piece, by its guard.
fn known(pieces: &[Piece]) -> Vec<Option<Known>> {
    let mut ways: Vec<Vec<Option<Known>>> = vec![Vec::new(); pieces.len()];
    for (target, known) in pieces.iter().flat_map(|it| edges(&it.end)) {
        ways[target].push(known);
    }
    // Lanes come to the first from outside, too.
    let first = ways.iter_mut().take(1);
    first.for_each(|it| it.push(None));
    let of = |ways: Vec<Option<Known>>| match ways[..] {
        [one] => one,
        _ => None,
    };
    ways.into_iter().map(of).collect()
}

/// Where lanes that know a predicate go on behind guards of it, which do nothing else.
fn behind_guards(pieces: &[Piece], start: usize, known: Option<Known>) -> usize {
    let mut at = start;
    // A guard that leads back to itself has no end.
    for _ in pieces {
        match (&pieces[at], known) {
            (
                Piece {
                    straight,
                    end:
                        End::Splits {
                            guard,
                            taken,
                            otherwise,
                            ..
                        },
                    ..
                },
                Some((register, value)),
            ) if straight.is_empty() && guard.register == register => {
                at = if value == guard.negated {
                    *otherwise
                } else {
                    *taken
                };
            }
            _ => break,
        }
    }
    at
}

fn defines(steps: &[Vec<(Access, Reg)>], register: Reg) -> bool {
    let mut all = steps.iter().flatten();
    all.any(|it| *it == (Access::Define, register))
}

/// Returns the registers that the instructions of a piece access, and those of what ends it.
pub(super) fn steps(body: &Body, piece: &Piece) -> Vec<Vec<(Access, Reg)>> {
    let accesses = |index: usize| {
        let mut accesses = Vec::new();
        body.instructions[index].visit(|access, register| accesses.push((access, register)));
        accesses
    };
    let mut steps: Vec<_> = piece.straight.clone().map(accesses).collect();
    match &piece.end {
        End::Splits { guard, .. } => steps.push(vec![(Access::Use, guard.register)]),
        End::By { instruction, .. } => steps.push(accesses(*instruction)),
        End::Falls(_) | End::Return => {}
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::super::flow::pieces;
    use super::live_in;

    /// The registers that are live at each basic block of a kernel.
    fn live(instructions: &str) -> Vec<Vec<String>> {
        let text = format!(
            ".version 9.0 .target sm_90 .address_size 64
            .visible .entry k() {{ .reg .b32 %r<4>; .reg .pred %p, %q; .shared .b32 s;
            mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 5; setp.lt.u32 %q, %r0, 6;
            {instructions} ret; }}"
        );
        let module = ptx::parse(&text).expect("PTX");
        let body = module.functions[0].body.as_ref().expect("a body");
        let live = live_in(body, &pieces(body), &[]);
        let name = |it: &ptx::Reg| body.registers[it.0 as usize].name.clone();
        live.iter()
            .map(|it| it.iter().map(name).collect())
            .collect()
    }

    /// The registers that a kernel may read before it writes them.
    fn at_entry(instructions: &str) -> Vec<String> {
        live(instructions).swap_remove(0)
    }

    #[test]
    fn one_of_two_opposite_guards_writes() {
        for written in [
            "@%p mov.u32 %r1, 1; @!%p mov.u32 %r1, 2; st.shared.b32 [s], %r1;",
            "@%p ld.shared.b32 %r1, [s]; @%p mov.u32 %r2, 1; @!%p mov.u32 %r1, 2; @!%p mov.u32 %r2, 3;
            add.u32 %r1, %r1, %r2; st.shared.b32 [s], %r1;",
            "@%p bra A; mov.u32 %r1, 1; A: @%p mov.u32 %r1, 2; st.shared.b32 [s], %r1;",
            "@%p mov.u32 %r1, 1; @%p st.shared.b32 [s], %r1;",
        ] {
            assert_eq!(at_entry(written), [""; 0], "{written}");
        }
    }

    #[test]
    fn other_guards_leave_a_lane_without_a_value() {
        for unwritten in [
            "@%p mov.u32 %r1, 1; st.shared.b32 [s], %r1;",
            "@%p mov.u32 %r1, 1; @%p mov.u32 %r1, 2; st.shared.b32 [s], %r1;",
            "@%p mov.u32 %r1, 1; @!%q mov.u32 %r1, 2; st.shared.b32 [s], %r1;",
            "@%p mov.u32 %r1, 1; setp.eq.u32 %p, %r0, 3; @!%p mov.u32 %r1, 2; st.shared.b32 [s], %r1;",
            "@!%p mov.u32 %r1, 1; @%p setp.eq.u32 %p, %r0, 3; @%p mov.u32 %r1, 2; st.shared.b32 [s], %r1;",
            "@!%p mov.u32 %r1, 1; @%q bra A; @%p mov.u32 %r1, 2; A: st.shared.b32 [s], %r1;",
            "A: @%p bra A; @%p mov.u32 %r1, 1; st.shared.b32 [s], %r1;",
        ] {
            assert_eq!(at_entry(unwritten), ["%r1"], "{unwritten}");
        }
    }

    #[test]
    fn a_guard_whose_answer_is_known_is_asked_all_the_same() {
        // The entry, the first guard, and what it guards.
        let all = live("@%p mov.u32 %r1, 1; @!%p mov.u32 %r1, 2; add.u32 %r2, %r1, 3;");
        assert_eq!(all[..3], [vec![], vec!["%p"], vec!["%p"]]);
    }
}
