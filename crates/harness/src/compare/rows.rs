//! The one reader of rows that ridgepoint wrote: CSV or JSON, whichever a file begins like.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::vec;

use csv::{ReaderBuilder, StringRecord};
use itertools::Itertools;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{TableError, Torn};
use crate::driver::{Limited, printable};
use crate::table::{
    Column, FORMAT, MAX_ROWS_BYTES, Rule, columns, foreign, has_cells, has_lists, json_that_is_no,
};

/// Rows of a file, one after the other. A last row that is not whole is left out, and
/// [`torn`](Rows::torn) then says so.
pub struct Rows {
    path: PathBuf,
    header: StringRecord,
    /// The places of the columns that have a rule.
    ruled: Vec<(usize, &'static str, Rule)>,
    /// The place of the column with the format's version.
    format: Option<usize>,
    source: Source,
    /// The next row, where it was asked whether there is one.
    ahead: Option<Cells>,
    /// Rows so far.
    count: usize,
    torn: Option<Torn>,
    runs: Vec<Box<RawValue>>,
}

/// A row as it was read.
pub struct Cells {
    /// A cell for each column.
    pub text: StringRecord,
    /// All that the file says of it, where that is JSON.
    pub(crate) json: Option<Box<RawValue>>,
}

enum Source {
    Csv(Box<CsvRows>),
    Json(vec::IntoIter<Box<RawValue>>),
}

/// The next step of reading.
enum Step {
    Row(Cells),
    /// A last row that is not whole.
    Torn {
        cells: usize,
    },
    End,
}

impl Rows {
    /// Opens a file, or standard input where it is called `-`, and reads as far as the columns' names.
    ///
    /// # Errors
    /// It cannot be read ([`TableError::Io`]), is empty ([`TableError::NoRows`]), or begins like JSON and is
    /// no document with rows ([`TableError::Json`], [`TableError::Fields`]).
    pub fn open(path: &Path) -> Result<Rows, TableError> {
        let failed = |error: io::Error| TableError::Io {
            action: "read",
            path: path.to_path_buf(),
            error,
        };
        let mut input: Box<dyn BufRead> = match path == Path::new("-") {
            true => Box::new(BufReader::new(Limited::new(
                io::stdin().lock(),
                MAX_ROWS_BYTES,
            ))),
            false => {
                let file = File::open(path).and_then(|file| Limited::open(file, MAX_ROWS_BYTES));
                Box::new(BufReader::new(file.map_err(failed)?))
            }
        };
        if let Some(encoding) = encoding(input.fill_buf().map_err(failed)?) {
            let path = path.to_path_buf();
            return Err(TableError::Encoding { path, encoding });
        }
        match first_byte(&mut input).map_err(failed)? {
            None => Err(TableError::NoRows {
                path: path.to_path_buf(),
            }),
            // A device of zeros would be read for ever.
            Some(0) => Err(failed(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is not text",
            ))),
            Some(first @ (b'{' | b'[')) => {
                let mut text = Vec::new();
                input.read_to_end(&mut text).map_err(failed)?;
                let rows = |rows| Document {
                    rows,
                    ..Document::default()
                };
                let document = match first {
                    b'{' => serde_json::from_slice(&text),
                    _ => serde_json::from_slice(&text).map(rows),
                };
                let document = document.map_err(|error| TableError::Json {
                    path: path.to_path_buf(),
                    error: json_that_is_no("rows", &text, &error),
                });
                Rows::json(document?, path)
            }
            Some(_) => {
                let opened = CsvRows::open(input);
                let (header, rows) = opened.map_err(|error| failed(error.into()))?;
                Rows::new(path, header, Source::Csv(Box::new(rows)), vec![])
            }
        }
    }

    fn json(document: Document, path: &Path) -> Result<Rows, TableError> {
        let Document {
            run,
            mut runs,
            rows,
        } = document;
        runs.extend(run);
        let first = rows.first().map(|row| fields(row, 1, path)).transpose()?;
        let names = first.iter().flatten().map(|(name, _)| name.as_str());
        let header = names.collect();
        Rows::new(path, header, Source::Json(rows.into_iter()), runs)
    }

    fn new(
        path: &Path,
        header: StringRecord,
        source: Source,
        runs: Vec<Box<RawValue>>,
    ) -> Result<Rows, TableError> {
        if let Some(kind) = foreign(header.iter())
            && !is_own(&header)
        {
            let path = path.to_path_buf();
            return Err(TableError::Foreign { path, kind });
        }
        named_once(&header, path)?;
        let format = header.iter().position(|name| name == "format");
        let place = |column: &'static Column| {
            let place = header.iter().position(|it| it == column.name)?;
            Some((place, column.name, column.rule))
        };
        Ok(Rows {
            path: path.to_path_buf(),
            ruled: columns()
                .filter(|column| column.rule != Rule::Any)
                .unique_by(|column| column.name)
                .filter_map(place)
                .collect(),
            header,
            format,
            source,
            ahead: None,
            count: 0,
            torn: None,
            runs,
        })
    }

    /// Whether they are rows of a roofline or an occupancy study.
    pub(super) fn is_own(&self) -> bool {
        is_own(&self.header)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The columns' names; none where a JSON has no rows.
    pub fn header(&self) -> &StringRecord {
        &self.header
    }

    /// Returns the facts of the runs that the rows are of, as JSON.
    pub(crate) fn runs(&self) -> &[Box<RawValue>] {
        &self.runs
    }

    /// The last row, where it is not whole, once all others are read.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    /// Whether there is another row.
    pub(crate) fn has_rows(&mut self) -> Result<bool, TableError> {
        if self.ahead.is_none() {
            self.ahead = self.read()?;
        }
        Ok(self.ahead.is_some())
    }

    fn read(&mut self) -> Result<Option<Cells>, TableError> {
        match self.source.step(self.count + 1, &self.header, &self.path)? {
            Step::Row(cells) => self.checked(cells).map(Some),
            Step::Torn { cells } => {
                self.torn = Some(Torn {
                    path: self.path.clone(),
                    row: self.count + 1,
                    cells,
                    columns: self.header.len(),
                });
                Ok(None)
            }
            Step::End => Ok(None),
        }
    }

    /// The row, if it has a cell for each column, and in those that have a rule what that allows.
    fn checked(&mut self, cells: Cells) -> Result<Cells, TableError> {
        self.count += 1;
        if cells.text.len() != self.header.len() {
            return Err(TableError::Cells {
                path: self.path.clone(),
                row: self.count,
                actual: cells.text.len(),
                expected: self.header.len(),
            });
        }
        let version = self.format.and_then(|place| cells.text[place].parse().ok());
        if version.is_some_and(|version: u32| version > FORMAT) {
            return Err(TableError::Newer {
                path: self.path.clone(),
                row: self.count,
                version: cells.text[self.format.unwrap_or_default()].to_owned(),
            });
        }
        for &(place, column, rule) in &self.ruled {
            let cell = &cells.text[place];
            if !cell.is_empty() && !rule.allows(cell) {
                return Err(TableError::Value {
                    path: self.path.clone(),
                    row: self.count,
                    column: column.to_owned(),
                    cell: cell.to_owned(),
                    wanted: rule.wanted(),
                });
            }
        }
        Ok(cells)
    }
}

impl Iterator for Rows {
    type Item = Result<Cells, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.ahead.take() {
            Some(row) => Some(Ok(row)),
            None => self.read().transpose(),
        }
    }
}

impl Source {
    fn step(
        &mut self,
        number: usize,
        header: &StringRecord,
        path: &Path,
    ) -> Result<Step, TableError> {
        match self {
            Source::Csv(rows) => rows.step(header.len()).map_err(|error| TableError::Io {
                action: "read",
                path: path.to_path_buf(),
                error: error.into(),
            }),
            Source::Json(rows) => {
                let Some(row) = rows.next() else {
                    return Ok(Step::End);
                };
                let text = of_columns(&fields(&row, number, path)?, header);
                let text = text.map_err(|difference| TableError::Fields {
                    path: path.to_path_buf(),
                    row: number,
                    difference,
                })?;
                let json = Some(row);
                Ok(Step::Row(Cells { text, json }))
            }
        }
    }
}

/// A CSV, read one row ahead: only the last one may be torn.
struct CsvRows {
    reader: csv::Reader<Tail<Box<dyn BufRead>>>,
    ahead: Option<StringRecord>,
}

impl CsvRows {
    fn open(input: Box<dyn BufRead>) -> csv::Result<(StringRecord, CsvRows)> {
        let input = Tail { input, last: b'\n' };
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(input);
        let header = reader.headers()?.clone();
        let mut rows = CsvRows {
            reader,
            ahead: None,
        };
        rows.look_ahead()?;
        Ok((header, rows))
    }

    fn look_ahead(&mut self) -> csv::Result<()> {
        let mut row = StringRecord::new();
        self.ahead = self.reader.read_record(&mut row)?.then_some(row);
        Ok(())
    }

    fn step(&mut self, columns: usize) -> csv::Result<Step> {
        let Some(text) = self.ahead.take() else {
            return Ok(Step::End);
        };
        self.look_ahead()?;
        let is_whole = text.len() >= columns && self.reader.get_ref().last == b'\n';
        if self.ahead.is_none() && !is_whole {
            return Ok(Step::Torn { cells: text.len() });
        }
        Ok(Step::Row(Cells { text, json: None }))
    }
}

/// Knows the last byte that was read.
struct Tail<R> {
    input: R,
    last: u8,
}

impl<R: Read> Read for Tail<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if let Some(&last) = buffer[..count].last() {
            self.last = last;
        }
        Ok(count)
    }
}

/// The first byte that is no space, which stays where it is.
fn first_byte(input: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let spaces = buffer.iter().take_while(|it| it.is_ascii_whitespace());
        let spaces = spaces.count();
        if let Some(&first) = buffer.get(spaces) {
            return Ok(Some(first));
        }
        input.consume(spaces);
    }
}

/// Names what the first bytes say that is not text in UTF-8.
fn encoding(first: &[u8]) -> Option<&'static str> {
    match first {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16; save it as UTF-8"),
        [0x1f, 0x8b, ..] => Some("compressed by gzip; unpack it first"),
        _ => None,
    }
}

/// Whether the columns are those of rows of this program, whatever else is beside them.
pub(super) fn is_own(header: &StringRecord) -> bool {
    let has = |wanted: &str| header.iter().any(|name| name == wanted);
    has("kernel") && has("median_ms")
}

/// Fails where cells could not be found by their column's name: a name occurs twice, or is empty.
fn named_once(header: &StringRecord, path: &Path) -> Result<(), TableError> {
    if let [only] = header.iter().collect::<Vec<_>>()[..]
        && let Some(separator) = only
            .chars()
            .find(|letter| [';', '\t', '|'].contains(letter))
    {
        let path = path.to_path_buf();
        return Err(TableError::Separator { path, separator });
    }
    let mut seen = HashSet::new();
    for (index, name) in header.iter().enumerate() {
        let path = || path.to_path_buf();
        if name.trim().is_empty() {
            let (path, column) = (path(), index + 1);
            return Err(TableError::Unnamed { path, column });
        }
        if !seen.insert(name) {
            let (path, column) = (path(), printable(name).into_owned());
            return Err(TableError::Repeated { path, column });
        }
    }
    Ok(())
}

/// JSON of ridgepoint's rows, or of merged ones.
#[derive(Default, Deserialize)]
struct Document {
    run: Option<Box<RawValue>>,
    #[serde(default)]
    runs: Vec<Box<RawValue>>,
    rows: Vec<Box<RawValue>>,
}

/// The fields of an object in their order. That of the first row is that of a JSON's columns.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "a row as an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The columns of a row with their cells' text, as in the CSV: names in a list are words of a cell, an
/// object's fields are columns of their own, and lists of numbers are one where CSV has them, too, as words.
fn fields(json: &RawValue, row: usize, path: &Path) -> Result<Vec<(String, String)>, TableError> {
    let Fields(fields) = serde_json::from_str(json.get()).map_err(|_| TableError::NoObject {
        path: path.to_path_buf(),
        row,
    })?;
    let mut cells = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        match value {
            Value::Null => cells.push((name, String::new())),
            Value::String(text) => cells.push((name, text)),
            Value::Bool(_) | Value::Number(_) => cells.push((name, value.to_string())),
            Value::Array(_) if has_lists(&name) == Some(false) => {
                return Err(TableError::Value {
                    path: path.to_path_buf(),
                    row,
                    column: name,
                    cell: printable(&value.to_string()).into_owned(),
                    wanted: "one value, not a list",
                });
            }
            Value::Array(values) => {
                let word = |value: &Value| match value {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(number) if has_cells(&name) => Some(number.to_string()),
                    _ => None,
                };
                let words: Option<Vec<String>> = values.iter().map(word).collect();
                cells.extend(words.map(|words| (name, words.join(" "))));
            }
            Value::Object(inner) => cells.extend(inner.iter().map(|(part, value)| {
                let text = value.as_str().map(str::to_owned);
                let text = text.unwrap_or_else(|| value.to_string());
                (format!("{name}_{part}"), text)
            })),
        }
    }
    Ok(cells)
}

/// The cells of these columns, in their order.
///
/// # Errors
/// In words: the columns that there is no field of, and the fields that there is no column of.
fn of_columns(fields: &[(String, String)], header: &StringRecord) -> Result<StringRecord, String> {
    let names = || fields.iter().map(|(name, _)| name.as_str());
    let cells = || fields.iter().map(|(_, cell)| cell.as_str());
    if names().eq(header) {
        return Ok(cells().collect());
    }
    let place = |column: &str| names().position(|name| name == column);
    let places: Option<Vec<usize>> = header.iter().map(place).collect();
    if let Some(places) = places
        && places.len() == fields.len()
    {
        return Ok(places.into_iter().map(|place| &*fields[place].1).collect());
    }
    let lacks = header.iter().filter(|column| place(column).is_none());
    let also = names().filter(|name| !header.iter().any(|column| column == *name));
    let lacks = lacks.map(|name| format!("no {}", printable(name)));
    let also = also.map(|name| format!("also {}", printable(name)));
    let difference: Vec<String> = lacks.chain(also).collect();
    Err(match difference.is_empty() {
        true => "one of them twice".to_owned(),
        false => difference.join(", "),
    })
}
