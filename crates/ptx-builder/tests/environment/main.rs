//! The environment of the builder's process: the compiler, the tools, and the package that builds.
//!
//! Each test changes the environment of the process. [`Environment`] lets one at a time do so and puts back what was
//! there.

mod glam;
mod resources;
#[path = "../support/mod.rs"]
mod support;
mod toolchains;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::sync::{Mutex, MutexGuard, PoisonError};

static OURS: Mutex<()> = Mutex::new(());

/// The environment of the process, for one test alone.
struct Environment {
    before: BTreeMap<String, Option<OsString>>,
    _ours: MutexGuard<'static, ()>,
}

impl Environment {
    /// Waits until no other test has it.
    fn lock() -> Environment {
        Environment {
            before: BTreeMap::new(),
            // What a test that failed has set, it has put back.
            _ours: OURS.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    fn set(&mut self, name: &str, value: Option<&str>) {
        let before = || env::var_os(name);
        self.before.entry(name.to_owned()).or_insert_with(before);
        put(name, value.map(OsString::from));
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        for (name, value) in std::mem::take(&mut self.before) {
            put(&name, value);
        }
    }
}

fn put(name: &str, value: Option<OsString>) {
    // SAFETY: only the test that has locked `OURS` comes here. All tests of this program lock it before they do anything,
    // and the harness's own thread reads its variables before it starts the first.
    unsafe {
        match value {
            Some(value) => env::set_var(name, value),
            None => env::remove_var(name),
        }
    }
}
