//! Functions: what stands before their body.

use super::declaration::Kind;
use super::lexer::Token;
use super::scope::{Local, Name};
use super::{Fail, Parser, Result};
use crate::{
    Directives, Function, FunctionId, FunctionKind, Linkage, Parameter, ParameterStorage, Symbol,
};

/// Parameters or returned values in parentheses.
#[derive(Default)]
pub(super) struct Parameters {
    pub(super) list: Vec<Parameter>,
    pub(super) variadic: bool,
}

/// A list of parameters and the names of those that have one.
type Named<'a> = (Parameters, Vec<Option<Spot<'a>>>);

/// A name and where it stands.
type Spot<'a> = (&'a str, usize);

impl<'a> Parser<'a> {
    /// `(returns) name (parameters) directives body`; `.func` or `.entry` is taken.
    pub(super) fn function(&mut self, kind: FunctionKind, linkage: Linkage) -> Result<()> {
        let mut directives = Directives::default();
        self.directives(&mut directives)?;
        let (returns, return_names) = self.optional_parameters()?;
        let (line, begin) = (self.line, self.begin);
        let name = self.word("the name of a function")?;
        let (parameters, names) = self.optional_parameters()?;
        let directives_at = self.end;
        self.directives(&mut directives)?;
        let function = Function {
            name: name.to_owned(),
            kind,
            linkage,
            returns: returns.list,
            parameters: parameters.list,
            variadic: parameters.variadic,
            directives,
            body: None,
            line,
        };
        let defined = self.token == Token::Sign(b'{');
        // nvopencc wrote prototypes without a semicolon, and `ptxas` takes them.
        if !defined && !self.eat(b';')? && !self.at_next_declaration() {
            return Err(self.expected(&format!("`;` or the body of `{name}`")));
        }
        let id = self.declare_function(name, begin, function, defined)?;
        self.note_function(id, directives_at);
        if !defined {
            return Ok(());
        }
        self.local = Local::of(id);
        self.local.open_scope();
        self.declare_parameters(id, &return_names, Symbol::Return)?;
        self.declare_parameters(id, &names, Symbol::Parameter)?;
        self.body(id)
    }

    fn declare_function(
        &mut self,
        name: &'a str,
        begin: usize,
        function: Function,
        defined: bool,
    ) -> Result<FunctionId> {
        let twice = || Fail::at(begin, format!("`{name}` is declared twice"));
        match self.globals.names.get(name) {
            Some(&Symbol::Function(id)) => {
                let known = &mut self.module.functions[id.0 as usize];
                if defined && known.body.is_some() {
                    return Err(twice());
                }
                if defined {
                    *known = function;
                }
                Ok(id)
            }
            Some(_) => Err(twice()),
            None => {
                let id = FunctionId(self.module.functions.len() as u32);
                self.globals.names.insert(name, Symbol::Function(id));
                self.module.functions.push(function);
                Ok(id)
            }
        }
    }

    /// Makes parameters known in the body, and gives registers to those that are registers.
    fn declare_parameters(
        &mut self,
        id: FunctionId,
        names: &[Option<Spot<'a>>],
        symbol: fn(u32) -> Symbol,
    ) -> Result<()> {
        for (index, name) in names.iter().enumerate() {
            let Some((name, begin)) = *name else { continue };
            let function = &mut self.module.functions[id.0 as usize];
            let is_return = matches!(symbol(0), Symbol::Return(_));
            let list = if is_return {
                &mut function.returns
            } else {
                &mut function.parameters
            };
            let parameter = &mut list[index];
            let meaning = match &mut parameter.storage {
                ParameterStorage::Memory => Name::Symbol(symbol(index as u32)),
                ParameterStorage::Register(register) => {
                    let meaning = self.local.register(
                        name,
                        parameter.ty,
                        u8::try_from(parameter.elements.unwrap_or(1)).unwrap_or(1),
                    );
                    if let Name::Register(first) | Name::Vector(first, _) = meaning {
                        *register = Some(first);
                    }
                    meaning
                }
            };
            if !self.local.declare(name, meaning) {
                return Err(Fail::at(begin, format!("`{name}` is declared twice")));
            }
        }
        Ok(())
    }

    fn optional_parameters(&mut self) -> Result<Named<'a>> {
        if self.token == Token::Sign(b'(') {
            self.parameters()
        } else {
            Ok(Default::default())
        }
    }

    /// `(.param .u64 x, .param .align 4 .b8 y[12])`.
    pub(super) fn parameters(&mut self) -> Result<Named<'a>> {
        self.expect(b'(')?;
        let mut parameters = Parameters::default();
        let mut names = Vec::new();
        if self.eat(b')')? {
            return Ok((parameters, names));
        }
        loop {
            let (parameter, name, open) = self.parameter()?;
            if open {
                parameters.variadic = true;
                self.expect(b')')?;
                return Ok((parameters, names));
            }
            parameters.list.push(parameter);
            names.push(name);
            if !self.eat(b',')? {
                self.expect(b')')?;
                return Ok((parameters, names));
            }
        }
    }

    /// One of them, its name where it has one, and whether it is `name[]`.
    fn parameter(&mut self) -> Result<(Parameter, Option<Spot<'a>>, bool)> {
        let storage = self.storage()?;
        let Kind {
            ty,
            vector,
            alignment,
            pointer,
            ..
        } = self.kind()?;
        let vector = u64::from(vector);
        let begin = self.begin;
        let name = match self.token {
            Token::Word(name) => {
                self.advance()?;
                name
            }
            _ => "",
        };
        let (dimensions, open) = self.dimensions()?;
        let element = u64::from(ty.bytes()) * vector;
        let elements = dimensions
            .iter()
            .try_fold(vector, |product, &count| product.checked_mul(count));
        let bytes = elements.and_then(|elements| elements.checked_mul(u64::from(ty.bytes())));
        let (Some(elements), Some(bytes)) = (elements, bytes) else {
            return Err(Fail::at(begin, format!("parameter `{name}` is too large")));
        };
        let parameter = Parameter {
            name: name.to_owned(),
            ty,
            elements: (!dimensions.is_empty() || vector > 1).then_some(elements),
            bytes,
            alignment: alignment.unwrap_or(element as u32),
            storage,
            pointer,
        };
        Ok((
            parameter,
            (!matches!(name, "" | "_")).then_some((name, begin)),
            open,
        ))
    }

    /// `.param` or `.reg`.
    fn storage(&mut self) -> Result<ParameterStorage> {
        let storage = match self.token {
            Token::Dotted("param") => ParameterStorage::Memory,
            Token::Dotted("reg") => ParameterStorage::Register(None),
            _ => return Err(self.expected("`.param` or `.reg`")),
        };
        self.advance()?;
        Ok(storage)
    }

    /// `.maxntid 256, 1, 1` and the like.
    fn directives(&mut self, directives: &mut Directives) -> Result<()> {
        while let Token::Dotted(name) = self.token {
            if self.at_next_declaration() {
                return Ok(());
            }
            if name == "loc" {
                return Err(self.expected("the body of a function"));
            }
            self.advance()?;
            match name {
                "maxntid" => directives.maxntid = Some(self.three()?),
                "reqntid" => directives.reqntid = Some(self.three()?),
                "reqnctapercluster" => directives.reqnctapercluster = Some(self.three()?),
                "minnctapersm" => {
                    directives.minnctapersm = Some(self.count32("a number of blocks")?)
                }
                "maxnctapersm" => drop(self.count32("a number of blocks")?),
                "maxnreg" => directives.maxnreg = Some(self.count32("a number of registers")?),
                "maxclusterrank" => {
                    directives.maxclusterrank = Some(self.count32("a number of blocks")?)
                }
                "abi_preserve" => {
                    directives.abi_preserve = Some(self.count32("a number of registers")?)
                }
                "abi_preserve_control" => {
                    directives.abi_preserve_control = Some(self.count32("a number of registers")?)
                }
                "explicitcluster" => directives.explicitcluster = true,
                "blocksareclusters" => directives.blocksareclusters = true,
                "noreturn" => directives.noreturn = true,
                "attribute" => drop(self.attribute()?),
                "pragma" => directives.pragmas.extend(self.pragma()?),
                _ => {
                    return Err(Fail::at(
                        self.end - name.len() - 1,
                        format!("unknown directive `.{name}`"),
                    ));
                }
            }
        }
        Ok(())
    }

    fn three(&mut self) -> Result<[u32; 3]> {
        let mut sizes = [1; 3];
        for (index, size) in sizes.iter_mut().enumerate() {
            if index > 0 && !self.eat(b',')? {
                break;
            }
            *size = self.count32("a size")?;
        }
        Ok(sizes)
    }
}
