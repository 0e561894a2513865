//! A module and what it declares.

use crate::{FunctionId, Instruction, LabelId, Space, Symbol, Type};

/// The declarations of a PTX text.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// `.version`: major and minor.
    pub version: (u32, u32),
    /// `.target`.
    pub target: Target,
    /// `.address_size`: 32 or 64.
    pub address_size: u32,
    /// `.file` lines.
    pub files: Vec<File>,
    /// Variables of the module, in order of declaration.
    pub variables: Vec<Variable>,
    /// Functions, in order of their first declaration. One that is declared and then defined is
    /// here once.
    pub functions: Vec<Function>,
    /// `.alias`: the first stands for the second.
    pub aliases: Vec<(FunctionId, FunctionId)>,
    /// `.section`: debugging information, each section once.
    pub sections: Vec<Section>,
}

impl Module {
    /// The function of this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The variable of this name.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The section of this name, which begins with a dot.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The path of a file by the number that `.loc` gives.
    #[must_use]
    pub fn file(&self, index: u32) -> Option<&str> {
        self.files
            .iter()
            .find(|file| file.index == index)
            .map(|file| file.path.as_str())
    }
}

/// `.target`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// 90 of `sm_90a`.
    pub arch: u32,
    /// The suffix: none, `f` or `a`.
    pub features: ArchFeatures,
    /// The rest: `texmode_unified`, `debug` and the like.
    pub options: Vec<String>,
}

/// Which devices a target's features are those of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArchFeatures {
    /// `sm_90`: this and all newer ones.
    Common,
    /// `sm_100f`: those of this family.
    Family,
    /// `sm_90a`: this architecture alone.
    Architecture,
}

/// A `.file` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The number that `.loc` refers to.
    pub index: u32,
    /// Where it lies.
    pub path: String,
}

/// A `.section` of debugging information, in the format of DWARF.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Its name, which begins with a dot: `.debug_info`.
    pub name: String,
    /// Its bytes, zero where addresses go.
    pub bytes: Vec<u8>,
    /// Its labels, and the bytes before each.
    pub labels: Vec<(String, usize)>,
    /// The addresses to put in.
    pub addresses: Vec<SectionAddress>,
}

/// An address in a section, `symbol + addend` or `symbol - minus`, at `offset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionAddress {
    /// First byte of the section that it goes to.
    pub offset: usize,
    /// How many bytes: 4 or 8.
    pub bytes: u8,
    /// A label of code or of a section, a section, a variable or a parameter. It may be one that nothing declares.
    pub symbol: String,
    /// Bytes behind it.
    pub addend: i64,
    /// A label to subtract.
    pub minus: Option<String>,
}

/// Who sees a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// This module alone.
    Private,
    /// `.visible`.
    Visible,
    /// `.extern`: another module defines it.
    External,
    /// `.weak`.
    Weak,
    /// `.common`.
    Common,
}

/// Whether the host or a function calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// `.entry`: a kernel.
    Entry,
    /// `.func`.
    Device,
}

/// A kernel or a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// A kernel or not.
    pub kind: FunctionKind,
    /// Who sees it.
    pub linkage: Linkage,
    /// Its returned values.
    pub returns: Vec<Parameter>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Whether it takes more than it names (`.param .b8 va[]` at the end).
    pub variadic: bool,
    /// Its directives on launches and registers.
    pub directives: Directives,
    /// Its instructions. None: it is declared only.
    pub body: Option<Body>,
    /// Line of its name in the text, from 1.
    pub line: u32,
}

/// A parameter or a returned value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name; `_` and the empty one are no names.
    pub name: String,
    /// Of what type: of an element, where it is an array.
    pub ty: Type,
    /// Elements, where it is an array.
    pub elements: Option<u64>,
    /// Bytes in all.
    pub bytes: u64,
    /// Alignment in bytes.
    pub alignment: u32,
    /// Where it lies.
    pub storage: ParameterStorage,
    /// The memory that a kernel's pointer points to (`.ptr`).
    pub pointer: Option<Pointer>,
}

/// Where a parameter lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterStorage {
    /// In memory (`.param`).
    Memory,
    /// In this register of the body (`.reg`), of a vector in as many from it on. None: there is no body.
    Register(Option<crate::Reg>),
}

/// `.ptr` of a kernel's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// Where it points.
    pub space: Space,
    /// Alignment of what it points to, in bytes.
    pub alignment: u32,
}

/// A function's directives on its launches and its registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// `.maxntid`: at most so many threads per block. What is not given is 1.
    pub maxntid: Option<[u32; 3]>,
    /// `.reqntid`: exactly so many threads per block.
    pub reqntid: Option<[u32; 3]>,
    /// `.minnctapersm`: blocks that a multiprocessor shall hold.
    pub minnctapersm: Option<u32>,
    /// `.maxnreg`: registers per thread.
    pub maxnreg: Option<u32>,
    /// `.reqnctapercluster`: exactly so many blocks a cluster.
    pub reqnctapercluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: at most so many blocks a cluster.
    pub maxclusterrank: Option<u32>,
    /// `.explicitcluster`: a launch must ask for clusters.
    pub explicitcluster: bool,
    /// `.blocksareclusters`: the launch counts clusters.
    pub blocksareclusters: bool,
    /// `.noreturn`.
    pub noreturn: bool,
    /// `.abi_preserve` of so many registers.
    pub abi_preserve: Option<u32>,
    /// `.abi_preserve_control` of so many registers.
    pub abi_preserve_control: Option<u32>,
    /// `.pragma` strings, those in the body too.
    pub pragmas: Vec<String>,
}

/// A variable of the module or of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name. In a body two scopes may have one of the same name.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// Who sees it.
    pub linkage: Linkage,
    /// Type of an element.
    pub ty: Type,
    /// 2, 4 or 8 where an element is a vector, else 1.
    pub vector: u8,
    /// Elements of each dimension, outermost first; empty where it is no array. The outermost of
    /// `x[]` is counted from the initial value, and 0 without one.
    pub dimensions: Vec<u64>,
    /// Bytes in all; 0 for an array without a size (`.extern .shared .b8 x[]`).
    pub bytes: u64,
    /// Alignment in bytes.
    pub alignment: u32,
    /// Its first value. None: zeros for `.global` and `.const`, undefined elsewhere.
    pub initial: Option<Initial>,
    /// `.attribute(.managed)`: the host sees it too.
    pub managed: bool,
    /// Line of its name in the text, from 1.
    pub line: u32,
}

/// The first value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initial {
    /// All bytes of the variable, zero where none are given and where an address goes.
    pub bytes: Vec<u8>,
    /// The addresses to put in.
    pub relocations: Vec<Relocation>,
}

/// An address in a first value: `(address of symbol + addend) >> shift`, its lower `bytes` bytes, at `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// First byte of the variable that it goes to.
    pub offset: u64,
    /// How many bytes: 1, 2, 4 or 8.
    pub bytes: u8,
    /// Of what. [`Symbol::Module`] or [`Symbol::Function`], in a body also [`Symbol::Body`].
    pub symbol: Symbol,
    /// Bytes behind its begin.
    pub addend: i64,
    /// Whether it is a generic address, or one in the symbol's space.
    pub address: RelocatedAddress,
    /// Bits to shift right by: `0xFF00(x)` takes the second byte, 8.
    pub shift: u8,
}

/// Which address of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelocatedAddress {
    /// In the symbol's own space; of a function, its entry.
    InSpace,
    /// `generic(x)`.
    Generic,
}

/// The declarations and instructions of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Its registers; [`Reg`](crate::Reg) is an index.
    pub registers: Vec<Register>,
    /// Its variables of all spaces; [`Symbol::Body`] is an index.
    pub variables: Vec<Variable>,
    /// Its instructions, in order.
    pub instructions: Vec<Instruction>,
    /// Its labels; [`LabelId`] is an index.
    pub labels: Vec<Label>,
    /// `.branchtargets`; [`BranchIndexed`](crate::BranchIndexed) has an index.
    pub branch_targets: Vec<BranchTargets>,
    /// `.calltargets`; [`IndirectTargets`](crate::IndirectTargets) has an index.
    pub call_targets: Vec<CallTargets>,
    /// `.callprototype`; [`IndirectTargets`](crate::IndirectTargets) has an index.
    pub prototypes: Vec<Prototype>,
    /// `.loc` lines, each once; [`Instruction::location`] is an index.
    pub locations: Vec<Location>,
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name, with the percent sign where it has one. The parts of a vector `v` are registers
    /// `v.x` and so on. In two scopes two may have the same name.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// The instruction that follows: an index, the number of instructions at the end of the body.
    pub position: u32,
}

/// A `.branchtargets` list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchTargets {
    /// Its label.
    pub name: String,
    /// Where index 0, 1, ... goes.
    pub labels: Vec<LabelId>,
}

/// A `.calltargets` list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTargets {
    /// Its label.
    pub name: String,
    /// Which functions a call may reach.
    pub functions: Vec<FunctionId>,
}

/// A `.callprototype`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// Its label.
    pub name: String,
    /// The callee's returned values.
    pub returns: Vec<Parameter>,
    /// The callee's parameters.
    pub parameters: Vec<Parameter>,
    /// Whether it takes more than that.
    pub variadic: bool,
    /// Whether it does not return.
    pub noreturn: bool,
}

/// A `.loc` line: where in the source the following instructions are from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// A file's number, for [`Module::file`].
    pub file: u32,
    /// From 1; 0 where the compiler knew none.
    pub line: u32,
    /// From 1; 0 where the compiler knew none.
    pub column: u32,
    /// The function that was inlined here (its linkage name), where one was and the text has it.
    pub function: Option<String>,
    /// Where that was inlined: an index into [`Body::locations`], always below this one's.
    pub inlined_at: Option<u32>,
}
