//! Rows of links in a file, and the roof that they are of a device's kernels.

use std::path::Path;

use super::{LinkQuantity, LinkRow, LinksFileError};
use crate::driver::read_whole;
use crate::model::BytesPerSec;
use crate::table::{MAX_ROWS_BYTES, json_that_is_no};

/// The most that a link gives to kernels: a roof beside that of memory.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkRoof {
    /// The link, and how it was measured.
    pub name: String,
    /// The rate.
    pub rate: BytesPerSec,
}

/// Reads what `ridgepoint links --output FILE.json` wrote, for the fastest roof of a device of this name.
///
/// # Errors
/// [`LinksFileError::Io`]: the file cannot be read; [`LinksFileError::Malformed`]: it holds something else;
/// [`LinksFileError::OtherDevice`]: it has no measured link to such a device.
pub fn load_links(path: &Path, device: &str) -> Result<LinkRoof, LinksFileError> {
    let text = read_whole(path, MAX_ROWS_BYTES).map_err(|error| LinksFileError::Io {
        path: path.to_path_buf(),
        error,
    })?;
    let malformed = |error: String| LinksFileError::Malformed {
        path: path.to_path_buf(),
        error,
    };
    let rows: Vec<LinkRow> = serde_json::from_slice(&text)
        .map_err(|error| malformed(json_that_is_no("links", &text, &error)))?;
    let is_rate = |value: f64| value.is_finite() && value > 0.0;
    if let Some(row) = rows
        .iter()
        .find(|row| row.value.is_some_and(|it| !is_rate(it)))
    {
        let (name, value) = (row.quantity.name(), row.value.unwrap_or_default());
        return Err(malformed(format!(
            "{name} is {value}; expected a finite number above 0"
        )));
    }
    link_roof(&rows, device).ok_or_else(|| {
        let mut found: Vec<String> = rows.into_iter().map(|row| row.to_device).collect();
        found.sort();
        found.dedup();
        LinksFileError::OtherDevice {
            path: path.to_path_buf(),
            device: device.to_owned(),
            found,
        }
    })
}

/// The fastest link to a device of this name: by kernels that read from a peer, or else by copies from one, or else from the host.
pub(super) fn link_roof(rows: &[LinkRow], device: &str) -> Option<LinkRoof> {
    let fastest = |quantity: LinkQuantity, from_host: bool| {
        let of_device = rows.iter().filter(|row| {
            row.quantity == quantity && row.to_device == device && (row.from == "host") == from_host
        });
        let valued = of_device.filter_map(|row| Some((row, row.value?)));
        let (row, rate) = valued.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(LinkRoof {
            name: format!("link {} -> {} ({})", row.from, row.to, quantity.name()),
            rate: BytesPerSec(rate),
        })
    };
    fastest(LinkQuantity::KernelRead, false)
        .or_else(|| fastest(LinkQuantity::Copy, false))
        .or_else(|| fastest(LinkQuantity::Copy, true))
}
