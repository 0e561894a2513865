//! Lifetimes in the types of a kernel's parameters. A launch lends everything for as long as it runs,
//! so whatever the author calls them, they are that one.

use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Lifetime, Type, TypeFnPtr, TypePath, TypeReference, parse_quote};

/// Types of the language, which have no lifetimes.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
    "u32", "u64", "u128", "usize",
];

/// The type with `'_` in place of the names that the kernel's author gave.
pub(crate) fn with_elided(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Elide.visit_type_mut(&mut ty);
    ty
}

/// Whether the type has lifetimes, or may have some that are not written, as `Scene` for `Scene<'_>`.
pub(crate) fn has_lifetimes(ty: &Type) -> bool {
    let mut search = Search(false);
    search.visit_type(ty);
    search.0
}

struct Elide;

impl VisitMut for Elide {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident != "static" {
            *lifetime = parse_quote!('_);
        }
    }

    /// Its lifetimes are its own.
    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}
}

struct Search(bool);

impl Visit<'_> for Search {
    fn visit_type_reference(&mut self, _: &TypeReference) {
        self.0 = true;
    }

    fn visit_type_path(&mut self, path: &TypePath) {
        let last = path.path.segments.last();
        let is_primitive = |name: &&str| last.is_some_and(|last| last.ident == *name);
        self.0 |= !PRIMITIVES.iter().any(is_primitive);
    }
}
