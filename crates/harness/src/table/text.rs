//! Tables for people.

use comfy_table::{CellAlignment, Table, presets};

/// A table. `is_right` says which columns are flush right.
pub fn text<R: IntoIterator<Item: ToString>>(
    header: impl IntoIterator<Item: ToString>,
    rows: impl IntoIterator<Item = R>,
    is_right: impl Fn(usize) -> bool,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(header.into_iter().map(|cell| cell.to_string()));
    for row in rows {
        table.add_row(row.into_iter().map(|cell| cell.to_string()));
    }
    let columns = table.column_iter_mut().enumerate();
    for (_, column) in columns.filter(|(index, _)| is_right(*index)) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}
