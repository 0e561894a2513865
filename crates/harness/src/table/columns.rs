//! The columns of rows of files: what is known of each by its name, and how a record is made of them.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::SerializeMap;

use super::Cell;
use super::occupancy_columns::occupancy_columns;
use super::roofline_columns::roofline_columns;
use Rule::{Any, NotNegative, Positive, Times};

/// A column, of its row in `roofline_columns.rs` or `occupancy_columns.rs`.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Its meaning, in Markdown, for the page.
    #[cfg(test)]
    doc: &'static str,
    #[cfg(test)]
    unit: &'static str,
    role: Role,
    /// Digits behind the point, of numbers.
    decimals: usize,
    values: Values,
    /// Where a verdict or a picture rests on the column, whichever command reads it.
    pub(crate) rule: Rule,
}

/// The role of a column for those who read rows.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// A property of the launch: rows that differ in one are of different launches to `compare`. The axes of workloads are such
    /// columns, too, whatever they are called.
    Launch,
    /// A result, or what it was measured on.
    Outcome,
    /// A time of the device that ran the row, or a result that follows from one: of an emulated row these are the host's.
    Timed,
    /// The same, in JSON alone.
    Json,
    /// Columns that the value names.
    Several,
}

/// The values of a column.
#[derive(Clone, Copy, PartialEq)]
enum Values {
    /// Numbers with digits behind the point.
    Real,
    /// Several words, which JSON has as a list.
    List,
    /// Several real numbers.
    Reals,
    Other,
}

impl Values {
    /// Of the type that the column's row names.
    const fn of(type_name: &str) -> Values {
        if begins(type_name, "Vec<f64") {
            Values::Reals
        } else if begins(type_name, "Vec<") {
            Values::List
        } else if begins(type_name, "f64") || begins(type_name, "Option<f64") {
            Values::Real
        } else {
            Values::Other
        }
    }
}

/// Whether the text begins so, but for spaces, which a macro may add.
const fn begins(text: &str, with: &str) -> bool {
    let (text, with) = (text.as_bytes(), with.as_bytes());
    let (mut at, mut found) = (0, 0);
    while found < with.len() {
        if at == text.len() {
            return false;
        }
        if text[at] != b' ' {
            if text[at] != with[found] {
                return false;
            }
            found += 1;
        }
        at += 1;
    }
    true
}

/// A rule for the contents of a cell that is not empty.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    Any,
    Positive,
    NotNegative,
    /// Numbers with blanks between them.
    Times,
}

impl Rule {
    pub(crate) fn allows(self, cell: &str) -> bool {
        let number = cell.parse().ok().filter(|it: &f64| it.is_finite());
        match self {
            Any => true,
            Positive => number.is_some_and(|it| it > 0.0),
            NotNegative => number.is_some_and(|it| it >= 0.0),
            Times => cell
                .split_whitespace()
                .all(|word| word.parse().is_ok_and(|it: f64| it.is_finite())),
        }
    }

    pub(crate) fn wanted(self) -> &'static str {
        match self {
            Any => "anything",
            Positive => "a finite number above 0",
            NotNegative => "a finite number of at least 0",
            Times => "finite numbers with blanks between them",
        }
    }
}

/// Whether this program writes a column of this name whatever the workload is.
pub(crate) fn is_known(name: &str) -> bool {
    columns().any(|it| it.name == name && it.role != Role::Several)
}

/// Whether a column says what came out, and not what the launch was.
pub fn is_outcome(name: &str) -> bool {
    columns()
        .any(|it| it.name == name && matches!(it.role, Role::Outcome | Role::Timed | Role::Json))
}

/// Whether CSV has a column of this name, too.
pub(crate) fn has_cells(name: &str) -> bool {
    columns().any(|it| it.name == name && it.role != Role::Json)
}

/// Whether the column of this name, if there is one, has lists of words or numbers.
pub(crate) fn has_lists(name: &str) -> Option<bool> {
    let column = columns().find(|column| column.name == name)?;
    Some(matches!(column.values, Values::List | Values::Reals))
}

/// A cell as a row of this program has it in a column of this name: with the column's digits where it holds real numbers.
pub(crate) fn with_digits<'c>(name: &str, cell: &'c str) -> Cow<'c, str> {
    let Some(column) = columns().find(|column| column.name == name) else {
        return Cow::Borrowed(cell);
    };
    let decimals = column.decimals;
    let rounded = |word: &str| {
        let number = word.parse().ok().filter(|it: &f64| it.is_finite());
        number.map_or_else(|| word.to_owned(), |it| format!("{it:.decimals$}"))
    };
    match column.values {
        Values::Real => Cow::Owned(rounded(cell)),
        Values::Reals => {
            let words: Vec<String> = cell.split_whitespace().map(rounded).collect();
            Cow::Owned(words.join(" "))
        }
        Values::List | Values::Other => Cow::Borrowed(cell),
    }
}

/// Whether a column is a time of the device that ran the row, or follows from it: of an emulated row these are the host's.
pub(crate) fn is_of_the_clock(name: &str) -> bool {
    columns().any(|it| it.name == name && it.role == Role::Timed)
}

/// A cell with as many digits as its column has, empty where nothing is known.
///
/// # Panics
/// There is no such column.
pub(crate) fn number(name: &'static str, value: impl Into<Option<f64>>) -> Cell {
    let column = columns().find(|column| column.name == name);
    column.expect("numbers have a row").number(value.into())
}

/// A cell that is empty where nothing is known.
pub(crate) fn known(name: &'static str, value: Option<impl ToString>) -> Cell {
    (name, value.map_or_else(String::new, |it| it.to_string()))
}

/// A cell.
pub(crate) fn cell(name: &'static str, value: impl ToString) -> Cell {
    (name, value.to_string())
}

impl Column {
    /// A cell with as many digits as the column has, empty where nothing is known: what a time of 0 gives is nothing.
    pub(crate) fn number(&self, value: Option<f64>) -> Cell {
        let decimals = self.decimals;
        let value = value.filter(|it| it.is_finite());
        known(self.name, value.map(|it| format!("{it:.decimals$}")))
    }
}

macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty, $unit:literal, [$role:ident, $decimals:literal, $rule:ident]
        = |$it:ident| $value:expr;)*) => {
        &[$(Column {
            name: stringify!($name),
            #[cfg(test)]
            doc: concat!($($doc),+),
            #[cfg(test)]
            unit: $unit,
            role: Role::$role,
            decimals: $decimals,
            values: Values::of(stringify!($type)),
            rule: Rule::$rule,
        }),*]
    };
}

pub(crate) const ROOFLINE: &[Column] = roofline_columns!(facts);
pub(crate) const OCCUPANCY: &[Column] = occupancy_columns!(facts);

/// Every column of the rows that are compared and merged. A name may be of both kinds of rows.
pub(crate) fn columns() -> impl Iterator<Item = &'static Column> {
    ROOFLINE.iter().chain(OCCUPANCY)
}

/// Makes a record of rows: a field for each, its JSON, its cells, and its values by the rows' formulas. What stands in the
/// braces is in no file.
macro_rules! record {
    (
        $(#[$attribute:meta])*
        pub struct $record:ident of $measurement:ty, columns $columns:expr, {
            $($(#[doc = $own_doc:literal])+ $own:ident: $own_type:ty = |$own_it:ident| $own_value:expr;)*
        }
        $($(#[doc = $doc:literal])+ $name:ident: $type:ty, $unit:literal, [$role:ident, $decimals:literal, $rule:ident]
            = |$it:ident| $value:expr;)*
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $record {
            $($(#[doc = $doc])+ pub $name: $type,)*
            $($(#[doc = $own_doc])+ pub $own: $own_type,)*
        }

        impl $record {
            const COLUMNS: &'static [$crate::table::Column] = $columns;

            fn of(measurement: &$measurement) -> $record {
                $record {
                    $($name: { let $it = measurement; $value },)*
                    $($own: { let $own_it = measurement; $own_value },)*
                }
            }
        }

        impl serde::Serialize for $record {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;

                let mut map = serializer.serialize_map(None)?;
                $($crate::table::ColumnValue::fields(&self.$name, stringify!($name), &mut map)?;)*
                map.end()
            }
        }

        impl $crate::table::Row for $record {
            fn columns(&self) -> Vec<$crate::table::Cell> {
                let mut columns = Self::COLUMNS.iter();
                let mut cells = Vec::new();
                $({
                    let column = columns.next().expect("a row for each field");
                    cells.extend($crate::table::ColumnValue::cells(&self.$name, column));
                })*
                cells
            }
        }
    };
}

pub(crate) use record;

/// A value of a record, as files have it.
pub(crate) trait ColumnValue: Serialize {
    /// Its cells in CSV: one, none of a list of numbers, or several.
    fn cells(&self, column: &'static Column) -> Vec<Cell>;

    /// Its fields in JSON.
    fn fields<M: SerializeMap>(&self, name: &'static str, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry(name, self)
    }
}

/// A value that has a name in tables and files.
pub(crate) trait Named: Serialize {
    fn text(&self) -> String;
}

macro_rules! named {
    ($($type:ty),*) => {
        $(impl Named for $type {
            fn text(&self) -> String {
                self.to_string()
            }
        })*
    };
}

named!(String, &'static str, bool, u32, u64, usize);

impl<T: Named> ColumnValue for T {
    fn cells(&self, column: &'static Column) -> Vec<Cell> {
        vec![(column.name, self.text())]
    }
}

impl<T: Named> ColumnValue for Option<T> {
    fn cells(&self, column: &'static Column) -> Vec<Cell> {
        vec![known(column.name, self.as_ref().map(T::text))]
    }
}

impl<T: Named> ColumnValue for Vec<T> {
    fn cells(&self, column: &'static Column) -> Vec<Cell> {
        let texts: Vec<String> = self.iter().map(T::text).collect();
        vec![(column.name, texts.join(" "))]
    }
}

impl ColumnValue for f64 {
    fn cells(&self, column: &'static Column) -> Vec<Cell> {
        vec![column.number(Some(*self))]
    }
}

impl ColumnValue for Option<f64> {
    fn cells(&self, column: &'static Column) -> Vec<Cell> {
        vec![column.number(*self)]
    }
}

impl ColumnValue for Vec<f64> {
    fn cells(&self, column: &'static Column) -> Vec<Cell> {
        let decimals = column.decimals;
        let texts = self.iter().map(|value| format!("{value:.decimals$}"));
        vec![(column.name, texts.collect::<Vec<String>>().join(" "))]
    }
}

impl ColumnValue for Vec<Option<f64>> {
    fn cells(&self, _: &'static Column) -> Vec<Cell> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{env, fs};

    use super::*;

    /// The table of columns for the page, between its marks.
    fn table(columns: &[Column]) -> String {
        let mut text = "| column | unit | meaning |\n|---|---|---|\n".to_owned();
        for column in columns.iter().filter(|it| it.role != Role::Several) {
            let doc = column.doc.trim();
            let json = if column.role == Role::Json {
                "in JSON alone: "
            } else {
                ""
            };
            text += &format!("| `{}` | {} | {json}{doc} |\n", column.name, column.unit);
        }
        text
    }

    /// The page with these lines in place of those between the marks of a name.
    fn with(page: &str, name: &str, lines: &str) -> String {
        let (begin, end) = (
            format!("<!-- {name} -->\n"),
            format!("<!-- end of {name} -->\n"),
        );
        let (before, rest) = page.split_once(&begin).expect("the page has the mark");
        let (_, after) = rest.split_once(&end).expect("the page has the end");
        format!("{before}{begin}{lines}{end}{after}")
    }

    #[test]
    fn the_page_has_the_table_of_the_columns() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measuring.md");
        let page = fs::read_to_string(&path).expect("the page");
        let new = with(&page, "columns of a roofline", &table(ROOFLINE));
        let new = with(&new, "columns of an occupancy study", &table(OCCUPANCY));
        if env::var_os("RIDGEPOINT_BLESS").is_some() {
            fs::write(&path, &new).expect("writable");
        }
        let page = fs::read_to_string(&path).expect("the page");
        assert!(
            page == new,
            "RIDGEPOINT_BLESS=1 writes the tables of docs/measuring.md"
        );
    }

    #[test]
    fn cells_have_the_digits_of_their_column() {
        for (name, cell, expected) in [
            ("ai", "0.25", "0.250000"),
            ("gflops", "0.1966583445362013", "0.20"),
            ("clock_mhz", "1979.88", "1980"),
            ("samples_ms", "1 0.04916458613405032", "1.000000 0.049165"),
            ("ai", "", ""),
            ("gflops", "many", "many"),
            ("n", "67108864.0", "67108864.0"),
            ("samples", "20", "20"),
            ("host", "1.5", "1.5"),
        ] {
            assert_eq!(with_digits(name, cell), expected, "{name}");
        }
        assert_eq!(has_lists("flags"), Some(true));
        assert!(has_cells("round_samples") && !has_cells("samples_clock_hz"));
        assert_eq!(
            (has_lists("kernel"), has_lists("host")),
            (Some(false), None)
        );
    }

    #[test]
    fn columns_of_one_name_are_alike_in_all_rows() {
        for column in ROOFLINE {
            let others = OCCUPANCY.iter().filter(|it| it.name == column.name);
            for other in others.filter(|it| it.role != Role::Several) {
                let facts = |it: &Column| (it.decimals, it.rule as u8, it.role as u8);
                assert_eq!(facts(column), facts(other), "{}", column.name);
            }
        }
        assert!(is_outcome("gflops") && is_outcome("samples_ms") && is_outcome("waves"));
        for name in ["kernel", "block", "grid", "cache", "first", "axes", "k"] {
            assert!(!is_outcome(name), "{name}");
        }
        assert!(is_of_the_clock("gflops") && is_of_the_clock("rate") && !is_of_the_clock("ai"));
        assert!(Positive.allows("0.5") && !Positive.allows("0") && !Positive.allows("NaN"));
        assert!(
            Times.allows("1 0.5 0")
                && Times.allows("")
                && !Times.allows("no")
                && !Times.allows("1 inf")
        );
        assert!(NotNegative.allows("0") && !NotNegative.allows("-1") && Any.allows("memory"));
    }
}
