//! Where bits of a register come from.

use super::{Program, Statement};

/// Returns the instruction that wrote, first of all, a register of these and was the last to write it, with those that wrote
/// its operands: `cvt.sat.f64.f32 of mad24.hi.sat.s32`. A loop counts as its text.
pub fn origin(program: &Program, registers: &[&str]) -> String {
    let mut lines = Vec::new();
    flatten(&program.body, &mut lines);
    let last = |name: &str, before: usize| {
        let lines = &lines[..before];
        lines.iter().rposition(|it| it.written.contains(&name))
    };
    let all = lines.len();
    let Some(at) = registers.iter().filter_map(|it| last(it, all)).min() else {
        return "no instruction of the kernel".to_owned();
    };
    let mut sources: Vec<&str> = lines[at]
        .read
        .iter()
        .filter_map(|it| last(it, at))
        .map(|it| lines[it].operation)
        .collect();
    sources.dedup();
    match sources.is_empty() {
        true => lines[at].operation.to_owned(),
        false => format!("{} of {}", lines[at].operation, sources.join(", ")),
    }
}

/// An instruction's name and registers.
struct Line<'t> {
    operation: &'t str,
    written: Vec<&'t str>,
    read: Vec<&'t str>,
}

fn flatten<'t>(all: &'t [Statement], lines: &mut Vec<Line<'t>>) {
    for statement in all {
        match statement {
            Statement::Plain { lines: texts, .. } => {
                lines.extend(texts.iter().filter_map(|it| line(it)));
            }
            Statement::If {
                then, otherwise, ..
            } => [then, otherwise]
                .into_iter()
                .for_each(|it| flatten(it, lines)),
            Statement::Switch { arms, .. } => arms.iter().for_each(|it| flatten(it, lines)),
            Statement::Loop { body, .. } => flatten(body, lines),
        }
    }
}

fn line(text: &str) -> Option<Line<'_>> {
    let guarded = text.strip_prefix('@').and_then(|it| it.split_once(' '));
    let (guard, text) = guarded.unwrap_or(("", text));
    let (operation, operands) = text.split_once(' ')?;
    let end = match operands.starts_with('{') {
        true => operands.find('}'),
        false => operands.find(','),
    };
    let (first, others) = operands.split_at(end.unwrap_or(operands.len()));
    let is_address = first.contains('[');
    let mut read: Vec<&str> = registers(others).collect();
    read.extend(registers(guard));
    if is_address {
        read.extend(registers(first));
    }
    let written = registers(first).filter(|_| !is_address).collect();
    Some(Line {
        operation,
        written,
        read,
    })
}

/// The registers in a text.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|it: char| it != '%' && !it.is_ascii_alphanumeric());
    words.filter(|it| it.starts_with('%'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Class;

    #[test]
    fn what_wrote_a_register_last_is_named_with_its_sources() {
        let lines = [
            "mad24.hi.sat.s32 %r12, %r7, %r11, %r1",
            "@%p1 cvt.sat.f64.f32 %d2, %r12",
            "st.shared.b32 [%ks], %r3",
            "mov.b64 {%r3, %r4}, %d2",
        ];
        let body = vec![Statement::Plain {
            class: Class::Convert,
            lines: lines.map(str::to_owned).into(),
            is_divisible: false,
        }];
        let program = Program {
            seed: 0,
            body,
            functions: Vec::new(),
        };
        let of = |names: &[&str]| origin(&program, names);
        assert_eq!(of(&["%r4", "%d2"]), "cvt.sat.f64.f32 of mad24.hi.sat.s32");
        assert_eq!(of(&["%r4"]), "mov.b64 of cvt.sat.f64.f32");
        assert_eq!(of(&["%r12"]), "mad24.hi.sat.s32");
        assert_eq!(of(&["%h1"]), "no instruction of the kernel");
    }
}
