//! `ridgepoint kernels`

use std::collections::BTreeSet;

use clap::Args;

use super::option_values::arch;
use super::suite::Suite;
use super::{Failure, driver_failure, row_format, streams};
use crate::driver::Emulation;
use crate::kernels::{KernelsError, inventory, machine_code, ptx};
use crate::report::{kernels_rows, kernels_table};
use crate::workload::{Bench, kernels_of};

#[derive(Args)]
pub(super) struct Arguments {
    /// Show only kernels whose names contain this text, or that the workload of this name launches
    #[arg(default_value = "", hide_default_value = true)]
    filter: String,

    /// Architectures, such as sm_90 [default: all that are embedded; for code, the newest]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = arch)]
    arch: Vec<u32>,

    /// Print a module of PTX with this kernel alone, as `run` takes it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["filter", "format", "sass"])]
    ptx: Option<String>,

    /// Print the machine code of this kernel (needs ptxas and nvdisasm)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["filter", "format"])]
    sass: Option<String>,

    #[command(flatten)]
    printed: row_format::Arguments,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let library = Suite::get().ptx;
    let text = match (&arguments.ptx, &arguments.sass) {
        (Some(name), _) => ptx(library, arguments.one_arch()?, name)
            .map_err(failure)?
            .into_bytes(),
        (_, Some(name)) => {
            let arch = arguments.one_arch()?;
            let console = arguments.printed.console(0);
            console.begin(format!("assembling and disassembling {name}"));
            let code = machine_code(library, arch, name);
            console.finish();
            code.map_err(failure)?.into_bytes()
        }
        _ => {
            arguments.printed.refuse_silence()?;
            arguments.list()?
        }
    };
    streams::print(&text);
    if !text.ends_with(b"\n") {
        streams::say("");
    }
    Ok(())
}

impl Arguments {
    /// Code is shown for one architecture.
    fn one_arch(&self) -> Result<Option<u32>, Failure> {
        match self.arch[..] {
            [] => Ok(None),
            [arch] => Ok(Some(arch)),
            _ => Err(Failure::Usage(format!(
                "--arch names {} architectures; --ptx and --sass show the code for one",
                self.arch.len()
            ))),
        }
    }

    fn list(&self) -> Result<Vec<u8>, Failure> {
        let suite = Suite::get();
        let launched = match suite.named(&self.filter) {
            Some(workload) => {
                let emulator = Bench::emulator(Emulation::default(), suite.ptx);
                kernels_of(&emulator.map_err(driver_failure)?, workload)
            }
            None => BTreeSet::new(),
        };
        let found = inventory(suite.ptx, &self.arch, &self.filter, &launched).map_err(failure)?;
        for arch in &found.unreported {
            streams::complain(&format!(
                "warning: no report for sm_{arch}: ptxas was not found, or does not know it; `ridgepoint doctor` \
                 says how to get it"
            ));
        }
        let Some(format) = self.printed.format() else {
            let width = streams::width_of_output();
            return Ok(width
                .fold(&kernels_table(&found.records, width))
                .into_bytes());
        };
        let mut text = Vec::new();
        kernels_rows(&found.records, format, &mut text).map_err(Failure::failed)?;
        Ok(text)
    }
}

fn failure(error: KernelsError) -> Failure {
    match error {
        KernelsError::NotEmbedded { .. } | KernelsError::NoKernel { .. } => {
            Failure::Usage(error.to_string())
        }
        _ => Failure::failed(error),
    }
}
