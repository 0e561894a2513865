//! Lifetimes in the types of a kernel's parameters. A launch lends everything for as long as it runs,
//! so whatever the author calls them, they are that one.

use proc_macro2::Span;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Generics, Lifetime, ParenthesizedGenericArguments, Type, TypeFnPtr, TypePath, TypeReference,
    parse_quote,
};

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

/// The type with the lifetime of the launch where the kernel's author wrote none.
pub(crate) fn with_launch(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Launch.visit_type_mut(&mut ty);
    ty
}

/// The lifetime of a launch, in the kernel's PTX entry.
pub(crate) fn launch() -> Lifetime {
    Lifetime::new("'__launch", Span::mixed_site())
}

/// The entry's lifetimes: the author's, all of which are the launch's, and that one.
pub(crate) fn of_entry(generics: &Generics) -> Generics {
    let launch = launch();
    let mut all = generics.clone();
    let named: Vec<Lifetime> = generics
        .lifetimes()
        .map(|named| named.lifetime.clone())
        .collect();
    all.params.insert(0, parse_quote!(#launch));
    if !named.is_empty() {
        let clauses = &mut all.make_where_clause().predicates;
        for named in named {
            clauses.push(parse_quote!(#named: #launch));
            clauses.push(parse_quote!(#launch: #named));
        }
    }
    all
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

struct Launch;

impl VisitMut for Launch {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = launch();
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime.get_or_insert_with(launch);
        visit_mut::visit_type_reference_mut(self, reference);
    }

    /// Its lifetimes are its own.
    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}

    /// As are those of `Fn(&T)`.
    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {
    }
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
