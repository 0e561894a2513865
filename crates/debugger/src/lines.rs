//! The lines of a kernel: which instructions they are, and where a thread is in them.

use std::collections::HashMap;
use std::path::Path;

use engine::Kernel;
use engine::debug::{Function, Instruction, Site};

use crate::dwarf::Information;
use crate::protocol::{Frame, Location};

/// For each frame of an instruction the innermost block of the source, where there is debugging information.
type Blocks = Vec<Option<usize>>;

/// A frame of a lane that stands.
pub(crate) struct Place {
    /// Which of its calls.
    pub(crate) call: usize,
    /// Where the lane is in it.
    pub(crate) site: Site,
    /// The innermost block of the source there.
    pub(crate) block: Option<usize>,
}

/// The functions that a kernel reaches, and their lines.
pub(crate) struct Lines {
    functions: Vec<Function>,
    pub(crate) information: Information,
    /// For each instruction of each function the blocks of the source that its frames are in.
    blocks: Vec<Vec<Blocks>>,
    /// Where a function is among them, by its number in the module.
    places: HashMap<u32, usize>,
    /// For each instruction of each function the lines that it stands in, numbered, the outermost first.
    stacks: Vec<Vec<Vec<u32>>>,
}

impl Lines {
    /// Those of a kernel, which is shown by a name.
    pub(crate) fn of(kernel: &Kernel, name: &str) -> Lines {
        let mut functions = kernel.functions();
        let information = Information::of(kernel.ptx());
        let blocks = functions.iter_mut();
        let blocks = blocks.map(|it| add_frames(it, kernel.ptx(), &information));
        let blocks = blocks.collect();
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
            information,
            blocks,
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

    /// Where one of those functions stands.
    pub(crate) fn frame(&self, calls: &[Site], frame: usize) -> Option<Place> {
        let mut all = calls.iter().enumerate().flat_map(|(call, &site)| {
            let blocks = self.blocks_of(site).map_or(&[][..], Vec::as_slice);
            let place = move |&block: &Option<usize>| Place { call, site, block };
            blocks.iter().map(place)
        });
        all.nth(frame)
    }

    fn blocks_of(&self, site: Site) -> Option<&Blocks> {
        let function = self.blocks.get(*self.places.get(&site.function)?)?;
        function.get(site.instruction as usize)
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

/// Gives the instructions of a function the frames that debugging information tells of: compilers that write it leave the
/// functions that they inline out of the lines. Returns the blocks that they are in.
fn add_frames(
    function: &mut Function,
    module: &ptx::Module,
    information: &Information,
) -> Vec<Blocks> {
    let body = module.functions.get(function.number as usize);
    let Some(body) = body.and_then(|it| it.body.as_ref()) else {
        return Vec::new();
    };
    let mut blocks: Vec<Blocks> = Vec::new();
    let mut last = None;
    for (index, it) in function.instructions.iter_mut().enumerate() {
        let site = Site {
            function: function.number,
            instruction: index as u32,
        };
        let own = body.instructions[index].location;
        let own = own.map(|at| &body.locations[at as usize]);
        let own = own.filter(|it| it.line > 0);
        let told = own.and_then(|own| told_frames(module, body, information, site, own));
        last = told.or(last);
        let Some((frames, of_frames)) = &last else {
            blocks.push(vec![None; it.frames.len()]);
            continue;
        };
        it.frames.clone_from(frames);
        blocks.push(of_frames.clone());
    }
    blocks
}

/// The frames of an instruction in files of the author, by debugging information; none where it says nothing.
fn told_frames(
    module: &ptx::Module,
    body: &ptx::Body,
    information: &Information,
    site: Site,
    own: &ptx::Location,
) -> Option<(Vec<engine::debug::Frame>, Blocks)> {
    let levels = information.levels(site);
    let entry = body
        .locations
        .first()
        .map(|it| [it.file, it.line, it.column]);
    let mut place = [own.file, own.line, own.column];
    let (mut frames, mut blocks) = (Vec::new(), Vec::new());
    for (depth, level) in levels.iter().enumerate() {
        let [number, line, column] = place;
        let file = module
            .file(number)
            .filter(|it| !engine::debug::is_foreign(it));
        // `#[kernel]` makes an entry that nobody has written, and that stands where the attribute does.
        let is_wrapper = depth > 0 && level.call.is_none() && column == 1 && Some(place) == entry;
        if let Some(file) = file.filter(|_| !is_wrapper) {
            frames.push(engine::debug::Frame {
                function: engine::debug::name_of(level.function).into_owned(),
                file: Some(file.to_owned()),
                line,
                column,
            });
            blocks.push(Some(level.scope));
        }
        let Some(call) = level.call else {
            break;
        };
        place = call;
    }
    (!frames.is_empty()).then_some((frames, blocks))
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
