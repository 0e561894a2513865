//! Expansion of `#[gpu_only]` and `#[externally_visible]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

pub(crate) fn gpu_only(item: TokenStream) -> syn::Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let ItemFn {
        attrs, vis, sig, ..
    } = &function;
    let message = format!("`{}` runs only on a GPU", sig.ident);
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #function

        #[cfg(not(target_arch = "nvptx64"))]
        #(#attrs)*
        #[allow(unused_variables)]
        #vis #sig {
            ::core::panic!(#message)
        }
    })
}

pub(crate) fn externally_visible(item: TokenStream) -> TokenStream {
    quote! {
        #[unsafe(no_mangle)]
        #item
    }
}
