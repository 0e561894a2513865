//! Names of kernels as their authors know them, where a compiler has made others of them.

/// The name of a kernel, and how many parameters each of its arguments has, where the name tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    arguments: Option<Vec<Argument>>,
}

/// An argument of a kernel of Numba's.
#[derive(Debug, PartialEq, Eq)]
enum Argument {
    /// One parameter.
    Value,
    /// An array: two owners, counts of elements and of bytes, the address, and a shape and strides of so many dimensions.
    Array { dimensions: usize },
}

/// Parameters of an array before its address, and beside its shape and strides.
const BEFORE_ADDRESS: usize = 4;
const BESIDE_SHAPE: usize = 5;

/// Parts of names that say nothing: the script, and that a function is inside of another.
const HIDDEN: [&str; 2] = ["__main__", "_3clocals_3e"];

impl Named {
    /// Reads the name of an entry: one that Numba has made of names and types, or any other's whole name.
    pub(crate) fn of(entry: &str) -> Named {
        numba(entry).unwrap_or_else(|| Named {
            name: engine::demangled(entry).into_owned(),
            arguments: None,
        })
    }

    /// Returns a parameter's name: an argument where its place among those is known.
    pub(crate) fn parameter(&self, index: usize) -> String {
        let mut first = 0;
        for (number, argument) in self.arguments.iter().flatten().enumerate() {
            let (count, address) = match argument {
                Argument::Value => (1, 0),
                Argument::Array { dimensions } => (BESIDE_SHAPE + 2 * dimensions, BEFORE_ADDRESS),
            };
            if first + address == index {
                return format!("argument {number}");
            }
            first += count;
        }
        format!("parameter {index}")
    }
}

/// `_ZN8__main__5saxpyB2v1B106..E` and types: names of modules and functions, each with its length, and tags.
fn numba(entry: &str) -> Option<Named> {
    let mut rest = entry.strip_prefix("_ZN")?;
    let mut names = Vec::new();
    let mut has_tags = false;
    while !rest.starts_with('E') {
        if let Some(tag) = rest.strip_prefix('B') {
            (_, rest) = counted(tag)?;
            has_tags = true;
            continue;
        }
        let (name, after) = counted(rest)?;
        names.push(name);
        rest = after;
    }
    // Names of C++ have such tags hardly ever; Numba's all have.
    has_tags.then(|| Named {
        name: names
            .iter()
            .filter(|it| !HIDDEN.contains(*it))
            .copied()
            .collect::<Vec<_>>()
            .join("."),
        arguments: arguments(&rest[1..]),
    })
}

/// The text behind a number of as many characters, and what follows it.
fn counted(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let count: usize = text.get(..digits)?.parse().ok()?;
    let end = digits.checked_add(count)?;
    Some((text.get(digits..end)?, text.get(end..)?))
}

/// The arguments that types tell; none where one of them is no number and no array.
fn arguments(mut types: &str) -> Option<Vec<Argument>> {
    let mut arguments = Vec::new();
    while let Some(first) = types.chars().next() {
        if first.is_ascii_lowercase() {
            arguments.push(Argument::Value);
            types = &types[1..];
            continue;
        }
        let (name, after) = counted(types)?;
        let inside = after.strip_prefix('I').filter(|_| name == "Array")?;
        // The element's type is one letter, the number of dimensions a literal.
        let literal = inside.get(1..)?.strip_prefix("Li")?;
        let (dimensions, _) = literal.split_once('E')?;
        let dimensions = dimensions.parse().ok().filter(|it| (1..=32).contains(it))?;
        arguments.push(Argument::Array { dimensions });
        types = past_template(inside)?;
    }
    Some(arguments)
}

/// Returns the text after the `E` that ends a template's arguments.
fn past_template(mut inside: &str) -> Option<&str> {
    loop {
        let first = inside.chars().next()?;
        inside = match first {
            'E' => return inside.get(1..),
            // A literal ends with an `E` of its own.
            'L' => inside.split_once('E')?.1,
            '0'..='9' => counted(inside)?.1,
            'a'..='z' => &inside[1..],
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAXPY: &str = "_ZN8__main__5saxpyB2v1B4cw51Ed5ArrayIfLi1E1C7mutable7alignedE5ArrayIfLi2E1C7mutable7alignedEi";

    #[test]
    fn a_kernel_of_numba_has_its_own_name_and_arguments() {
        let named = Named::of(SAXPY);
        assert_eq!(named.name, "saxpy");
        // A number, an array of one dimension, one of two, a number.
        let all: Vec<String> = [0, 5, 12, 17].map(|index| named.parameter(index)).into();
        assert_eq!(
            all,
            ["argument 0", "argument 1", "argument 2", "argument 3"]
        );
        assert_eq!(named.parameter(1), "parameter 1");
        let inner = Named::of("_ZN3lib7kernels12_3clocals_3e5scaleB2v1E5Tuple");
        assert_eq!(
            (inner.name.as_str(), inner.arguments),
            ("lib.kernels.scale", None)
        );
    }

    #[test]
    fn any_other_name_is_that_of_the_source_and_says_nothing_of_arguments() {
        for (entry, name) in [
            ("saxpy", "saxpy"),
            ("_ZN", "_ZN"),
            ("_ZN99xE", "_ZN99xE"),
            ("_ZN1éB2v1E", "_ZN1éB2v1E"),
            ("", ""),
            // Of C++.
            ("_Z5saxpyifPKfPf", "saxpy"),
            ("_ZN4name5spaceE", "name::space"),
        ] {
            let named = Named::of(entry);
            assert_eq!(
                (named.name.as_str(), named.parameter(3)),
                (name, "parameter 3".to_owned())
            );
        }
    }
}
