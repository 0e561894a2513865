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
    use std::collections::{BTreeMap, BTreeSet};

    use clap::Arg;

    use super::*;

    /// The commands of `ridgepoint` and of `cargo bench --`, all options in their places.
    fn commands() -> Vec<Command> {
        let all = [
            super::super::command::<super::super::Cli>(),
            super::super::harness::command(),
        ];
        let commands = all.into_iter().flat_map(|mut all| {
            all.build();
            let program = all.get_name().to_owned();
            let commands = all.get_subcommands().filter(|it| it.get_name() != "help");
            let named = commands.map(|it| {
                let name = format!("{program} {}", it.get_name());
                it.clone().name(&*Box::leak(name.into_boxed_str()))
            });
            named.collect::<Vec<_>>()
        });
        commands.collect()
    }

    fn own_name(command: &Command) -> &str {
        command.get_name().rsplit(' ').next().unwrap_or_default()
    }

    fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
        command
            .get_arguments()
            .find(|it| it.get_long() == Some(name))
    }

    /// The commands without an option that the others have, and why. docs/design/command-line.md says the same.
    const WITHOUT: [(&str, &str, &str); 9] = [
        (
            "chart",
            "format",
            "it draws pictures, whose names end in their format",
        ),
        ("debug", "format", "it answers commands and has no rows"),
        ("debug", "quiet", "it says what it is asked"),
        ("new", "format", "it writes files and has no rows"),
        (
            "completions",
            "format",
            "a script for a shell is its result",
        ),
        ("completions", "quiet", "nothing but its result is printed"),
        (
            "emulate",
            "format",
            "its results are the program's, and a JSON file per finding",
        ),
        ("man", "format", "a page in roff is its result"),
        ("man", "quiet", "nothing but its result is printed"),
    ];

    #[test]
    fn every_command_has_the_options_of_all_commands_or_a_reason_not_to() {
        let commands = commands();
        assert!(commands.len() > 25, "{} commands", commands.len());
        for name in ["color", "quiet", "format", "help"] {
            for command in &commands {
                let own = own_name(command);
                let is_excused = WITHOUT.iter().any(|(of, it, _)| *of == own && *it == name);
                let has = option(command, name).is_some();
                let place = command.get_name();
                assert_ne!(has, is_excused, "{place}: --{name}");
            }
        }
    }

    /// Returns an option's purpose: its help up to a list of values, to an example or to a default.
    fn meaning(argument: &Arg) -> String {
        let help = argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let end = [" [", " (", ":", ";", ", ", " as "]
            .iter()
            .filter_map(|it| help.find(it))
            .min();
        help[..end.unwrap_or(help.len())].to_owned()
    }

    /// Options that name different things in two commands, or take one value here and a list there, and why.
    const DIFFER: [(&str, &str); 23] = [
        ("against", "an axis, or an earlier program"),
        (
            "arch",
            "occupancy computes for architectures, kernels lists their code",
        ),
        (
            "block",
            "a list of an axis, or the extents of a PTX file's launch",
        ),
        ("bytes", "a list of collectives' sizes, or the one of links"),
        (
            "devices",
            "those whose links are measured, or that share work, also between processes",
        ),
        ("fail-under", "a share of lines, or of mutants"),
        ("grid", "as --block"),
        ("kernel", "pipeline takes the workloads that it can split"),
        ("launches", "that a profile records, or that a loop has"),
        ("max-steps", "of an iteration, or of a warp"),
        ("mode", "each study has its own"),
        ("n", "a list of an axis, or the one size of ceilings"),
        ("no-check", "of one launch, or of a program's launches"),
        ("output", "rows, charts, or the folder of man"),
        ("registers", "a list of an axis, or those of one kernel"),
        (
            "roofs",
            "the GPU that rows are placed under, or that a time is predicted for",
        ),
        ("seed", "of a matrix, or of a schedule"),
        ("seeds", "of a test, or of each launch of a program"),
        ("shared", "a list, or that of a PTX file's launch"),
        ("size", "a list of an axis, or the one size of a pipeline"),
        (
            "strict",
            "of findings that are benign, or of launches that are not judged",
        ),
        ("times", "of what is counted, or of what a study runs"),
        ("tolerance", "a percentage, or a residual"),
    ];

    /// One name for one thing: an option that several commands have has the same letter, the same name for its value
    /// and the same meaning in all of them.
    #[test]
    fn options_of_one_name_are_alike_in_every_command() {
        let mut known: BTreeMap<String, (String, Option<char>, String, String)> = BTreeMap::new();
        let (mut compared, mut differ) = (0, BTreeMap::new());
        for command in commands() {
            let options = command.get_arguments().filter(|it| it.get_long().is_some());
            for argument in options {
                let name = argument.get_long().unwrap_or_default().to_owned();
                let values = argument.get_value_names().unwrap_or_default().iter();
                let values: Vec<&str> = values.map(|it| it.as_str()).collect();
                let it = (
                    command.get_name().to_owned(),
                    argument.get_short(),
                    values.join(" "),
                    meaning(argument),
                );
                let first = known.entry(name.clone()).or_insert_with(|| it.clone());
                assert_eq!(first.1, it.1, "--{name} of {} and of {}", first.0, it.0);
                if (&first.2, &first.3) != (&it.2, &it.3) {
                    let both = format!("{first:?}, but {it:?}");
                    differ.entry(name).or_insert(both);
                }
                compared += 1;
            }
        }
        assert!(compared > known.len(), "no option is in two commands");
        differ.remove("help");
        let excused: BTreeSet<&str> = DIFFER.iter().map(|(name, _)| *name).collect();
        let found: BTreeSet<&str> = differ.keys().map(String::as_str).collect();
        assert_eq!(found, excused, "{differ:#?}");
        let shorts = ["output", "quiet", "device", "format"].map(|name| known[name].1);
        assert_eq!(shorts, [Some('o'), Some('q'), Some('d'), Some('f')]);
    }

    /// Help begins with a capital and does not end with a full stop, as one line does; a value has a name.
    #[test]
    fn help_is_written_alike() {
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
        for command in commands() {
            for argument in command.get_arguments() {
                check(&command, argument);
            }
        }
        assert!(seen > 80, "{seen} arguments");
    }
}
