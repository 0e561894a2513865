//! Expansion of `#[derive(SafeValue)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error};

pub(crate) fn derive(item: TokenStream) -> syn::Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Data::Struct(structure) = &item.data else {
        return Err(Error::new(
            item.ident.span(),
            "a struct is laid out alike on host and GPU if its fields are: of an enum without fields, derive \
             `bytemuck::NoUninit`",
        ));
    };
    if !is_laid_out_as_c(&item)? {
        return Err(Error::new(
            item.ident.span(),
            "without `#[repr(C)]` the host's compiler and the GPU's may each order the fields in its own way",
        ));
    }
    let name = &item.ident;
    let mut generics = item.generics.clone();
    let clauses = generics.make_where_clause();
    for field in &structure.fields {
        let ty = &field.ty;
        let clause = quote_spanned! { ty.span() => #ty: ::cuda_std::parameter::SafeValue };
        clauses.predicates.push(syn::parse2(clause)?);
    }
    let (parameters, arguments, clauses) = generics.split_for_impl();
    Ok(quote! {
        // SAFETY: its layout is C's, of fields that are all such values.
        unsafe impl #parameters ::cuda_std::parameter::SafeValue for #name #arguments #clauses {}
    })
}

fn is_laid_out_as_c(item: &DeriveInput) -> syn::Result<bool> {
    let mut is_known = false;
    for attribute in item.attrs.iter().filter(|it| it.path().is_ident("repr")) {
        attribute.parse_nested_meta(|representation| {
            is_known |= representation.path.is_ident("C");
            is_known |= representation.path.is_ident("transparent");
            // `align(16)`.
            if representation.input.peek(syn::token::Paren) {
                let number;
                syn::parenthesized!(number in representation.input);
                number.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    Ok(is_known)
}
