//! Names of kernels for people.

use addr2line::demangle_auto;

/// A name with the arguments of its template is shown without them where it is longer, in characters, and cut where it is
/// longer all the same.
const LONGEST: usize = 48;
/// A name that is shorter says little without the namespace.
const SHORT: usize = 7;

/// A kernel's name in its source: demangled, without the types of its parameters, without what it returns, and
/// with the arguments of templates as far as there is room.
pub(super) fn readable(symbol: &str) -> String {
    let whole = demangle_auto(symbol.into(), None);
    let name = without_parameters(&whole);
    // Of a template, what it returns stands in front.
    let name = &name[start_of_name(name)..];
    let short = without_namespaces(name);
    let mut shown = match short.split_once('<') {
        Some((base, _)) if short.chars().count() > LONGEST && !base.is_empty() => {
            format!("{base}<…>")
        }
        _ => short.to_owned(),
    };
    let base = short.split('<').next().unwrap_or_default();
    let namespaces = name[..name.len() - short.len()].trim_end_matches("::");
    if base.len() < SHORT && !namespaces.is_empty() {
        shown = format!("{}::{shown}", without_namespaces(namespaces));
    }
    match shown.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
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
                "(anonymous namespace)::fill<float, 4>",
            ),
            ("_ZN7kernels5scale17h0123456789abcdefE", "kernels::scale"),
            ("_RNvCs1234_7kernels5scale", "kernels::scale"),
        ];
        for (symbol, name) in names {
            assert_eq!(readable(symbol), name);
        }
        let long = format!("kernel_of_many<{}>", "float, ".repeat(20));
        assert_eq!(readable(&long), "kernel_of_many<…>");
        let long = "k".repeat(100);
        assert_eq!(readable(&long).chars().count(), LONGEST + 1);
    }
}
