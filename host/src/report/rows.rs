//! Rows of any kind: their fields are the columns.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::Format;

/// Writes the rows, whose fields are numbers, truth values and text.
///
/// # Errors
/// The output's.
pub fn write_rows<R: Serialize>(
    rows: &[R],
    format: Format,
    mut output: impl Write,
) -> io::Result<()> {
    match format {
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut output);
            for row in rows {
                writer.serialize(row)?;
            }
            writer.flush()?;
        }
        Format::Json => {
            serde_json::to_writer_pretty(&mut output, rows)?;
            writeln!(output)?;
        }
        Format::Markdown => {
            let Some((header, rows)) = cells(rows)? else {
                return Ok(());
            };
            writeln!(output, "| {} |", header.join(" | "))?;
            writeln!(output, "|{}", "---|".repeat(header.len()))?;
            for row in rows {
                let row: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
                writeln!(output, "| {} |", row.join(" | "))?;
            }
        }
    }
    output.flush()
}

/// The rows as a table for people.
///
/// # Errors
/// A field is neither a number nor a truth value nor text.
pub fn rows_table<R: Serialize>(rows: &[R]) -> io::Result<String> {
    let Some((header, cells)) = cells(rows)? else {
        return Ok(String::new());
    };
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(header);
    let is_number = |text: &String| text.parse::<f64>().is_ok();
    let numbers: Vec<bool> = cells
        .first()
        .map(|row| row.iter().map(is_number).collect())
        .unwrap_or_default();
    for row in cells {
        table.add_row(row);
    }
    for (column, is_number) in table.column_iter_mut().zip(numbers) {
        if is_number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    Ok(table.to_string())
}

type Cells = (Vec<String>, Vec<Vec<String>>);

/// The header and the rows as text; `None` without a row.
fn cells<R: Serialize>(rows: &[R]) -> io::Result<Option<Cells>> {
    if rows.is_empty() {
        return Ok(None);
    }
    let mut text = Vec::new();
    write_rows(rows, Format::Csv, &mut text)?;
    let mut reader = csv::Reader::from_reader(&text[..]);
    let owned = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
    let header = owned(reader.headers()?);
    let rows = reader
        .records()
        .map(|record| record.map(|record| owned(&record)))
        .collect::<Result<_, _>>()?;
    Ok(Some((header, rows)))
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
        let mut text = Vec::new();
        write_rows(&ROWS, format, &mut text).expect("memory takes all");
        String::from_utf8(text).expect("text")
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
