//! The order in which mutants are tried.

use std::collections::HashMap;

use super::{Mutant, Operator};

/// Mutants in an order of which any beginning is spread over all lines and operators: first one of each kind of each line. It
/// is the same each time.
#[must_use]
pub fn in_turns(mutants: Vec<Mutant>) -> Vec<Mutant> {
    let mut turns: HashMap<(Option<String>, u32, Operator), u32> = HashMap::new();
    let mut all: Vec<(u32, u64, Mutant)> = Vec::with_capacity(mutants.len());
    for mutant in mutants {
        let place = &mutant.place;
        let line = (place.file.clone(), place.line, mutant.operator);
        let turn = turns.entry(line).or_insert(0);
        // Multiplied, so that neighbours are far from each other.
        let spread = mutant.key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        all.push((*turn, spread, mutant));
        *turn += 1;
    }
    all.sort_by_key(|(turn, spread, _)| (*turn, *spread));
    all.into_iter().map(|(_, _, mutant)| mutant).collect()
}
