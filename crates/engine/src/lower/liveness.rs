//! Which registers are read before they are written, from each basic block on.

use std::collections::BTreeSet;

use ptx::{Access, Body, Reg};

use super::flow::{End, Piece};

/// A predicate register, and what it holds.
type Known = (Reg, bool);

/// The registers that each piece needs from before. Those that are `returned` are needed at the end.
///
/// Lanes that a guard has parted know its register at the guards that follow: of `@%p ld.global.f32 %f, [%d];
/// @!%p mov.f32 %f, 0f00000000;`, as tinygrad loads what may lie outside an array, one always writes `%f`. An instruction without a
/// guard between the two lets lanes of both ways come together, and is not looked behind.
pub(super) fn live_in(body: &Body, pieces: &[Piece], returned: &[Reg]) -> Vec<BTreeSet<Reg>> {
    let steps: Vec<_> = pieces.iter().map(|it| steps(body, it)).collect();
    let behind = behind(pieces, &steps);
    let mut live: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); pieces.len()];
    loop {
        let mut changed = false;
        for (index, piece) in pieces.iter().enumerate().rev() {
            let mut now: BTreeSet<Reg> = BTreeSet::new();
            for way in &behind[index] {
                now.extend(&live[way.to]);
                now.extend(way.asked);
            }
            if piece.end == End::Return {
                now.extend(returned);
            }
            for accesses in steps[index].iter().rev() {
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

/// How lanes go on behind a piece.
struct Way {
    /// The first piece that does more than ask for what they know.
    to: usize,
    /// The register for which the pieces before that ask.
    asked: Option<Reg>,
}

/// Where lanes go on behind each piece.
fn behind(pieces: &[Piece], steps: &[Vec<Vec<(Access, Reg)>>]) -> Vec<Vec<Way>> {
    let at_start = known_at_start(pieces);
    let of = |(index, piece): (usize, &Piece)| {
        let kept = at_start[index].filter(|it| !defines(&steps[index], it.0));
        let ways = edges(&piece.end).into_iter().map(|(target, of_edge)| {
            let known = of_edge.or(kept);
            let to = known.map_or(target, |it| behind_guards(pieces, target, it));
            let asked = known.filter(|_| to != target).map(|it| it.0);
            Way { to, asked }
        });
        ways.collect()
    };
    pieces.iter().enumerate().map(of).collect()
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

/// Known to all lanes that come to a piece: only where one edge leads there, that of a guard.
fn known_at_start(pieces: &[Piece]) -> Vec<Option<Known>> {
    let mut ways: Vec<Vec<Option<Known>>> = vec![Vec::new(); pieces.len()];
    // Lanes come to the first from outside, too.
    ways[0].push(None);
    for (target, known) in pieces.iter().flat_map(|it| edges(&it.end)) {
        ways[target].push(known);
    }
    let of = |ways: Vec<Option<Known>>| match ways[..] {
        [one] => one,
        _ => None,
    };
    ways.into_iter().map(of).collect()
}

/// Where lanes that know a predicate go on behind guards of it, which do nothing else.
fn behind_guards(pieces: &[Piece], start: usize, (register, value): Known) -> usize {
    let mut at = start;
    // Guards that lead to each other in a circle have no end.
    for _ in pieces {
        let piece = &pieces[at];
        let End::Splits {
            guard,
            taken,
            otherwise,
            ..
        } = piece.end
        else {
            break;
        };
        if !piece.straight.is_empty() || guard.register != register {
            break;
        }
        at = if value == guard.negated {
            otherwise
        } else {
            taken
        };
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
        live_of(&format!(
            "mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 5; setp.lt.u32 %q, %r0, 6; {instructions}"
        ))
    }

    fn live_of(instructions: &str) -> Vec<Vec<String>> {
        let text = format!(
            ".version 9.0 .target sm_90 .address_size 64
            .visible .entry k() {{ .reg .b32 %r<4>; .reg .pred %p, %q; .shared .b32 s;
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
            "@%p mov.u32 %r3, 1; mov.u32 %r2, 2; @!%p mov.u32 %r1, 1; st.shared.b32 [s], %r1;",
            "@!%p mov.u32 %r1, 1; setp.eq.u32 %p, %r0, 3; @!%p bra A; mov.u32 %r1, 2; A: st.shared.b32 [s], %r1;",
            "@%p bra A; mov.u32 %r1, 1; bra B; A: bar.red.or.pred %p, 0, %q; B: @%p mov.u32 %r1, 2; st.shared.b32 [s], %r1;",
        ] {
            assert_eq!(at_entry(unwritten), ["%r1"], "{unwritten}");
        }
    }

    #[test]
    fn a_guard_whose_answer_is_known_is_asked_all_the_same() {
        let all = live("@%p bra A; mov.u32 %r1, 1; A: @%p mov.u32 %r1, 2; st.shared.b32 [s], %r1;");
        // The second piece is the one that the branch leads around.
        assert_eq!(all[1], ["%p"]);
    }

    #[test]
    fn lanes_that_enter_know_nothing() {
        let body = "A: mov.u32 %r3, 1; @%p mov.u32 %r1, 1; st.shared.b32 [s], %r1; @%p bra A;";
        assert_eq!(live_of(body)[0], ["%p", "%r1"]);
    }
}
