//! What an editor asks of a program that stands.

use std::path::Path;

use debugger::protocol::{Answer, Frame, Question, Reason, Scope};
use serde_json::{Value, json};

use super::breakpoints::data_id;
use super::{Adapter, Answered, NOT_STOPPED, lane_of};

/// Frames of a lane are numbered from its own multiple of this.
const FRAMES: u64 = 1 << 16;
/// The scopes of a lane are numbered from its own multiple of this, from 1.
const SCOPES: u64 = 8;
/// Arrays are numbered from here.
const ARRAYS: u64 = 1 << 16;
/// The source that is the PTX.
const PTX: u64 = 1;
/// How many elements the debugger gives at once.
const ELEMENTS: u64 = 1024;
const NAMES: [&str; 4] = ["Registers", "Parameters", "Memory", "Thread"];

/// Arrays of which the editor may ask for elements, as long as the program stands.
#[derive(Default)]
pub(super) struct Arrays(Vec<Array>);

#[derive(Clone)]
struct Array {
    lane: u32,
    name: String,
    elements: u64,
}

impl Arrays {
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// The number of an array; 0 of what is none.
    fn number(&mut self, lane: u32, name: &str, elements: u64) -> u64 {
        if elements == 0 {
            return 0;
        }
        self.0.push(Array {
            lane,
            name: name.to_owned(),
            elements,
        });
        ARRAYS + self.0.len() as u64 - 1
    }

    fn get(&self, number: u64) -> Option<Array> {
        let index = number.checked_sub(ARRAYS)?;
        self.0.get(usize::try_from(index).ok()?).cloned()
    }
}

impl Adapter {
    pub(super) fn threads(&self) -> Value {
        let Some(stop) = &self.stop else {
            return json!({"threads": [{"id": 1, "name": "the program runs"}]});
        };
        let live = (0..32).filter(|lane| stop.live >> lane & 1 != 0);
        let thread = |lane: usize| {
            let name = format!("block {:?}, thread {:?}", stop.block, stop.threads[lane]);
            json!({"id": lane + 1, "name": name})
        };
        json!({"threads": live.map(thread).collect::<Vec<_>>()})
    }

    pub(super) fn stack(&mut self, arguments: &Value) -> Answered {
        let lane = lane_of(arguments)?;
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
        let lane = arguments["frameId"].as_u64().unwrap_or(0) / FRAMES;
        let scope = |(index, name): (u64, &str)| json!({"name": name, "variablesReference": 1 + lane * SCOPES + index, "expensive": false});
        let scopes = (0..).zip(NAMES).map(scope);
        Ok(json!({"scopes": scopes.collect::<Vec<_>>()}))
    }

    pub(super) fn variables(&mut self, arguments: &Value) -> Answered {
        let number = arguments["variablesReference"].as_u64().unwrap_or(0);
        if let Some(array) = self.arrays.get(number) {
            return self.elements(&array, arguments);
        }
        let number = number.saturating_sub(1);
        let (lane, scope) = ((number / SCOPES % 32) as u32, number % SCOPES);
        let Answer::Scopes(scopes) = self.ask(Question::Scopes(lane))? else {
            return Err(NOT_STOPPED.to_owned());
        };
        let name = NAMES.get(scope as usize).copied().unwrap_or_default();
        let found = scopes.into_iter().find(|it| it.name == name);
        let variables = found.map_or_else(Vec::new, |scope| self.shown(lane, &scope));
        Ok(json!({"variables": variables}))
    }

    fn shown(&mut self, lane: u32, scope: &Scope) -> Vec<Value> {
        let mut variables = Vec::new();
        for it in &scope.variables {
            variables.push(json!({
                "name": it.name,
                "value": it.value.text,
                "type": it.value.ty,
                "evaluateName": it.name,
                "variablesReference": self.arrays.number(lane, &it.name, it.elements),
                "indexedVariables": it.elements,
            }));
        }
        variables
    }

    fn elements(&mut self, array: &Array, arguments: &Value) -> Answered {
        let first = arguments["start"].as_u64().unwrap_or(0).min(array.elements);
        let count = arguments["count"]
            .as_u64()
            .filter(|&it| it > 0)
            .unwrap_or(ELEMENTS);
        let last = first
            .saturating_add(count.min(ELEMENTS))
            .min(array.elements);
        let text = format!("{}[{first}..{last}]", array.name);
        let Answer::Value(value) = self.ask(Question::Value(array.lane, text))? else {
            return Err(NOT_STOPPED.to_owned());
        };
        let values = value.text.trim_matches(['[', ']']).split(", ");
        let element = |(index, text): (u64, &str)| {
            json!({
                "name": format!("[{index}]"),
                "value": text,
                "evaluateName": format!("{}[{index}]", array.name),
                "variablesReference": 0,
            })
        };
        let variables = (first..last).zip(values).map(element);
        Ok(json!({"variables": variables.collect::<Vec<_>>()}))
    }

    /// The lane of a request's frame; the one that has stopped where there is none.
    fn lane(&self, arguments: &Value) -> Result<u32, String> {
        let stop = self.stop.as_ref().ok_or(NOT_STOPPED)?;
        let frame = arguments["frameId"].as_u64();
        Ok(frame.map_or(stop.lane, |it| (it / FRAMES % 32) as u32))
    }

    /// A value; in the console of an editor `lanes EXPR` gives those of all lanes.
    pub(super) fn evaluate(&mut self, arguments: &Value) -> Answered {
        let lane = self.lane(arguments)?;
        let text = arguments["expression"].as_str().unwrap_or_default();
        let question = match text.strip_prefix("lanes ") {
            Some(of) => Question::Lanes(of.to_owned()),
            None => Question::Value(lane, text.to_owned()),
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
        let array = arguments["variablesReference"].as_u64();
        let (lane, text) = match array.and_then(|it| self.arrays.get(it)) {
            Some(array) => (array.lane, format!("{}{name}", array.name)),
            None => (self.lane(arguments)?, name.to_owned()),
        };
        Ok(match self.ask(Question::Place(lane, text.clone())) {
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
