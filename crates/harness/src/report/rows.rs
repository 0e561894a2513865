//! Rows as text, one after the other.

use std::io;

use serde::Serialize;

use super::{Format, Row, RunFacts};
use crate::table;

/// A row of a file that is written row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowText {
    /// The row, after all that stands before it if it is the first.
    pub text: Vec<u8>,
    /// What ends the file if it is the last.
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
    let (names, cells) = fields(record)?;
    line(names.iter().map(String::as_str), &cells, format, index)
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

/// `1 row`, `2 rows`; `1 launch`, `2 launches`.
pub fn counted(count: u64, what: &str) -> String {
    let ending = match (count, what.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {what}{ending}")
}

/// The rows as a table for people.
///
/// # Errors
/// The error of `csv` for a field that is neither a number nor a truth value nor text, as an [`io::Error`].
pub fn rows_table<R: Serialize>(rows: &[R]) -> io::Result<String> {
    let Some(first) = rows.first() else {
        return Ok(String::new());
    };
    let (names, cells) = fields(first)?;
    let is_number = |text: &String| text.parse::<f64>().is_ok();
    let are_numbers: Vec<bool> = cells.iter().map(is_number).collect();
    let rows: io::Result<Vec<_>> = rows.iter().map(|row| Ok(fields(row)?.1)).collect();
    Ok(table::text(names, rows?, |column| are_numbers[column]))
}

/// The names of a row's fields, and their values as text: as `csv` has them.
fn fields(row: &impl Serialize) -> io::Result<(Vec<String>, Vec<String>)> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.serialize(row)?;
    let text = writer.into_inner().map_err(|error| error.into_error())?;
    let mut reader = ::csv::Reader::from_reader(&text[..]);
    let owned = |record: &::csv::StringRecord| record.iter().map(str::to_owned).collect();
    let names = owned(reader.headers()?);
    let mut cells = ::csv::StringRecord::new();
    reader.read_record(&mut cells)?;
    Ok((names, owned(&cells)))
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
        let table = rows_table(&ROWS).expect("a table");
        assert!(table.contains("a|b") && table.contains("share"), "{table}");
    }

    #[test]
    fn no_rows_are_no_table() {
        assert_eq!(rows_table::<Row>(&[]).expect("nothing"), "");
    }
}
