//! Names of expressions, with members and elements behind them.

use crate::dwarf::Held;
use crate::expression::Expression;
use crate::number::Type;
use crate::object::{Names, Object, Shape};

/// A name, and what comes behind it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// A member, or a type that the bits are taken for.
    Member(String),
    Element(Expression),
}

/// Memory, whose elements are named by their addresses.
const MEMORY: &str = "mem";

impl Path {
    /// An element of what it names.
    pub(crate) fn element(&self, index: Expression) -> Path {
        let mut path = self.clone();
        path.steps.push(Step::Element(index));
        path
    }

    /// The object that it names.
    ///
    /// # Errors
    /// Nothing, or it is nowhere.
    pub(crate) fn object(&self, names: &dyn Names) -> Result<Object, String> {
        let (mut object, steps) = self.begin(names)?;
        let mut name = self.name.clone();
        for (at, step) in steps.iter().enumerate() {
            object = match step {
                Step::Element(index) => object.element(index.index(names)?, &name, names)?,
                Step::Member(member) => {
                    let has_index = matches!(steps.get(at + 1), Some(Step::Element(_)));
                    match (object.member(member, names)?, Type::of_name(member)) {
                        (Some(found), _) => found,
                        (None, Some(ty)) if has_index => object.cast_elements(ty, &name, names)?,
                        (None, Some(ty)) => object.cast(ty),
                        (None, None) => return Err(format!("`{name}` has no member `{member}`")),
                    }
                }
            };
            name.push_str(&step.text());
        }
        Ok(object)
    }

    /// The object of the name, and the steps behind it. The names of special registers and of parts of vectors have a dot.
    fn begin(&self, names: &dyn Names) -> Result<(Object, &[Step]), String> {
        if let Some((Step::Member(member), rest)) = self.steps.split_first()
            && let Some(object) = names.object(&format!("{}.{member}", self.name))
        {
            return Ok((object?, rest));
        }
        match names.object(&self.name) {
            Some(object) => Ok((object?, &self.steps)),
            None if self.name == MEMORY => self.memory(names),
            None => Err(format!("nothing is called `{}` here", self.name)),
        }
    }

    fn memory(&self, names: &dyn Names) -> Result<(Object, &[Step]), String> {
        let ty = match self.steps.first() {
            Some(Step::Member(name)) => Type::of_name(name),
            _ => None,
        };
        let rest = &self.steps[usize::from(ty.is_some())..];
        let Some((Step::Element(address), rest)) = rest.split_first() else {
            return Err("expected an address, such as mem.u32[0x7f00]".to_owned());
        };
        let address = address.index(names)?;
        let far = |_| format!("element {address} lies at no address");
        let object = Object {
            ty: Shape::Number(ty.unwrap_or(Type::U8)),
            held: Held::Memory(u64::try_from(address).map_err(far)?),
        };
        Ok((object, rest))
    }

    /// Its text, without the indices.
    pub(crate) fn text(&self) -> String {
        let steps = self.steps.iter().map(Step::text);
        self.name.clone() + &steps.collect::<String>()
    }
}

impl Step {
    fn text(&self) -> String {
        match self {
            Step::Member(member) => format!(".{member}"),
            Step::Element(_) => "[..]".to_owned(),
        }
    }
}
