//! A recorded program: who called CUDA from which line, what the devices did and what the host waited for.
//!
//! [`Program`] is made of the recordings of its processes; an [`Analysis`] is what it tells people and programs.

mod analysis;
mod compare;
mod counted;
mod function;
mod kernel_name;
mod label;
mod model;
mod page;
mod place;
mod read;
mod replay;
mod roofline;
mod rows;
mod story;
mod streams;
mod symbols;
mod tables;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod wait;

pub use analysis::{Analysis, PartFacts, ProcessFacts};
pub use compare::{Figure, NothingToCompare, Verdict, compare, comparison_text};
pub use counted::Counts;
pub use function::Purpose;
pub use model::{
    Activity, Allocated, Call, EventRecord, Missing, NoProgram, Process, Program, Range, StreamId,
    Synchronization, Work,
};
pub use page::page;
pub use place::Place;
pub use roofline::{Gpu, KernelRow, Problem, Roofline, Uncounted, Under};
pub use rows::TableRow;
pub use story::{Advice, Cause, Idle, MemoryUse, Overlap, Share, Story, Why};
pub use streams::Streams;
pub use tables::{Part, Row, WaitRow};
pub use text::text;
pub use timeline::write_timeline;
pub use wait::{Wait, waits};
