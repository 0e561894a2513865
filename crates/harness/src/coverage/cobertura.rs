//! Cobertura's reports: <https://cobertura.sourceforge.net/xml/coverage-04.dtd>.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Report, Totals, by_line};
use crate::driver::coverage::File;
use crate::html::escaped;

const HEAD: &str = "<?xml version=\"1.0\"?>
<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">
";

/// A package is a folder, and a class a file of it.
pub(super) fn text(report: &Report, folder: &Path) -> String {
    let mut packages: BTreeMap<PathBuf, Vec<(PathBuf, &File)>> = BTreeMap::new();
    for (name, file) in &report.files {
        let path = report.path(name, folder);
        let package = path.parent().unwrap_or(Path::new("")).to_owned();
        packages.entry(package).or_default().push((path, file));
    }
    let mut text = HEAD.to_owned();
    // Writing to a string does not fail.
    let _ = document(&mut text, &packages, report.totals());
    text
}

fn document(
    text: &mut String,
    packages: &BTreeMap<PathBuf, Vec<(PathBuf, &File)>>,
    totals: Totals,
) -> fmt::Result {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |it| it.as_millis());
    let Totals {
        lines, branches, ..
    } = totals;
    writeln!(
        text,
        "<coverage {} lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" branches-valid=\"{}\" \
         version=\"ridgepoint {}\" timestamp=\"{now}\">",
        rates(totals),
        lines.covered,
        lines.all,
        branches.covered,
        branches.all,
        env!("CARGO_PKG_VERSION"),
    )?;
    writeln!(text, "<sources><source>.</source></sources>\n<packages>")?;
    for (folder, files) in packages {
        let totals = files.iter().map(|(_, file)| Totals::of(file)).sum();
        let name = escaped(&folder.to_string_lossy());
        writeln!(text, "<package name=\"{name}\" {}>", rates(totals))?;
        writeln!(text, "<classes>")?;
        for (path, file) in files {
            class(text, path, file)?;
        }
        writeln!(text, "</classes>\n</package>")?;
    }
    writeln!(text, "</packages>\n</coverage>")
}

fn class(text: &mut String, path: &Path, file: &File) -> fmt::Result {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    writeln!(
        text,
        "<class name=\"{}\" filename=\"{}\" {}>",
        escaped(&name),
        escaped(&path.to_string_lossy()),
        rates(Totals::of(file))
    )?;
    writeln!(text, "<methods>")?;
    for (name, function) in &file.functions {
        let rate = u8::from(function.threads > 0);
        writeln!(
            text,
            "<method name=\"{}\" signature=\"\" line-rate=\"{rate}\" branch-rate=\"{rate}\" complexity=\"0\">\
             <lines><line number=\"{}\" hits=\"{}\"/></lines></method>",
            escaped(name),
            function.line,
            function.threads
        )?;
    }
    writeln!(text, "</methods>\n<lines>")?;
    let branches = by_line(file);
    for (line, times) in &file.lines {
        write!(text, "<line number=\"{line}\" hits=\"{times}\"")?;
        if let Some(branches) = branches.get(line) {
            let outcomes = || branches.iter().flat_map(|it| &it.outcomes);
            let (all, taken) = (outcomes().count(), outcomes().filter(|&&it| it > 0).count());
            let percent = 100 * taken / all.max(1);
            write!(
                text,
                " branch=\"true\" condition-coverage=\"{percent}% ({taken}/{all})\""
            )?;
        }
        writeln!(text, "/>")?;
    }
    writeln!(text, "</lines>\n</class>")
}

fn rates(totals: Totals) -> String {
    format!(
        "line-rate=\"{:.4}\" branch-rate=\"{:.4}\" complexity=\"0\"",
        totals.lines.rate(),
        totals.branches.rate()
    )
}
