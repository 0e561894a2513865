//! The instructions of a kernel and of the functions that it reaches.

use std::collections::HashSet;

use ptx::Operation;

use crate::count::Listing;
use crate::module::Kernel;
use crate::reach::reached;
use crate::source::{Frame, frames, name_of};

/// A function that a kernel reaches.
#[derive(Clone, Debug)]
pub struct Function {
    /// Which of its module.
    pub number: u32,
    /// Its name in the PTX.
    pub name: String,
    /// The author's name.
    pub short_name: String,
    /// Its instructions, in order.
    pub instructions: Vec<Instruction>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its text.
    pub text: String,
    /// Its line of the PTX, from 1.
    pub line: u32,
    /// The functions that it stands in, the innermost first.
    pub frames: Vec<Frame>,
    /// Whether a branch may lead to it.
    pub is_target: bool,
    /// Whether it is a barrier of the block.
    pub is_barrier: bool,
}

impl Kernel {
    /// The kernel, and behind it the functions that it reaches.
    pub fn functions(&self) -> Vec<Function> {
        let (module, text) = (self.code.ptx(), self.code.text());
        let own = self.code.function_of(self.name());
        let mut numbers: Vec<u32> = reached(module, own.unwrap_or(0)).into_iter().collect();
        numbers.sort_by_key(|&it| (Some(it) != own, it));
        let function = |number: u32| {
            let function = module.functions.get(number as usize)?;
            let body = function.body.as_ref()?;
            let targets: HashSet<u32> = body.labels.iter().map(|it| it.position).collect();
            let all = (0..).zip(&body.instructions);
            let instructions = all.zip(frames(module, function));
            let instructions = instructions.map(|((index, it), frames)| Instruction {
                text: it.text(text).to_owned(),
                line: it.line,
                frames,
                is_target: targets.contains(&index),
                is_barrier: matches!(it.operation, Operation::Barrier(_)),
            });
            Some(Function {
                number,
                name: function.name.clone(),
                short_name: name_of(&function.name).into_owned(),
                instructions: instructions.collect(),
            })
        };
        numbers.into_iter().filter_map(function).collect()
    }

    /// Its module, parsed.
    pub fn ptx(&self) -> &ptx::Module {
        self.code.ptx()
    }

    /// The text of its module.
    pub fn ptx_text(&self) -> &str {
        self.code.text()
    }
}
