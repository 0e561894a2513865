//! `ridgepoint new`

mod name;
mod project;
mod source;

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Failure, streams};
use name::Name;
use project::Project;
use source::Source;

#[derive(Args)]
pub(super) struct Arguments {
    /// Name of the package, and of the folder that is made for it
    #[arg(value_name = "NAME")]
    name: Name,

    /// Source tree of Ridgepoint that the package depends on [default: the one that this command was
    /// built from]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let project = Project {
        name: &arguments.name,
        source: Source::find(arguments.path.as_deref())?,
    };
    project.write(Path::new("."))?;
    if arguments.quiet {
        return Ok(());
    }
    streams::say(&format!(
        "Created {name}, a package with a kernel, a program, a test and a bench, on {source}. Next:

  cd {name}
  cargo test
  cargo run
  cargo bench -- roofline --plot roofline.svg
  ridgepoint check --",
        name = project.name,
        source = project.source,
    ));
    Ok(())
}
