//! The modules right below the roots of crates: which of them names which, as docs/design/layers.md draws it.
//!
//! The page is the list of what is allowed: a name that it does not have fails, and so does a circle. After a change that is
//! meant, `RIDGEPOINT_BLESS=1 cargo test --test house layers` draws the page again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The crates that are drawn, each with a number of modules that it has at least.
const CRATES: [(&str, usize); 5] = [
    ("crates/ptx/src", 7),
    ("crates/engine/src", 12),
    ("crates/driver/src", 12),
    ("crates/harness/src", 15),
    ("host/src", 2),
];

const PAGE: &str = "docs/design/layers.md";

/// For each module of a crate the others that its code names.
pub(crate) type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Returns the arrows of a crate. Unit tests may name anything.
pub(crate) fn arrows(folder: &Path) -> Arrows {
    let modules = modules(folder);
    let mut names = BTreeMap::new();
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, files) in &modules {
        for (depth, file) in files {
            let tokens = tokens(file);
            let mut found = Names::default();
            found.read(tokens, *depth);
            names
                .entry(module.clone())
                .or_insert_with(BTreeSet::new)
                .extend(found.of_root);
            declared
                .entry(module.clone())
                .or_default()
                .extend(found.declared);
        }
    }
    let homes = homes(folder, &declared);
    let arrow = |(module, names): (String, BTreeSet<String>)| {
        let homes = names.iter().map(|name| homes.get(name).unwrap_or(name));
        let others = homes.filter(|it| **it != module && modules.contains_key(*it));
        (module.clone(), others.cloned().collect())
    };
    names.into_iter().map(arrow).collect()
}

/// The files of each module, with how many modules each file is below the root.
fn modules(folder: &Path) -> BTreeMap<String, Vec<(usize, PathBuf)>> {
    let mut modules = BTreeMap::new();
    for path in entries(folder) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut files = Vec::new();
        if path.is_dir() {
            below(&path, 1, &mut files);
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push((1, path.clone()));
        }
        let is_root = ["lib", "main", "tests", "bin"].contains(&&*name);
        if !files.is_empty() && !is_root {
            let all: &mut Vec<_> = modules.entry(name.into_owned()).or_default();
            all.extend(files);
        }
    }
    modules
}

fn below(folder: &Path, depth: usize, files: &mut Vec<(usize, PathBuf)>) {
    for path in entries(folder) {
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            below(&path, depth + 1, files);
        } else if name == "mod.rs" {
            files.push((depth, path));
        } else if name != "tests.rs" && path.extension().is_some_and(|it| it == "rs") {
            files.push((depth + 1, path));
        }
    }
}

/// Returns the files in a folder, without unit tests and the templates of other packages.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| !path.ends_with("tests") && !path.ends_with("template"))
        .collect();
    paths.sort();
    paths
}

fn tokens(file: &Path) -> TokenStream {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    let tokens = text.parse();
    tokens.unwrap_or_else(|error| panic!("{file:?}: {error}"))
}

/// The module of each name that the root of a crate shows of one.
fn homes(folder: &Path, declared: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, String> {
    let root = ["lib.rs", "main.rs"]
        .map(|it| folder.join(it))
        .into_iter()
        .find(|it| it.exists());
    let text = fs::read_to_string(root.expect("a root")).expect("text");
    let mut homes = BTreeMap::new();
    for item in syn::parse_file(&text).expect("Rust").items {
        if let syn::Item::Use(it) = item
            && let syn::UseTree::Path(path) = it.tree
        {
            let module = path.ident.to_string();
            let mut shown = BTreeSet::new();
            show(
                &path.tree,
                declared.get(&module).unwrap_or(&BTreeSet::new()),
                &mut shown,
            );
            homes.extend(shown.into_iter().map(|name| (name, module.clone())));
        }
    }
    homes
}

fn show(tree: &syn::UseTree, declared: &BTreeSet<String>, shown: &mut BTreeSet<String>) {
    match tree {
        syn::UseTree::Path(path) => show(&path.tree, declared, shown),
        syn::UseTree::Name(name) => drop(shown.insert(name.ident.to_string())),
        syn::UseTree::Rename(rename) => drop(shown.insert(rename.rename.to_string())),
        syn::UseTree::Glob(_) => shown.extend(declared.iter().cloned()),
        syn::UseTree::Group(group) => {
            group.items.iter().for_each(|it| show(it, declared, shown));
        }
    }
}

/// The names in a file.
#[derive(Default)]
struct Names {
    /// Those right below the crate's root: of `crate::a`, of `super::a` in a module of the root.
    of_root: BTreeSet<String>,
    /// Those that it declares for others.
    declared: BTreeSet<String>,
}

impl Names {
    /// Reads code that is so many modules below the root.
    fn read(&mut self, tokens: TokenStream, depth: usize) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(punct)
                    if punct.as_char() == '#' && is_test(tokens.get(at + 1)) =>
                {
                    at = end_of_item(&tokens, at);
                    continue;
                }
                TokenTree::Ident(word) if word == "crate" => {
                    self.path(&tokens[at + 1..], true);
                }
                TokenTree::Ident(word) if word == "super" && !is_behind_colons(&tokens, at) => {
                    let supers = supers(&tokens[at..]);
                    self.path(&tokens[at + 1 + 3 * (supers - 1)..], supers == depth);
                }
                TokenTree::Ident(word) if word == "pub" => {
                    self.declared.extend(declared(&tokens[at + 1..]));
                }
                TokenTree::Ident(word) if word == "mod" => {
                    if let Some(TokenTree::Group(body)) = tokens.get(at + 2) {
                        self.read(body.stream(), depth + 1);
                        at += 3;
                        continue;
                    }
                }
                TokenTree::Group(group) => self.read(group.stream(), depth),
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns what follows `crate` or the last `super`: `::a`, `::{a, b}`.
    fn path(&mut self, rest: &[TokenTree], is_root: bool) {
        let [TokenTree::Punct(first), TokenTree::Punct(_), next, ..] = rest else {
            return;
        };
        if !is_root || first.as_char() != ':' {
            return;
        }
        match next {
            TokenTree::Ident(name) => drop(self.of_root.insert(name.to_string())),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                self.of_root.extend(firsts(group));
            }
            _ => {}
        }
    }
}

/// The first names of a list in braces.
fn firsts(group: &Group) -> BTreeSet<String> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let parts = tokens.split(|it| matches!(it, TokenTree::Punct(it) if it.as_char() == ','));
    let firsts = parts.filter_map(|part| match part.first()? {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    });
    firsts.collect()
}

/// How many `super::` stand one behind the other.
fn supers(tokens: &[TokenTree]) -> usize {
    let words = tokens.chunks(3);
    words
        .take_while(|it| matches!(&it[0], TokenTree::Ident(word) if word == "super"))
        .count()
}

fn is_behind_colons(tokens: &[TokenTree], at: usize) -> bool {
    at > 0 && matches!(&tokens[at - 1], TokenTree::Punct(it) if it.as_char() == ':')
}

/// Whether an attribute's brackets say that the item is a test's.
fn is_test(brackets: Option<&TokenTree>) -> bool {
    let text = brackets.map(|it| it.to_string().replace(' ', ""));
    text.is_some_and(|text| text.starts_with("[cfg(test") || text.starts_with("[cfg(all(test"))
}

/// The end of an item that begins with an attribute: its semicolon, or its braces.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let end = tokens[at..].iter().position(|it| match it {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    });
    end.map_or(tokens.len(), |end| at + end + 1)
}

/// The name that is declared behind `pub`.
fn declared(rest: &[TokenTree]) -> Option<String> {
    const BEFORE: [&str; 11] = [
        "struct", "enum", "fn", "trait", "type", "const", "static", "union", "unsafe", "mod",
        "extern",
    ];
    let words = rest.iter().filter_map(|it| match it {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    let mut words = words
        .take(4)
        .skip_while(|it| it == "crate" || it == "super");
    words.next().filter(|it| BEFORE.contains(&&**it))?;
    words.find(|it| !BEFORE.contains(&&**it))
}

/// All that a module leads to, by any number of arrows.
fn reached<'a>(arrows: &'a Arrows, from: &str) -> BTreeSet<&'a str> {
    let mut left: Vec<&str> = arrows[from].iter().map(String::as_str).collect();
    let mut seen = BTreeSet::new();
    while let Some(module) = left.pop() {
        if seen.insert(module) {
            left.extend(arrows.get(module).into_iter().flatten().map(String::as_str));
        }
    }
    seen
}

/// The modules that lead back to themselves.
pub(crate) fn in_circles(arrows: &Arrows) -> BTreeSet<&str> {
    let modules = arrows.keys().map(String::as_str);
    modules
        .filter(|module| reached(arrows, module).contains(module))
        .collect()
}

/// The drawing of a crate: modules, each with those that it names, in layers from the top. A module names only modules of
/// lower layers.
fn drawing(arrows: &Arrows) -> String {
    let widest = arrows.keys().map(String::len).max().unwrap_or_default();
    let mut layers: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (module, named) in arrows {
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        let line = format!("{module:widest$}  {}", named.join(", "));
        layers
            .entry(height(arrows, module))
            .or_default()
            .push(line.trim_end().to_owned());
    }
    let layers = layers.into_values().rev().map(|lines| lines.join("\n"));
    layers.collect::<Vec<_>>().join("\n\n")
}

/// The most arrows one behind the other that lead down from a module.
fn height(arrows: &Arrows, module: &str) -> usize {
    let below = reached(arrows, module);
    let named = arrows[module].iter();
    // In a circle, which a test refuses, there is no lowest.
    let down = named.filter(|it| !reached(arrows, it).contains(module));
    let down = down.filter(|it| below.contains(it.as_str()));
    down.map(|it| 1 + height(arrows, it)).max().unwrap_or(0)
}

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The page as the sources are.
fn drawn() -> String {
    let mut page = "# Layers\n\nThe modules right below the root of five crates, and the modules that the code of each names. \
        Arrows point down: a module\nnames only modules of lower layers. `tests/house/layers.rs` draws this page from the \
        sources, and fails where they name a module that is not\ndrawn, or where there is a circle. After a change that is \
        meant, `RIDGEPOINT_BLESS=1 cargo test --test house layers` draws the page again.\n"
        .to_owned();
    for (folder, _) in CRATES {
        let arrows = arrows(&tree().join(folder));
        page += &format!("\n## {folder}\n\n```text\n{}\n```\n", drawing(&arrows));
    }
    page
}

#[test]
fn the_page_draws_the_modules_as_they_are() {
    let drawn = drawn();
    let path = tree().join(PAGE);
    if env::var_os("RIDGEPOINT_BLESS").is_some() {
        fs::write(&path, &drawn).expect("written");
    }
    let page = fs::read_to_string(&path).expect("the page");
    let others = drawn
        .lines()
        .filter(|line| !page.lines().any(|it| it == *line));
    let others: Vec<&str> = others.collect();
    assert!(
        page == drawn,
        "{PAGE} does not have these lines, or has others: {others:#?}"
    );
}

#[test]
fn modules_make_no_circle() {
    for (folder, at_least) in CRATES {
        let arrows = arrows(&tree().join(folder));
        assert!(arrows.len() >= at_least, "{folder}: {arrows:?}");
        let circle = in_circles(&arrows);
        assert!(circle.is_empty(), "{folder}: {circle:?} of {arrows:#?}");
    }
}

#[test]
fn an_arrow_is_found_however_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    write(
        "lib.rs",
        "mod a;\nmod b;\nmod c;\nmod d;\npub use c::{Shown, Other as Renamed};\npub use d::*;\n",
    );
    write(
        "a/mod.rs",
        "//! crate::d is a comment's.\nmod deep;\nuse crate::{b, Renamed};\n#[cfg(test)]\nmod tests { use crate::d; }\n",
    );
    write(
        "a/deep.rs",
        "pub(crate) fn f() { let _ = super::super::Late; super::g(); }\n",
    );
    write(
        "b.rs",
        "macro_rules! m { () => { $crate::c::x() } }\nmod inner { use super::super::Shown; use super::own; }\n",
    );
    write("c.rs", "pub struct Shown;\n");
    write("d.rs", "pub struct Late;\n");
    let found = arrows(folder.path());
    let of = |module: &str| found[module].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!((of("a"), of("b")), (vec!["b", "c", "d"], vec!["c"]));
    assert!(in_circles(&found).is_empty());
    assert_eq!(drawing(&found), "a  b, c, d\n\nb  c\n\nc\nd");

    write("c.rs", "pub struct Shown;\nfn f() { super::a::g() }\n");
    let found = arrows(folder.path());
    assert_eq!(in_circles(&found), BTreeSet::from(["a", "b", "c"]));
}
