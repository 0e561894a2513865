//! Rows as text, one after the other.

use std::io;

use serde::Serialize;

use super::Format;

/// Row number `index`, from 0, of CSV or of Markdown: after the columns' names if it is the first.
pub(crate) fn row<'a>(
    names: impl IntoIterator<Item = &'a str>,
    cells: impl IntoIterator<Item = &'a str>,
    format: Format,
    index: usize,
) -> io::Result<Vec<u8>> {
    let row = line(cells, format)?;
    if index > 0 {
        return Ok(row);
    }
    let names: Vec<&str> = names.into_iter().collect();
    let mut text = line(names.iter().copied(), format)?;
    if format == Format::Markdown {
        text.extend(format!("|{}\n", "---|".repeat(names.len())).bytes());
    }
    Ok([text, row].concat())
}

fn line<'a>(cells: impl IntoIterator<Item = &'a str>, format: Format) -> io::Result<Vec<u8>> {
    if format == Format::Markdown {
        // A row is one line.
        let text = |cell: &str| cell.replace('|', "\\|").replace('\n', " ");
        let cells = cells.into_iter().map(text);
        let cells: Vec<String> = cells.collect();
        return Ok(format!("| {} |\n", cells.join(" | ")).into_bytes());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells)?;
    writer.into_inner().map_err(|error| error.into_error())
}

/// Element number `index`, from 0, of a JSON array, one per line: after its `head` if it is the first.
pub(crate) fn element(record: &impl Serialize, index: usize, head: &str) -> io::Result<Vec<u8>> {
    let before = if index == 0 { head } else { "," };
    let mut text = format!("{before}\n").into_bytes();
    serde_json::to_writer(&mut text, record)?;
    Ok(text)
}

/// The names of a row's fields, and their values as text: as `csv` has them.
pub(crate) fn fields(row: &impl Serialize) -> io::Result<(Vec<String>, Vec<String>)> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.serialize(row)?;
    let text = writer.into_inner().map_err(|error| error.into_error())?;
    let mut reader = csv::Reader::from_reader(&text[..]);
    let owned = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
    let names = owned(reader.headers()?);
    let mut cells = csv::StringRecord::new();
    reader.read_record(&mut cells)?;
    Ok((names, owned(&cells)))
}
