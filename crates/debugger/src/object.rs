//! Objects, for which names of an expression stand: values of some type, in memory or not.

use crate::dwarf::{Held, Kind, Member, TypeId, Types};
use crate::number::{Number, Type, Value};

/// The meanings of the names of an expression.
pub(crate) trait Names {
    /// The object of this name. An error: it has no value here.
    fn object(&self, name: &str) -> Option<Result<Object, String>>;

    /// The bytes at an address.
    fn read(&self, address: u64, bytes: u64) -> Option<Vec<u8>>;

    /// The types of the source.
    fn types(&self) -> &Types;
}

/// A value of some type, or memory of it.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) ty: Shape,
    pub(crate) held: Held,
}

/// The type of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A number: of a register or a parameter, or as an expression says.
    Number(Type),
    /// So many numbers one after another.
    Numbers(Type, u64),
    /// A type of the source.
    Source(TypeId),
}

/// Members and elements of what is shown at once, at most.
const MOST_PARTS: usize = 32;
/// How deep structures are shown in each other.
const DEPTH: u32 = 4;
/// The members by which slices of Rust and arrays of Numba point to their elements.
const ELEMENTS: [&str; 2] = ["data_ptr", "data"];
/// The text for a value that is nowhere.
pub(crate) const NOWHERE: &str = "<optimized out>";

impl Object {
    /// A number with its bits.
    pub(crate) fn number(bits: u128, ty: Type) -> Object {
        Object {
            ty: Shape::Number(ty),
            held: Held::Bytes(bits.to_le_bytes().map(Some).to_vec()),
        }
    }

    /// Numbers at an address.
    pub(crate) fn numbers(address: u64, ty: Type, count: u64) -> Object {
        Object {
            ty: Shape::Numbers(ty, count),
            held: Held::Memory(address),
        }
    }

    /// Its bytes; none where there is no such number.
    pub(crate) fn bytes(&self, types: &Types) -> Option<u64> {
        match self.ty {
            Shape::Number(ty) => Some(ty.bytes().into()),
            Shape::Numbers(ty, count) => count.checked_mul(ty.bytes().into()),
            Shape::Source(id) => types.bytes(id),
        }
    }

    /// The name of its type.
    pub(crate) fn type_name(&self, types: &Types) -> String {
        match self.ty {
            Shape::Number(ty) => ty.name().to_owned(),
            Shape::Numbers(ty, count) => format!("[{}; {count}]", ty.name()),
            Shape::Source(id) => types.name(id),
        }
    }

    /// How many elements it has, where it is an array.
    pub(crate) fn elements(&self, types: &Types) -> u64 {
        match self.ty {
            Shape::Numbers(_, count) => count,
            Shape::Number(_) => 0,
            Shape::Source(id) => match types.get(id).kind {
                Kind::Array(_, count) => count,
                _ => 0,
            },
        }
    }

    /// Its members, where it is a structure: of one with variants the one that it is.
    pub(crate) fn members<'t>(&self, names: &'t dyn Names) -> &'t [Member] {
        let Shape::Source(id) = self.ty else {
            return &[];
        };
        match &names.types().get(id).kind {
            Kind::Struct(members) => members,
            Kind::Variants(tag, variants) => {
                let held = self.part(tag.offset, Shape::Number(Type::U64));
                let Ok(value) = held.read(tag.bytes, names) else {
                    return &[];
                };
                let value = Some(from_le(&value) as u64);
                let other = || variants.iter().find(|it| it.0.is_none());
                let found = variants.iter().find(|it| it.0 == value).or_else(other);
                found.map_or(&[], |it| std::slice::from_ref(&it.1))
            }
            _ => &[],
        }
    }

    /// Some of it.
    fn part(&self, offset: u64, ty: Shape) -> Object {
        let held = match &self.held {
            Held::Memory(address) => Held::Memory(address.wrapping_add(offset)),
            Held::Bytes(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                Held::Bytes(bytes.get(start..).unwrap_or_default().to_vec())
            }
        };
        Object { ty, held }
    }

    fn read(&self, bytes: u64, names: &dyn Names) -> Result<Vec<u8>, String> {
        match &self.held {
            Held::Memory(address) => {
                let read = names.read(*address, bytes);
                let missing =
                    || format!("{bytes} bytes at {address:#x} are not memory of the launch");
                read.ok_or_else(missing)
            }
            Held::Bytes(held) => {
                let held = held.get(..bytes as usize);
                let known: Option<Vec<u8>> = held.and_then(|it| it.iter().copied().collect());
                known.ok_or_else(|| NOWHERE.to_owned())
            }
        }
    }

    /// The type of the number that it is, if it is one.
    fn number_type(&self, types: &Types) -> Option<Type> {
        match self.ty {
            Shape::Number(ty) => Some(ty),
            Shape::Numbers(..) => None,
            Shape::Source(id) => match types.get(id).kind {
                Kind::Number(ty) | Kind::Enumeration(ty, _) => Some(ty),
                Kind::Pointer(_) => Some(Type::U64),
                _ => None,
            },
        }
    }

    /// Its number.
    ///
    /// # Errors
    /// It is none, or cannot be read; `name` is what it is called.
    pub(crate) fn value(&self, name: &str, names: &dyn Names) -> Result<Value, String> {
        let types = names.types();
        let Some(ty) = self.number_type(types) else {
            return Err(match (self.ty, self.elements(types)) {
                (Shape::Numbers(ty, _), count) => format!(
                    "`{name}` has {count} elements of {}: name one, as {name}[0]",
                    ty.name()
                ),
                (_, 1..) => format!("`{name}` is an array: name an element, as {name}[0]"),
                (_, 0) => format!("`{name}` is no number: name a member"),
            });
        };
        let bytes = self.read(ty.bytes().into(), names)?;
        Ok(ty.value(from_le(&bytes)))
    }

    /// A member by its name; of a pointer, one of what it points to.
    pub(crate) fn member(&self, name: &str, names: &dyn Names) -> Result<Option<Object>, String> {
        let target = self.target(names)?;
        let of = target.as_ref().unwrap_or(self);
        let mut members = of.members(names).iter();
        let found = members.find(|it| it.name == name);
        Ok(found.map(|it| of.part(it.offset, Shape::Source(it.ty))))
    }

    /// The object that a pointer points to, where its type says which.
    fn target(&self, names: &dyn Names) -> Result<Option<Object>, String> {
        let Shape::Source(id) = self.ty else {
            return Ok(None);
        };
        let Kind::Pointer(Some(of)) = names.types().get(id).kind else {
            return Ok(None);
        };
        let address = from_le(&self.read(8, names)?) as u64;
        Ok(Some(Object {
            ty: Shape::Source(of),
            held: Held::Memory(address),
        }))
    }

    /// An element of an array, of a slice, or of the memory that a pointer points to.
    pub(crate) fn element(
        &self,
        index: i128,
        name: &str,
        names: &dyn Names,
    ) -> Result<Object, String> {
        let far = || format!("element {index} of `{name}` lies at no address");
        let types = names.types();
        let (first, count) = match self.ty {
            Shape::Numbers(ty, _) => (self.part(0, Shape::Number(ty)), None),
            Shape::Source(id) => match types.get(id).kind {
                Kind::Array(of, count) => (self.part(0, Shape::Source(of)), Some(count)),
                Kind::Pointer(Some(_)) => (self.target(names)?.ok_or_else(far)?, None),
                _ => {
                    let mut pointers = ELEMENTS.iter().map(|it| self.member(it, names));
                    let pointer = pointers.find_map(Result::transpose);
                    let none = || Err(format!("`{name}` has no elements"));
                    let pointer = pointer.unwrap_or_else(none)?;
                    (pointer.target(names)?.ok_or_else(far)?, None)
                }
            },
            Shape::Number(_) => {
                return Err(format!(
                    "PTX does not say what `{name}` points to: name the type, as {name}.f32[0]"
                ));
            }
        };
        if let Some(count) = count.filter(|&it| !(0..i128::from(it)).contains(&index)) {
            return Err(format!("element {index} of `{name}`, which has {count}"));
        }
        let bytes = i128::from(first.bytes(types).ok_or_else(far)?);
        let offset = index.checked_mul(bytes).ok_or_else(far)?;
        match first.held {
            Held::Memory(start) => {
                let address = i128::from(start).checked_add(offset).ok_or_else(far)?;
                let address = u64::try_from(address).map_err(|_| far())?;
                let held = Held::Memory(address);
                Ok(Object { held, ..first })
            }
            Held::Bytes(_) => Ok(first.part(u64::try_from(offset).map_err(|_| far())?, first.ty)),
        }
    }

    /// The same bits as a number of another type.
    pub(crate) fn cast(&self, ty: Type) -> Object {
        Object {
            ty: Shape::Number(ty),
            held: self.held.clone(),
        }
    }

    /// Numbers of a type: the array's own memory, or that which its bits point to.
    pub(crate) fn cast_elements(
        &self,
        ty: Type,
        name: &str,
        names: &dyn Names,
    ) -> Result<Object, String> {
        let types = names.types();
        let is_array = self.number_type(types).is_none();
        if is_array {
            let count = self.bytes(types).unwrap_or(0) / u64::from(ty.bytes());
            return Ok(self.part(0, Shape::Numbers(ty, count)));
        }
        match self.value(name, names)?.number {
            Number::Integer(address) => Ok(Object::numbers(address as u64, ty, u64::MAX)),
            Number::Float(it) => Err(format!("`{name}` is {it}, and no address")),
        }
    }

    /// It as text.
    ///
    /// # Errors
    /// It is one number, which cannot be read.
    pub(crate) fn shown(&self, name: &str, names: &dyn Names) -> Result<String, String> {
        match self.number_type(names.types()) {
            Some(_) => self.number_shown(name, names),
            None => Ok(self.parts_shown(names, DEPTH)),
        }
    }

    fn number_shown(&self, name: &str, names: &dyn Names) -> Result<String, String> {
        let value = self.value(name, names)?;
        let kind = match self.ty {
            Shape::Source(id) => &names.types().get(id).kind,
            _ => &Kind::Unknown,
        };
        Ok(match (kind, value.number) {
            (Kind::Pointer(_), Number::Integer(it)) => format!("{it:#x}"),
            (Kind::Enumeration(_, all), Number::Integer(it)) => {
                let mut all = all.iter();
                let found = all.find(|named| i128::from(named.0) == it);
                found.map_or_else(|| it.to_string(), |named| named.1.clone())
            }
            _ => value.to_string(),
        })
    }

    fn parts_shown(&self, names: &dyn Names, depth: u32) -> String {
        let types = names.types();
        if self.number_type(types).is_some() {
            let unknown = match self.held {
                Held::Bytes(_) => NOWHERE,
                Held::Memory(_) => "<no memory>",
            };
            let shown = self.number_shown("", names);
            return shown.unwrap_or_else(|_| unknown.to_owned());
        }
        if depth == 0 {
            return "{..}".to_owned();
        }
        let (members, elements) = (self.members(names), self.elements(types));
        let more = |all: usize| if all > MOST_PARTS { ", .." } else { "" };
        if !members.is_empty() {
            let shown = members.iter().take(MOST_PARTS).map(|it| {
                let part = self.part(it.offset, Shape::Source(it.ty));
                format!("{}: {}", it.name, part.parts_shown(names, depth - 1))
            });
            let shown: Vec<String> = shown.collect();
            return format!("{{{}{}}}", shown.join(", "), more(members.len()));
        }
        if elements > 0 {
            let shown = (0..elements.min(MOST_PARTS as u64)).map(|index| {
                let element = self.element(index.into(), "", names);
                element.map_or_else(|why| why, |it| it.parts_shown(names, depth - 1))
            });
            let shown: Vec<String> = shown.collect();
            return format!("[{}{}]", shown.join(", "), more(elements as usize));
        }
        match self.ty {
            // Which variant it is would have to be known.
            Shape::Source(id) if matches!(types.get(id).kind, Kind::Variants(..)) => NOWHERE,
            _ => "{}",
        }
        .to_owned()
    }
}

/// The number of at most 16 bytes.
fn from_le(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    let count = bytes.len().min(16);
    all[..count].copy_from_slice(&bytes[..count]);
    u128::from_le_bytes(all)
}
