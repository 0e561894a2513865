//! Rows of a page out of the comments of tested code.

use gpu_test::Failed;

/// A heading and the rows below it.
pub(crate) struct Table {
    heading: String,
    /// The `use` items that the rows of the source need, where the table is the source's first.
    imports: String,
    pub(crate) rows: Vec<Row>,
}

/// A construct of CUDA C++, its Rust, and what is to be said of it.
pub(crate) struct Row {
    cuda: String,
    rust: String,
    note: String,
}

/// The tables of sources, one behind the other.
///
/// # Errors
/// A row has no code, or no heading.
pub(crate) fn tables(sources: &[&str]) -> Result<Vec<Table>, Failed> {
    let mut tables: Vec<Table> = Vec::new();
    for source in sources {
        let mut imports = Some(imports(source));
        let mut lines = source.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            if let Some(heading) = line.strip_prefix("//# ") {
                tables.push(Table {
                    heading: heading.to_owned(),
                    imports: imports.take().unwrap_or_default(),
                    rows: Vec::new(),
                });
                continue;
            }
            let Some(cuda) = line.strip_prefix("// CUDA: ") else {
                continue;
            };
            let mut notes = Vec::new();
            while let Some(note) = lines.next_if(|line| line.starts_with("// Note: ")) {
                notes.push(&note["// Note: ".len()..]);
            }
            let mut code = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.is_empty() && !line.starts_with("//"))
            {
                code.push(line.split("; // ").next().unwrap_or_default());
                if line.contains("; // ") {
                    code.push(";");
                }
            }
            if code.is_empty() {
                return Err(format!("no code follows {cuda}").into());
            }
            let table = tables
                .last_mut()
                .ok_or("a row stands before the first heading")?;
            table.rows.push(Row {
                cuda: cuda.to_owned(),
                rust: joined(&code),
                note: notes.join(" "),
            });
        }
    }
    Ok(tables)
}

/// The `use` items of a source, each on a line, but for those of the tests that run it.
fn imports(source: &str) -> String {
    const OF_TESTS: [&str; 2] = ["use example_kernels", "use gpu_test"];
    let mut text = String::new();
    for item in source.split("\nuse ").skip(1) {
        let item = item.split(';').next().unwrap_or_default();
        let words: Vec<&str> = item.split_whitespace().collect();
        let item = words.join(" ").replace("{ ", "{").replace(", }", "}");
        let line = format!("use {item};\n");
        if !OF_TESTS.iter().any(|it| line.starts_with(it)) {
            text += &line;
        }
    }
    text
}

/// Lines of code as one, without the brace that begins a body, or the comma behind a parameter.
fn joined(code: &[&str]) -> String {
    let joined = code.join(" ").replace(" ;", ";");
    let tidied = [
        ("( ", "("),
        (", )", ")"),
        (" )", ")"),
        ("[ ", "["),
        (", ]", "]"),
        (" .", "."),
    ];
    let joined = tidied
        .iter()
        .fold(joined, |text, (from, to)| text.replace(from, to));
    let mut joined = joined.trim_end_matches([',', '{', ' ']);
    // Those of what the row is in.
    for (open, close) in [('{', '}'), ('(', ')')] {
        while joined.matches(close).count() > joined.matches(open).count() {
            match joined.strip_suffix(close) {
                Some(rest) => joined = rest.trim_end(),
                None => break,
            }
        }
    }
    joined.to_owned()
}

/// The tables as the page has them.
pub(crate) fn markdown(tables: &[Table]) -> String {
    let mut text = String::new();
    for table in tables {
        text += &format!("\n## {}\n\n", table.heading);
        if !table.imports.is_empty() {
            let imports = &table.imports;
            text +=
                &format!("From here on, the rows begin with:\n\n```rust,ignore\n{imports}```\n\n");
        }
        text += "| CUDA C++ | Rust | |\n|---|---|---|\n";
        for Row { cuda, rust, note } in &table.rows {
            let cell = |text: &str| text.replace('|', "\\|");
            text += &format!("| {} | `{}` | {} |\n", cell(cuda), cell(rust), cell(note))
                .replace("|  |\n", "| |\n");
        }
    }
    text + "\n"
}

/// The names of the kernels that a source declares: of a generic one those of its instances.
pub(crate) fn kernels(source: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for item in source.split("#[kernel").skip(1) {
        match item
            .split_once("instances(")
            .filter(|(before, _)| !before.contains("fn "))
        {
            Some((_, instances)) => {
                let list = instances.split("))]").next().unwrap_or_default();
                names.extend(
                    list.split(", ")
                        .filter_map(|one| one.split('<').next())
                        .map(str::trim),
                );
            }
            None => names.extend(item.split("fn ").nth(1).and_then(|it| it.split('(').next())),
        }
    }
    names
}
