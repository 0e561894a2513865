//! The reader of launch files, and of a command's arguments.

use std::fs;
use std::io;

use fastrand::Rng;
use ridgepoint_harness::standalone::{Argument, Description, Extents, Output, Standalone};

use super::Target;
use super::texts::mutant;

const FILE: &[u8] = b"# A launch.\nfile = \"kernel.ptx\"\nkernel = \"k\"\ngrid = [2, 1]\nblock = 32\nshared = 1024\n\
    args = [\"f32[64]=random\", \"u32[4]=zeros\", \"i32[100]=iota\", \"u64[8]=random:64\", \"bytes:0102ff\", \"u32:5\", \"f64:-1.5e3\"]\n\
    out = [\"0\", \"1=y.bin\"]\n";

const PTX: &[u8] = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, \
    .param .u64 d, .param .align 1 .b8 e[3], .param .u32 f, .param .f64 g)\n{\nret;\n}\n";

const ARGUMENTS: [&str; 12] = [
    "f32[64]=random",
    "u32[4]=zeros",
    "i32[100]=iota",
    "u64[8]=random:64",
    "bytes:0102ff",
    "u32:5",
    "f64:-1.5e3",
    "f16[8]=1.5",
    "u8[16]=@kernel.ptx",
    "64,8,1",
    "1=y.bin",
    "i8[4]",
];

/// Mutants of launch files and arguments.
#[derive(Debug)]
pub(super) struct LaunchFiles {
    folder: tempfile::TempDir,
}

impl LaunchFiles {
    pub(super) fn new() -> io::Result<LaunchFiles> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("kernel.ptx"), PTX)?;
        Ok(LaunchFiles { folder })
    }
}

impl Target for LaunchFiles {
    fn run(&mut self, seed: u64) -> io::Result<&'static str> {
        let mut random = Rng::with_seed(seed);
        for argument in ARGUMENTS {
            let bytes = mutant(argument.as_bytes(), &mut random);
            let text = String::from_utf8_lossy(&bytes);
            // Each of the readers of an option's value.
            let _ = (
                text.parse::<Argument>(),
                text.parse::<Extents>(),
                text.parse::<Output>(),
            );
        }
        let path = self.folder.path().join("launch.toml");
        fs::write(&path, mutant(FILE, &mut random))?;
        let Ok(description) = Description::read(&path) else {
            return Ok("refused");
        };
        let launch = description.complete().ok();
        Ok(match launch.map(Standalone::read) {
            Some(Ok(_)) => "a launch",
            _ => "a description, and no launch of the kernel",
        })
    }
}
