//! The meaning of names, in the module and in the braces of a body.

use std::collections::HashMap;

use super::{Fail, Parser, Result, Undeclared};
use crate::{
    Body, Directives, Function, FunctionId, FunctionKind, Label, LabelId, Linkage, Reg, Register,
    Space, Symbol, Type, Variable,
};

/// Names of the module.
#[derive(Default)]
pub(super) struct Globals<'a> {
    pub(super) names: HashMap<&'a str, Symbol>,
}

/// The meaning of a name in a body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    Register(Reg),
    /// So many registers from this one on.
    Vector(Reg, u8),
    Symbol(Symbol),
    BranchTargets(u32),
    CallTargets(u32),
    Prototype(u32),
}

/// `%r<17>`: its registers get a number when they are first used.
struct Family<'a> {
    prefix: &'a str,
    ty: Type,
    vector: u8,
    count: u64,
}

/// The declarations of one pair of braces.
#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Name>,
    families: Vec<Family<'a>>,
    /// With the place of the first use, for an error.
    labels: HashMap<&'a str, (LabelId, usize)>,
}

/// A body that is being parsed.
#[derive(Default)]
pub(super) struct Local<'a> {
    /// Whose it is.
    pub(super) owner: Option<FunctionId>,
    pub(super) body: Body,
    scopes: Vec<Scope<'a>>,
    /// Labels that turned out to be those of a surrounding scope.
    outer: Vec<(LabelId, LabelId)>,
    pub(super) lines: super::location::Lines<'a>,
}

/// Names of the parts of a vector of registers.
const PARTS: [&str; 8] = ["x", "y", "z", "w", "4", "5", "6", "7"];

/// Position of a label that is used but not yet there.
const OPEN: u32 = u32::MAX;

impl<'a> Local<'a> {
    /// The empty body of this function.
    pub(super) fn of(owner: FunctionId) -> Self {
        Self {
            owner: Some(owner),
            ..Self::default()
        }
    }

    pub(super) fn open_scope(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Ends the innermost scope. Labels that it lacks are its parent's.
    pub(super) fn close_scope(&mut self) -> Result<()> {
        let Some(scope) = self.scopes.pop() else {
            return Ok(());
        };
        let mut open: Vec<_> = scope
            .labels
            .into_iter()
            .filter(|(_, (id, _))| self.body.labels[id.0 as usize].position == OPEN)
            .collect();
        open.sort_unstable_by_key(|&(_, (_, offset))| offset);
        for (name, (id, offset)) in open {
            let Some(parent) = self.scopes.last_mut() else {
                return Err(Fail::at(
                    offset,
                    format!("label `{name}` is nowhere in this function"),
                ));
            };
            let (kept, _) = *parent.labels.entry(name).or_insert((id, offset));
            if kept != id {
                self.outer.push((id, kept));
            }
        }
        Ok(())
    }

    /// How many scopes are open.
    pub(super) const fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// The body, when its last scope is closed.
    pub(super) fn finish(mut self) -> (Body, super::location::Lines<'a>) {
        // Outer scopes were closed later, so their labels are settled first.
        for (inner, outer) in self.outer.into_iter().rev() {
            self.body.labels[inner.0 as usize].position =
                self.body.labels[outer.0 as usize].position;
        }
        (self.body, self.lines)
    }

    /// A register of its own.
    fn new_register(&mut self, name: String, ty: Type) -> Reg {
        self.body.registers.push(Register { name, ty });
        Reg(self.body.registers.len() as u32 - 1)
    }

    /// A register of its own, or several that are the parts of a vector.
    pub(super) fn register(&mut self, name: &str, ty: Type, vector: u8) -> Name {
        let vector = vector.clamp(1, PARTS.len() as u8);
        if vector == 1 {
            return Name::Register(self.new_register(name.to_owned(), ty));
        }
        let mut first = Reg(0);
        for (index, part) in PARTS.iter().take(usize::from(vector)).enumerate() {
            let register = self.new_register(format!("{name}.{part}"), ty);
            if index == 0 {
                first = register;
            }
        }
        Name::Vector(first, vector)
    }

    /// Declares a name in the innermost scope. False: it is there already.
    pub(super) fn declare(&mut self, name: &'a str, meaning: Name) -> bool {
        match self.scopes.last_mut() {
            Some(scope) => scope.names.insert(name, meaning).is_none(),
            None => false,
        }
    }

    pub(super) fn declare_family(&mut self, prefix: &'a str, ty: Type, vector: u8, count: u64) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.families.push(Family {
                prefix,
                ty,
                vector,
                count,
            });
        }
    }

    /// Returns the meaning of a name of the body.
    pub(super) fn lookup(&mut self, name: &'a str) -> Option<Name> {
        for index in (0..self.scopes.len()).rev() {
            let scope = &self.scopes[index];
            if let Some(&meaning) = scope.names.get(name) {
                return Some(meaning);
            }
            let family = scope.families.iter().find(|family| family.has(name));
            if let Some((ty, vector)) = family.map(|family| (family.ty, family.vector)) {
                let meaning = self.register(name, ty, vector);
                self.scopes[index].names.insert(name, meaning);
                return Some(meaning);
            }
        }
        None
    }

    /// A label that is used here.
    pub(super) fn label(&mut self, name: &'a str, offset: usize) -> LabelId {
        let labels = &mut self.body.labels;
        let Some(scope) = self.scopes.last_mut() else {
            return LabelId(0);
        };
        let (id, _) = *scope.labels.entry(name).or_insert_with(|| {
            labels.push(Label {
                name: name.to_owned(),
                position: OPEN,
            });
            (LabelId(labels.len() as u32 - 1), offset)
        });
        id
    }

    /// A label that stands here. False: it stands elsewhere already.
    pub(super) fn place_label(&mut self, name: &'a str, offset: usize) -> bool {
        let id = self.label(name, offset);
        let position = self.body.instructions.len() as u32;
        let label = &mut self.body.labels[id.0 as usize];
        let free = label.position == OPEN;
        label.position = position;
        free
    }
}

impl Family<'_> {
    fn has(&self, name: &str) -> bool {
        let Some(digits) = name.strip_prefix(self.prefix) else {
            return false;
        };
        let canonical = digits.bytes().all(|byte| byte.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'));
        canonical && digits.parse().is_ok_and(|index: u64| index < self.count)
    }
}

impl<'a> Parser<'a> {
    /// Returns the meaning of a name here.
    pub(super) fn lookup(&mut self, name: &'a str) -> Option<Name> {
        match self.local.lookup(name) {
            Some(meaning) => Some(meaning),
            None => self
                .globals
                .names
                .get(name)
                .map(|&symbol| Name::Symbol(symbol)),
        }
    }

    /// The variable of a name that the body and the module lack.
    pub(super) fn undeclared(&mut self, name: &'a str, begin: usize) -> Result<Symbol> {
        if self.undeclared == Undeclared::Refused || name.starts_with('%') {
            return Err(Fail::at(begin, format!("`{name}` is not declared")));
        }
        let symbol = Symbol::Module(self.module.variables.len() as u32);
        self.module.variables.push(Variable {
            name: name.to_owned(),
            space: Space::Generic,
            linkage: Linkage::External,
            ty: Type::B8,
            vector: 1,
            dimensions: vec![0],
            bytes: 0,
            alignment: 1,
            initial: None,
            managed: false,
            line: self.line,
        });
        self.globals.names.insert(name, symbol);
        Ok(symbol)
    }

    /// The function of such a name.
    pub(super) fn undeclared_function(
        &mut self,
        name: &'a str,
        begin: usize,
    ) -> Result<FunctionId> {
        if self.undeclared == Undeclared::Refused {
            return Err(Fail::at(begin, format!("no function `{name}` is declared")));
        }
        let id = FunctionId(self.module.functions.len() as u32);
        self.module.functions.push(Function {
            name: name.to_owned(),
            kind: FunctionKind::Device,
            linkage: Linkage::External,
            returns: Vec::new(),
            parameters: Vec::new(),
            // What it takes is not known.
            variadic: true,
            directives: Directives::default(),
            body: None,
            line: self.line,
        });
        self.globals.names.insert(name, Symbol::Function(id));
        Ok(id)
    }
}
