//! Records as rows, written one after the other.

use std::io;

use serde::Serialize;

use super::{Format, Row, RunFacts};
use crate::table::{self, FORMAT, Look, Width};

/// A row of a file that is written row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowText {
    /// The row, after all that stands before it if it is the first.
    pub text: Vec<u8>,
    /// End of the file after the last row.
    pub tail: &'static str,
}

impl RunFacts {
    /// Row number `index`, from 0, of a file of this run. JSON is one object: what is needed to repeat
    /// the run, and the rows with every sample.
    ///
    /// # Errors
    /// The error of `serde_json` or `csv` for a field that has no text, as an [`io::Error`].
    pub fn row<R: Row>(&self, record: &R, format: Format, index: usize) -> io::Result<RowText> {
        let head = || -> io::Result<String> {
            let run = serde_json::to_string_pretty(self)?;
            Ok(format!("{{\"run\": {run},\n\"rows\": ["))
        };
        if format == Format::Json {
            let head = if index == 0 { head()? } else { String::new() };
            let text = table::element(record, index, &head)?;
            return Ok(RowText {
                text,
                tail: "\n]}\n",
            });
        }
        let (names, cells): (Vec<&str>, Vec<String>) = record.columns().into_iter().unzip();
        line(names, &cells, format, index)
    }
}

/// Row number `index`, from 0, of a file of rows whose fields are numbers, truth values and text. JSON
/// is an array.
///
/// # Errors
/// The error of `serde_json` or `csv` for a field that is neither a number nor a truth value nor text, as
/// an [`io::Error`].
pub fn row_text<R: Serialize>(record: &R, format: Format, index: usize) -> io::Result<RowText> {
    if format == Format::Json {
        let text = table::element(record, index, "[")?;
        return Ok(RowText {
            text,
            tail: "\n]\n",
        });
    }
    let (names, cells) = table::fields(record)?;
    let cells: Vec<String> = cells.into_iter().map(known).collect();
    line(names.iter().map(String::as_str), &cells, format, index)
}

/// As [`row_text`], of a file that is kept: with the format's version in a last column.
///
/// # Errors
/// As [`row_text`].
pub fn file_row_text<R: Serialize>(
    record: &R,
    format: Format,
    index: usize,
) -> io::Result<RowText> {
    if format == Format::Json {
        let record = Versioned {
            record,
            format: FORMAT,
        };
        return row_text(&record, format, index);
    }
    let (mut names, cells) = table::fields(record)?;
    let mut cells: Vec<String> = cells.into_iter().map(known).collect();
    names.push("format".to_owned());
    cells.push(FORMAT.to_string());
    line(names.iter().map(String::as_str), &cells, format, index)
}

/// A row of JSON with the version of its format.
#[derive(Serialize)]
struct Versioned<'r, R> {
    #[serde(flatten)]
    record: &'r R,
    format: u32,
}

/// A cell, empty for what is no number, as what a time of 0 gives.
fn known(cell: String) -> String {
    match cell.as_str() {
        "NaN" | "inf" | "-inf" => String::new(),
        _ => cell,
    }
}

fn line<'a>(
    names: impl IntoIterator<Item = &'a str>,
    cells: &'a [String],
    format: Format,
    index: usize,
) -> io::Result<RowText> {
    let text = table::row(names, cells.iter().map(String::as_str), format, index)?;
    Ok(RowText { text, tail: "" })
}

/// The rows as a table for people: the columns' names in words, with units, and six digits of each number. The
/// device, which stands above the table, has no column, nor has `checked` where it is true of all rows.
///
/// # Errors
/// The error of `csv` for a field that is neither a number nor a truth value nor text, as an [`io::Error`].
pub fn rows_table<R: Serialize>(rows: &[R], width: Width) -> io::Result<String> {
    let Some(first) = rows.first() else {
        return Ok(String::new());
    };
    let (names, _) = table::fields(first)?;
    let cells: io::Result<Vec<Vec<String>>> =
        rows.iter().map(|row| Ok(table::fields(row)?.1)).collect();
    let cells = cells?;
    let is_shown = |&column: &usize| match names[column].as_str() {
        "device" => false,
        "checked" => cells.iter().any(|row| row[column] != "true"),
        _ => true,
    };
    let shown: Vec<usize> = (0..names.len()).filter(is_shown).collect();
    let (shown, above) = varying(shown, &names, &cells, width);
    let is_number = |text: &str| text.is_empty() || text.parse::<f64>().is_ok();
    let numbers = shown.iter();
    let numbers: Vec<bool> = numbers
        .map(|&column| cells.iter().all(|row| is_number(&row[column])))
        .collect();
    let row = |row: &Vec<String>| {
        let cells = shown.iter().map(|&column| short(&row[column]));
        cells.collect::<Vec<_>>()
    };
    let look = Look {
        width,
        is_right: |column: usize| numbers[column],
        spare: &[
            "checkpoints",
            "superseded",
            "resumed at",
            "dtype",
            "launch calls",
            "copies",
            "device, us",
            // Of a pipeline: what its times are made of, but for the answers.
            "host peak bytes",
            "pinned bytes",
            "device bytes",
            "allocate pinned, ms",
            "pin existing, ms",
            "slots",
            "streams",
            "from device, ms",
            "to device, ms",
        ],
    };
    let header = shown.iter().map(|&column| in_words(&names[column]));
    Ok(above + &table::text(header, cells.iter().map(row), look))
}

/// The columns that differ from row to row, and a line with the others' names and values: where there is not room for any number of
/// columns, what does not vary makes room for what came out.
fn varying(
    shown: Vec<usize>,
    names: &[String],
    cells: &[Vec<String>],
    width: Width,
) -> (Vec<usize>, String) {
    let is_fixed = |column: &usize| cells.iter().all(|row| row[*column] == cells[0][*column]);
    let Width::Columns(most) = width else {
        return (shown, String::new());
    };
    if cells.len() < 2 || natural(&shown, names, cells) <= most {
        return (shown, String::new());
    }
    let (fixed, varying): (Vec<usize>, Vec<usize>) = shown.into_iter().partition(is_fixed);
    let known = fixed.iter().filter(|column| !cells[0][**column].is_empty());
    let parts: Vec<String> = known
        .map(|&column| format!("{} {}", in_words(&names[column]), short(&cells[0][column])))
        .collect();
    match parts.is_empty() {
        true => (varying, String::new()),
        false => (
            varying,
            width.fold(&format!("All rows: {}.", parts.join("; "))) + "\n",
        ),
    }
}

/// Characters of a table with these columns.
fn natural(shown: &[usize], names: &[String], cells: &[Vec<String>]) -> usize {
    let of = |&column: &usize| {
        let cells = cells.iter().map(|row| short(&row[column]).chars().count());
        cells
            .max()
            .unwrap_or(0)
            .max(in_words(&names[column]).chars().count())
    };
    shown.iter().map(of).map(|width| width + 3).sum::<usize>() + 1
}

/// `host_us` as `host, us`; `gigabytes_per_second` as `GB/s`.
fn in_words(name: &str) -> String {
    if name == "gigabytes_per_second" {
        return "GB/s".to_owned();
    }
    let unit = ["us", "ms"].into_iter().find_map(|unit| {
        let name = name.strip_suffix(unit)?.strip_suffix('_')?;
        Some(format!("{name}, {unit}"))
    });
    unit.unwrap_or_else(|| name.to_owned()).replace('_', " ")
}

/// A number's first six digits; other text as it is.
fn short(text: &str) -> String {
    /// Below it a number is written with an exponent.
    const SMALL: f64 = 1e-3;
    let value = match text.parse::<f64>() {
        Ok(value) if !value.is_finite() => return String::new(),
        Ok(value) if text.contains(['.', 'e', 'E']) => value,
        _ => return text.to_owned(),
    };
    if value != 0.0 && value.abs() < SMALL {
        return format!("{value:.3e}");
    }
    let whole = value.abs().max(1.0).log10().floor() as usize;
    let text = format!("{value:.*}", 5usize.saturating_sub(whole));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        count: u32,
        share: f64,
    }

    const ROWS: [Row; 2] = [
        Row {
            name: "a|b",
            count: 3,
            share: 0.25,
        },
        Row {
            name: "c, d",
            count: 4,
            share: 1e9,
        },
    ];

    fn written(format: Format) -> String {
        let rows = ROWS.iter().enumerate();
        let texts = rows.map(|(index, row)| row_text(row, format, index).expect("text"));
        let (text, tail) = texts.fold((Vec::new(), ""), |(all, _), row| {
            ([all, row.text].concat(), row.tail)
        });
        String::from_utf8(text).expect("text") + tail
    }

    #[test]
    fn fields_are_columns_in_every_format() {
        assert_eq!(
            written(Format::Csv),
            "name,count,share\na|b,3,0.25\n\"c, d\",4,1000000000.0\n"
        );
        assert_eq!(
            written(Format::Markdown),
            "| name | count | share |\n|---|---|---|\n| a\\|b | 3 | 0.25 |\n\
             | c, d | 4 | 1000000000.0 |\n"
        );
        let json: serde_json::Value = serde_json::from_str(&written(Format::Json)).expect("JSON");
        assert_eq!(json[1]["count"], 4);
        let table = rows_table(&ROWS, Width::Any).expect("a table");
        assert!(table.contains("a|b") && table.contains("share"), "{table}");
    }

    #[test]
    fn files_say_their_format_and_no_number_is_an_empty_cell() {
        let row = Row {
            name: "a",
            count: 1,
            share: f64::NAN,
        };
        let text = |format| {
            let row = file_row_text(&row, format, 0).expect("text");
            String::from_utf8(row.text).expect("text") + row.tail
        };
        assert_eq!(text(Format::Csv), "name,count,share,format\na,1,,2\n");
        let json: serde_json::Value = serde_json::from_str(&text(Format::Json)).expect("JSON");
        assert_eq!(
            (&json[0]["share"], &json[0]["format"]),
            (&serde_json::Value::Null, &2.into())
        );
        assert_eq!(short("inf"), "");
    }

    #[test]
    fn people_read_words_units_and_six_digits() {
        let names = ["host_us", "gigabytes_per_second", "resumed_at", "n"];
        assert_eq!(names.map(in_words), ["host, us", "GB/s", "resumed at", "n"]);
        let numbers = [
            "2361.0390",
            "0.009066843309782024",
            "0.0000123",
            "1024",
            "2.0",
            "0.0",
            "f32",
        ];
        let expected = ["2361.04", "0.00907", "1.230e-5", "1024", "2", "0", "f32"];
        assert_eq!(numbers.map(short), expected);
    }

    #[test]
    fn a_table_lacks_what_stands_above_it_and_keeps_what_is_wrong() {
        #[derive(Serialize)]
        struct Measured {
            n: u64,
            device: &'static str,
            checked: bool,
        }
        let row = |checked| Measured {
            n: 1,
            device: "CPU emulator",
            checked,
        };
        let table = |rows: &[Measured]| rows_table(rows, Width::Any).expect("a table");
        let clean = table(&[row(true), row(true)]);
        assert!(
            !clean.contains("CPU") && !clean.contains("checked"),
            "{clean}"
        );
        assert!(table(&[row(true), row(false)]).contains("checked"));
    }

    #[test]
    fn what_does_not_vary_stands_above_a_table_that_is_too_wide() {
        #[derive(Serialize)]
        struct Measured {
            batches: u32,
            size: u32,
            way_of_copying: &'static str,
            total_ms: f64,
        }
        let row = |total_ms| Measured {
            batches: 10,
            size: 128,
            way_of_copying: "streamed",
            total_ms,
        };
        let table = |rows: &[Measured], width| rows_table(rows, width).expect("a table");
        let both = [row(1.5), row(2.5)];
        let narrow = table(&both, Width::Columns(40));
        assert!(
            narrow.starts_with("All rows: batches 10; size 128; way of\ncopying streamed.\n"),
            "{narrow}"
        );
        assert!(
            narrow.contains("total, ms") && narrow.contains("2.5"),
            "{narrow}"
        );
        assert!(!narrow.contains("left out"), "{narrow}");
        for (rows, width) in [
            (&both[..], Width::Any),
            (&both[..], Width::Columns(80)),
            (&both[..1], Width::Columns(40)),
        ] {
            assert!(!table(rows, width).contains("All rows"));
        }
    }

    #[test]
    fn no_rows_are_no_table() {
        assert_eq!(rows_table::<Row>(&[], Width::Any).expect("nothing"), "");
    }
}
