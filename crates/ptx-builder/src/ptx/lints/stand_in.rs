//! `stand-in-address`

use ::ptx::{Linkage, Space, Symbol, Type, Variable};

use super::{Report, Subject, readable};

/// Finds addresses of statics of no bytes, such as `#[address_space(shared)]` leaves in place of the
/// memory: what is read and written there is another variable's.
pub(super) fn check(subject: &Subject<'_>) -> Vec<Report> {
    let mut reports = Vec::new();
    for function in subject.defined() {
        for (index, instruction) in function.body.instructions.iter().enumerate() {
            instruction.visit_symbols(|symbol| {
                if let Symbol::Module(variable) = symbol
                    && let variable = &subject.module.variables[variable as usize]
                    && is_empty(variable)
                {
                    reports.push(subject.report(function, index, message(&variable.name)));
                }
            });
        }
    }
    reports
}

/// `.global .align 1 .b8 NAME`. A static of one byte is a `.u8`, and one of several an array.
fn is_empty(variable: &Variable) -> bool {
    variable.space == Space::Global
        && variable.linkage == Linkage::Private
        && variable.ty == Type::B8
        && variable.dimensions.is_empty()
        && variable.initial.is_none()
}

fn message(name: &str) -> String {
    let path = readable(name);
    let own = path.rsplit("::").next().unwrap_or(&path);
    format!(
        "the address of {path} is taken, which is a stand-in of no bytes for shared or constant memory, and \
         not that memory: write `&raw mut *{own}` (or `&*{own}`), or use it as the array that it is"
    )
}

#[cfg(test)]
mod tests {
    use super::super::Lint;
    use super::super::testing::lines;

    fn module(variable: &str) -> String {
        format!(
            ".global .align 1 {variable};
.entry k() {{
.loc 1 6 3
mov.b64 %rd1, _RNvCs_1k1T;
.loc 1 7 3
st.global.b32 [%rd1], 0;
ret; }}"
        )
    }

    #[test]
    fn the_address_of_a_stand_in_is_found_where_it_is_taken() {
        let lines = lines(Lint::StandInAddress, &module(".b8 _RNvCs_1k1T"));
        assert_eq!(lines.len(), 1, "{lines:?}");
        let start =
            "kernel k, kernels/src/lib.rs:6: stand-in-address: the address of k::T is taken";
        assert!(lines[0].starts_with(start), "{lines:?}");
        assert!(lines[0].contains("`&raw mut *T`"), "{lines:?}");
    }

    #[test]
    fn statics_that_have_bytes_are_silent() {
        for variable in [
            ".u8 _RNvCs_1k1T",
            ".u8 _RNvCs_1k1T = 1",
            ".b8 _RNvCs_1k1T[4]",
            ".b8 _RNvCs_1k1T[4] = {1, 2, 3, 4}",
            ".b8 OTHER",
        ] {
            assert_eq!(
                lines(Lint::StandInAddress, &module(variable)),
                [""; 0],
                "{variable}"
            );
        }
    }
}
