//! A Markdown table.

/// A line of these cells, for the first row after the table's head.
pub(super) fn row(names: &[&str], cells: &[String], index: usize) -> Vec<u8> {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let row = format!("| {} |\n", cells.join(" | "));
    if index > 0 {
        return row.into_bytes();
    }
    let rule = "---|".repeat(names.len());
    format!("| {} |\n|{rule}\n{row}", names.join(" | ")).into_bytes()
}
