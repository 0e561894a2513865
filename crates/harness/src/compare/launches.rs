//! The launches of a table, told apart by the columns that say what a launch is.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use itertools::Itertools;

use super::table::{Measured, column};
use super::{NotComparable, Table};
use crate::table::is_known;

/// The rows of each launch, in the order in which the launches first occur.
pub(super) struct Launches<'a> {
    pub(super) order: Vec<Cow<'a, str>>,
    pub(super) rows: HashMap<Cow<'a, str>, Vec<&'a Measured>>,
}

/// Columns that say nothing of a launch, and what is said of them.
pub(super) struct Annotations {
    names: BTreeSet<String>,
    pub(super) notes: Vec<String>,
}

impl<'a> Launches<'a> {
    pub(super) fn of(table: &'a Table, annotations: &Annotations) -> Launches<'a> {
        let (mut order, mut rows) = (Vec::new(), HashMap::<_, Vec<&Measured>>::new());
        for row in &table.rows {
            let key = without(&row.key, &annotations.names);
            let same = rows.entry(key.clone()).or_default();
            if same.is_empty() {
                order.push(key);
            }
            same.push(row);
        }
        Launches { order, rows }
    }

    /// The launches that the other table lacks, for people.
    pub(super) fn missing_in(&self, other: &Launches<'_>) -> Vec<String> {
        let missing = self
            .order
            .iter()
            .filter(|key| !other.rows.contains_key(&***key));
        missing
            .map(|key| self.rows[&**key][0].launch.clone())
            .collect()
    }
}

/// A key without the lines of these columns.
fn without<'a>(key: &'a str, names: &BTreeSet<String>) -> Cow<'a, str> {
    match names.is_empty() {
        true => Cow::Borrowed(key),
        false => Cow::Owned(
            key.lines()
                .filter(|part| !names.contains(column(part)))
                .join("\n"),
        ),
    }
}

/// The columns to leave out: those that are `given`, and those that one table alone has, that are not this program's own, and
/// without which its launches are still told apart, such as a note on a run.
pub(super) fn annotations(
    before: &Table,
    after: &Table,
    given: &[String],
) -> Result<Annotations, NotComparable> {
    let (old, new) = (columns(before), columns(after));
    for name in given {
        let reason = match name.as_str() {
            "kernel" => "it names the launches",
            name if !old.contains(name) && !new.contains(name) => {
                "no launch has such a column, or only results are in it"
            }
            _ => continue,
        };
        let column = name.clone();
        return Err(NotComparable::Ignored { column, reason });
    }
    let mut found = Annotations {
        names: given.iter().cloned().collect(),
        notes: Vec::new(),
    };
    for (table, own, other, side) in [(before, &old, &new, "before"), (after, &new, &old, "after")]
    {
        let only = own.difference(other).filter(|name| !is_known(name));
        let only: BTreeSet<String> = only.map(|name| (*name).to_owned()).collect();
        if !only.is_empty() && tells_apart_without(table, &only) {
            let names = only.iter().join(", ");
            found
                .notes
                .push(format!("only {side}: {names}, which no launches differ in"));
            found.names.extend(only);
        }
    }
    Ok(found)
}

/// The columns that some launch of a table has a value in.
fn columns(table: &Table) -> BTreeSet<&str> {
    let keys = table.rows.iter().flat_map(|row| row.key.lines());
    keys.map(column).collect()
}

/// Whether no two launches of a table are the same without these columns.
fn tells_apart_without(table: &Table, names: &BTreeSet<String>) -> bool {
    let keys: HashSet<&str> = table.rows.iter().map(|row| row.key.as_str()).collect();
    let stripped: HashSet<_> = keys.iter().map(|key| without(key, names)).collect();
    stripped.len() == keys.len()
}
