//! Files that rows go to while a command measures.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::Failure;
use super::console::{Console, Target};
use super::destination::{Destination, Unfinished, is_standard};
use crate::report::{Format, RowText, counted};

/// The files that each row goes to. A file that no row goes to is not made, and an earlier one stays.
pub(super) struct Outputs {
    outputs: Vec<Output>,
    rows: usize,
}

/// A file that could be read after each row: what ends it is written with the row, and the next row is
/// written over it.
struct Output {
    destination: Destination,
    format: Format,
    /// Bytes up to the end of the last row.
    length: u64,
    /// The text after them.
    tail: &'static str,
}

impl Outputs {
    /// Opens each file, in `format` or in the one that its ending asks for.
    pub(super) fn open(paths: &[PathBuf], format: Option<Format>) -> Result<Outputs, Failure> {
        let formats = formats(paths, format)?;
        let open = |(path, format): (&PathBuf, Format)| {
            Ok(Output {
                destination: Destination::open(path, Unfinished::HasRows)?,
                format,
                length: 0,
                tail: "",
            })
        };
        let outputs = paths.iter().zip(formats).map(open);
        Ok(Outputs {
            outputs: outputs.collect::<Result<_, _>>()?,
            rows: 0,
        })
    }

    /// Adds a row to each. `text` is given the format and the row's number.
    pub(super) fn row(
        &mut self,
        text: impl Fn(Format, usize) -> io::Result<RowText>,
    ) -> Result<(), Failure> {
        let before = self.rows;
        for output in &mut self.outputs {
            let written = text(output.format, before).and_then(|row| output.add(&row));
            match written {
                // It is said at the end; until then there may be files.
                Err(_) if output.destination.is_standard() => {}
                Err(error) => return Err(output.lacks(before + 1, &error)),
                Ok(()) => {}
            }
        }
        let is_standard = |output: &Output| output.destination.is_standard();
        let all_standard = !self.outputs.is_empty() && self.outputs.iter().all(is_standard);
        if all_standard && super::streams::lost().is_some() {
            return Err(Failure::NoOutput);
        }
        self.rows += 1;
        Ok(())
    }

    /// Brings each file to its place, and says which there are.
    pub(super) fn finish(self, console: &Console) -> Result<(), Failure> {
        if self.rows == 0 {
            return Ok(());
        }
        for output in self.outputs {
            let path = output.destination.path().to_path_buf();
            let is_file = !output.destination.is_standard();
            output.finish()?;
            if is_file {
                console.say(&format!(
                    "{}: {}",
                    counted(self.rows as u64, "row"),
                    path.display()
                ));
            }
        }
        Ok(())
    }

    /// Says where the rows are until the end.
    pub(super) fn announce(&self, console: &Console) {
        for partial in self
            .outputs
            .iter()
            .filter_map(|it| it.destination.partial())
        {
            console.say(&format!("Rows so far: {}", partial.display()));
        }
    }
}

impl Output {
    fn add(&mut self, row: &RowText) -> io::Result<()> {
        let is_file = self.destination.partial().is_some();
        // A stream is given its end once.
        let tail = if is_file { row.tail } else { "" };
        let text = [&row.text[..], tail.as_bytes()].concat();
        if let Err(error) = self.destination.write_from(self.length, &text) {
            // As it was before: a part of a row is none. Where even that fails, the row's error counts.
            let _ = self
                .destination
                .write_from(self.length, self.tail.as_bytes())
                .and_then(|()| self.destination.cut(self.length + self.tail.len() as u64));
            return Err(error);
        }
        self.length += row.text.len() as u64;
        self.tail = row.tail;
        Ok(())
    }

    fn lacks(&self, row: usize, error: &io::Error) -> Failure {
        let path = self.destination.path().display();
        let before = row - 1;
        let kept = match self.destination.partial() {
            Some(_) if before == 1 => "; the row before it is in the file".to_owned(),
            Some(_) if before > 0 => format!("; the {before} rows before it are in the file"),
            _ => String::new(),
        };
        Failure::Failed(format!("cannot write row {row} to {path}: {error}{kept}"))
    }

    fn finish(mut self) -> Result<(), Failure> {
        if self.destination.partial().is_none() {
            let written = self
                .destination
                .write_from(self.length, self.tail.as_bytes());
            let is_lost = self.destination.is_standard();
            // What standard output lacks is said at the end.
            if let (Err(error), false) = (written, is_lost) {
                return Err(super::cannot_write(self.destination.path(), &error));
            }
        }
        self.destination.finish()
    }
}

/// The format that is given, or else the one that the ending asks for.
pub(super) fn format_of(path: &Path, given: Option<Format>) -> Result<Format, Failure> {
    let ending = path.extension().and_then(|_| Format::of(path));
    if let (Some(given), Some(ending)) = (given, ending)
        && given != ending
    {
        return Err(Failure::Usage(format!(
            "{}: --format {given}, and the name ends in .{ending}; choose one of them",
            path.display()
        )));
    }
    let format = given.or_else(|| Format::of(path));
    format.ok_or_else(|| {
        Failure::Usage(format!(
            "{}: the name of a file of rows must end in .csv, .json or .md; --format allows other names",
            path.display()
        ))
    })
}

/// The formats of outputs, before any of them is opened: that may wait for a reader.
pub(super) fn formats(paths: &[PathBuf], given: Option<Format>) -> Result<Vec<Format>, Failure> {
    paths.iter().map(|path| format_of(path, given)).collect()
}

/// Opens outputs that are written whole, each in `format` or in the one that its ending asks for.
pub(super) fn open_whole(
    paths: &[PathBuf],
    format: Option<Format>,
) -> Result<Vec<(Format, Destination)>, Failure> {
    let formats = formats(paths, format)?;
    let open = |(path, format): (&PathBuf, Format)| {
        Ok((format, Destination::open(path, Unfinished::IsNothing)?))
    };
    paths.iter().zip(formats).map(open).collect()
}

/// The outputs that are named; where none is, a format alone means standard output.
pub(super) fn or_standard(paths: &[PathBuf], format: Option<Format>) -> &[PathBuf] {
    static STANDARD: LazyLock<[PathBuf; 1]> = LazyLock::new(|| ["-".into()]);
    match (paths, format) {
        ([], Some(_)) => &STANDARD[..],
        _ => paths,
    }
}

/// Where text for people goes: not between the rows.
pub(super) fn target(quiet: bool, outputs: &[PathBuf]) -> Target {
    if quiet {
        Target::Nothing
    } else if outputs.iter().any(|path| is_standard(path)) {
        Target::Stderr
    } else {
        Target::Stdout
    }
}
