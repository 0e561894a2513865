//! Names of work in tables and sentences.

use std::fmt;

use recording::Memory;

use super::model::Work;
use super::place::Place;

/// The kind of work that its name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Label<'p> {
    Kernel(&'p str),
    Copy { from: Memory, to: Memory },
    Fill,
}

impl Work {
    pub(super) fn label(&self) -> Label<'_> {
        match self {
            Work::Kernel { name, .. } => Label::Kernel(name),
            Work::Copy { from, to, .. } => Label::Copy {
                from: *from,
                to: *to,
            },
            Work::Fill { .. } => Label::Fill,
        }
    }

    /// Bytes that a copy or a fill writes.
    pub(super) fn bytes(&self) -> Option<u64> {
        match self {
            Work::Kernel { .. } => None,
            Work::Copy { bytes, .. } | Work::Fill { bytes } => Some(*bytes),
        }
    }
}

impl Label<'_> {
    /// With its line, as a sentence has it: `the kernel nrm2 launched at train.py:37`.
    pub(super) fn at(self, place: &Place) -> String {
        match self {
            Label::Kernel(name) => format!("the kernel {name} launched at {place}"),
            Label::Copy { .. } => format!("the {self}, at {place}"),
            Label::Fill => format!("the fill at {place}"),
        }
    }
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Kernel(name) => formatter.write_str(name),
            Label::Fill => formatter.write_str("fill"),
            Label::Copy { from, to } => {
                write!(formatter, "copy {} to {}", side(*from), side(*to))?;
                let host = [from, to].into_iter().find_map(|it| match it {
                    Memory::Pageable => Some("pageable"),
                    Memory::Pinned => Some("pinned"),
                    _ => None,
                });
                host.map_or(Ok(()), |host| write!(formatter, ", {host}"))
            }
        }
    }
}

fn side(memory: Memory) -> &'static str {
    match memory {
        Memory::Pageable | Memory::Pinned => "host",
        Memory::Device => "device",
        Memory::Managed => "managed memory",
        Memory::Array => "array",
        Memory::Unknown => "unknown memory",
    }
}
