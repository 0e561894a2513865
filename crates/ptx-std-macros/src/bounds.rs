//! The options in the parentheses of `#[kernel(..)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::token::Bracket;
use syn::{AngleBracketedGenericArguments, Error, Ident, LitInt, Token, bracketed, parenthesized};

/// The most threads that a block has on any GPU.
const MAX_THREADS: u32 = 1024;

/// Launch bounds, and the instances of a generic kernel.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) max_threads: Option<u32>,
    pub(crate) min_blocks: Option<u32>,
    pub(crate) block: Option<[u32; 3]>,
    pub(crate) instances: Vec<Instance>,
    /// Lints of ptx-builder that do not apply.
    pub(crate) allow: Vec<Ident>,
}

/// `name<arguments>`.
pub(crate) struct Instance {
    pub(crate) name: Ident,
    pub(crate) arguments: AngleBracketedGenericArguments,
}

impl Options {
    /// The most threads per block: said, or those of the block that is required.
    pub(crate) fn max_threads(&self) -> Option<u32> {
        self.max_threads
            .or_else(|| self.block.map(|block| block.iter().product()))
    }

    /// That the block which every launch has is one that `max_threads` admits.
    fn check_block(&self, keys: &[Ident]) -> syn::Result<()> {
        let (Some(max_threads), Some(block)) = (self.max_threads, self.block) else {
            return Ok(());
        };
        let threads: u32 = block.iter().product();
        match keys.iter().find(|key| *key == "block") {
            Some(key) if threads > max_threads => Err(Error::new(
                key.span(),
                format!("the block has {threads} threads, and max_threads is {max_threads}"),
            )),
            _ => Ok(()),
        }
    }

    /// The lints that do not apply, as ptx-builder names them.
    pub(crate) fn allowed_lints(&self) -> String {
        let names = self
            .allow
            .iter()
            .map(|name| name.to_string().replace('_', "-"));
        names.collect::<Vec<_>>().join(",")
    }

    /// The `launch::Bounds` of the kernel.
    pub(crate) fn description(&self) -> TokenStream {
        let option = |value: Option<TokenStream>| match value {
            Some(value) => quote! { ::core::option::Option::Some(#value) },
            None => quote! { ::core::option::Option::None },
        };
        let max_threads = option(self.max_threads().map(|value| quote! { #value }));
        let min_blocks = option(self.min_blocks.map(|value| quote! { #value }));
        let block = option(self.block.map(|[x, y, z]| quote! { [#x, #y, #z] }));
        quote! {
            ::cuda_std::launch::Bounds {
                max_threads: #max_threads,
                min_blocks: #min_blocks,
                block: #block,
            }
        }
    }

    /// The attribute's argument for an instance of a function whose source has the digest `source`.
    pub(crate) fn argument(&self, source: u64) -> TokenStream {
        let max_threads = self
            .max_threads
            .map(|value| quote! { max_threads = #value, });
        let min_blocks = self.min_blocks.map(|value| quote! { min_blocks = #value, });
        let block = self.block.map(|[x, y, z]| quote! { block = [#x, #y, #z], });
        let allow = &self.allow;
        quote! { #max_threads #min_blocks #block allow(#(#allow),*), __generic = #source }
    }
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Options::default();
        let mut keys: Vec<Ident> = Vec::new();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            if keys.contains(&key) {
                return Err(Error::new(key.span(), format!("`{key}` is given twice")));
            }
            match key.to_string().as_str() {
                "max_threads" => options.max_threads = Some(threads(input)?),
                "min_blocks" => options.min_blocks = Some(blocks(input)?),
                "block" => options.block = Some(block(input)?),
                "allow" => {
                    let list;
                    parenthesized!(list in input);
                    let list = Punctuated::<Ident, Token![,]>::parse_terminated(&list)?;
                    options.allow = list.into_iter().collect();
                }
                "instances" => {
                    let list;
                    parenthesized!(list in input);
                    let list = Punctuated::<Instance, Token![,]>::parse_terminated(&list)?;
                    options.instances = list.into_iter().collect();
                }
                // The expansion of a generic kernel gives it to the instances, for their digests.
                "__generic" => {
                    input.parse::<Token![=]>()?;
                    input.parse::<LitInt>()?;
                }
                _ => {
                    return Err(Error::new(
                        key.span(),
                        "#[kernel] takes max_threads = 256, min_blocks = 4, block = [16, 16], \
                         instances(name<f32>) and allow(local_memory)",
                    ));
                }
            }
            keys.push(key);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        options.check_block(&keys)?;
        Ok(options)
    }
}

impl Parse for Instance {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Instance {
            name: input.parse()?,
            arguments: input.parse()?,
        })
    }
}

fn threads(input: ParseStream<'_>) -> syn::Result<u32> {
    input.parse::<Token![=]>()?;
    let literal = number(input)?;
    let threads = literal.base10_parse()?;
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(Error::new(
            literal.span(),
            format!("max_threads is {threads}; a block has 1 to {MAX_THREADS} threads"),
        ));
    }
    Ok(threads)
}

fn blocks(input: ParseStream<'_>) -> syn::Result<u32> {
    input.parse::<Token![=]>()?;
    let literal = number(input)?;
    match literal.base10_parse()? {
        0 => Err(Error::new(
            literal.span(),
            "min_blocks is 0; at least 1 block is to fit on a multiprocessor",
        )),
        blocks => Ok(blocks),
    }
}

/// The attribute is expanded before any constant has its value.
fn number(input: ParseStream<'_>) -> syn::Result<LitInt> {
    input.parse().map_err(|error| {
        Error::new(
            error.span(),
            "expected a number such as 256: the attribute cannot see the value of a constant",
        )
    })
}

/// `= [x]`, `= [x, y]` or `= [x, y, z]`.
fn block(input: ParseStream<'_>) -> syn::Result<[u32; 3]> {
    input.parse::<Token![=]>()?;
    if !input.peek(Bracket) {
        return Err(
            input.error("a block's extents stand in brackets: block = [256], block = [16, 16]")
        );
    }
    let list;
    let bracket = bracketed!(list in input);
    let list = list.parse_terminated(number, Token![,])?;
    let extents = list
        .iter()
        .map(LitInt::base10_parse::<u32>)
        .collect::<syn::Result<Vec<_>>>()?;
    let mut block = [1; 3];
    if !(1..=block.len()).contains(&extents.len()) {
        return Err(Error::new(
            bracket.span.join(),
            format!(
                "a block has 1 to 3 dimensions; this one has {}",
                extents.len()
            ),
        ));
    }
    // Three extents of 32 bits: the product fits.
    let threads: u128 = extents.iter().map(|&extent| u128::from(extent)).product();
    if !(1..=u128::from(MAX_THREADS)).contains(&threads) {
        return Err(Error::new(
            bracket.span.join(),
            format!("a block has 1 to {MAX_THREADS} threads; this one has {threads}"),
        ));
    }
    block[..extents.len()].copy_from_slice(&extents);
    Ok(block)
}
