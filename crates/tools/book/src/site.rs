//! The faults of a site: its files are read as a browser would follow them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The faults of a site.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// How many pages were read.
    pub pages: usize,
    /// Links to pages, files or headings that do not exist, as `page: target`.
    pub dead_links: Vec<String>,
    /// Pictures and scripts that do not exist, as `page: target`.
    pub missing_files: Vec<String>,
    /// Pages of the book's folder that `SUMMARY.md` does not list.
    pub unlisted_pages: Vec<String>,
}

impl Faults {
    /// Whether pages were read and nothing is wrong with them.
    pub fn is_empty(&self) -> bool {
        self.pages > 0 && self.lists().iter().all(|(_, list)| list.is_empty())
    }

    fn lists(&self) -> [(&'static str, &[String]); 3] {
        [
            ("dead link", &self.dead_links),
            ("missing file", &self.missing_files),
            ("not in SUMMARY.md", &self.unlisted_pages),
        ]
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pages == 0 {
            return write!(f, "error: the site has no pages");
        }
        for (kind, list) in self.lists() {
            for fault in list {
                writeln!(f, "{kind}: {fault}")?;
            }
        }
        let count: usize = self.lists().iter().map(|(_, list)| list.len()).sum();
        write!(f, "error: faults in {} pages: {count}", self.pages)
    }
}

/// Reads a site that was made of a book's folder.
///
/// # Errors
/// Of the file system.
pub fn faults(source: &Path, site: &Path) -> io::Result<Faults> {
    let files: BTreeSet<PathBuf> = files(site)?.into_iter().collect();
    let is_page = |path: &&PathBuf| path.extension().is_some_and(|it| it == "html");
    let mut pages = BTreeMap::new();
    for path in files.iter().filter(is_page) {
        let text = fs::read_to_string(site.join(path))?;
        // Reports are copied as they are: each is a page of its own, without links.
        if text.contains("Book generated using mdBook") {
            pages.insert(path.clone(), text);
        }
    }
    let site = Site { files, pages };
    let mut faults = Faults {
        pages: site.pages.len(),
        ..Faults::default()
    };
    // print.html has all other pages once more.
    let each = site
        .pages
        .iter()
        .filter(|(path, _)| !path.ends_with("print.html"));
    for (path, text) in each {
        let dead = |target: &&str| !site.has(path, target);
        let named = |target: &str| format!("{}: {target}", path.display());
        let links = attributes(text, "href").into_iter().filter(dead).map(named);
        faults.dead_links.extend(links);
        let shown = attributes(text, "src").into_iter().filter(dead).map(named);
        faults.missing_files.extend(shown);
    }
    for page in self::files(source)? {
        let is_markdown = page.extension().is_some_and(|it| it == "md");
        let is_listed = page.ends_with("SUMMARY.md") || site.pages.contains_key(&address(&page));
        if is_markdown && !is_listed {
            faults.unlisted_pages.push(page.display().to_string());
        }
    }
    Ok(faults)
}

/// Where mdBook puts a page.
fn address(page: &Path) -> PathBuf {
    match page.ends_with("README.md") {
        true => page.with_file_name("index.html"),
        false => page.with_extension("html"),
    }
}

struct Site {
    files: BTreeSet<PathBuf>,
    pages: BTreeMap<PathBuf, String>,
}

impl Site {
    /// Whether what a page names is there. Other sites are not asked.
    fn has(&self, page: &Path, target: &str) -> bool {
        if target.contains(':') || target.starts_with("//") {
            return true;
        }
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let path = match file {
            "" => Some(page.to_path_buf()),
            _ => inside(page.parent().unwrap_or(Path::new("")), file),
        };
        let Some(mut path) = path else {
            return false;
        };
        if !self.files.contains(&path) {
            path.push("index.html");
        }
        match self.pages.get(&path) {
            Some(text) if !heading.is_empty() => attributes(text, "id").contains(&heading),
            _ => self.files.contains(&path),
        }
    }
}

/// Returns the path of an address in a folder of the site, unless it leads out of the site.
fn inside(folder: &Path, address: &str) -> Option<PathBuf> {
    let mut path = folder.to_path_buf();
    for part in address.split('/') {
        match part {
            "" | "." => {}
            ".." if path.pop() => {}
            ".." => return None,
            name => path.push(name.replace("%20", " ")),
        }
    }
    Some(path)
}

/// The values of an attribute in a page.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let begin = format!(" {name}=\"");
    let values = page.split(&begin).skip(1);
    values
        .filter_map(|rest| Some(rest.split_once('"')?.0))
        .collect()
}

/// All files below a folder, by their paths in it.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.extend(path.strip_prefix(folder).map(Path::to_path_buf)),
            }
        }
    }
    found.sort();
    Ok(found)
}
