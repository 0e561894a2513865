//! Expansion of `#[gpu_only]` and `#[externally_visible]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Error, ItemFn, TypeImplTrait};

pub(crate) fn gpu_only(item: TokenStream) -> syn::Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let ItemFn {
        attrs, vis, sig, ..
    } = &function;
    let mut opaque = Opaque(None);
    opaque.visit_return_type_mut(&mut sig.output.clone());
    if let Some(error) = opaque.0 {
        return Err(error);
    }
    let message = format!("`{}` runs only on a GPU", sig.ident);
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #function

        #[cfg(not(target_arch = "nvptx64"))]
        #(#attrs)*
        #[allow(unused_mut, unused_variables)]
        #vis #sig {
            ::core::panic!(#message)
        }
    })
}

pub(crate) fn externally_visible(item: TokenStream) -> TokenStream {
    // On the host it would take the place of any symbol of that name, and no `unsafe` would say so.
    quote! {
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
        #item
    }
}

/// Finds an `impl Trait`, which a body that only panics cannot choose a type for.
struct Opaque(Option<Error>);

impl VisitMut for Opaque {
    fn visit_type_impl_trait_mut(&mut self, ty: &mut TypeImplTrait) {
        self.0.get_or_insert_with(|| {
            Error::new(
                ty.span(),
                "a #[gpu_only] function names the type that it returns: on the host its body is a \
                 panic, which stands for no `impl Trait`",
            )
        });
        visit_mut::visit_type_impl_trait_mut(self, ty);
    }
}
