//! Memory that a command needs before it does anything: a thread would not begin, or the allocator end the process, of which
//! neither says why.

#[cfg(target_env = "gnu")]
use nix::{
    libc::{M_ARENA_MAX, mallopt},
    sys::resource::{RLIM_INFINITY, Resource, getrlimit},
};

use super::failure::Failure;
use crate::driver::{cores, free_host_memory};

/// Fails where there is too little memory to read the arguments.
pub(super) fn check_for_arguments() -> Result<(), Failure> {
    check(4 << 20)
}

/// Fails where there is too little memory for the smallest command.
pub(super) fn check_for_command() -> Result<(), Failure> {
    const MIN: u64 = 64 << 20;
    const STACK: u64 = 2 << 20;
    reserve_nothing();
    check(MIN + STACK * cores() as u64)
}

fn check(least: u64) -> Result<(), Failure> {
    match free_host_memory() {
        free if free < least => Err(Failure::Failed(format!(
            "{} MiB of memory are free for this process, and {} MiB at least are needed: raise its limit, as \
             `ulimit -v unlimited` does",
            free >> 20,
            least >> 20
        ))),
        _ => Ok(()),
    }
}

/// Keeps glibc from reserving 64 MiB of addresses for a thread that allocates where the process's addresses are limited
/// (`ulimit -v`): what the others need would be gone.
fn reserve_nothing() {
    #[cfg(target_env = "gnu")]
    if getrlimit(Resource::RLIMIT_AS).is_ok_and(|(limit, _)| limit != RLIM_INFINITY) {
        // SAFETY: the call takes two numbers, and locks what it changes.
        unsafe { mallopt(M_ARENA_MAX, 1) };
    }
}
