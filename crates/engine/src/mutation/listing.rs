//! The mutants of a module.

use std::collections::{BTreeSet, HashMap};

use ptx::{Body, Function, FunctionSpans, Instruction, Operation, ParseError, Reg};

use super::change::Change;
use super::changes::{Operator, changes, narrows_within_block};
use super::floats::Floats;
use super::site::Site;
use super::superfluous::Flow;
use super::zero_bits::ZeroBits;
use crate::digest;
use crate::guards::Guards;
use crate::lower::control::is_builtin;
use crate::lower::flow::{self, End, Piece};
use crate::source;

/// The changes of a module's text.
#[derive(Clone, Debug, Default)]
pub struct Mutants {
    /// In the order of the text.
    pub all: Vec<Mutant>,
    /// Synchronization that no launch needs. It is not among [`Mutants::all`].
    pub superfluous: Vec<Superfluous>,
    /// Changes that no launch without a panic can show, and so are not listed: of values that nothing uses, of checks that panic
    /// alone, of bits that are 0 on both sides, or of the scope of what the block alone can access.
    pub equivalent: usize,
}

/// Where an instruction is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kernel or function.
    pub function: String,
    /// The author's file; none where the PTX does not name it.
    pub file: Option<String>,
    /// Its line there; without a file that of the PTX.
    pub line: u32,
    /// The line of the library's code that was inlined there, which the instruction is from.
    pub inlined: Option<String>,
    /// Whether it is not the author's: no line of its function is, which belongs to the compiler's libraries or to ours and was not
    /// inlined; or it is a step of an algorithm of ptx-std; or the change is of an order that ptx-std has chosen.
    pub is_in_library: bool,
    /// The digest of the module's text.
    pub module: u64,
    /// Its line in that text.
    pub ptx_line: u32,
}

/// A change, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its kind.
    pub operator: Operator,
    /// Where.
    pub place: Place,
    /// The instruction as it is.
    pub before: String,
    /// The instruction in its place; empty where there is none.
    pub after: String,
    /// The change of the text.
    pub change: Change,
    /// How many instructions of the place could be changed the same way, of which this one stands for all: copies of an
    /// unrolled loop.
    pub copies: u32,
    /// Tells it from others, as long as its function is the same.
    pub key: u64,
    /// The same for this change of the author's line in each function that was made from it, such as the instances of a
    /// generic one; none where the PTX does not name the line.
    pub of_line: Option<u64>,
}

/// Synchronization that orders nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superfluous {
    /// Where.
    pub place: Place,
    /// The instruction.
    pub text: String,
    /// Why it is so.
    pub why: &'static str,
    /// Tells it from others, as long as its function is the same.
    pub key: u64,
}

impl Mutants {
    /// Those of a text of PTX.
    ///
    /// # Errors
    /// It is no PTX.
    pub fn of(text: &str) -> Result<Mutants, ParseError> {
        let (module, spans) = ptx::parse_with_spans(text)?;
        let mut mutants = Mutants::default();
        // Functions that another module defines may do so, too.
        let is_elsewhere = |it: &Function| it.body.is_none() && !is_builtin(&it.name);
        let maps_shared = ["mapa", "shared::cluster", "multicast::cluster"]
            .iter()
            .any(|it| text.contains(it))
            || module.functions.iter().any(is_elsewhere);
        for spans in spans.functions.iter().filter(|it| it.body.is_some()) {
            let function = &module.functions[spans.function.0 as usize];
            let Some(body) = &function.body else {
                continue;
            };
            let reader = Reader {
                maps_shared,
                is_in_library: source::is_in_library(&module, body),
                module: &module,
                digest: digest::of(text.bytes()),
                text,
                function,
                body,
                spans,
            };
            reader.add_to(&mut mutants);
        }
        Ok(mutants)
    }
}

/// A function whose mutants are listed.
struct Reader<'m> {
    /// Whether a block may access shared memory of another.
    maps_shared: bool,
    is_in_library: bool,
    module: &'m ptx::Module,
    digest: u64,
    text: &'m str,
    function: &'m Function,
    body: &'m Body,
    spans: &'m FunctionSpans,
}

impl Reader<'_> {
    fn add_to(&self, mutants: &mut Mutants) {
        let pieces = flow::pieces(self.body);
        let unseen = Unseen::of(self.body, &pieces);
        let flow = Flow::of(self.function, self.body);
        let floats = Floats::of(self.body);
        let mut known: HashMap<(Option<u32>, Operator, String, String), usize> = HashMap::new();
        let mut of_lines: HashMap<u64, u32> = HashMap::new();
        for (at, instruction) in self.body.instructions.iter().enumerate() {
            let mentions = self.spans.mentions(instruction);
            let site = Site::new(instruction, self.text, mentions);
            if let Some(why) = flow.superfluous(at) {
                mutants.superfluous.push(Superfluous {
                    place: self.place(at),
                    text: one_line(site.text),
                    why,
                    key: self.key(instruction, ""),
                });
                continue;
            }
            for (operator, after) in changes(&site, self.is_backward(at), &floats) {
                let is_alone =
                    !self.maps_shared && narrows_within_block(instruction, site.text, &after);
                if is_alone || unseen.hides(at, instruction, operator) {
                    mutants.equivalent += 1;
                    continue;
                }
                let (before, shape) = (one_line(site.text), shape(&after));
                let opcode = site.text[site.opcode()].to_owned();
                let location = instruction.location;
                if location.is_some() && !operator.is_of_order() {
                    let like = (location, operator, opcode.clone(), shape.clone());
                    if let Some(&first) = known.get(&like) {
                        let first: &mut Mutant = &mut mutants.all[first];
                        first.copies += 1;
                        continue;
                    }
                    known.insert(like, mutants.all.len());
                }
                let mut place = self.place(at);
                place.is_in_library |= source::is_step_of_ptx_std(self.module, self.body, at)
                    || operator == Operator::Order
                        && source::is_ordered_by_ptx_std(self.module, self.body, at);
                let of_line = place.file.as_ref().map(|file| {
                    let change = format!("{operator:?} {opcode} {shape}");
                    let Place { line, inlined, .. } = &place;
                    let like = digest::of(format!("{file} {line} {inlined:?} {change}").bytes());
                    // Of several in a line, such as its barriers, each by itself.
                    let number = of_lines.entry(like).or_insert(0);
                    *number += 1;
                    digest::of(format!("{like} {number}").bytes())
                });
                mutants.all.push(Mutant {
                    operator,
                    place,
                    before,
                    after: one_line(&after),
                    change: Change {
                        module: self.digest,
                        span: instruction.span.clone(),
                        text: one_line(&after),
                    },
                    copies: 1,
                    key: self.key(instruction, &after),
                    of_line,
                });
            }
        }
    }

    /// Whether a branch goes back in the text.
    fn is_backward(&self, at: usize) -> bool {
        match &self.body.instructions[at].operation {
            Operation::Branch(it) => self.body.labels[it.target.0 as usize].position as usize <= at,
            _ => false,
        }
    }

    fn key(&self, instruction: &Instruction, after: &str) -> u64 {
        let own = &self.spans.span;
        let function = &self.text[own.start as usize..own.end as usize];
        let at = instruction.span.start - own.start;
        let function = digest::of(function.bytes());
        digest::of(format!("{function:016x} {at} {after}").bytes())
    }

    /// The author's line, as findings name it: of what stands before the first that has one, that one's.
    fn place(&self, at: usize) -> Place {
        let instruction = &self.body.instructions[at];
        if self.body.locations.is_empty() {
            return Place {
                function: self.function.name.clone(),
                file: None,
                line: instruction.line,
                inlined: None,
                is_in_library: false,
                module: self.digest,
                ptx_line: instruction.line,
            };
        }
        let places = source::places(self.module, self.body, at);
        let behind = || {
            let mut later = at..self.body.instructions.len();
            later.find_map(|it| source::places(self.module, self.body, it).own)
        };
        let inlined = places.inlined();
        let own = places.own.or_else(behind);
        Place {
            function: self.function.name.clone(),
            line: own.as_ref().map_or(instruction.line, |it| it.line),
            file: own.map(|it| it.file),
            inlined,
            is_in_library: self.is_in_library,
            module: self.digest,
            ptx_line: instruction.line,
        }
    }
}

/// An instruction's text in one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text without the numbers of its registers and offsets: copies of a line have the same.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut is_number = false;
    for it in one_line(text).chars() {
        if !(it.is_ascii_digit() && is_number) {
            shape.push(if it.is_ascii_digit() { '0' } else { it });
        }
        is_number = it.is_ascii_digit();
    }
    shape
}

/// The parts of a function that no launch without a panic shows.
struct Unseen {
    /// Instructions whose guard chooses nothing, or whether to panic.
    guards: BTreeSet<usize>,
    /// Instructions on the way to a panic.
    traps: BTreeSet<usize>,
    /// Registers that nothing uses but those guards.
    registers: BTreeSet<Reg>,
    zero_bits: ZeroBits,
}

impl Unseen {
    fn of(body: &Body, pieces: &[Piece]) -> Unseen {
        let of_body = Guards::of(body, pieces);
        let (mut guards, mut traps) = (BTreeSet::new(), BTreeSet::new());
        for (number, piece) in pieces.iter().enumerate() {
            if of_body.traps(number) {
                traps.extend(piece.issues.clone());
            }
            if let End::Splits {
                instruction,
                guard,
                taken,
                otherwise,
            } = &piece.end
                && (of_body.is_fixed(*guard) || of_body.is_check(*taken, *otherwise))
            {
                guards.insert(*instruction);
            }
        }
        let registers = unused(body, &guards);
        Unseen {
            guards,
            traps,
            registers,
            zero_bits: ZeroBits::of(body),
        }
    }

    fn hides(&self, at: usize, instruction: &Instruction, operator: Operator) -> bool {
        let definitions = instruction.definitions();
        let is_unused = !definitions.is_empty()
            && instruction.operation.facts().is_pure
            && definitions.iter().all(|it| self.registers.contains(it));
        let is_guard = operator == Operator::Guard && self.guards.contains(&at);
        let is_masked =
            operator == Operator::Constant && self.zero_bits.hide_next_constant(instruction);
        is_unused || is_guard || is_masked || self.traps.contains(&at)
    }
}

/// Registers that are used by nothing but these guards, and by instructions that compute such registers alone.
fn unused(body: &Body, guards: &BTreeSet<usize>) -> BTreeSet<Reg> {
    let mut used: BTreeSet<Reg> = BTreeSet::new();
    loop {
        let before = used.len();
        for (at, instruction) in body.instructions.iter().enumerate() {
            let definitions = instruction.definitions();
            let counts = !instruction.operation.facts().is_pure
                || definitions.is_empty()
                || definitions.iter().any(|it| used.contains(it));
            for register in instruction.uses() {
                let is_guard = instruction.guard.is_some_and(|it| it.register == register);
                if (is_guard && !guards.contains(&at)) || (!is_guard && counts) {
                    used.insert(register);
                }
            }
        }
        if used.len() == before {
            break;
        }
    }
    let all = (0..body.registers.len() as u32).map(Reg);
    all.filter(|it| !used.contains(it)).collect()
}
