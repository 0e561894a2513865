//! Ceilings in a file: measured once for a device, used by other commands.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Ceilings, Quantity};
use crate::driver::{DeviceProperties, printable, read_whole};
use crate::model::{BytesPerSec, GpuRoofs, Precision};
use crate::table::{MAX_ROWS_BYTES, json_that_is_no};

/// The key of ceilings: another GPU, driver or ridgepoint may have others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The device's name.
    pub device: String,
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// The CUDA version of the driver; 0.0 on the emulator.
    pub cuda_version: (u32, u32),
    /// Ridgepoint's version.
    pub ridgepoint: String,
}

impl Key {
    /// The key of a device, for this ridgepoint.
    pub fn of(facts: &DeviceProperties) -> Key {
        Key {
            device: facts.name.clone(),
            multiprocessors: facts.multiprocessors,
            cuda_version: facts.gpu.as_ref().map_or((0, 0), |gpu| gpu.cuda_version),
            ridgepoint: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Why ceilings were not stored or not found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file could not be read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file holds something else.
    #[error("{} holds no ceilings: {error}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: String,
    },
    /// A figure that no measurement gives.
    #[error("{}: {figure} is {value}; a ceiling is a finite number above 0", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Which.
        figure: String,
        /// The value that it holds.
        value: f64,
    },
    /// The ceilings are another device's.
    #[error("{} holds the ceilings of {difference}: run `ridgepoint ceilings` again", path.display())]
    OtherDevice {
        /// The file.
        path: PathBuf,
        /// The difference between what it is of and what is wanted.
        difference: String,
    },
}

/// Where a device's ceilings are kept: in the user's cache folder, where there is one.
pub fn cache_path(facts: &DeviceProperties) -> Option<PathBuf> {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    let name: String = facts.name.chars().map(plain).collect();
    let folder = dirs::cache_dir()?.join("ridgepoint");
    Some(folder.join(format!("ceilings-{name}.json")))
}

/// Writes ceilings to a file, in place of what was there, whole or not at all.
///
/// # Errors
/// [`StoreError::Io`]: the folder cannot be created, or the file cannot be written.
pub fn save(ceilings: &Ceilings, path: &Path) -> Result<(), StoreError> {
    let failed = |action| move |error| io_error(action, path, error);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed("create the folder of"))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed("write"))?;
    serde_json::to_writer_pretty(&mut file, ceilings)
        .map_err(|error| io_error("write", path, error.into()))?;
    file.persist(path)
        .map_err(|error| io_error("write", path, error.error))?;
    Ok(())
}

/// Reads the ceilings of a device from a file.
///
/// # Errors
/// [`StoreError::Io`]: the file cannot be read; [`StoreError::Malformed`], [`StoreError::Value`]: it holds
/// something else, or a figure that no measurement gives; [`StoreError::OtherDevice`]: the ceilings are
/// another device's, or of another driver or version.
pub fn load(path: &Path, facts: &DeviceProperties) -> Result<Ceilings, StoreError> {
    let ceilings = read(path)?;
    of_the_same(path, &ceilings.key, &Key::of(facts))?;
    Ok(ceilings)
}

/// Reads the ceilings of a device of which no more than the name is known, as saved rows have it.
///
/// # Errors
/// As [`load`].
pub fn load_named(path: &Path, device: &str) -> Result<Ceilings, StoreError> {
    let ceilings = read(path)?;
    let wanted = Key {
        device: device.to_owned(),
        ..ceilings.key.clone()
    };
    of_the_same(path, &ceilings.key, &wanted)?;
    Ok(ceilings)
}

/// Reads the ceilings of a GPU, which need not be here, as roofs.
///
/// # Errors
/// [`StoreError::Io`]: the file cannot be read; [`StoreError::Malformed`], [`StoreError::Value`]: it holds
/// something else, a figure that no measurement gives, or the ceilings of a GPU that [`GpuRoofs`] does not
/// know.
pub fn load_roofs(path: &Path) -> Result<GpuRoofs, StoreError> {
    let ceilings = read(path)?;
    let of = |precision| Some((precision, ceilings.roofs(precision, false)?));
    let roofs = Precision::ALL.into_iter().filter_map(of).collect();
    let caches = [Quantity::L2Read, Quantity::L1Read].into_iter();
    let caches = caches.filter_map(|it| Some((it.name(), BytesPerSec(ceilings.get(it)?.value))));
    let gpu = GpuRoofs::measured(&ceilings.key.device, roofs);
    let gpu = gpu.map_err(|error| StoreError::Malformed {
        path: path.to_path_buf(),
        error: printable(&error).into_owned(),
    })?;
    Ok(gpu.with_caches(caches.collect()))
}

fn read(path: &Path) -> Result<Ceilings, StoreError> {
    let text = read_whole(path, MAX_ROWS_BYTES).map_err(|error| io_error("read", path, error))?;
    let parsed = serde_json::from_slice(&text);
    let ceilings: Ceilings = parsed.map_err(|error| StoreError::Malformed {
        path: path.to_path_buf(),
        error: json_that_is_no("ceilings", &text, &error),
    })?;
    match ceilings.implausible() {
        None => Ok(ceilings),
        Some((figure, value)) => Err(StoreError::Value {
            path: path.to_path_buf(),
            figure,
            value,
        }),
    }
}

/// # Errors
/// [`StoreError::OtherDevice`]: the name, the multiprocessors, the version of CUDA or that of ridgepoint is
/// another; it says which.
fn of_the_same(path: &Path, found: &Key, wanted: &Key) -> Result<(), StoreError> {
    let cuda = |key: &Key| format!("CUDA {}.{}", key.cuda_version.0, key.cuda_version.1);
    let ridgepoint = |key: &Key| format!("ridgepoint {}", key.ridgepoint);
    let multiprocessors = |key: &Key| format!("{} multiprocessors", key.multiprocessors);
    let parts: [&dyn Fn(&Key) -> String; 4] = [
        &|key| key.device.clone(),
        &multiprocessors,
        &cuda,
        &ridgepoint,
    ];
    let differing = parts.iter().find(|part| part(found) != part(wanted));
    let Some(part) = differing else {
        return Ok(());
    };
    let difference = format!("{}, not of {}", part(found), part(wanted));
    Err(StoreError::OtherDevice {
        path: path.to_path_buf(),
        difference: printable(&difference).into_owned(),
    })
}

fn io_error(action: &'static str, path: &Path, error: io::Error) -> StoreError {
    StoreError::Io {
        action,
        path: path.to_path_buf(),
        error,
    }
}
