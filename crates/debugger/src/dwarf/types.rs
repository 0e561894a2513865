//! Types of the source.

use std::collections::HashMap;

use gimli::{DwAte, UnitOffset};

use super::dies::{Die, Dies};
use crate::number::Type as NumberType;

/// A type, by its place among the module's.
pub(crate) type TypeId = usize;

/// The types of a module's variables.
#[derive(Default)]
pub(crate) struct Types(Vec<SourceType>);

/// A type of the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceType {
    /// As the compiler writes it; empty where it has no name of its own.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
}

/// The kinds of types.
#[derive(Clone, Debug, Default)]
pub(crate) enum Kind {
    /// Something that is not known here.
    #[default]
    Unknown,
    Number(NumberType),
    /// Another name of a type.
    Alias(TypeId),
    /// None: to nothing that is known.
    Pointer(Option<TypeId>),
    Struct(Vec<Member>),
    /// Rust's enumeration with data: where the tag is, and a member for each.
    Variants(Tag, Vec<(Option<u64>, Member)>),
    Array(TypeId, u64),
    Enumeration(NumberType, Vec<(u64, String)>),
}

/// A member of a structure.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) offset: u64,
    pub(crate) ty: TypeId,
}

/// The number that tells variants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// Names of a type that stand for another one in turn, at most.
const MOST_ALIASES: usize = 64;

impl Types {
    /// A type, behind its other names.
    pub(crate) fn get(&self, mut id: TypeId) -> &SourceType {
        for _ in 0..MOST_ALIASES {
            match self.0[id].kind {
                Kind::Alias(of) => id = of,
                _ => break,
            }
        }
        &self.0[id]
    }

    /// How it is shown.
    pub(crate) fn name(&self, id: TypeId) -> String {
        self.name_within(id, MOST_ALIASES)
    }

    fn name_within(&self, id: TypeId, depth: usize) -> String {
        let ty = &self.0[id];
        if !ty.name.is_empty() || depth == 0 {
            return ty.name.clone();
        }
        match ty.kind {
            Kind::Alias(of) => self.name_within(of, depth - 1),
            Kind::Pointer(Some(of)) => format!("{}*", self.name_within(of, depth - 1)),
            Kind::Pointer(None) => "void*".to_owned(),
            Kind::Array(of, count) => format!("{}[{count}]", self.name_within(of, depth - 1)),
            _ => String::new(),
        }
    }

    /// Its bytes; none where it has so many that there is no such number.
    pub(crate) fn bytes(&self, id: TypeId) -> Option<u64> {
        let (mut id, mut count) = (id, 1_u64);
        for _ in 0..MOST_ALIASES {
            let ty = self.get(id);
            match ty.kind {
                Kind::Array(of, elements) => {
                    count = count.checked_mul(elements)?;
                    id = of;
                }
                Kind::Pointer(_) => return count.checked_mul(8),
                _ => return count.checked_mul(ty.bytes),
            }
        }
        None
    }
}

/// Reads types, those that are asked for and all that they are made of.
pub(super) struct TypeReader<'r, 'd> {
    dies: &'r Dies<'d>,
    types: Types,
    known: HashMap<(usize, usize), TypeId>,
    /// Those that are to be read.
    pending: Vec<(TypeId, usize, UnitOffset)>,
}

impl<'r, 'd> TypeReader<'r, 'd> {
    pub(super) fn new(dies: &'r Dies<'d>) -> TypeReader<'r, 'd> {
        TypeReader {
            dies,
            types: Types::default(),
            known: HashMap::new(),
            pending: Vec::new(),
        }
    }

    /// The type that an entry names.
    pub(super) fn of(&mut self, die: &Die<'d>) -> Option<TypeId> {
        let (unit, offset) = self.dies.referred(die, gimli::DW_AT_type)?;
        Some(*self.known.entry((unit, offset.0)).or_insert_with(|| {
            let id = self.types.0.len();
            self.types.0.push(SourceType::default());
            self.pending.push((id, unit, offset));
            id
        }))
    }

    /// All of them, read to the last.
    pub(super) fn end(mut self) -> Types {
        // One after another, and not one within another: a text may nest them as deep as it likes.
        while let Some((id, unit, offset)) = self.pending.pop() {
            if let Some(ty) = self.read(unit, offset) {
                self.types.0[id] = ty;
            }
        }
        self.types
    }

    fn read(&mut self, unit: usize, offset: UnitOffset) -> Option<SourceType> {
        let dies = self.dies;
        let die = dies.at(unit, offset)?;
        let bytes = dies.number(&die, gimli::DW_AT_byte_size).unwrap_or(0);
        let kind = match die.entry.tag() {
            gimli::DW_TAG_base_type => {
                number(&die, dies, bytes).map_or(Kind::Unknown, Kind::Number)
            }
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => Kind::Pointer(self.of(&die)),
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type => self.of(&die).map_or(Kind::Unknown, Kind::Alias),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                self.structure(unit, offset)
            }
            gimli::DW_TAG_array_type => self.array(unit, offset, &die)?,
            gimli::DW_TAG_enumeration_type => self.enumeration(unit, offset, bytes),
            _ => Kind::Unknown,
        };
        Some(SourceType {
            name: dies.text(&die, gimli::DW_AT_name).unwrap_or_default(),
            bytes,
            kind,
        })
    }

    fn member(&mut self, die: &Die<'d>) -> Option<Member> {
        let dies = self.dies;
        Some(Member {
            name: dies.text(die, gimli::DW_AT_name).unwrap_or_default(),
            offset: dies.member_offset(die),
            ty: self.of(die)?,
        })
    }

    /// The tag of a part with variants.
    fn tag(&self, die: &Die<'d>) -> Option<Tag> {
        let dies = self.dies;
        let (unit, offset) = dies.referred(die, gimli::DW_AT_discr)?;
        let tag = dies.at(unit, offset)?;
        let (unit, ty) = dies.referred(&tag, gimli::DW_AT_type)?;
        let bytes = dies.number(&dies.at(unit, ty)?, gimli::DW_AT_byte_size)?;
        Some(Tag {
            offset: dies.member_offset(&tag),
            bytes: bytes.min(8),
        })
    }

    fn structure(&mut self, unit: usize, offset: UnitOffset) -> Kind {
        let dies = self.dies;
        let (mut members, mut variants) = (Vec::new(), Vec::new());
        // An enumeration of one variant has no tag.
        let mut tag = Tag {
            offset: 0,
            bytes: 0,
        };
        // The variant that entries belong to, by the value of its tag.
        let mut variant = None;
        for (depth, die) in dies.within(unit, offset) {
            if depth <= 2 {
                let is_variant = depth == 2 && die.entry.tag() == gimli::DW_TAG_variant;
                variant = is_variant.then(|| dies.number(&die, gimli::DW_AT_discr_value));
            }
            match (die.entry.tag(), depth, variant) {
                (gimli::DW_TAG_member, 1, _) => members.extend(self.member(&die)),
                (gimli::DW_TAG_variant_part, 1, _) => tag = self.tag(&die).unwrap_or(tag),
                (gimli::DW_TAG_member, 3, Some(value)) => {
                    variants.extend(self.member(&die).map(|it| (value, it)));
                }
                _ => {}
            }
        }
        match variants.is_empty() {
            true => Kind::Struct(members),
            false => Kind::Variants(tag, variants),
        }
    }

    fn array(&mut self, unit: usize, offset: UnitOffset, die: &Die<'d>) -> Option<Kind> {
        let dies = self.dies;
        let mut of = self.of(die)?;
        let mut counts = Vec::new();
        for (depth, die) in dies.within(unit, offset) {
            if depth == 1 && die.entry.tag() == gimli::DW_TAG_subrange_type {
                let last = || dies.number(&die, gimli::DW_AT_upper_bound)?.checked_add(1);
                let count = dies.number(&die, gimli::DW_AT_count).or_else(last);
                counts.push(count.unwrap_or(0));
            }
        }
        let outermost = counts.first().copied().unwrap_or(0);
        for &count in counts.iter().skip(1).rev() {
            self.types.0.push(SourceType {
                kind: Kind::Array(of, count),
                ..SourceType::default()
            });
            of = self.types.0.len() - 1;
        }
        Some(Kind::Array(of, outermost))
    }

    fn enumeration(&mut self, unit: usize, offset: UnitOffset, bytes: u64) -> Kind {
        let dies = self.dies;
        let of_names = |(_, die): (isize, Die<'d>)| {
            let value = dies.number(&die, gimli::DW_AT_const_value)?;
            Some((value, dies.text(&die, gimli::DW_AT_name)?))
        };
        let names = dies.within(unit, offset).filter_map(of_names).collect();
        let ty = match bytes {
            1 => NumberType::U8,
            2 => NumberType::U16,
            8 => NumberType::U64,
            _ => NumberType::S32,
        };
        Kind::Enumeration(ty, names)
    }
}

fn number<'d>(die: &Die<'d>, dies: &Dies<'d>, bytes: u64) -> Option<NumberType> {
    let encoding = dies.number(die, gimli::DW_AT_encoding)?;
    let encoding = DwAte(u8::try_from(encoding).ok()?);
    let is_signed = matches!(encoding, gimli::DW_ATE_signed | gimli::DW_ATE_signed_char);
    Some(match (encoding, bytes, is_signed) {
        (gimli::DW_ATE_boolean, ..) => NumberType::Pred,
        (gimli::DW_ATE_float, 2, _) => {
            let name = dies.text(die, gimli::DW_AT_name);
            match name.is_some_and(|it| it.contains("bf")) {
                true => NumberType::Bf16,
                false => NumberType::F16,
            }
        }
        (gimli::DW_ATE_float, 4, _) => NumberType::F32,
        (gimli::DW_ATE_float, 8, _) => NumberType::F64,
        (gimli::DW_ATE_float, ..) => return None,
        (_, 1, true) => NumberType::S8,
        (_, 2, true) => NumberType::S16,
        (_, 4, true) => NumberType::S32,
        (_, 8, true) => NumberType::S64,
        (_, 1, false) => NumberType::U8,
        (_, 2, false) => NumberType::U16,
        (_, 4, false) => NumberType::U32,
        (_, 8, false) => NumberType::U64,
        (_, 16, _) => NumberType::U128,
        _ => return None,
    })
}
