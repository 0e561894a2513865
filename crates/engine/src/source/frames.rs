//! The functions that an instruction stands in, inlined ones too: a debugger's frames.

use ptx::{Function, Module};

use super::{is_foreign, is_wrapper, name_of, shortened};

/// A function that an instruction stands in, and the line there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The author's name of the function.
    pub function: String,
    /// The file; none where the PTX does not say, and the line is the PTX's own.
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where the compiler knew none.
    pub column: u32,
}

impl Frame {
    /// File and line, the file within the workspace that the process runs in from its root.
    pub fn place(&self) -> String {
        match &self.file {
            Some(file) => format!("{}:{}", shortened(file), self.line),
            None => format!("line {} of the PTX", self.line),
        }
    }
}

/// The frames of each instruction of a function, the innermost first: those in files of the author, for who steps
/// through them has not written the others. An instruction without any has those of the one before.
pub(crate) fn frames(module: &Module, function: &Function) -> Vec<Vec<Frame>> {
    let Some(body) = &function.body else {
        return Vec::new();
    };
    let own = name_of(&function.name);
    let frame = |at: u32| {
        let location = &body.locations[at as usize];
        let file = module.file(location.file).filter(|_| location.line > 0)?;
        Some(Frame {
            function: match (&location.function, location.inlined_at) {
                (Some(name), Some(_)) => name_of(name).into_owned(),
                _ => own.clone().into_owned(),
            },
            file: Some(file.to_owned()),
            line: location.line,
            column: location.column,
        })
    };
    let of_author = |frame: &Frame| frame.file.as_deref().is_none_or(|it| !is_foreign(it));
    let chain = |first: Option<u32>| {
        let all = std::iter::successors(first, |&at| body.locations[at as usize].inlined_at);
        let written = all
            .enumerate()
            .filter(|&(depth, at)| depth == 0 || !is_wrapper(body, at));
        written
            .filter_map(|(_, at)| frame(at))
            .collect::<Vec<Frame>>()
    };
    let mut last: Option<Vec<Frame>> = None;
    let of_instruction = |instruction: &ptx::Instruction| {
        let all = chain(instruction.location);
        let mut authors = all.clone();
        authors.retain(of_author);
        if !authors.is_empty() {
            last = Some(authors);
        } else if last.is_none() {
            let in_ptx = Frame {
                function: own.clone().into_owned(),
                file: None,
                line: instruction.line,
                column: 0,
            };
            return if all.is_empty() { vec![in_ptx] } else { all };
        }
        last.clone().unwrap_or_default()
    };
    body.instructions.iter().map(of_instruction).collect()
}
