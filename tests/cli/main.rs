//! The command `ridgepoint` as its users meet it, and the guides' commands word for word.

mod arguments;
mod axis_charts;
#[path = "../support/browser.rs"]
mod browser;
mod chart_command;
mod check_command;
#[path = "../support/checkpoints.rs"]
mod checkpoints;
mod command_line;
mod coverage;
mod debug_command;
mod debug_editor;
mod emulate_command;
mod emulated_runtime;
mod endings;
mod guide_commands;
mod guide_coverage;
#[path = "../support/guides.rs"]
mod guides;
mod help;
mod kernels_command;
mod mutate_command;
mod new_command;
#[path = "../support/perfetto.rs"]
mod perfetto;
mod predict_command;
mod prediction;
mod profile_command;
mod profile_program;
mod profiled_programs;
mod ranks_command;
mod report;
mod row_files;
mod run_command;
mod saved_rows;
mod several_devices;
mod signals;
mod streams;
mod studies;
mod study_commands;
#[path = "../support/mod.rs"]
mod support;
mod terminal;
mod timelines;
mod unfinished_files;
mod wheel;
