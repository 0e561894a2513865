//! `--roofs`: a GPU that need not be present.

use std::path::Path;
use std::sync::LazyLock;

use clap::Args;

use crate::ceilings::load_roofs;
use crate::model::{Board, GpuRoofs};

/// The help names every board that there is a row of.
static HELP: LazyLock<String> = LazyLock::new(|| {
    format!(
        "GPU whose roofs the kernels are placed under: {}, or a file written by \
         `ridgepoint ceilings --output FILE.json` on one of these [default: h200, or the one that a program runs on]",
        Board::names()
    )
});

/// Of every command that places kernels under the roofs of a GPU.
#[derive(Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// GPU whose roofs the kernels are placed under, or a file of its ceilings.
    #[arg(long, value_name = "GPU", value_parser = gpu_roofs, help = &**HELP)]
    roofs: Option<GpuRoofs>,
}

impl Arguments {
    pub(super) fn is_given(&self) -> bool {
        self.roofs.is_some()
    }

    /// The GPU that was named, or the default.
    pub(super) fn gpu(&self) -> GpuRoofs {
        let default = || gpu_roofs("h200").expect("the default is known");
        self.roofs.clone().unwrap_or_else(default)
    }
}

fn gpu_roofs(text: &str) -> Result<GpuRoofs, String> {
    let path = Path::new(text);
    // What looks like a file is one: its error says what is wrong with it.
    match text.ends_with(".json") || path.components().count() > 1 || path.exists() {
        true => load_roofs(path).map_err(|error| error.to_string()),
        false => {
            GpuRoofs::named(text).map_err(|error| format!("{error}, or a file of ceilings, .json"))
        }
    }
}
