//! Takes away from a program what is not needed for something to happen.

use super::{Program, Statement, Times};

/// The smallest program found with which `happens` is still true. It is asked at most `attempts` times.
pub fn shrink(
    program: &Program,
    attempts: usize,
    happens: &mut dyn FnMut(&Program) -> bool,
) -> Program {
    let mut left = attempts;
    let mut best = program.clone();
    loop {
        let mut all = candidates(&best).into_iter().take(left);
        let before = all.len();
        let found = all.find(|it| happens(it));
        left -= before - all.len();
        match found {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Smaller programs, those that are much smaller first.
fn candidates(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    let is_called = format!("{:?}", program.body).contains("call ");
    if !program.functions.is_empty() && !is_called {
        all.push(Program {
            functions: Vec::new(),
            ..program.clone()
        });
    }
    all.extend(smaller(&program.body).into_iter().map(|body| Program {
        body,
        ..program.clone()
    }));
    for (index, function) in program.functions.iter().enumerate() {
        all.extend(smaller(function).into_iter().map(|it| {
            let mut functions = program.functions.clone();
            functions[index] = it;
            Program {
                functions,
                ..program.clone()
            }
        }));
    }
    all
}

/// The statements with some of them taken away, or replaced by a part of them.
fn smaller(all: &[Statement]) -> Vec<Vec<Statement>> {
    let mut smaller_ones = Vec::new();
    let mut width = all.len();
    while width > 0 {
        for start in (0..all.len()).step_by(width) {
            let end = (start + width).min(all.len());
            smaller_ones.push([&all[..start], &all[end..]].concat());
        }
        width /= 2;
    }
    for (index, statement) in all.iter().enumerate() {
        for replacement in parts(statement) {
            smaller_ones.push([&all[..index], &replacement, &all[index + 1..]].concat());
        }
    }
    smaller_ones
}

/// Returns lists of smaller statements that can stand for a statement.
fn parts(statement: &Statement) -> Vec<Vec<Statement>> {
    match statement {
        Statement::Plain {
            class,
            lines,
            is_divisible: true,
        } => (1..lines.len())
            .map(|index| {
                let mut lines = lines.clone();
                lines.remove(index);
                vec![Statement::Plain {
                    class: *class,
                    lines,
                    is_divisible: true,
                }]
            })
            .collect(),
        Statement::Plain { .. } => Vec::new(),
        Statement::If {
            predicate,
            then,
            otherwise,
        } => {
            let with = |then: Vec<Statement>, otherwise: Vec<Statement>| {
                vec![Statement::If {
                    predicate: predicate.clone(),
                    then,
                    otherwise,
                }]
            };
            let mut all = vec![then.clone(), otherwise.clone()];
            all.extend(
                smaller(then)
                    .into_iter()
                    .map(|it| with(it, otherwise.clone())),
            );
            all.extend(
                smaller(otherwise)
                    .into_iter()
                    .map(|it| with(then.clone(), it)),
            );
            all
        }
        Statement::Switch { index, arms } => {
            let mut all = arms.clone();
            for (number, arm) in arms.iter().enumerate() {
                all.extend(smaller(arm).into_iter().map(|it| {
                    let mut arms = arms.clone();
                    arms[number] = it;
                    vec![Statement::Switch {
                        index: index.clone(),
                        arms,
                    }]
                }));
            }
            all
        }
        Statement::Loop {
            times,
            counter,
            body,
        } => {
            let with = |times: &Times, body: Vec<Statement>| {
                vec![Statement::Loop {
                    times: times.clone(),
                    counter: counter.clone(),
                    body,
                }]
            };
            let mut all = vec![body.clone()];
            if *times != Times::Fixed(2) && *times != Times::Fixed(1) {
                all.push(with(&Times::Fixed(2), body.clone()));
            }
            all.extend(smaller(body).into_iter().map(|it| with(times, it)));
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Class, Classes, generate, module};

    #[test]
    fn only_what_is_needed_stays() {
        let program = (0..)
            .map(|seed| generate(seed, Classes::default()))
            .find(|it| module(std::slice::from_ref(it)).contains("popc.b64"))
            .expect("a seed");
        let small = shrink(&program, 10_000, &mut |it| {
            module(std::slice::from_ref(it)).contains("popc.b64")
        });
        let [Statement::Plain { class, lines, .. }] = &small.body[..] else {
            panic!("{small:?}");
        };
        assert_eq!((*class, lines.len()), (Class::Bits, 1));
        assert!(small.functions.is_empty());
    }
}
