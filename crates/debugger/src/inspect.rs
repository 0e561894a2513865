//! Answers to questions about a launch that is stopped.

use std::cell::OnceCell;

use engine::debug::{Parameter, Site, Stopped, Waits, WarpPart};
use engine::memory::LANES;

use crate::dwarf::{Machine, Types, Variable as SourceVariable};
use crate::expression::Expression;
use crate::lines::{Lines, Place};
use crate::number::Type;
use crate::object::{NOWHERE, Names, Object, Shape};
use crate::protocol::{Answer, Question, Scope, Seat, Value, Variable, Warp};

/// A stopped launch, as one lane sees it in one of its functions.
pub(crate) struct View<'a> {
    stopped: &'a Stopped<'a>,
    lines: &'a Lines,
    seat: Seat,
    /// The function, once somebody asks; none where the lane has ended.
    place: OnceCell<Option<Place>>,
}

/// Vectors of special registers: CUDA's name and PTX's.
const VECTORS: [(&str, &str); 4] = [
    ("threadIdx", "tid"),
    ("blockIdx", "ctaid"),
    ("blockDim", "ntid"),
    ("gridDim", "nctaid"),
];
const AXES: [&str; 3] = ["x", "y", "z"];
/// The text for a register that the thread has not written.
const UNWRITTEN: &str = "<not written yet>";

/// Answers a question.
///
/// # Errors
/// There is no answer: says why.
pub(crate) fn answer(
    stopped: &Stopped<'_>,
    lines: &Lines,
    question: &Question,
) -> Result<Answer, String> {
    let view = |seat: &Seat| View::new(stopped, lines, *seat);
    match question {
        Question::Frames(lane) => Ok(Answer::Frames(lines.frames(&stopped.calls(*lane)))),
        Question::Value(seat, text) => {
            let (text, ty) = Expression::parse(text)?.shown(&view(seat))?;
            Ok(Answer::Value(Value { text, ty }))
        }
        Question::Lanes(frame, text) => {
            let expression = Expression::parse(text)?;
            lanes(stopped, lines, *frame, &expression).map(Answer::Lanes)
        }
        Question::Place(seat, text) => {
            let (address, bytes) = Expression::parse(text)?.place(&view(seat))?;
            match stopped.is_local(address) {
                false => Ok(Answer::Place(address, bytes)),
                true => Err(format!(
                    "`{text}` is in a thread's own memory, which is not watched"
                )),
            }
        }
        Question::Parts(seat, text, first, count) => {
            let object = Expression::parse(text)?.object(&view(seat))?;
            let object = object.ok_or_else(|| format!("`{text}` has no parts"))?;
            let parts = view(seat).parts(text, &object, *first, *count)?;
            Ok(Answer::Parts(parts))
        }
        Question::Scopes(seat) => Ok(Answer::Scopes(view(seat).scopes())),
        Question::Warps => {
            let all = stopped.warps();
            Ok(Answer::Warps(
                all.iter().map(|it| warp(lines, it)).collect(),
            ))
        }
        Question::Ptx => Ok(Answer::Text(stopped.kernel().ptx_text().to_owned())),
    }
}

/// The values in all lanes that have not ended.
///
/// # Errors
/// It has none in any of them.
fn lanes(
    stopped: &Stopped<'_>,
    lines: &Lines,
    frame: u32,
    expression: &Expression,
) -> Result<Vec<Option<String>>, String> {
    let mut why = "no lane of the warp runs".to_owned();
    let mut value = |lane: u32| {
        if stopped.live() >> lane & 1 == 0 {
            return None;
        }
        let shown = expression.shown(&View::new(stopped, lines, Seat { lane, frame }));
        shown.map_err(|error| why = error).ok().map(|it| it.0)
    };
    let all: Vec<_> = (0..LANES as u32).map(&mut value).collect();
    match all.iter().any(Option::is_some) {
        true => Ok(all),
        false => Err(why),
    }
}

fn warp(lines: &Lines, part: &WarpPart) -> Warp {
    let waits = match part.waits {
        Waits::Not => String::new(),
        Waits::Barrier(id, None) => format!("for all threads of the block at barrier {id}"),
        Waits::Barrier(id, Some(threads)) => format!("for {threads} threads at barrier {id}"),
        Waits::Lanes(lanes) => format!("for lanes {} of its warp", ranges(lanes)),
    };
    Warp {
        warp: part.warp,
        lanes: part.lanes,
        place: lines.place(part.site),
        waits,
    }
}

impl<'a> View<'a> {
    pub(crate) fn new(stopped: &'a Stopped<'a>, lines: &'a Lines, seat: Seat) -> View<'a> {
        let lane = seat.lane % LANES as u32;
        View {
            stopped,
            lines,
            seat: Seat { lane, ..seat },
            place: OnceCell::new(),
        }
    }

    fn place(&self) -> Option<&Place> {
        let calls = || self.stopped.calls(self.seat.lane);
        let place = || self.lines.frame(&calls(), self.seat.frame as usize);
        self.place.get_or_init(place).as_ref()
    }

    fn call(&self) -> usize {
        self.place().map_or(0, |it| it.call)
    }

    fn scopes(&self) -> Vec<Scope> {
        let number = |name: String, bits: Option<u128>, ty: Type| Variable {
            expression: name.clone(),
            name,
            value: Value {
                text: bits.map_or_else(|| UNWRITTEN.to_owned(), |it| ty.value(it).to_string()),
                ty: ty.name().to_owned(),
            },
            elements: 0,
            members: 0,
        };
        let specials = VECTORS.iter().flat_map(|(vector, _)| {
            AXES.map(|axis| {
                let name = format!("{vector}.{axis}");
                let (bits, ty) = self.special(&name).unwrap_or((0, Type::U32));
                number(name, Some(bits), ty)
            })
        });
        let registers = self
            .stopped
            .registers(self.seat.lane, self.call())
            .into_iter();
        let registers = registers.map(|it| number(it.name, it.bits, Type::of(it.ty)));
        let parameters = (0..).zip(self.stopped.parameters());
        let parameters = parameters.map(|(index, it)| self.parameter(index, &it));
        let memory = self.stopped.variables().into_iter().map(|it| {
            let ty = Type::of(it.ty);
            let elements = it.bytes / u64::from(ty.bytes());
            Variable {
                expression: it.name.clone(),
                name: it.name,
                value: Value {
                    text: format!(".{} at {:#x}", it.space.name(), it.address),
                    ty: format!("[{}; {elements}]", ty.name()),
                },
                elements,
                members: 0,
            }
        });
        let scope = |name: &str, variables| Scope {
            name: name.to_owned(),
            variables,
        };
        vec![
            scope("Locals", self.locals()),
            scope("Registers", registers.collect()),
            scope("Parameters", parameters.collect()),
            scope("Memory", memory.collect()),
            scope("Thread", specials.collect()),
        ]
    }

    /// The variables of the source that are seen here, the innermost first.
    fn locals(&self) -> Vec<Variable> {
        let mut all: Vec<Variable> = Vec::new();
        for (site, it) in self.source_variables() {
            if all.iter().any(|known| known.name == it.name) {
                continue;
            }
            let variable = match self.object_of(it, site) {
                Some(object) => self.described(&it.name, it.name.clone(), &object),
                None => Variable {
                    name: it.name.clone(),
                    expression: it.name.clone(),
                    value: Value {
                        text: NOWHERE.to_owned(),
                        ty: self.types().name(it.ty),
                    },
                    elements: 0,
                    members: 0,
                },
            };
            all.push(variable);
        }
        all
    }

    fn source_variables(&self) -> impl Iterator<Item = (Site, &SourceVariable)> {
        let known = self.place().and_then(|it| Some((it.site, it.block?)));
        let all = known.into_iter();
        all.flat_map(|(site, block)| {
            let variables = self.lines.information.variables(block);
            variables.map(move |it| (site, it))
        })
    }

    fn object_of(&self, variable: &SourceVariable, site: Site) -> Option<Object> {
        let held = self.lines.information.held(variable, site, self)?;
        Some(Object {
            ty: Shape::Source(variable.ty),
            held,
        })
    }

    /// A variable of the source by its name: that of the innermost block, and of several there one that has a value.
    fn source_variable(&self, name: &str) -> Option<Result<Object, String>> {
        let mut named = self.source_variables().filter(|(_, it)| it.name == name);
        let (site, first) = named.next()?;
        let found = self.object_of(first, site);
        Some(found.ok_or_else(|| format!("`{name}` is optimized out at this instruction")))
    }

    fn described(&self, name: &str, expression: String, object: &Object) -> Variable {
        let text = object.shown(name, self).unwrap_or_else(|why| why);
        let members = object.members(self).len() as u64;
        Variable {
            name: name.to_owned(),
            expression,
            value: Value {
                text,
                ty: object.type_name(self.types()),
            },
            elements: object.elements(self.types()),
            members,
        }
    }

    /// The members of an object, or so many of its elements.
    fn parts(
        &self,
        expression: &str,
        object: &Object,
        first: u64,
        count: u64,
    ) -> Result<Vec<Variable>, String> {
        let members = object.members(self);
        if !members.is_empty() {
            let member = |name: &str| {
                let part = object.member(name, self)?;
                let part = part.ok_or_else(|| format!("no member `{name}`"))?;
                Ok(self.described(name, format!("{expression}.{name}"), &part))
            };
            return members.iter().map(|it| member(&it.name)).collect();
        }
        let end = first
            .saturating_add(count)
            .min(object.elements(self.types()));
        let element = |index: u64| {
            let part = object.element(index.into(), expression, self)?;
            let name = format!("[{index}]");
            Ok(self.described(&name, format!("{expression}{name}"), &part))
        };
        (first..end).map(element).collect()
    }

    fn parameter(&self, index: usize, of: &Parameter) -> Variable {
        let (bits, ty) = bits_of(of);
        let found = (ty.bytes() == 8).then_some(bits as u64);
        let found = found.and_then(|address| self.stopped.allocation(address));
        let text = match found {
            Some((start, bytes)) => {
                let left = start + bytes - bits as u64;
                format!("{bits:#x}, {left} bytes of memory")
            }
            None => ty.value(bits).to_string(),
        };
        let (name, ty) = (format!("arg{index}"), ty.name().to_owned());
        Variable {
            expression: name.clone(),
            name,
            value: Value { text, ty },
            elements: 0,
            members: 0,
        }
    }

    fn special(&self, name: &str) -> Option<(u128, Type)> {
        let name = name.strip_prefix('%').unwrap_or(name);
        let number = match name {
            "lane" | "laneid" => self.seat.lane,
            "warp" | "warpid" => self.stopped.warp(),
            _ => {
                let (vector, axis) = name.split_once('.')?;
                let vector = VECTORS
                    .iter()
                    .position(|it| it.0 == vector || it.1 == vector)?;
                let axis = AXES.iter().position(|it| *it == axis)?;
                let shape = self.stopped.shape();
                match vector {
                    0 => self.stopped.thread(self.seat.lane)[axis],
                    1 => self.stopped.block()[axis],
                    2 => shape.block[axis],
                    _ => shape.grid[axis],
                }
            }
        };
        Some((number.into(), Type::U32))
    }

    /// The number of a register or a parameter. An error: the register is not written yet.
    fn number(&self, name: &str) -> Option<Result<Object, String>> {
        let register = || {
            let it = self.stopped.register(self.seat.lane, self.call(), name)?;
            let bits = it
                .bits
                .ok_or_else(|| format!("`{name}` is not written yet"));
            Some(bits.map(|bits| Object::number(bits, Type::of(it.ty))))
        };
        let parameter = || {
            let parameters = self.stopped.parameters();
            let number = name.strip_prefix("arg").and_then(|it| it.parse().ok());
            let by_name = || parameters.iter().position(|it| it.name == name);
            let index: usize = number.or_else(by_name)?;
            let (bits, ty) = bits_of(parameters.get(index)?);
            Some(Ok(Object::number(bits, ty)))
        };
        register().or_else(parameter)
    }

    /// A variable in shared, global or constant memory.
    fn array(&self, name: &str) -> Option<Object> {
        let typed = self.lines.information.global(name);
        let site = self.place().map(|it| it.site);
        let typed = typed.and_then(|it| self.object_of(it, site?));
        typed.or_else(|| {
            let mut all = self.stopped.variables().into_iter();
            let it = all.find(|it| it.name == name)?;
            let ty = Type::of(it.ty);
            let count = it.bytes / u64::from(ty.bytes());
            Some(Object::numbers(it.address, ty, count))
        })
    }
}

impl Names for View<'_> {
    fn object(&self, name: &str) -> Option<Result<Object, String>> {
        let special = || {
            let (bits, ty) = self.special(name)?;
            Some(Ok(Object::number(bits, ty)))
        };
        // No variable of the source has such a name.
        if name.contains('.') || name.starts_with('%') {
            return special().or_else(|| self.number(name));
        }
        let in_source = self.source_variable(name);
        let found = in_source.or_else(special).or_else(|| self.number(name));
        found.or_else(|| self.array(name).map(Ok))
    }

    fn read(&self, address: u64, bytes: u64) -> Option<Vec<u8>> {
        let bytes = usize::try_from(bytes).ok()?;
        self.stopped.read(self.seat.lane, address, bytes)
    }

    fn types(&self) -> &Types {
        &self.lines.information.types
    }
}

impl Machine for View<'_> {
    fn register(&self, name: &str) -> Option<u128> {
        let register = self.stopped.register(self.seat.lane, self.call(), name)?;
        register.bits
    }

    fn address(&self, symbol: &str) -> Option<u64> {
        self.stopped.address(self.seat.lane, self.call(), symbol)
    }

    fn read(&self, address: u64, bytes: u64) -> Option<Vec<u8>> {
        Names::read(self, address, bytes)
    }
}

/// The bits of a parameter, of an array the first ones.
fn bits_of(parameter: &Parameter) -> (u128, Type) {
    let mut bits = [0; 16];
    let count = parameter.bytes.len().min(16);
    bits[..count].copy_from_slice(&parameter.bytes[..count]);
    (u128::from_le_bytes(bits), Type::of(parameter.ty))
}

/// The lanes of a mask, as `0-15, 17`.
pub fn ranges(mask: u32) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut lane = 0;
    while lane < 32 {
        let run = (mask >> lane).trailing_ones();
        match run {
            0 => lane += 1,
            1 => parts.push(lane.to_string()),
            _ => parts.push(format!("{lane}-{}", lane + run - 1)),
        }
        lane += run;
    }
    parts.join(", ")
}
