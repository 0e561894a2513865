//! The lines of a kernel: which instructions they are, and where a thread is in them.

use std::collections::HashMap;
use std::path::Path;

use engine::Kernel;
use engine::debug::{Function, Instruction, Site};

use crate::protocol::{Frame, Location};

/// The functions that a kernel reaches, and their lines.
pub(crate) struct Lines {
    functions: Vec<Function>,
    /// Where a function is among them, by its number in the module.
    places: HashMap<u32, usize>,
    /// For each instruction of each function the lines that it stands in, numbered, the outermost first.
    stacks: Vec<Vec<Vec<u32>>>,
}

impl Lines {
    /// Those of a kernel, which is shown by a name.
    pub(crate) fn of(kernel: &Kernel, name: &str) -> Lines {
        let mut functions = kernel.functions();
        if let Some(first) = functions.first_mut() {
            let mangled = std::mem::replace(&mut first.short_name, name.to_owned());
            let frames = first.instructions.iter_mut().flat_map(|it| &mut it.frames);
            for frame in frames.filter(|it| it.function == mangled) {
                frame.function = name.to_owned();
            }
        }
        let mut numbers: HashMap<(Option<String>, u32), u32> = HashMap::new();
        let mut stack = |it: &Instruction| {
            let outermost_first = it.frames.iter().rev();
            let number = |it: &engine::debug::Frame| {
                let next = numbers.len() as u32;
                *numbers.entry((it.file.clone(), it.line)).or_insert(next)
            };
            outermost_first.map(number).collect()
        };
        let stacks = functions.iter();
        let stacks = stacks.map(|it| it.instructions.iter().map(&mut stack).collect());
        Lines {
            stacks: stacks.collect(),
            places: (0..functions.len())
                .map(|at| (functions[at].number, at))
                .collect(),
            functions,
        }
    }

    pub(crate) fn instruction(&self, site: Site) -> Option<&Instruction> {
        let function = self.functions.get(*self.places.get(&site.function)?)?;
        function.instructions.get(site.instruction as usize)
    }

    /// The lines, numbered, in which a lane is, the outermost function's first. `calls` begins with the innermost.
    pub(crate) fn stack(&self, calls: &[Site]) -> Vec<u32> {
        let mut all = Vec::new();
        for site in calls.iter().rev() {
            let function = self.places.get(&site.function).map(|&it| &self.stacks[it]);
            let stack = function.and_then(|it| it.get(site.instruction as usize));
            all.extend_from_slice(stack.map_or(&[], Vec::as_slice));
        }
        all
    }

    /// The functions that a lane is in, the innermost first.
    pub(crate) fn frames(&self, calls: &[Site]) -> Vec<Frame> {
        let instructions = calls.iter().filter_map(|site| self.instruction(*site));
        instructions.flat_map(|it| &it.frames).map(frame).collect()
    }

    /// Where an instruction is, in a few words.
    pub(crate) fn place(&self, site: Site) -> String {
        let frame = self.instruction(site).and_then(|it| it.frames.first());
        frame.map_or_else(
            || "an unknown place".to_owned(),
            engine::debug::Frame::place,
        )
    }

    /// The instructions at which lanes come to a location, and where that is.
    pub(crate) fn find(&self, location: &Location) -> (Vec<Site>, Option<Frame>) {
        match location {
            Location::Line(file, line) => self.find_line(file, *line),
            Location::Function(name) => self.find_function(name),
            Location::Write(..) => (Vec::new(), None),
        }
    }

    fn find_function(&self, name: &str) -> (Vec<Site>, Option<Frame>) {
        let is_meant = |it: &&Function| {
            let short = it.short_name.split('(').next();
            [it.name.as_str(), &it.short_name].contains(&name) || short == Some(name)
        };
        let found = self.functions.iter().filter(is_meant);
        let first = |it: &Function| Site {
            function: it.number,
            instruction: 0,
        };
        let sites: Vec<Site> = found.map(first).collect();
        let at = sites.first().and_then(|site| self.instruction(*site));
        let outermost = at.and_then(|it| it.frames.last()).map(frame);
        (sites, outermost)
    }

    /// A line without instructions stands for the next one that has some.
    fn find_line(&self, file: &str, line: u32) -> (Vec<Site>, Option<Frame>) {
        let is_of_file = |it: &&engine::debug::Frame| {
            it.line >= line && it.file.as_deref().is_some_and(|of| is_same(of, file))
        };
        let all = self.functions.iter().flat_map(|it| &it.instructions);
        let frames = all.flat_map(|it| &it.frames).filter(is_of_file);
        let Some(found) = frames.min_by_key(|it| it.line) else {
            return (Vec::new(), None);
        };
        let is_at = |it: &Instruction| {
            let mut frames = it.frames.iter();
            frames.any(|it| (it.line, &it.file) == (found.line, &found.file))
        };
        let mut sites = Vec::new();
        for function in &self.functions {
            let all = &function.instructions;
            for (index, it) in all.iter().enumerate().filter(|it| is_at(it.1)) {
                if index == 0 || it.is_target || !is_at(&all[index - 1]) {
                    sites.push(Site {
                        function: function.number,
                        instruction: index as u32,
                    });
                }
            }
        }
        (sites, Some(frame(found)))
    }
}

fn frame(of: &engine::debug::Frame) -> Frame {
    Frame {
        function: of.function.clone(),
        file: of.file.clone(),
        line: of.line,
        column: of.column,
        place: of.place(),
    }
}

/// Whether one path ends with the other: compilers write some paths whole, and people others.
fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (Path::new(one), Path::new(other));
    one.ends_with(other) || other.ends_with(one)
}
