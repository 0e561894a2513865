//! Names of kernels for people.

use addr2line::demangle_auto;

/// Names are cut after this many characters.
const LONGEST: usize = 60;

/// A kernel's name in its source: demangled, without the types of its parameters, without what it returns, and
/// with the arguments of templates as far as there is room.
pub(super) fn readable(symbol: &str) -> String {
    let whole = demangle_auto(symbol.into(), None);
    let name = without_parameters(&whole);
    // Of a template, what it returns stands in front.
    let name = &name[start_of_name(name)..];
    let short = without_namespaces(name);
    match short.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &short[..at]),
        None => short.to_owned(),
    }
}

/// The depth of brackets at each character.
fn outermost(name: &str) -> impl DoubleEndedIterator<Item = (usize, char)> {
    let mut depth = 0i32;
    let mut found = Vec::new();
    for (at, it) in name.char_indices() {
        match it {
            '<' | '(' | '{' | '[' => {
                if depth == 0 {
                    found.push((at, it));
                }
                depth += 1;
            }
            '>' | ')' | '}' | ']' => depth = (depth - 1).max(0),
            _ if depth == 0 => found.push((at, it)),
            _ => {}
        }
    }
    found.into_iter()
}

fn without_parameters(name: &str) -> &str {
    // `(anonymous namespace)` is a name.
    let is_list = |&(at, it): &(usize, char)| it == '(' && !name[at..].starts_with("(anonymous");
    match outermost(name).find(is_list) {
        Some((0, _)) | None => name,
        Some((at, _)) => &name[..at],
    }
}

fn start_of_name(name: &str) -> usize {
    let space = outermost(name).rev().find(|(_, it)| *it == ' ');
    space.map_or(0, |(at, _)| at + 1)
}

fn without_namespaces(name: &str) -> &str {
    let colon = outermost(name).rev().find(|(_, it)| *it == ':');
    colon.map_or(name, |(at, _)| &name[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        let names = [
            ("saxpy", "saxpy"),
            ("cupy_scale__float64", "cupy_scale__float64"),
            (
                "_Z11nrm2_kernelIddLi0EEvT_PKS0_",
                "nrm2_kernel<double, double, 0>",
            ),
            (
                "void at::native::(anonymous namespace)::fill<float, 4>(int, float*)",
                "fill<float, 4>",
            ),
            ("_ZN7kernels5scale17h0123456789abcdefE", "scale"),
            ("_RNvCs1234_7kernels5scale", "scale"),
        ];
        for (symbol, name) in names {
            assert_eq!(readable(symbol), name);
        }
        let long = format!("k<{}>", "float, ".repeat(20));
        assert_eq!(readable(&long).chars().count(), LONGEST + 1);
    }
}
