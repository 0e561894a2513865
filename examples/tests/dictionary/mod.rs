//! The page for CUDA programmers: its rows are made of code that these tests compile and run.

mod host;
mod kernels;
mod rows;

use std::env;
use std::fs;
use std::path::PathBuf;

use gpu_test::{Device, Failed, Trial, on_both};

/// The files that have the rows, in the order of the page: their text is that which was compiled.
const SOURCES: [&str; 2] = [
    include_str!("../../kernels/src/dictionary.rs"),
    include_str!("host.rs"),
];

/// A function that launches a part of the dictionary and looks at what came out.
type Case = fn(&Device) -> Result<(), Failed>;

pub(crate) fn trials() -> Vec<Trial> {
    let cases: [(&str, Case); 18] = [
        ("functions", kernels::functions),
        ("nothing", kernels::nothing),
        ("indices", kernels::indices),
        ("shared_memory", kernels::shared_memory),
        ("warps", kernels::warps),
        ("blocks", kernels::blocks),
        ("scans", kernels::scans),
        ("dimensions", kernels::dimensions),
        ("atomics", kernels::atomics),
        ("histogram", kernels::histogram),
        ("memory", kernels::memory),
        ("arithmetic", kernels::arithmetic),
        ("debugging", kernels::debugging),
        ("launches", host::launches),
        ("devices", host::devices),
        ("streams", host::streams),
        ("cooperative", host::cooperative),
        ("errors", host::errors),
    ];
    let both =
        cases.map(|(name, case)| on_both(&format!("dictionary::{name}"), examples::ptx(), case));
    let of_host = [
        Trial::test("dictionary::page", page),
        Trial::test("dictionary::launched", every_kernel_is_launched),
        Trial::test("dictionary::rows", rows_are_read),
        Trial::test("emulator::dictionary::panics", kernels::panics),
    ];
    both.into_iter().flatten().chain(of_host).collect()
}

const BEGIN: &str = "<!-- rows: RIDGEPOINT_BLESS=1 cargo test --package examples --test programs -- dictionary::page -->\n";
const END: &str = "<!-- end of rows -->\n";

/// The page has the rows word for word, and at least 60.
fn page() -> Result<(), Failed> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/cuda-to-rust.md");
    let text = fs::read_to_string(&path)?;
    let (head, rest) = text
        .split_once(BEGIN)
        .ok_or("the page has no place for the rows")?;
    let (shown, tail) = rest.split_once(END).ok_or("the rows have no end")?;
    let tables = rows::tables(&SOURCES)?;
    let count: usize = tables.iter().map(|table| table.rows.len()).sum();
    if count < 60 {
        return Err(format!("{count} rows; 60 are the least").into());
    }
    let made = rows::markdown(&tables);
    if env::var_os("RIDGEPOINT_BLESS").is_some() {
        fs::write(&path, format!("{head}{BEGIN}{made}{END}{tail}"))?;
        return Ok(());
    }
    let mut lines = shown.lines().zip(made.lines());
    match lines.find(|(shown, made)| shown != made) {
        Some((shown, made)) => {
            Err(format!("the page says\n{shown}\nand the tested code\n{made}").into())
        }
        None if shown != made => {
            Err("the page has more rows than the tested code, or fewer".into())
        }
        None => Ok(()),
    }
}

/// No kernel of the dictionary is one that nothing runs.
fn every_kernel_is_launched() -> Result<(), Failed> {
    let launches = [include_str!("host.rs"), include_str!("kernels.rs")].concat();
    let names = rows::kernels(SOURCES[0]);
    if names.len() < 15 {
        return Err(format!("{names:?} are not all kernels").into());
    }
    match names
        .iter()
        .find(|name| !launches.contains(&format!("{name}::entry()")))
    {
        Some(name) => Err(format!("nothing launches {name}").into()),
        None => Ok(()),
    }
}

/// A row has the code behind it, and one without code is an error.
fn rows_are_read() -> Result<(), Failed> {
    let source = "//! A page.\n\nuse gpu_test::Failed;\nuse a::{\n    b, c,\n};\n//# Table\n\n// CUDA: `a | b`\n// Note: Said.\nlet a =\n    1; // Not this.\n\nlet b = 2;\n";
    let tables = rows::tables(&[source])?;
    let made = rows::markdown(&tables);
    let row = "| `a \\| b` | `let a = 1;` | Said. |\n";
    for part in [row, "## Table\n", "\n```rust,ignore\nuse a::{b, c};\n```\n"] {
        if !made.contains(part) {
            return Err(format!("{made:?} has not {part:?}").into());
        }
    }
    match rows::tables(&["//# Table\n// CUDA: `a`\n\nlet b = 2;\n"]) {
        Err(_) => Ok(()),
        Ok(_) => Err("a row without code was taken".into()),
    }
}
