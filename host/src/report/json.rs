//! Elements of an array, one a line.

use std::io;

use serde::Serialize;

/// The element, after the array's `head` if it is the first.
pub(super) fn element(record: &impl Serialize, index: usize, head: &str) -> io::Result<Vec<u8>> {
    let before = if index == 0 { head } else { "," };
    let mut text = format!("{before}\n").into_bytes();
    serde_json::to_writer(&mut text, record)?;
    Ok(text)
}
