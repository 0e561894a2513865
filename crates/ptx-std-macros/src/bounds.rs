//! The options in the parentheses of `#[kernel(..)]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{End, Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::token::Bracket;
use syn::{
    AngleBracketedGenericArguments, Error, Expr, Ident, LitInt, Token, bracketed, parenthesized,
};

/// The most threads that a block has on any GPU.
const MAX_THREADS: u32 = 1024;

/// Launch bounds, and the instances of a generic kernel.
#[derive(Default)]
pub(crate) struct Options {
    max_threads: Option<Bound>,
    min_blocks: Option<Bound>,
    block: Option<[Bound; 3]>,
    pub(crate) instances: Vec<Instance>,
    /// Lints of ptx-builder that do not apply.
    pub(crate) allow: Vec<Ident>,
}

/// `name<arguments>`.
pub(crate) struct Instance {
    pub(crate) name: Ident,
    pub(crate) arguments: AngleBracketedGenericArguments,
}

/// A number of 32 bits: written as such, or an expression whose value the compiler knows after this macro has run.
pub(crate) enum Bound {
    Number(u32),
    Constant(Expr),
}

impl Bound {
    fn number(&self) -> Option<u32> {
        match self {
            Bound::Number(number) => Some(*number),
            Bound::Constant(_) => None,
        }
    }

    fn written(&self) -> TokenStream {
        match self {
            Bound::Number(number) => quote! { #number },
            Bound::Constant(constant) => quote! { #constant },
        }
    }
}

impl ToTokens for Bound {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Bound::Number(number) => quote! { #number },
            // Of any type of integer: `Options::check_of_constants` makes sure that the value fits.
            Bound::Constant(constant) => quote! { ((#constant) as u32) },
        });
    }
}

/// The threads of a block whose extents are all written as numbers.
fn threads_of(block: &[Bound; 3]) -> Option<u32> {
    let [x, y, z] = block;
    Some(x.number()? * y.number()? * z.number()?)
}

impl Options {
    /// The most threads per block: said, or those of the block that is required.
    fn max_threads(&self) -> Option<TokenStream> {
        match (&self.max_threads, &self.block) {
            (Some(threads), _) => Some(quote! { #threads }),
            (None, Some([x, y, z])) => Some(quote! { (#x * #y * #z) }),
            (None, None) => None,
        }
    }

    /// The block that every launch has.
    pub(crate) fn block(&self) -> Option<TokenStream> {
        let [x, y, z] = self.block.as_ref()?;
        Some(quote! { [#x, #y, #z] })
    }

    /// Their values in the description in the PTX: 0 for what is not bound.
    pub(crate) fn values(&self) -> [TokenStream; 5] {
        let or_zero = |value: Option<TokenStream>| value.unwrap_or_else(|| quote! { 0u32 });
        let [x, y, z] = match &self.block {
            Some(block) => block.each_ref().map(|extent| Some(quote! { #extent })),
            None => [None, None, None],
        };
        let min_blocks = self.min_blocks.as_ref().map(|blocks| quote! { #blocks });
        [self.max_threads(), min_blocks, x, y, z].map(or_zero)
    }

    /// That the constants among the bounds are such as a number could be: the compiler evaluates it.
    pub(crate) fn check_of_constants(&self) -> Option<TokenStream> {
        let block = self.block.iter().flatten();
        let mut bounds = self.max_threads.iter().chain(&self.min_blocks).chain(block);
        let Bound::Constant(first) = bounds.find(|bound| bound.number().is_none())? else {
            return None;
        };
        let wide = |bound: &Bound| match bound {
            Bound::Number(number) => {
                let number = u64::from(*number);
                quote! { #number }
            }
            Bound::Constant(constant) => quote! { ((#constant) as u64) },
        };
        let some = |value| quote! { ::core::option::Option::Some(#value) };
        let none = || quote! { ::core::option::Option::None };
        let max_threads = self
            .max_threads
            .as_ref()
            .map_or_else(none, |it| some(wide(it)));
        let min_blocks = self
            .min_blocks
            .as_ref()
            .map_or_else(none, |it| some(wide(it)));
        let block = self.block.as_ref().map_or_else(none, |block| {
            let [x, y, z] = block.each_ref().map(wide);
            some(quote! { [#x, #y, #z] })
        });
        Some(quote_spanned! {first.span()=>
            #[allow(trivial_numeric_casts, clippy::unnecessary_cast, clippy::cast_lossless)]
            const _: () = ::cuda_std::parameter::check_bounds(#max_threads, #min_blocks, #block);
        })
    }

    /// That the block which every launch has is one that `max_threads` admits.
    fn check_block(&self, keys: &[Ident]) -> syn::Result<()> {
        let max_threads = self.max_threads.as_ref().and_then(Bound::number);
        let threads = self.block.as_ref().and_then(threads_of);
        let (Some(max_threads), Some(threads)) = (max_threads, threads) else {
            return Ok(());
        };
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
        let max_threads = option(self.max_threads());
        let min_blocks = option(self.min_blocks.as_ref().map(|value| quote! { #value }));
        let block = option(self.block());
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
        // As they were written: a constant that is too large would be another after a cast.
        let max_threads = self.max_threads.iter().map(Bound::written);
        let min_blocks = self.min_blocks.iter().map(Bound::written);
        let block = self.block.iter().map(|block| {
            let extents = block.iter().map(Bound::written);
            quote! { [#(#extents),*] }
        });
        let allow = &self.allow;
        quote! {
            #(max_threads = #max_threads,)*
            #(min_blocks = #min_blocks,)*
            #(block = #block,)*
            allow(#(#allow),*),
            __generic = #source
        }
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

fn threads(input: ParseStream<'_>) -> syn::Result<Bound> {
    input.parse::<Token![=]>()?;
    let span = input.span();
    let threads = bound(input)?;
    match threads.number() {
        Some(number) if !(1..=MAX_THREADS).contains(&number) => Err(Error::new(
            span,
            format!("max_threads is {number}; a block has 1 to {MAX_THREADS} threads"),
        )),
        _ => Ok(threads),
    }
}

fn blocks(input: ParseStream<'_>) -> syn::Result<Bound> {
    input.parse::<Token![=]>()?;
    let span = input.span();
    let blocks = bound(input)?;
    match blocks.number() {
        Some(0) => Err(Error::new(
            span,
            "min_blocks is 0; at least 1 block is to fit on a multiprocessor",
        )),
        _ => Ok(blocks),
    }
}

/// The attribute is expanded before any constant has its value.
fn bound(input: ParseStream<'_>) -> syn::Result<Bound> {
    if input.peek(LitInt) && (input.peek2(Token![,]) || input.peek2(End)) {
        return input.parse::<LitInt>()?.base10_parse().map(Bound::Number);
    }
    input.parse().map(Bound::Constant)
}

/// `= [x]`, `= [x, y]` or `= [x, y, z]`.
fn block(input: ParseStream<'_>) -> syn::Result<[Bound; 3]> {
    input.parse::<Token![=]>()?;
    if !input.peek(Bracket) {
        return Err(
            input.error("a block's extents stand in brackets: block = [256], block = [16, 16]")
        );
    }
    let list;
    let bracket = bracketed!(list in input);
    let mut extents = list.parse_terminated(bound, Token![,])?.into_iter();
    let given = extents.len();
    let refused = |message| Err(Error::new(bracket.span.join(), message));
    let Some(x) = extents.next().filter(|_| given <= 3) else {
        return refused(format!(
            "a block has 1 to 3 dimensions; this one has {given}"
        ));
    };
    let mut next = || extents.next().unwrap_or(Bound::Number(1));
    let block = [x, next(), next()];
    // Three extents of 32 bits: the product fits.
    let mut threads = 1;
    for extent in &block {
        match extent.number() {
            Some(number) => threads *= u128::from(number),
            None => return Ok(block),
        }
    }
    if !(1..=u128::from(MAX_THREADS)).contains(&threads) {
        return refused(format!(
            "a block has 1 to {MAX_THREADS} threads; this one has {threads}"
        ));
    }
    Ok(block)
}
