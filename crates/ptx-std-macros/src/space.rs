//! Expansion of `#[address_space]` and `shared_array!`.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Error, Expr, ForeignItemStatic, Ident, ItemStatic, StaticMutability, Token, Type, parse_quote,
};

pub(crate) fn address_space(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let space: Ident = syn::parse2(attribute)?;
    if let Ok(declared) = syn::parse2::<ForeignItemStatic>(item.clone()) {
        return foreign(&space, &declared);
    }
    let item: ItemStatic = syn::parse2(item)?;
    match space.to_string().as_str() {
        "shared" => Ok(shared(&item)),
        "constant" => Ok(constant(&item)),
        "global" => Ok(quote! { #item }),
        "local" => Err(Error::new(
            space.span(),
            "a static is one for all threads, and local memory is each thread's own: use a `let`",
        )),
        _ => Err(Error::new(
            space.span(),
            "address spaces are shared, global, constant and local",
        )),
    }
}

/// A static that an `extern` block names and others define.
fn foreign(space: &Ident, item: &ForeignItemStatic) -> syn::Result<TokenStream> {
    match space.to_string().as_str() {
        "constant" | "global" => Ok(quote! { #item }),
        "shared" => Err(Error::new(
            space.span(),
            "shared memory of a size that the launch gives is `shared::dynamic_shared_mem`",
        )),
        _ => Err(Error::new(
            space.span(),
            "an extern static lies in global or in constant memory",
        )),
    }
}

fn shared(item: &ItemStatic) -> TokenStream {
    let ItemStatic {
        attrs,
        vis,
        mutability,
        ident,
        ty,
        expr,
        ..
    } = item;
    let site = new_site();
    let safe = matches!(mutability, StaticMutability::None).then(|| safe_static(ty));
    quote! {
        #(#attrs)*
        #vis static #mutability #ident: ::cuda_std::shared::Static<#ty, #site> = {
            #safe
            // Shared memory has no initial value; what was written need only be of the type.
            const _: fn() -> #ty = || #expr;
            // SAFETY: the site is this declaration's own.
            unsafe { ::cuda_std::shared::Static::new() }
        };
    }
}

/// Refuses a static that safe code would read uninitialised.
fn safe_static(ty: &Type) -> TokenStream {
    quote_spanned! { ty.span() =>
        const _: () = {
            const fn read_before_it_is_written<T: ::cuda_std::shared::AnyBits>() {}
            read_before_it_is_written::<#ty>()
        };
    }
}

/// On the GPU the value is a symbol of its own, which ptx-builder moves to constant memory and
/// strips of its prefix.
fn constant(item: &ItemStatic) -> TokenStream {
    let ItemStatic {
        attrs,
        vis,
        mutability,
        ident,
        ty,
        expr,
        ..
    } = item;
    let symbol = format!("__constant__{ident}");
    let address = format!("mov.u64 {{p}}, {symbol}; cvta.const.u64 {{p}}, {{p}};");
    let site = format_ident!("__ConstantSite{ident}");
    let mut host = item.clone();
    host.attrs
        .push(parse_quote!(#[cfg(not(target_arch = "nvptx64"))]));
    quote! {
        #host

        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #vis static #mutability #ident: ::cuda_std::constant::Static<#ty, #site> = {
            #[used]
            #[unsafe(export_name = #symbol)]
            static VALUE: #ty = #expr;
            // SAFETY: the site's symbol is VALUE, of this type.
            unsafe { ::cuda_std::constant::Static::new() }
        };

        #[cfg(target_arch = "nvptx64")]
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis enum #site {}

        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the symbol is that of a static, which ptx-builder keeps.
        unsafe impl ::cuda_std::constant::Site for #site {
            #[inline(always)]
            fn address() -> *const u8 {
                let pointer: *const u8;
                // SAFETY: takes the address of a variable.
                unsafe {
                    ::core::arch::asm!(
                        #address,
                        p = out(reg64) pointer,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                pointer
            }
        }
    }
}

struct Array {
    element: Type,
    len: Expr,
}

impl Parse for Array {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let element = input.parse()?;
        input.parse::<Token![;]>()?;
        let len = input.parse()?;
        Ok(Array { element, len })
    }
}

pub(crate) fn shared_array(input: TokenStream) -> syn::Result<TokenStream> {
    let Array { element, len } = syn::parse2(input)?;
    let site = new_site();
    Ok(quote! { ::cuda_std::shared::array::<#element, { #len }, #site>() })
}

pub(crate) fn shared_tile(input: TokenStream) -> syn::Result<TokenStream> {
    let Array { element, len } = syn::parse2(input)?;
    let site = new_site();
    Ok(quote! { ::cuda_std::shared::SharedTile::<#element, { #len }>::of_site::<#site>() })
}

/// A number for each declaration, in every crate of a program.
fn new_site() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut hasher = DefaultHasher::new();
    for name in ["CARGO_PKG_NAME", "CARGO_PKG_VERSION", "CARGO_CRATE_NAME"] {
        env::var_os(name).hash(&mut hasher);
    }
    NEXT.fetch_add(1, Ordering::Relaxed).hash(&mut hasher);
    hasher.finish()
}
