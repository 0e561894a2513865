//! Debugging information that a compiler would not write.

use engine::debug::Site;

use super::{Information, Machine};
use crate::object::{Names, Object, Shape};

const TEXTS: [&str; 2] = [
    include_str!("../../tests/launches/pairs/cuda.ptx"),
    include_str!("../../tests/launches/pairs/rust.ptx"),
];

/// A machine in which all is there, and zero.
struct Zeros<'i>(&'i Information);

impl Machine for Zeros<'_> {
    fn register(&self, _: &str) -> Option<u128> {
        Some(0)
    }

    fn address(&self, _: &str) -> Option<u64> {
        Some(0)
    }

    fn read(&self, _: u64, bytes: u64) -> Option<Vec<u8>> {
        (bytes <= 16).then(|| vec![0; bytes as usize])
    }
}

impl Names for Zeros<'_> {
    fn object(&self, _: &str) -> Option<Result<Object, String>> {
        None
    }

    fn read(&self, address: u64, bytes: u64) -> Option<Vec<u8>> {
        Machine::read(self, address, bytes)
    }

    fn types(&self) -> &super::Types {
        &self.0.types
    }
}

/// Shows each variable at each instruction: how many there are.
fn all_shown(text: &str) -> usize {
    let module = ptx::parse(text).expect("PTX");
    let information = Information::of(&module);
    let machine = Zeros(&information);
    let mut shown = 0;
    for (function, number) in module.functions.iter().zip(0..) {
        let count = function.body.as_ref().map_or(0, |it| it.instructions.len());
        for instruction in 0..count as u32 {
            let site = Site {
                function: number,
                instruction,
            };
            for level in information.levels(site) {
                for variable in information.variables(level.scope) {
                    let held = information.held(variable, site, &machine);
                    let object = held.map(|held| Object {
                        ty: Shape::Source(variable.ty),
                        held,
                    });
                    let text = object.map(|it| it.shown("it", &machine));
                    shown += usize::from(matches!(text, Some(Ok(_))));
                }
            }
        }
    }
    shown
}

#[test]
fn no_section_is_so_wrong_that_it_is_more_than_left_out() {
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % below
    };
    for text in TEXTS {
        assert!(all_shown(text) > 20);
        let lines: Vec<&str> = text.lines().collect();
        let sections = lines.iter().position(|it| it.contains(".section"));
        let sections = sections.expect("it has some");
        for _ in 0..200 {
            let mut changed = lines.clone();
            for _ in 0..1 + next(4) {
                let at = sections + next(lines.len() - sections);
                let other = sections + next(lines.len() - sections);
                let is_data = |it: &str| it.starts_with(".b");
                if is_data(lines[at]) && is_data(lines[other]) {
                    changed[at] = lines[other];
                }
            }
            all_shown(&changed.join("\n"));
        }
    }
}
