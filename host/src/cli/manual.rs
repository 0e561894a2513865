//! `ridgepoint completions` and `ridgepoint man`: made of the command line's own description.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};

use super::{Failure, cannot_write, streams};

#[derive(Args)]
pub(super) struct CompletionArguments {
    /// Shell that the completions are for
    shell: clap_complete::Shell,
}

#[derive(Args)]
pub(super) struct ManArguments {
    /// Command whose page is printed [default: ridgepoint itself]
    #[arg(conflicts_with = "output")]
    command: Option<String>,

    /// Write the pages of all commands to this folder, for `man -M` or a package
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Prints the completions of `all`, the whole command line.
pub(super) fn completions(arguments: &CompletionArguments, mut all: Command) {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut all, "ridgepoint", &mut text);
    streams::print(&text);
}

/// Prints a page of `all`, the whole command line, or writes every one.
pub(super) fn man(arguments: &ManArguments, mut all: Command) -> Result<(), Failure> {
    all.build();
    if let Some(folder) = &arguments.output {
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        return clap_mangen::generate_to(all, folder).map_err(|error| cannot_write(folder, &error));
    }
    let page = match &arguments.command {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let names: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
                let names = names.join(", ");
                return Err(Failure::Usage(format!(
                    "there is no command {name:?}: expected one of {names}"
                )));
            }
        },
    };
    let mut text = Vec::new();
    let written = clap_mangen::Man::new(page).render(&mut text);
    written.map_err(Failure::failed)?;
    streams::print(&text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::{Arg, CommandFactory};

    use super::*;

    /// One name for one thing: an option that several commands have has the same short option and the same
    /// name for its value in all of them.
    #[test]
    fn options_of_one_name_are_alike_in_every_command() {
        let mut all = super::super::Cli::command();
        all.build();
        let mut known: BTreeMap<String, (Option<char>, String)> = BTreeMap::new();
        let mut compared = 0;
        for command in all.get_subcommands() {
            for argument in command.get_arguments().filter(|it| it.get_long().is_some()) {
                let name = argument.get_long().unwrap_or_default().to_owned();
                let short = argument.get_short();
                let found = known
                    .entry(name.clone())
                    .or_insert((short, command.get_name().to_owned()));
                assert_eq!(
                    found.0,
                    short,
                    "--{name} of {} and of {}",
                    found.1,
                    command.get_name()
                );
                compared += 1;
            }
        }
        assert!(compared > known.len(), "no option is in two commands");
        let shorts = ["output", "quiet", "device"].map(|name| known[name].0);
        assert_eq!(shorts, [Some('o'), Some('q'), Some('d')]);
    }

    /// Help begins with a capital and does not end with a full stop, as one line does; a value has a name.
    #[test]
    fn help_is_written_alike() {
        let mut all = super::super::Cli::command();
        all.build();
        let mut seen = 0;
        let mut check = |command: &Command, argument: &Arg| {
            let help = argument
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            let place = format!("{} {}: {help:?}", command.get_name(), argument.get_id());
            assert!(!help.is_empty(), "{place} has no help");
            let first = help.chars().next().unwrap_or_default();
            assert!(first.is_uppercase() || first.is_numeric(), "{place}");
            assert!(!help.ends_with('.'), "{place}");
            seen += 1;
        };
        for command in all.get_subcommands().filter(|it| it.get_name() != "help") {
            for argument in command.get_arguments() {
                check(command, argument);
            }
        }
        assert!(seen > 80, "{seen} arguments");
    }
}
