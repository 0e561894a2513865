//! Questions of an editor about a program that stands.

use std::path::Path;

use debugger::protocol::{Answer, Frame, Question, Reason, Seat, Variable};
use serde_json::{Value, json};

use super::breakpoints::data_id;
use super::{Adapter, Answered, NOT_STOPPED};

/// Frames of a lane are numbered from its own multiple of this.
const FRAMES: u64 = 1 << 16;
/// The scopes of a frame are numbered from its own multiple of this, from 1.
const SCOPES: u64 = 8;
/// The first number of values that have parts.
const WHOLES: u64 = 1 << 28;
/// The source that is the PTX.
const PTX: u64 = 1;
/// How many elements the debugger gives at once.
const ELEMENTS: u64 = 1024;
const NAMES: [&str; 5] = ["Locals", "Registers", "Parameters", "Memory", "Thread"];

/// Arrays and structures of whose parts the editor may ask, as long as the program stands.
#[derive(Default)]
pub(super) struct Wholes(Vec<Whole>);

#[derive(Clone)]
struct Whole {
    seat: Seat,
    expression: String,
}

impl Wholes {
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// The number of what a variable is; 0 of what has no parts.
    fn number(&mut self, seat: Seat, of: &Variable) -> u64 {
        if of.elements + of.members == 0 {
            return 0;
        }
        self.0.push(Whole {
            seat,
            expression: of.expression.clone(),
        });
        WHOLES + self.0.len() as u64 - 1
    }

    fn get(&self, number: u64) -> Option<Whole> {
        let index = number.checked_sub(WHOLES)?;
        self.0.get(usize::try_from(index).ok()?).cloned()
    }
}

/// The lane and the frame of a frame's number.
fn seat_of(frame: u64) -> Seat {
    Seat {
        lane: (frame / FRAMES % 32) as u32,
        frame: (frame % FRAMES) as u32,
    }
}

impl Adapter {
    pub(super) fn stack(&mut self, arguments: &Value) -> Answered {
        let lane = self.threads.lane_of(arguments)?;
        let Answer::Frames(all) = self.ask(Question::Frames(lane))? else {
            return Err(NOT_STOPPED.to_owned());
        };
        let of = |(index, frame): (u64, &Frame)| {
            json!({
                "id": u64::from(lane) * FRAMES + index,
                "name": frame.function,
                "line": frame.line,
                "column": frame.column.max(1),
                "source": self.source_of(frame),
            })
        };
        let first = arguments["startFrame"].as_u64().unwrap_or(0) as usize;
        let most = arguments["levels"].as_u64().filter(|&it| it > 0);
        let most = most.map_or(usize::MAX, |it| it as usize);
        let frames = (0..).zip(&all).skip(first).take(most).map(of);
        Ok(json!({"stackFrames": frames.collect::<Vec<_>>(), "totalFrames": all.len()}))
    }

    /// A file where there is one of the name, from the program's folder; else the PTX.
    fn source_of(&self, frame: &Frame) -> Value {
        let Some(file) = &frame.file else {
            let kernel = self.stop.as_ref().map_or("kernel", |it| it.kernel.as_str());
            return json!({"name": format!("{kernel}.ptx"), "sourceReference": PTX});
        };
        let folder = self
            .launch
            .folder
            .clone()
            .or_else(|| std::env::current_dir().ok());
        let path = folder.unwrap_or_default().join(file);
        let name = Path::new(file).file_name().map(|it| it.to_string_lossy());
        json!({"name": name, "path": path})
    }

    pub(super) fn source(&mut self) -> Answered {
        match self.ask(Question::Ptx)? {
            Answer::Text(text) => Ok(json!({"content": text})),
            _ => Err(NOT_STOPPED.to_owned()),
        }
    }

    pub(super) fn scopes(&mut self, arguments: &Value) -> Answered {
        self.stop.as_ref().ok_or(NOT_STOPPED)?;
        let frame = arguments["frameId"].as_u64().unwrap_or(0);
        let scope = |(index, name): (u64, &str)| {
            json!({
                "name": name,
                "presentationHint": name.to_lowercase(),
                "variablesReference": 1 + frame * SCOPES + index,
                // A function may have thousands of them.
                "expensive": name == "Registers",
            })
        };
        let scopes = (0..).zip(NAMES).map(scope);
        Ok(json!({"scopes": scopes.collect::<Vec<_>>()}))
    }

    pub(super) fn variables(&mut self, arguments: &Value) -> Answered {
        let number = arguments["variablesReference"].as_u64().unwrap_or(0);
        if let Some(whole) = self.wholes.get(number) {
            return self.parts(&whole, arguments);
        }
        let number = number.saturating_sub(1);
        let (seat, scope) = (seat_of(number / SCOPES), number % SCOPES);
        let Answer::Scopes(scopes) = self.ask(Question::Scopes(seat))? else {
            return Err(NOT_STOPPED.to_owned());
        };
        let name = NAMES.get(scope as usize).copied().unwrap_or_default();
        let found = scopes.into_iter().find(|it| it.name == name);
        let variables = found.map_or_else(Vec::new, |it| self.shown(seat, &it.variables));
        Ok(json!({"variables": variables}))
    }

    fn shown(&mut self, seat: Seat, variables: &[Variable]) -> Vec<Value> {
        let mut shown = Vec::new();
        for it in variables {
            shown.push(json!({
                "name": it.name,
                "value": it.value.text,
                "type": it.value.ty,
                "evaluateName": it.expression,
                "variablesReference": self.wholes.number(seat, it),
                "indexedVariables": it.elements,
                "namedVariables": it.members,
            }));
        }
        shown
    }

    fn parts(&mut self, whole: &Whole, arguments: &Value) -> Answered {
        let first = arguments["start"].as_u64().unwrap_or(0);
        let count = arguments["count"].as_u64().filter(|&it| it > 0);
        let count = count.unwrap_or(ELEMENTS).min(ELEMENTS);
        let question = Question::Parts(whole.seat, whole.expression.clone(), first, count);
        let Answer::Parts(parts) = self.ask(question)? else {
            return Err(NOT_STOPPED.to_owned());
        };
        let variables = self.shown(whole.seat, &parts);
        Ok(json!({"variables": variables}))
    }

    /// The lane and the frame of a request; the lane that has stopped where there is none.
    fn seat(&self, arguments: &Value) -> Result<Seat, String> {
        let stop = self.stop.as_ref().ok_or(NOT_STOPPED)?;
        let own = Seat {
            lane: stop.lane,
            frame: 0,
        };
        Ok(arguments["frameId"].as_u64().map_or(own, seat_of))
    }

    /// A value; in the console of an editor `lanes EXPR` gives those of all lanes.
    pub(super) fn evaluate(&mut self, arguments: &Value) -> Answered {
        let seat = self.seat(arguments)?;
        let text = arguments["expression"].as_str().unwrap_or_default();
        let question = match text.strip_prefix("lanes ") {
            Some(of) => Question::Lanes(seat.frame, of.to_owned()),
            None => Question::Value(seat, text.to_owned()),
        };
        match self.ask(question)? {
            Answer::Value(it) => {
                Ok(json!({"result": it.text, "type": it.ty, "variablesReference": 0}))
            }
            Answer::Lanes(values) => {
                let result = super::super::show::lanes(&values);
                Ok(json!({"result": result, "variablesReference": 0}))
            }
            _ => Err(NOT_STOPPED.to_owned()),
        }
    }

    /// Whether something can be watched: an element of memory.
    pub(super) fn watchable(&mut self, arguments: &Value) -> Answered {
        let name = arguments["name"].as_str().unwrap_or_default();
        let whole = arguments["variablesReference"].as_u64();
        let (seat, text) = match whole.and_then(|it| self.wholes.get(it)) {
            Some(Whole { seat, expression }) if name.starts_with('[') => {
                (seat, format!("{expression}{name}"))
            }
            Some(Whole { seat, expression }) => (seat, format!("{expression}.{name}")),
            None => (self.seat(arguments)?, name.to_owned()),
        };
        Ok(match self.ask(Question::Place(seat, text.clone())) {
            Ok(Answer::Place(address, bytes)) => json!({
                "dataId": data_id(address, bytes),
                "description": text,
                "accessTypes": ["write"],
            }),
            Ok(_) => json!({"dataId": null, "description": NOT_STOPPED}),
            Err(error) => json!({"dataId": null, "description": error}),
        })
    }

    /// The finding at which the program stands.
    pub(super) fn exception(&self) -> Answered {
        let stop = self.stop.as_ref().filter(|it| it.reason == Reason::Finding);
        let stop = stop.ok_or("the program does not stand at a finding")?;
        Ok(json!({
            "exceptionId": "finding",
            "description": stop.text,
            "breakMode": "always",
        }))
    }
}
