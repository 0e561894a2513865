//! Tables for people.

use comfy_table::{CellAlignment, ColumnConstraint, Table, Width as Wide, presets};
use itertools::Itertools;

/// How wide text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// As wide as it comes out: a file, a pipe.
    Any,
    /// At most this many characters: a terminal.
    Columns(usize),
}

impl Width {
    /// The text with its lines folded at spaces where they are wider. What does not fit continues below: under the
    /// value of a name and a value, without an indent in a sentence, and else two characters to the right.
    pub fn fold(self, text: &str) -> String {
        match self {
            Width::Any => text.to_owned(),
            Width::Columns(most) => text.split('\n').map(|line| folded(line, most)).join("\n"),
        }
    }
}

/// A line as one or more of at most so many characters, unless a word is longer.
fn folded(line: &str, most: usize) -> String {
    if count(line) <= most {
        return line.to_owned();
    }
    let indent = continuation(line, most);
    let (first, rest) = line.split_at(line.len() - line.trim_start().len());
    let mut lines = vec![first.to_owned()];
    // Several spaces are columns: they stay, but for those at the end of a line.
    for word in rest.split_inclusive(' ') {
        let last = lines.last_mut().expect("there is one");
        if count(last) + count(word.trim_end()) > most && !last.trim().is_empty() {
            lines.push(" ".repeat(indent));
        }
        let last = lines.last_mut().expect("there is one");
        if !(word == " " && last.trim().is_empty()) {
            last.push_str(word);
        }
    }
    lines.iter().map(|line| line.trim_end()).join("\n")
}

/// The indent of what continues a line.
fn continuation(line: &str, most: usize) -> usize {
    let start = count(line) - count(line.trim_start());
    if start == 0 && line.ends_with(['.', ':']) {
        return 0;
    }
    let name = &line[start..];
    let value = name
        .find("  ")
        .filter(|_| start > 0 && start <= 4)
        .map(|end| {
            let spaces = name[end..].len() - name[end..].trim_start().len();
            start + count(&name[..end]) + spaces
        });
    value.filter(|&it| it <= 2 * most / 5).unwrap_or(start + 2)
}

/// A number with three digits.
pub(crate) fn significant(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value => {
            let places = (2 - value.abs().log10().floor() as i32).clamp(0, 9);
            format!("{value:.*}", places as usize)
        }
    }
}

/// `1 row`, `2 rows`; `1 launch`, `2 launches`.
pub fn counted(count: u64, what: &str) -> String {
    let is_sibilant = ["ch", "sh", "s", "x"].iter().any(|it| what.ends_with(it));
    let ending = match (count, is_sibilant) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {what}{ending}")
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// A table for people, and how it is made to fit.
pub struct Look<F> {
    /// The room.
    pub width: Width,
    /// Whether a column is flush right, by its number from 0.
    pub is_right: F,
    /// The names of the columns that are left out first where there is no room for all. Then those on the right
    /// go. A line below the table names what it lacks.
    pub spare: &'static [&'static str],
}

/// A table. Where it is wider than there is room, text in it goes on in further lines, and then columns are left
/// out, of which a line below it tells.
pub fn text<R: IntoIterator<Item: ToString>>(
    header: impl IntoIterator<Item: ToString>,
    rows: impl IntoIterator<Item = R>,
    look: Look<impl Fn(usize) -> bool>,
) -> String {
    let header: Vec<String> = header.into_iter().map(|cell| cell.to_string()).collect();
    let cells = |row: R| row.into_iter().map(|cell| cell.to_string()).collect();
    let rows: Vec<Vec<String>> = rows.into_iter().map(cells).collect();
    let columns = header.iter().enumerate().map(|(index, name)| {
        let cells = rows.iter().filter_map(|row| row.get(index));
        Column::new(
            index,
            name,
            cells.map(String::as_str),
            (look.is_right)(index),
        )
    });
    let mut columns: Vec<Column> = columns.collect();
    let Width::Columns(most) = look.width else {
        return drawn(&columns, &header, &rows);
    };
    let mut lacks = Vec::new();
    while columns.len() > 1 && wide(columns.iter().map(|it| it.least)) > most {
        let spare = |name: &&str| columns.iter().position(|it| header[it.index] == **name);
        let goes = look.spare.iter().find_map(spare);
        let gone = columns.remove(goes.unwrap_or(columns.len() - 1));
        lacks.push(gone.index);
    }
    fit(&mut columns, most);
    let table = drawn(&columns, &header, &rows);
    if lacks.is_empty() {
        return table;
    }
    lacks.sort_unstable();
    let names = lacks.iter().map(|&index| header[index].as_str());
    let names = names.map(|name| if name.is_empty() { "the last" } else { name });
    let note = format!(
        "Columns left out at {most} characters: {}. A wider terminal shows them.",
        names.format("; ")
    );
    format!("{table}\n{}", look.width.fold(&note))
}

/// A column that is shown.
struct Column {
    index: usize,
    is_right: bool,
    /// Characters of its widest cell.
    natural: usize,
    /// Characters that it needs: all of a number's, and of text the longest word's.
    least: usize,
    width: usize,
}

impl Column {
    fn new<'a>(
        index: usize,
        name: &'a str,
        cells: impl Iterator<Item = &'a str> + Clone,
        is_right: bool,
    ) -> Column {
        /// Words longer than this are broken.
        const LONGEST: usize = 24;
        /// Text is not folded into less.
        const NARROW: usize = 14;
        let word = |text: &str| text.split(' ').map(count).max().unwrap_or(0);
        let of_cells = cells.clone().map(count).max().unwrap_or(0);
        let natural = of_cells.max(count(name));
        let own = match is_right {
            true => of_cells,
            false => cells.map(word).max().unwrap_or(0).clamp(NARROW, LONGEST),
        };
        let least = own.max(word(name)).min(natural);
        Column {
            index,
            is_right,
            natural,
            least,
            width: natural,
        }
    }
}

/// Characters of a table with columns of these widths: with a space on both sides of each, and lines between.
fn wide(widths: impl Iterator<Item = usize>) -> usize {
    widths.map(|width| width + 3).sum::<usize>() + 1
}

/// Gives each column what it needs, and the rest to those that are folded most.
fn fit(columns: &mut [Column], most: usize) {
    if wide(columns.iter().map(|it| it.natural)) <= most {
        return;
    }
    let borders = wide(columns.iter().map(|_| 0));
    for column in columns.iter_mut() {
        column.width = column.least.min(most.saturating_sub(borders)).max(1);
    }
    let used: usize = columns.iter().map(|it| it.width).sum();
    for _ in (borders + used)..most {
        let folded = |it: &&mut Column| (1000 * it.natural / it.width, it.natural);
        let narrow = columns.iter_mut().filter(|it| it.width < it.natural);
        let Some(column) = narrow.max_by_key(folded) else {
            return;
        };
        column.width += 1;
    }
}

fn drawn(columns: &[Column], header: &[String], rows: &[Vec<String>]) -> String {
    /// Spaces beside a cell.
    const PADDING: usize = 2;
    let of = |row: &[String]| -> Vec<String> {
        let cells = columns.iter().map(|it| row.get(it.index).cloned());
        cells.map(Option::unwrap_or_default).collect()
    };
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(of(header));
    for row in rows {
        table.add_row(of(row));
    }
    for (column, shown) in columns.iter().zip(table.column_iter_mut()) {
        if column.is_right {
            shown.set_cell_alignment(CellAlignment::Right);
        }
        if column.width != column.natural {
            let width = (column.width + PADDING).try_into().unwrap_or(u16::MAX);
            shown.set_constraint(ColumnConstraint::Absolute(Wide::Fixed(width)));
        }
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [&str; 4] = ["launch", "time", "noise", "advice"];
    const ROWS: [[&str; 4]; 2] = [
        [
            "horner f32, vector 4, k = 10",
            "0.1234 ms",
            "1.2 %",
            "Move fewer bytes by fusing kernels.",
        ],
        [
            "a_kernel_of_a_name_without_spaces",
            "12.0000 ms",
            "10.2 %",
            "",
        ],
    ];

    fn table(width: Width) -> String {
        let look = Look {
            width,
            is_right: |column| column == 1 || column == 2,
            spare: &["noise"],
        };
        text(HEADER, ROWS, look)
    }

    fn widest(text: &str) -> usize {
        text.lines().map(count).max().unwrap_or(0)
    }

    #[test]
    fn a_table_is_never_wider_than_there_is_room_and_says_what_it_lacks() {
        let whole = table(Width::Any);
        assert_eq!(table(Width::Columns(widest(&whole))), whole);
        for most in 40..widest(&whole) {
            let text = table(Width::Columns(most));
            assert!(widest(&text) <= most, "{most}:\n{text}");
            for (name, row) in HEADER.iter().zip(["horner", "0.1234 ms", "1.2 %", "Move"]) {
                let is_shown = text.contains(row);
                let note = text.split("Columns left out").nth(1);
                let is_told = note.is_some_and(|it| it.contains(name));
                assert!(is_shown != is_told, "{name} at {most}:\n{text}");
            }
        }
        // The spare column goes first, and then from the right; a number is never folded.
        let narrow = table(Width::Columns(60));
        assert!(
            narrow.contains("left out at 60 characters: noise."),
            "{narrow}"
        );
        let narrower = table(Width::Columns(44));
        let note = narrower.replace('\n', " ");
        assert!(note.contains("noise; advice."), "{narrower}");
        assert!(narrower.contains("12.0000 ms"), "{narrower}");
    }

    #[test]
    fn a_list_has_one_and() {
        let lists: [&[&str]; 4] = [&[], &["a"], &["a", "b"], &["a", "b", "c"]];
        assert_eq!(lists.map(listed), ["", "a", "a and b", "a, b and c"]);
    }

    #[test]
    fn lines_are_folded_at_spaces_and_continue_under_their_values() {
        let fold = |text: &str| Width::Columns(30).fold(text);
        assert_eq!(fold("short\n\n  as it is"), "short\n\n  as it is");
        assert_eq!(
            fold("Results match a GPU's; timings are those of this host."),
            "Results match a GPU's; timings\nare those of this host."
        );
        assert_eq!(
            fold("scale n = 100: out of bounds: reads element 100"),
            "scale n = 100: out of bounds:\n  reads element 100"
        );
        assert_eq!(
            fold("  memory  139.8 GiB, 6144 bits at up to 3201 MHz"),
            "  memory  139.8 GiB, 6144 bits\n          at up to 3201 MHz"
        );
        assert_eq!(fold(&"x".repeat(40)), "x".repeat(40));
        assert_eq!(Width::Any.fold(&"y ".repeat(40)), "y ".repeat(40));
    }
}
