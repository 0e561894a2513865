//! Expansion of `#[derive(SafeValue)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Error, Fields, Generics};

pub(crate) fn derive(item: TokenStream) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let representations = representations(&item)?;
    let is = |name: &str| representations.iter().any(|it| it == name);
    let mut generics = item.generics.clone();
    match &item.data {
        Data::Struct(_) if !is("C") && !is("transparent") => {
            return Err(Error::new(
                item.ident.span(),
                "without `#[repr(C)]` the host's compiler and the GPU's may each order the fields in its own way",
            ));
        }
        Data::Struct(structure) => require_of_fields(structure, &mut generics)?,
        Data::Enum(variants) => {
            refuse_fields(variants)?;
            if !INTEGERS.into_iter().any(is) {
                return Err(Error::new(
                    item.ident.span(),
                    "without an integer's representation, such as `#[repr(u32)]`, the host's compiler and the \
                     GPU's may each choose another size",
                ));
            }
        }
        Data::Union(_) => {
            return Err(Error::new(
                item.ident.span(),
                "nothing says which of a union's fields is there: take a struct, or make the kernel an `unsafe fn`",
            ));
        }
    }
    let name = &item.ident;
    let (parameters, arguments, clauses) = generics.split_for_impl();
    Ok(quote! {
        // SAFETY: its layout is C's, of fields that are all such values, or that of an integer.
        unsafe impl #parameters ::cuda_std::parameter::SafeValue for #name #arguments #clauses {}
    })
}

const INTEGERS: [&str; 12] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
];

fn require_of_fields(structure: &DataStruct, generics: &mut Generics) -> syn::Result<()> {
    let clauses = generics.make_where_clause();
    for field in &structure.fields {
        let ty = &field.ty;
        let clause = quote_spanned! { ty.span() => #ty: ::cuda_std::parameter::SafeValue };
        clauses.predicates.push(syn::parse2(clause)?);
    }
    Ok(())
}

fn refuse_fields(variants: &DataEnum) -> syn::Result<()> {
    let mut variants = variants.variants.iter();
    match variants.find(|variant| !matches!(variant.fields, Fields::Unit)) {
        Some(variant) => Err(Error::new(
            variant.span(),
            "a safe kernel takes an enum without fields: pass beside it what this variant has, or make the \
             kernel an `unsafe fn`",
        )),
        None => Ok(()),
    }
}

/// The names in the type's `#[repr(..)]`.
fn representations(item: &DeriveInput) -> syn::Result<Vec<String>> {
    let mut names = Vec::new();
    for attribute in item.attrs.iter().filter(|it| it.path().is_ident("repr")) {
        attribute.parse_nested_meta(|representation| {
            names.extend(representation.path.get_ident().map(ToString::to_string));
            // `align(16)`.
            if representation.input.peek(syn::token::Paren) {
                let number;
                syn::parenthesized!(number in representation.input);
                number.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    Ok(names)
}
