//! Variables of a module: the values that they begin with, and what they are.

use std::path::Path;
use std::str::FromStr;

use ptx::{Module, Space};

use super::argument::{self, Kind};
use super::element::Element;
use super::place::is_path;
use super::signature::without_arguments;
use crate::driver::demangled;

/// The value that a variable in global or constant memory begins with: `scale=f32:2`, `table=f32[17]=table.bin`.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The variable.
    pub(super) name: String,
    pub(super) kind: Kind,
}

impl Setting {
    /// The same, with a file's path from this folder on.
    #[must_use]
    pub fn from_folder(mut self, folder: &Path) -> Setting {
        self.kind.join_paths(folder);
        self
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let expected = || {
            format!("{text:?}: expected NAME=VALUE, such as scale=f32:2 or table=f32[17]=table.bin")
        };
        let (name, value) = text.split_once('=').ok_or_else(expected)?;
        if !is_path(name) {
            return Err(expected());
        }
        let kind = argument::kind(value).map_err(|error| format!("{}: {error}", expected()))?;
        match &kind {
            Kind::Buffer(buffer) if !buffer.has_values() => Err(format!(
                "{text:?}: a variable has its first value or another, and none is given"
            )),
            _ => Ok(Setting {
                name: name.to_owned(),
                kind,
            }),
        }
    }
}

/// A variable that is set, or looked at after the launch.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// As it was asked for.
    pub(super) name: String,
    /// As PTX has it.
    pub(super) symbol: String,
    pub(super) element: Element,
    pub(super) bytes: u64,
}

/// The variable of this name, or of this name before a compiler mangled it.
///
/// # Errors
/// In words: there is no such variable, or several, and the names that there are.
pub(super) fn find(module: &Module, name: &str) -> Result<Known, String> {
    let is_kept = |space: Space| matches!(space, Space::Global | Space::Const);
    let all: Vec<_> = module
        .variables
        .iter()
        .filter(|it| is_kept(it.space))
        .collect();
    let meant = |symbol: &str| {
        let whole = demangled(symbol);
        whole == name || without_arguments(&whole) == name
    };
    let exact = all.iter().find(|it| it.name == name);
    let mut found = all.iter().filter(|it| meant(&it.name));
    let found = match (exact, found.next(), found.next()) {
        (Some(exact), ..) => exact,
        (None, Some(only), None) => only,
        (None, Some(_), Some(_)) => {
            return Err(format!(
                "several variables are called {name}; give the name that the PTX has"
            ));
        }
        (None, None, _) => {
            let names: Vec<_> = all.iter().map(|it| demangled(&it.name)).collect();
            let listed = match names.len() {
                0 => "it has none in global or constant memory".to_owned(),
                _ => format!("it has {}", names.join(", ")),
            };
            return Err(format!("there is no variable {name}: {listed}"));
        }
    };
    Ok(Known {
        name: name.to_owned(),
        symbol: found.name.clone(),
        element: Element::of(found.ty),
        bytes: found.bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .const .align 4 .f32 scale;\n\
        .global .align 4 .b8 _ZN2ns5tableE[68];\n.shared .u32 tile[4];\n";

    #[test]
    fn variables_are_found_by_the_names_that_authors_know() {
        let module = ptx::parse(PTX).expect("PTX");
        let found = |name| find(&module, name).map(|it| (it.symbol, it.element, it.bytes));
        assert_eq!(found("scale"), Ok(("scale".to_owned(), Element::F32, 4)));
        let table = Ok(("_ZN2ns5tableE".to_owned(), Element::U8, 68));
        for name in ["_ZN2ns5tableE", "ns::table", "table"] {
            assert_eq!(found(name), table, "{name}");
        }
        let error = found("tile").expect_err("shared memory");
        assert_eq!(error, "there is no variable tile: it has scale, ns::table");
    }

    #[test]
    fn settings_have_a_name_and_a_value() {
        let setting: Setting = "ns::table=f32[17]=iota".parse().expect("a setting");
        assert_eq!(setting.name, "ns::table");
        for (text, expected) in [
            ("scale", "expected NAME=VALUE"),
            ("=f32:2", "expected NAME=VALUE"),
            ("scale=2", "\"2\" has no type"),
            ("table=f32[17]", "none is given"),
        ] {
            let error = text.parse::<Setting>().expect_err("refused");
            assert!(error.contains(expected), "{error}");
        }
    }
}
