//! Answers to questions about a launch that is stopped.

use engine::debug::{Parameter, Stopped, Waits, WarpPart};
use engine::memory::LANES;

use crate::expression::{Expression, Names};
use crate::lines::Lines;
use crate::number::Type;
use crate::protocol::{Answer, Question, Scope, Value, Variable, Warp};

/// A stopped launch, as one lane sees it.
pub(crate) struct View<'a> {
    stopped: &'a Stopped<'a>,
    lines: &'a Lines,
    lane: u32,
}

/// Vectors of special registers: CUDA's name and PTX's.
const VECTORS: [(&str, &str); 4] = [
    ("threadIdx", "tid"),
    ("blockIdx", "ctaid"),
    ("blockDim", "ntid"),
    ("gridDim", "nctaid"),
];
const AXES: [&str; 3] = ["x", "y", "z"];

impl<'a> View<'a> {
    pub(crate) fn new(stopped: &'a Stopped<'a>, lines: &'a Lines, lane: u32) -> View<'a> {
        View {
            stopped,
            lines,
            lane: lane % LANES as u32,
        }
    }

    /// Answers a question.
    ///
    /// # Errors
    /// There is no answer: says why.
    pub(crate) fn answer(&self, question: &Question) -> Result<Answer, String> {
        let of = |lane| View::new(self.stopped, self.lines, lane);
        match question {
            Question::Frames(lane) => {
                let calls = self.stopped.calls(*lane);
                Ok(Answer::Frames(self.lines.frames(&calls)))
            }
            Question::Value(lane, text) => {
                let (text, ty) = Expression::parse(text)?.shown(&of(*lane))?;
                Ok(Answer::Value(Value { text, ty }))
            }
            Question::Lanes(text) => {
                let expression = Expression::parse(text)?;
                self.lanes(&expression).map(Answer::Lanes)
            }
            Question::Place(lane, text) => {
                let (address, bytes) = Expression::parse(text)?.place(&of(*lane))?;
                Ok(Answer::Place(address, bytes))
            }
            Question::Scopes(lane) => Ok(Answer::Scopes(of(*lane).scopes())),
            Question::Warps => {
                let all = self.stopped.warps();
                Ok(Answer::Warps(all.iter().map(|it| self.warp(it)).collect()))
            }
            Question::Ptx => Ok(Answer::Text(self.stopped.kernel().ptx_text().to_owned())),
        }
    }

    /// The values in all lanes that have not ended.
    ///
    /// # Errors
    /// It has none in any of them.
    fn lanes(&self, expression: &Expression) -> Result<Vec<Option<String>>, String> {
        let mut why = "no lane of the warp runs".to_owned();
        let mut value = |lane: u32| {
            if self.stopped.live() >> lane & 1 == 0 {
                return None;
            }
            let shown = expression.shown(&View::new(self.stopped, self.lines, lane));
            shown.map_err(|error| why = error).ok().map(|it| it.0)
        };
        let all: Vec<_> = (0..LANES as u32).map(&mut value).collect();
        match all.iter().any(Option::is_some) {
            true => Ok(all),
            false => Err(why),
        }
    }

    fn scopes(&self) -> Vec<Scope> {
        let value = |name: String, bits: u128, ty: Type| Variable {
            name,
            value: Value {
                text: ty.value(bits).to_string(),
                ty: ty.name().to_owned(),
            },
            elements: 0,
        };
        let specials = VECTORS.iter().flat_map(|(vector, _)| {
            AXES.map(|axis| {
                let name = format!("{vector}.{axis}");
                let (bits, ty) = self.special(&name).unwrap_or((0, Type::U32));
                value(name, bits, ty)
            })
        });
        let registers = self.stopped.registers(self.lane).into_iter();
        let registers = registers.map(|it| {
            let bits = it.lanes[self.lane as usize];
            value(it.name, bits, Type::of(it.ty))
        });
        let parameters = (0..).zip(self.stopped.parameters());
        let parameters = parameters.map(|(index, it)| self.parameter(index, &it));
        let memory = self.stopped.variables().into_iter().map(|it| {
            let ty = Type::of(it.ty);
            let elements = it.bytes / u64::from(ty.bytes());
            Variable {
                name: it.name,
                value: Value {
                    text: format!(".{} at {:#x}", it.space.name(), it.address),
                    ty: format!("[{}; {elements}]", ty.name()),
                },
                elements,
            }
        });
        vec![
            Scope {
                name: "Registers".to_owned(),
                variables: registers.collect(),
            },
            Scope {
                name: "Parameters".to_owned(),
                variables: parameters.collect(),
            },
            Scope {
                name: "Memory".to_owned(),
                variables: memory.collect(),
            },
            Scope {
                name: "Thread".to_owned(),
                variables: specials.collect(),
            },
        ]
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
        let ty = ty.name().to_owned();
        Variable {
            name: format!("arg{index}"),
            value: Value { text, ty },
            elements: 0,
        }
    }

    fn warp(&self, part: &WarpPart) -> Warp {
        let waits = match part.waits {
            Waits::Not => String::new(),
            Waits::Barrier(id, None) => format!("for all threads of the block at barrier {id}"),
            Waits::Barrier(id, Some(threads)) => format!("for {threads} threads at barrier {id}"),
            Waits::Lanes(lanes) => format!("for lanes {} of its warp", ranges(lanes)),
        };
        Warp {
            warp: part.warp,
            lanes: part.lanes,
            place: self.lines.place(part.site),
            waits,
        }
    }

    fn special(&self, name: &str) -> Option<(u128, Type)> {
        let name = name.strip_prefix('%').unwrap_or(name);
        let number = match name {
            "lane" | "laneid" => self.lane,
            "warp" | "warpid" => self.stopped.warp(),
            _ => {
                let (vector, axis) = name.split_once('.')?;
                let vector = VECTORS
                    .iter()
                    .position(|it| it.0 == vector || it.1 == vector)?;
                let axis = AXES.iter().position(|it| *it == axis)?;
                let shape = self.stopped.shape();
                match vector {
                    0 => self.stopped.thread(self.lane)[axis],
                    1 => self.stopped.block()[axis],
                    2 => shape.block[axis],
                    _ => shape.grid[axis],
                }
            }
        };
        Some((number.into(), Type::U32))
    }
}

impl Names for View<'_> {
    fn bits(&self, name: &str) -> Option<(u128, Type)> {
        let register = || {
            let it = self.stopped.register(self.lane, name)?;
            Some((it.lanes[self.lane as usize], Type::of(it.ty)))
        };
        let parameter = || {
            let parameters = self.stopped.parameters();
            let number = name.strip_prefix("arg").and_then(|it| it.parse().ok());
            let by_name = || parameters.iter().position(|it| it.name == name);
            let index: usize = number.or_else(by_name)?;
            parameters.get(index).map(bits_of)
        };
        self.special(name).or_else(register).or_else(parameter)
    }

    fn array(&self, name: &str) -> Option<(u64, Type, u64)> {
        let mut all = self.stopped.variables().into_iter();
        let it = all.find(|it| it.name == name)?;
        let ty = Type::of(it.ty);
        Some((it.address, ty, it.bytes / u64::from(ty.bytes())))
    }

    fn read(&self, address: u64, bytes: u32) -> Option<u128> {
        let read = self.stopped.read(self.lane, address, bytes as usize)?;
        let mut value = [0; 16];
        value[..read.len()].copy_from_slice(&read);
        Some(u128::from_le_bytes(value))
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
