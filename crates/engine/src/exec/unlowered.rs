//! Functions that cannot be executed.

/// An instruction that the engine does not execute.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` in {function}, line {line} of the PTX, is not executed by the emulator: {why}", on_one_line(.text))]
pub struct Unsupported {
    /// The instruction.
    pub text: String,
    /// The function that it is in.
    pub function: String,
    /// Its line, from 1.
    pub line: u32,
    /// The part of it.
    pub why: String,
}

/// An instruction in the spaces of one line: compilers break calls.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why a function cannot be made into what the engine executes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unlowered {
    /// It has an instruction that the engine does not execute.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The emulator has made something of it that would reach beyond its registers or tables.
    #[error(transparent)]
    Internal(#[from] Internal),
    /// It has more registers than the engine holds.
    #[error("{function}: {actual} bytes of registers of a warp; the emulator has {limit}")]
    Registers {
        /// The function.
        function: String,
        /// Of all lanes of a warp.
        actual: u64,
        /// The most that there may be.
        limit: u32,
    },
}

/// An error of the emulator: what it made of a function is refused before it is executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "internal error of the emulator, please report it: what it made of {function}, line {line} of the PTX, has {why}"
)]
pub struct Internal {
    /// The function.
    pub function: String,
    /// Which of its instructions, if it is one.
    pub instruction: Option<u32>,
    /// Its line, from 1; 0 where it is none.
    pub line: u32,
    /// The reason.
    pub why: String,
}
