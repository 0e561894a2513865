//! A kernel's parameters, and how each travels from the host to the kernel.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, Ident, Lifetime, Pat, PathArguments, PathSegment,
    PointerMutability, Type, parse_quote,
};

use crate::lifetimes::{has_lifetimes, launch, with_elided, with_launch};

/// How a parameter travels from the host to the kernel.
pub(crate) enum Passing {
    /// `&[T]`: pointer and length.
    Slice(Box<Type>),
    /// `*const T`.
    Const(Box<Type>),
    /// `*mut T`.
    Mut(Box<Type>),
    /// `&T`: a pointer to one element.
    Reference(Box<Type>),
    /// `Output<T>`, or `Workspace`, which is of `u32`: pointer and length.
    Output(Box<Type>),
    /// `Output2<T>` and its like: pointer and extents.
    Shaped(Box<Type>, usize),
    /// Anything else, by value.
    Value,
}

pub(crate) struct Parameter {
    /// The author's name, or one that stands for a pattern.
    pub(crate) name: Ident,
    /// The pattern that the author wrote in its place.
    pattern: Pat,
    pub(crate) ty: Type,
    passing: Passing,
}

impl Parameter {
    /// The parameters of a kernel.
    pub(crate) fn all<'i>(
        inputs: impl IntoIterator<Item = &'i FnArg>,
    ) -> syn::Result<Vec<Parameter>> {
        let numbered = inputs.into_iter().enumerate();
        numbered
            .map(|(position, input)| Parameter::parse(position, input))
            .collect()
    }

    fn parse(position: usize, input: &FnArg) -> syn::Result<Self> {
        let FnArg::Typed(typed) = input else {
            return Err(Error::new(
                input.span(),
                "a kernel cannot be a method: it has no `self`",
            ));
        };
        if let Some(attribute) = typed.attrs.first() {
            return Err(Error::new(
                attribute.span(),
                "a kernel's parameter takes no attributes: the launch passes every parameter",
            ));
        }
        let ty = peel(&typed.ty);
        Ok(Parameter {
            name: parameter_name(position, &typed.pat),
            pattern: (*typed.pat).clone(),
            ty: ty.clone(),
            passing: Passing::of(ty)?,
        })
    }

    /// The sizes in bytes of the PTX parameters.
    pub(crate) fn sizes(&self) -> Vec<TokenStream> {
        match &self.passing {
            Passing::Slice(_) | Passing::Output(_) => vec![quote! { 8 }, quote! { 8 }],
            Passing::Shaped(_, dimensions) => vec![quote! { 8 }; 1 + dimensions],
            Passing::Const(_) | Passing::Mut(_) | Passing::Reference(_) => vec![quote! { 8 }],
            Passing::Value => {
                let ty = with_elided(&self.ty);
                vec![quote! { ::core::mem::size_of::<#ty>() }]
            }
        }
    }

    /// How the parameter lies in memory, as a constant for the kernel's digest.
    pub(crate) fn layout(&self) -> TokenStream {
        /// Of PTX whose outputs take a length that says what the grid is.
        const SAYS_THE_GRID: u64 = 1;
        let ty = match &self.passing {
            Passing::Value => &self.ty,
            Passing::Slice(element)
            | Passing::Output(element)
            | Passing::Shaped(element, _)
            | Passing::Const(element)
            | Passing::Mut(element)
            | Passing::Reference(element) => element,
        };
        let ty = with_elided(ty);
        let layout = quote! { ::cuda_std::parameter::Layout::<#ty>::DIGEST };
        match self.says_the_grid() {
            true => quote! { ::cuda_std::parameter::digest(&[#SAYS_THE_GRID, #layout]) },
            false => layout,
        }
    }

    /// Makes what all outputs of the PTX entry share, of the first one's length, if there is one that says what the grid is.
    pub(crate) fn own(parameters: &[Parameter]) -> Option<TokenStream> {
        let mut saying = parameters.iter().filter(|it| it.says_the_grid());
        let (own, length) = (own_name(), saying.next()?.length_name());
        let of = match saying.next() {
            None => quote! { of },
            Some(_) => quote! { of_several },
        };
        Some(quote! { let #own = ::cuda_std::parameter::Own::#of(#length); })
    }

    /// Whether the length that the kernel gets is that of `output_length`.
    fn says_the_grid(&self) -> bool {
        let is_workspace = last_segment(&self.ty).is_some_and(|last| last.ident == WORKSPACE);
        matches!(self.passing, Passing::Output(_)) && !is_workspace
    }

    /// Returns the check of what a safe kernel asks of a value's type besides.
    pub(crate) fn required_of_safe(&self) -> Option<TokenStream> {
        let Passing::Value = &self.passing else {
            return None;
        };
        let ty = with_elided(&self.ty);
        Some(quote! { a_safe_kernel_takes::<#ty>() })
    }

    /// That the PTX can have the value as a parameter: rustc panics at a greater alignment.
    pub(crate) fn aligned(&self) -> Option<TokenStream> {
        let Passing::Value = &self.passing else {
            return None;
        };
        let ty = with_elided(&self.ty);
        let message = format!(
            "the parameter `{}` is of a type, `{}`, that is aligned to more than 16 bytes, the most that a \
             kernel's parameter may be: take a reference to it",
            self.name,
            type_text(&self.ty)
        );
        Some(quote_spanned! { self.ty.span() =>
            ::core::assert!(::core::mem::align_of::<#ty>() <= 16, #message)
        })
    }

    /// Returns the check of what the parameter's type must be for threads to have it all at once, as a call of one of
    /// the functions that the expansion declares. Of a raw pointer the kernel's author says it.
    pub(crate) fn required(&self) -> Option<TokenStream> {
        match &self.passing {
            Passing::Value => {
                let ty = with_elided(&self.ty);
                Some(quote! { every_thread_copies::<#ty>() })
            }
            Passing::Slice(element) | Passing::Reference(element) => {
                let element = with_elided(element);
                Some(quote! { every_thread_reads::<#element>() })
            }
            Passing::Output(element) | Passing::Shaped(element, _) => {
                let element = with_elided(element);
                Some(quote! { one_thread_has::<#element>() })
            }
            Passing::Const(_) | Passing::Mut(_) => None,
        }
    }

    /// Whether the kernel gets an address that no type vouches for.
    pub(crate) fn is_raw_pointer(&self) -> bool {
        matches!(self.passing, Passing::Const(_) | Passing::Mut(_))
    }

    /// A name that the author's own names cannot meet, not even when they read the same.
    fn length_name(&self) -> Ident {
        format_ident!("{}_len", self.name, span = Span::mixed_site())
    }

    /// The names of a shaped parameter's extents.
    fn extent_names(&self, dimensions: usize) -> Vec<Ident> {
        let name = |axis| format_ident!("{}_extent_{axis}", self.name, span = Span::mixed_site());
        (0..dimensions).map(name).collect()
    }

    /// The parameters of the PTX entry.
    pub(crate) fn device_parameters(&self) -> TokenStream {
        let Parameter { name, ty, .. } = self;
        let length = self.length_name();
        match &self.passing {
            Passing::Slice(element) => quote! { #name: *const #element, #length: usize },
            Passing::Output(element) => quote! { #name: *mut #element, #length: usize },
            Passing::Shaped(element, dimensions) => {
                let extents = self.extent_names(*dimensions);
                quote! { #name: *mut #element, #(#extents: usize),* }
            }
            Passing::Reference(element) => quote! { #name: *const #element },
            _ => quote! { #name: #ty },
        }
    }

    /// Rebuilds the author's parameter inside the PTX entry, which begins with [`Parameter::own`] of one of them.
    pub(crate) fn device_binding(&self) -> TokenStream {
        let Parameter { name, pattern, .. } = self;
        let length = self.length_name();
        // The entry's own parameter may have a lifetime that is not written.
        let pointer = |element| {
            let element = with_launch(element);
            quote! { #name.cast::<#element>() }
        };
        let value = match &self.passing {
            // LLVM does not learn from `from_raw_parts` that the pointer is not null, and would ask that
            // of each element that comes in an `Option`.
            Passing::Slice(element) => {
                let pointer = pointer(element);
                quote! {
                    {
                        ::core::hint::assert_unchecked(!#name.is_null());
                        ::core::slice::from_raw_parts(#pointer, #length)
                    }
                }
            }
            Passing::Output(element) => {
                let pointer = pointer(element);
                let output = output_path(&self.ty);
                let own = own_name();
                match self.says_the_grid() {
                    true => quote! { #output::one_of(#pointer, #length, #own) },
                    false => quote! { #output::from_raw(#pointer, #length) },
                }
            }
            Passing::Shaped(element, dimensions) => {
                let (pointer, output) = (pointer(element), output_path(&self.ty));
                let extents = self.extent_names(*dimensions);
                quote! { #output::from_raw(#pointer, [#(#extents),*]) }
            }
            Passing::Reference(element) => {
                let pointer = pointer(element);
                quote! { &*#pointer }
            }
            _ => return quote! { let #pattern = #name; },
        };
        let ty = self.entry_type();
        // SAFETY: of all of them, a typed launch passes pointer and length of one live allocation, which
        // lives as long as the launch: the type says so, so nothing can keep it for longer.
        quote! { let #pattern: #ty = unsafe { #value }; }
    }

    /// The author's type, in the PTX entry: what the author gave no lifetime has that of the launch.
    fn entry_type(&self) -> TokenStream {
        match &self.passing {
            // `Output<T>` has a lifetime that is not written.
            Passing::Output(_) | Passing::Shaped(..) => {
                let output = output_path(&self.ty);
                let lifetime = output_lifetime(&self.ty).unwrap_or_else(launch);
                let arguments = output_arguments(&self.ty);
                quote! { #output<#lifetime, #(#arguments),*> }
            }
            _ => {
                let ty = with_launch(&self.ty);
                quote! { #ty }
            }
        }
    }

    /// Returns the type that a launch takes, which lasts for `'a`.
    pub(crate) fn argument_type(&self) -> TokenStream {
        match &self.passing {
            Passing::Slice(element) | Passing::Const(element) | Passing::Reference(element) => {
                let element = during_launch(element);
                quote! { ::cuda_std::launch::Slice<'a, #element> }
            }
            Passing::Mut(element) | Passing::Output(element) => {
                let element = during_launch(element);
                quote! { ::cuda_std::launch::SliceMut<'a, #element> }
            }
            Passing::Shaped(element, dimensions) => {
                let element = during_launch(element);
                quote! { ::cuda_std::launch::ShapedMut<'a, #element, #dimensions> }
            }
            Passing::Value => during_launch(&self.ty),
        }
    }

    /// Hands the address of each PTX parameter's value to `sink`, and whose memory it points to.
    pub(crate) fn marshal(&self, argument: &TokenStream, sink: &Ident) -> TokenStream {
        match &self.passing {
            Passing::Slice(_) | Passing::Output(_) => quote! {
                #sink(#argument.pointer_parameter(), #argument.home());
                #sink(#argument.length_parameter(), ::core::option::Option::None);
            },
            Passing::Shaped(_, dimensions) => {
                let axes = 0..*dimensions;
                quote! {
                    #sink(#argument.pointer_parameter(), #argument.home());
                    #(#sink(#argument.extent_parameter(#axes), ::core::option::Option::None);)*
                }
            }
            Passing::Const(_) | Passing::Mut(_) => quote! {
                #sink(#argument.pointer_parameter(), #argument.home());
            },
            Passing::Reference(_) => quote! {
                #sink(#argument.reference_parameter(), #argument.home());
            },
            Passing::Value => quote! {
                // The PTX entry has no parameter for a value without bytes.
                if ::core::mem::size_of_val(&#argument) > 0 {
                    #sink(
                        &raw const #argument as *const ::core::ffi::c_void,
                        ::core::option::Option::None,
                    );
                }
            },
        }
    }

    /// The memory that the argument points to, if it does.
    pub(crate) fn memory(&self, argument: &TokenStream) -> Option<TokenStream> {
        let name = self.name.to_string();
        match &self.passing {
            Passing::Value => None,
            Passing::Slice(element) | Passing::Reference(element) => {
                let element = with_elided(element);
                Some(quote! {
                    {
                        use ::cuda_std::launch::{MayChange as _, Shared};
                        #argument.memory(#name).shared(Shared::<#element>::IS_FIXED)
                    }
                })
            }
            _ => Some(quote! { #argument.memory(#name) }),
        }
    }

    /// The author's parameter, made from the launch argument, for the emulator.
    pub(crate) fn host_value(&self, argument: &TokenStream) -> TokenStream {
        match &self.passing {
            // SAFETY in the caller: `Entry::call` asks for live buffers.
            Passing::Slice(_) => quote! { #argument.as_slice() },
            Passing::Output(_) => {
                let output = output_path(&self.ty);
                // No memory has more elements, and of those without bytes the others are nobody's.
                quote! {
                    #output::from_raw(#argument.as_ptr(), ::core::cmp::Ord::min(#argument.len(), 1 << 61))
                }
            }
            Passing::Shaped(..) => {
                let output = output_path(&self.ty);
                quote! { #output::from_raw(#argument.as_ptr(), #argument.extents()) }
            }
            Passing::Reference(_) => quote! { #argument.as_reference() },
            Passing::Const(_) | Passing::Mut(_) => quote! { #argument.as_ptr() },
            // Of a type that is not `Copy`, a move would be one more error, and not at the parameter.
            Passing::Value => quote! { ::core::ptr::read(&#argument) },
        }
    }

    pub(crate) fn description(&self) -> TokenStream {
        let name = self.name.to_string();
        let ty = with_elided(&self.ty);
        let text = type_text(&self.ty);
        let passing = match &self.passing {
            Passing::Output(_) if self.says_the_grid() => quote! { Output },
            Passing::Slice(_) | Passing::Output(_) => quote! { Slice },
            Passing::Shaped(_, dimensions) => quote! { Shaped { dimensions: #dimensions } },
            Passing::Const(_) | Passing::Mut(_) | Passing::Reference(_) => quote! { Pointer },
            Passing::Value => {
                quote! { Value { size: ::core::mem::size_of::<#ty>() } }
            }
        };
        quote! {
            ::cuda_std::launch::Parameter {
                name: #name,
                ty: #text,
                passing: ::cuda_std::launch::Passing::#passing,
            }
        }
    }
}

impl Passing {
    fn of(ty: &Type) -> syn::Result<Self> {
        match ty {
            Type::Reference(reference) => {
                if let Some(token) = &reference.mutability {
                    return Err(Error::new(
                        token.span,
                        "every thread would hold this `&mut` at once: take `Output<T>`, or `*mut T` in an `unsafe fn`",
                    ));
                }
                if let Some(lifetime) = &reference.lifetime {
                    refuse_static(lifetime)?;
                }
                let reason = |reason| Err(Error::new(reference.elem.span(), reason));
                match peel(&reference.elem) {
                    Type::Slice(slice) => Ok(Passing::Slice(slice.elem.clone())),
                    Type::Path(path) if path.path.is_ident("str") => reason(
                        "the host has no buffer of `str`: take `&[u8]`, and make text of it with \
                         `core::str::from_utf8`",
                    ),
                    Type::TraitObject(_) => reason(
                        "the functions behind a `dyn` are the host's, which the GPU cannot call: \
                         take an `enum`, or make the `dyn` in the kernel",
                    ),
                    _ => Ok(Passing::Reference(reference.elem.clone())),
                }
            }
            Type::Ptr(pointer) => Ok(match pointer.mutability {
                PointerMutability::Mut(_) => Passing::Mut(pointer.elem.clone()),
                PointerMutability::Const(_) => Passing::Const(pointer.elem.clone()),
            }),
            _ => Passing::of_output(ty),
        }
    }
}

/// The types of outputs, and how many extents each has; of `Output` the length takes their place.
const OUTPUTS: [(&str, usize); 5] = [
    ("Output", 0),
    ("Output2", 2),
    ("Output3", 3),
    ("WarpOutput", 2),
    ("BlockOutput", 2),
];

/// The name of the type of the words through which a grid's blocks exchange values.
const WORKSPACE: &str = "Workspace";

impl Passing {
    /// Of an output or a workspace, or else by value.
    fn of_output(ty: &Type) -> syn::Result<Self> {
        let Some(last) = last_segment(ty) else {
            return Ok(Passing::Value);
        };
        let arguments = arguments_of(last);
        if last.ident == WORKSPACE {
            lifetimes_of(&arguments).try_for_each(refuse_static)?;
            return Ok(Passing::Output(Box::new(parse_quote!(u32))));
        }
        let known = OUTPUTS.iter().find(|(name, _)| last.ident == name);
        let element = arguments.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(Box::new(ty.clone())),
            _ => None,
        });
        let (Some((_, dimensions)), Some(element)) = (known, element) else {
            return Ok(Passing::Value);
        };
        lifetimes_of(&arguments).try_for_each(refuse_static)?;
        Ok(match dimensions {
            0 => Passing::Output(element),
            _ => Passing::Shaped(element, *dimensions),
        })
    }
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match peel(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

fn arguments_of(segment: &PathSegment) -> Vec<&GenericArgument> {
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().collect(),
        _ => Vec::new(),
    }
}

fn lifetimes_of<'a>(arguments: &[&'a GenericArgument]) -> impl Iterator<Item = &'a Lifetime> {
    arguments.iter().filter_map(|argument| match argument {
        GenericArgument::Lifetime(lifetime) => Some(lifetime),
        _ => None,
    })
}

/// The type of an output without its arguments, as the author has written it: so its import is used on the GPU, too.
fn output_path(ty: &Type) -> TokenStream {
    let Type::Path(path) = peel(ty) else {
        return quote! { #ty };
    };
    let mut path = path.path.clone();
    if let Some(last) = path.segments.last_mut() {
        last.arguments = PathArguments::None;
    }
    quote! { #path }
}

/// The arguments of an output's type but for its lifetime: the element, and the extents of a tile.
fn output_arguments(ty: &Type) -> Vec<TokenStream> {
    let arguments = last_segment(ty).map(arguments_of).unwrap_or_default();
    let written = arguments.into_iter().filter_map(|argument| match argument {
        GenericArgument::Lifetime(_) => None,
        GenericArgument::Type(ty) => {
            let ty = with_launch(ty);
            Some(quote! { #ty })
        }
        other => Some(quote! { #other }),
    });
    written.collect()
}

/// The lifetime that the author gave an `Output<'a, T>`.
fn output_lifetime(ty: &Type) -> Option<Lifetime> {
    let arguments = arguments_of(last_segment(ty)?);
    let mut named = lifetimes_of(&arguments).filter(|lifetime| lifetime.ident != "_");
    named.next().cloned()
}

fn refuse_static(lifetime: &Lifetime) -> syn::Result<()> {
    if lifetime.ident != "static" {
        return Ok(());
    }
    Err(Error::new(
        lifetime.span(),
        "a launch lends its buffers for as long as it runs: leave out `'static`",
    ))
}

/// The name of [`Parameter::own`]'s variable, which the author's own names cannot meet.
fn own_name() -> Ident {
    format_ident!("own", span = Span::mixed_site())
}

/// The name of a parameter: the author's, or a number where there is a pattern.
pub(crate) fn parameter_name(position: usize, pattern: &Pat) -> Ident {
    match pattern {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            pattern.ident.clone()
        }
        _ => format_ident!("argument_{}", position, span = Span::mixed_site()),
    }
}

/// The type with all its lifetimes `'a`. Where it may have some that are not written, the type that a
/// function returns whose one argument has `'a`.
fn during_launch(ty: &Type) -> TokenStream {
    if !has_lifetimes(ty) {
        return quote! { #ty };
    }
    let ty = with_elided(ty);
    quote! { <fn(&()) -> #ty as ::cuda_std::launch::During<'a>>::Type }
}

/// The type inside the parentheses, and inside the invisible ones that a `$t:ty` of a
/// `macro_rules!` comes in.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        _ => ty,
    }
}

/// The type as one writes it; tokens alone print with a space between any two.
fn type_text(ty: &Type) -> String {
    const TIGHT: [(&str, &str); 8] = [
        ("& ", "&"),
        ("* ", "*"),
        (" ;", ";"),
        (" ,", ","),
        (" :: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
    ];
    TIGHT
        .iter()
        .fold(quote!(#ty).to_string(), |text, (loose, tight)| {
            text.replace(loose, tight)
        })
}
