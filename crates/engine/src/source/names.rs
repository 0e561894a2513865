//! Names as their authors wrote them, of those that compilers have made.

use std::borrow::Cow;

use cpp_demangle::{DemangleOptions, Symbol};

/// Returns the whole name of a function or a variable that rustc or a compiler of C++ has mangled, with its path and the arguments of
/// templates, and without types of parameters.
pub fn demangled(symbol: &str) -> Cow<'_, str> {
    // LLVM tells statics of functions apart by `.0`, which PTX has no dots for.
    let (own, _) = symbol.split_once("_$_").unwrap_or((symbol, ""));
    let of_rust = || Some(format!("{:#}", rustc_demangle::try_demangle(own).ok()?));
    of_cpp(own)
        .or_else(of_rust)
        .map_or(Cow::Borrowed(symbol), Cow::Owned)
}

/// Returns the author's name of a variable: the last part of its [whole name](demangled).
pub fn name_of(symbol: &str) -> Cow<'_, str> {
    match demangled(symbol) {
        Cow::Borrowed(name) => Cow::Borrowed(name),
        Cow::Owned(mut whole) => Cow::Owned(whole.split_off(start_of_last(&whole))),
    }
}

fn of_cpp(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") || is_of_rust(symbol) {
        return None;
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    Symbol::new(symbol)
        .ok()?
        .demangle_with_options(&options)
        .ok()
}

/// Whether rustc has mangled it as it did before its own scheme: with a hash at the end.
fn is_of_rust(symbol: &str) -> bool {
    let hash = symbol
        .strip_suffix('E')
        .and_then(|it| it.rsplit_once("17h"));
    hash.is_some_and(|(_, hash)| hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// Where the last part of a path begins: the arguments of a template may have paths of their own.
fn start_of_last(whole: &str) -> usize {
    let (mut depth, mut start) = (0u32, 0);
    for (at, it) in whole.char_indices() {
        match it {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::{demangled, name_of};

    #[test]
    fn variables_have_the_names_of_the_source() {
        let names = [
            (
                "_RNvNtCslJq33NdhYKP_19conformance_kernels6memory6PRIMES",
                "PRIMES",
            ),
            ("_RNvNtCs1_7planted9elsewhere11TABLE_OF_12", "TABLE_OF_12"),
            ("_RNvNvNtCs1_7planted5count4next7COUNTER_$_0", "COUNTER"),
            ("TABLE", "TABLE"),
            ("_ZZ7barsbadE1s", "s"),
            ("_ZZ1fvE1s_0", "s"),
            ("_ZN2ns3tabE", "tab"),
            ("_ZZN2ns1fIfLi4EEEvPT_iE5tiles", "tiles"),
            ("_ZN2ns3tabISt6vectorIiEEE", "tab<std::vector<int> >"),
            ("_Zero", "_Zero"),
        ];
        for (symbol, name) in names {
            assert_eq!(name_of(symbol), name);
        }
    }

    #[test]
    fn whole_names_have_paths_and_no_types_of_parameters() {
        let names = [
            ("scale", "scale"),
            ("_Z5scaleIfEvPT_i", "scale<float>"),
            ("_ZN2ns5scaleEPfi", "ns::scale"),
            (
                "_RNvNtCs1_7planted9elsewhere5TABLE",
                "planted::elsewhere::TABLE",
            ),
            (
                "_RNvNtCs1_7planted9elsewhere7COUNTER_$_0",
                "planted::elsewhere::COUNTER",
            ),
            ("_ZN7planted5TABLE17h0123456789abcdefE", "planted::TABLE"),
            ("_Zero", "_Zero"),
        ];
        for (symbol, name) in names {
            assert_eq!(demangled(symbol), name);
        }
    }
}
