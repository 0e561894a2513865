//! Examples in documentation: which of them run, and what their readers see of them.

use std::collections::BTreeSet;

use super::items::{Crate, Item, Use};

/// The words and marks of an example.
type Words = Vec<String>;

/// The items that no running example shows, in the documentation of their own module, of one around it or of
/// one inside it.
pub(crate) fn without_example(read: &Crate) -> Vec<&Item> {
    let shown = read.documents.iter().map(|(module, text)| {
        let words: Vec<Words> = running(text).iter().map(|code| words(code)).collect();
        (module, words)
    });
    let shown: Vec<_> = shown.filter(|(_, all)| !all.is_empty()).collect();
    let is_shown = |item: &&Item| {
        let near = shown.iter().filter(|(module, _)| match &item.module {
            Some(own) => module.starts_with(own) || own.starts_with(module),
            None => true,
        });
        near.into_iter()
            .any(|(_, examples)| examples.iter().any(|words| names(words, item)))
    };
    let (shown, others): (Vec<_>, Vec<_>) = read.items.iter().partition(is_shown);
    let families: BTreeSet<_> = shown.into_iter().filter_map(family).collect();
    let is_like_one = |item: &&Item| family(item).is_some_and(|it| families.contains(it));
    others.into_iter().filter(|it| !is_like_one(it)).collect()
}

/// Returns the name of an atomic operation on pointers without its type and scope: there are 165 functions, and an
/// example of `atomic_fetch_add_u32_device` shows `atomic_fetch_add_i64_block`, too.
fn family(item: &Item) -> Option<&str> {
    let path = item.path.as_str();
    let operation = path.strip_prefix("atomic::mid::atomic_")?;
    let (operation, _scope) = operation.rsplit_once('_')?;
    operation
        .rsplit_once('_')
        .map(|(operation, _type)| operation)
}

/// The code blocks that `cargo test` runs, as far as readers see them.
fn running(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block: Option<(String, bool)> = None;
    for line in text.lines() {
        let line = line.trim();
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(kinds)) => block = Some((String::new(), is_run(kinds))),
            (Some(_), Some(_)) => {
                found.extend(block.take().filter(|(_, is_run)| *is_run).map(|it| it.0));
            }
            (Some(_), None) if line == "#" || line.starts_with("# ") => {}
            (Some((code, _)), None) => {
                code.push_str(line);
                code.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

/// Whether a block with these words behind its fence is Rust that is compiled and run.
fn is_run(kinds: &str) -> bool {
    let mut kinds = kinds.split([',', ' ']).filter(|kind| !kind.is_empty());
    kinds.all(|kind| kind == "rust" || kind == "should_panic" || kind.starts_with("edition"))
}

/// Names and marks, without comments and texts.
fn words(code: &str) -> Words {
    let mut words = Words::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            text_length(rest)
        } else if is_name(first) {
            let length = rest.find(|it| !is_name(it)).unwrap_or(rest.len());
            words.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            words.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                words.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    words
}

fn is_name(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

/// The bytes of a text, with its quotes.
fn text_length(code: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in code.char_indices().skip(1) {
        match letter {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    code.len()
}

/// Whether an example names an item as it is used.
fn names(words: &[String], item: &Item) -> bool {
    let before = |at: usize| at.checked_sub(1).map_or("", |at| &words[at][..]);
    let mut places = (0..words.len()).filter(|&at| words[at] == item.name);
    match &item.used {
        Use::Name => places.any(|at| before(at) != "."),
        // An example that implements a trait has `fn name`.
        Use::Member => places.any(|at| matches!(before(at), "." | "::" | "fn")),
        Use::Associated(owner) => {
            places.any(|at| before(at) == "::" && is_path(&words[..at - 1], owner))
        }
    }
}

/// Whether the words end with the name, or with the name and its arguments: `Tile`, `Tile::<f32, 4>`.
fn is_path(words: &[String], owner: &str) -> bool {
    let Some((last, mut rest)) = words.split_last() else {
        return false;
    };
    if last != ">" {
        return last == owner || last == "Self";
    }
    let mut depth = 1;
    while let Some((word, before)) = rest.split_last().filter(|_| depth > 0) {
        depth += i32::from(word == ">") - i32::from(word == "<");
        rest = before;
    }
    let name = rest.strip_suffix(&["::".to_owned()]).unwrap_or(rest);
    name.last().is_some_and(|name| name == owner)
}

#[test]
fn blocks_that_do_not_run_and_lines_that_nobody_sees_show_nothing() {
    let text = "Words.\n```\nlet a = 1; // b\n# let c = 2;\n#[kernel]\n```\n```no_run\nd\n```\n\
                ```text\ne\n```\n```rust,should_panic\nf(\"g \\\" h\")\n```\n```compile_fail,E0308\ni\n```";
    let all: Vec<Words> = running(text).iter().map(|code| words(code)).collect();
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all[0].join(" "), "let a = 1 ; # [ kernel ]");
    assert_eq!(all[1].join(" "), "f ( )");
}

#[test]
fn an_item_is_named_as_it_is_used() {
    let item = |name: &str, used| Item {
        path: String::new(),
        name: name.to_owned(),
        used,
        module: None,
    };
    let is_named = |code: &str, item: &Item| names(&words(code), item);
    let len = item("len", Use::Member);
    assert!(is_named("buffer.len()", &len) && is_named("Buffer::len(&it)", &len));
    assert!(is_named("fn len(&self) -> usize {", &len) && !is_named("let len = 1;", &len));
    let new = item("new", Use::Associated("Tile".to_owned()));
    assert!(is_named("Tile::new()", &new) && is_named("Tile::<[u8; 2], 4>::new()", &new));
    assert!(is_named("<Tile<u8>>::new()", &item("new", Use::Member)));
    assert!(!is_named("Stream::new()", &new) && !is_named("Tile::of()", &new));
    let function = item("gpus", Use::Name);
    assert!(is_named("gpus()", &function) && !is_named("it.gpus()", &function));
}
