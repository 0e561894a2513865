//! Chains of instructions with carries.

use super::generate::Maker;
use super::{Class, Statement};

/// A chain: the first keeps a carry, those after it add it and keep theirs, the last adds it. Widths and operations are mixed,
/// for there is one carry.
pub(super) fn chain(maker: &mut Maker<'_>) -> Statement {
    let mut lines = Vec::new();
    let first = ["add.cc.", "sub.cc.", "mad.lo.cc.", "mad.hi.cc."];
    lines.push(one(maker, &first));
    for _ in 0..maker.random.u32(0..4) {
        let middle = [
            "addc.cc.",
            "subc.cc.",
            "madc.lo.cc.",
            "madc.hi.cc.",
            "add.cc.",
            "sub.cc.",
        ];
        lines.push(one(maker, &middle));
    }
    for _ in 0..maker.random.u32(1..3) {
        lines.push(one(maker, &["addc.", "subc.", "madc.lo.", "madc.hi."]));
    }
    Statement::Plain {
        class: Class::Carry,
        lines,
        is_divisible: true,
    }
}

fn one(maker: &mut Maker<'_>, operations: &[&str]) -> String {
    let operation = operations[maker.random.usize(..operations.len())];
    let row = match (maker.random.bool(), operation.starts_with("mad")) {
        (true, false) => "<u|s>32 $R, $r, $i",
        (true, true) => "<u|s>32 $R, $r, $i, $i",
        (false, false) => "<u|s>64 $D, $d, $j",
        (false, true) => "<u|s>64 $D, $d, $j, $d",
    };
    operation.to_owned() + &maker.line(row)
}
