//! Prints the page of instructions, docs/instructions.md, from the table:
//!
//! ```text
//! cargo run -p ridgepoint-ptx --example instructions > docs/instructions.md
//! ```

use std::fmt::Write as _;

const HEAD: &str = "\
# Instructions of PTX

The instructions that are read and checked as `ptxas` does. The emulator executes them all, but for
[a list of exceptions](testing-kernels.md#what-is-not-executed). This page is made from
[the table of instructions](../crates/ptx/src/instruction/table.rs) by
`cargo run -p ridgepoint-ptx --example instructions > docs/instructions.md`, and a test compares the two.

The class is that of counts. An instruction has all parts of its opcode that stand here, and may have others. The last
columns are the version of PTX that it came with, and the first GPUs that have it; those without one have 7.0 or older,
and `sm_75` or older. Types and modifiers may be newer.

| opcode | what | class | PTX | GPU |
|---|---|---|---|---|
";

/// Returns the page.
pub(crate) fn page() -> String {
    let mut page = HEAD.to_owned();
    for row in ptx::Row::ALL {
        let opcodes: Vec<_> = row.opcodes().iter().map(|it| format!("`{it}`")).collect();
        let (what, class) = (row.summary().trim().replace('|', "\\|"), row.class());
        let since = match row.since() {
            (7, 0) => String::new(),
            (major, minor) => format!("{major}.{minor}"),
        };
        let on = match row.architecture() {
            0 => String::new(),
            architecture => format!("`sm_{architecture}`"),
        };
        let opcodes = opcodes.join(", ");
        let _ = writeln!(page, "| {opcodes} | {what} | {class} | {since} | {on} |");
    }
    page
}

fn main() {
    print!("{}", page());
}
