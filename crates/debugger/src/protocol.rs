//! The messages of a front and a debugged program: a line of JSON each.
//!
//! The front speaks first: breakpoints, and the [`Motion`] with which the first launch begins. From then on the program runs or
//! is stopped. Stopped, it answers each [`Question`] in order, and goes on at a [`Motion`]; running, it takes breakpoints and
//! [`Request::Pause`] at its next step. A program that ends closes the socket, as a front does that has no more to say: the
//! program then runs on by itself.

use serde::{Deserialize, Serialize};

/// From the front to the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// All breakpoints and watchpoints, in place of those before.
    Set(Vec<Breakpoint>),
    /// Goes on, or back.
    Move(Motion),
    /// Stops at the next step.
    Pause,
    /// Answered by [`Message::Answer`].
    Ask(Question),
}

/// From the program to the front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Where breakpoints are, in a kernel that is launched now, or in the one that is stopped.
    Resolved(Vec<Resolved>),
    /// The program has stopped.
    Stopped(Box<Stop>),
    /// To a question, or why there is none.
    Answer(Result<Answer, String>),
}

/// Where to stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// The front's number for it.
    pub id: u32,
    /// Where.
    pub at: Location,
    /// An expression that must be true in a lane.
    pub condition: Option<String>,
    /// How often it is passed before it stops.
    pub ignored: u64,
}

/// The place of a breakpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Location {
    /// A line; of a file by the end of its path.
    Line(String, u32),
    /// The first instruction of a function.
    Function(String),
    /// A write to memory: the address, and how many bytes.
    Write(u64, u32),
}

/// A breakpoint's place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    /// The breakpoint.
    pub id: u32,
    /// The kernel in which it was looked for.
    pub kernel: String,
    /// File and line; none where the kernel has no such place.
    pub place: Option<Frame>,
}

/// How to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Motion {
    /// To where.
    pub until: Until,
    /// Whether backwards.
    pub is_back: bool,
    /// The lane whose steps count.
    pub lane: u32,
}

/// Where a motion ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Until {
    /// At a breakpoint, which ends each other motion forwards too.
    Breakpoint,
    /// At another line.
    Line,
    /// At another line of this function or of one that has called it.
    LineOver,
    /// At the lane's next instruction.
    Instruction,
    /// In the function that has called this one.
    Caller,
    /// At a barrier of the block.
    Barrier,
    /// At a write to so many bytes at an address.
    Write(u64, u32),
}

/// Why a program has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// It has come to a breakpoint.
    Breakpoint,
    /// It is about to write what is watched.
    Write,
    /// The motion is over.
    Step,
    /// The front has asked for it.
    Pause,
    /// An instruction cannot be executed, or a check has found something.
    Finding,
    /// There is nothing before it.
    Beginning,
}

/// A program that has stopped, before an instruction of some lanes of a warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Why.
    pub reason: Reason,
    /// The same in words, where there is more to say.
    pub text: String,
    /// The breakpoints that it has come to.
    pub breakpoints: Vec<u32>,
    /// The kernel.
    pub kernel: String,
    /// How many steps the launch has taken.
    pub position: u64,
    /// The block's index.
    pub block: [u32; 3],
    /// The warp in the block.
    pub warp: u32,
    /// The lane that is looked at.
    pub lane: u32,
    /// The threads of the warp's lanes in the block.
    pub threads: Vec<[u32; 3]>,
    /// The lanes that are about to execute the instruction.
    pub running: u32,
    /// The lanes that have not ended.
    pub live: u32,
    /// The instruction's text.
    pub instruction: String,
    /// Where it stands, the innermost function first.
    pub frames: Vec<Frame>,
}

/// A function, inlined or called, and the line in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Its name.
    pub function: String,
    /// The file; none: the text of the PTX.
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where it is not known.
    pub column: u32,
    /// File and line as they are shown.
    pub place: String,
}

/// From where something is looked at: a lane, and a function that it is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The lane.
    pub lane: u32,
    /// Which of its frames, the innermost being 0.
    pub frame: u32,
}

/// A request to a stopped program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// The frames of a lane: [`Answer::Frames`].
    Frames(u32),
    /// The value of an expression: [`Answer::Value`].
    Value(Seat, String),
    /// Its values in all lanes, in a frame of each: [`Answer::Lanes`].
    Lanes(u32, String),
    /// The address and the bytes of an element, as an expression: [`Answer::Place`].
    Place(Seat, String),
    /// The members of what an expression names, or so many elements from one on: [`Answer::Parts`].
    Parts(Seat, String, u64, u64),
    /// The variables that can be seen: [`Answer::Scopes`].
    Scopes(Seat),
    /// Who waits for whom: [`Answer::Warps`].
    Warps,
    /// The module's text: [`Answer::Text`].
    Ptx,
}

/// An answer of a stopped program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The innermost first.
    Frames(Vec<Frame>),
    /// A value.
    Value(Value),
    /// A value per lane; none of lanes that have ended, and where the expression has none.
    Lanes(Vec<Option<String>>),
    /// Generic address, and bytes.
    Place(u64, u32),
    /// Variables of the source, registers, parameters and the like.
    Scopes(Vec<Scope>),
    /// Members or elements.
    Parts(Vec<Variable>),
    /// The block's warps.
    Warps(Vec<Warp>),
    /// A text.
    Text(String),
}

/// A value as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// The value.
    pub text: String,
    /// Its type.
    pub ty: String,
}

/// Some of what there is to be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Its name.
    pub name: String,
    /// Its variables.
    pub variables: Vec<Variable>,
}

/// A variable, a register, a parameter, an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its name in expressions.
    pub expression: String,
    /// Its value, or what it is.
    pub value: Value,
    /// Of an array, how many elements it has.
    pub elements: u64,
    /// Of a structure, how many members.
    pub members: u64,
}

/// Lanes of a warp that are at the same instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warp {
    /// Which warp of the block.
    pub warp: u32,
    /// Which lanes.
    pub lanes: u32,
    /// Where.
    pub place: String,
    /// The reason for which they wait; empty where they can go on.
    pub waits: String,
}
