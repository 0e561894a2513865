//! A kernel's parameters, and how each travels from the host to the kernel.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, Ident, Lifetime, Pat, PathArguments, PointerMutability, Token,
    Type,
};

/// A launch lends every buffer for as long as it runs, and the kernel cannot ask for longer.
pub(crate) const NO_LIFETIMES: &str = "a kernel's parameters need no lifetimes: leave them out";

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
    /// `Output<T>`: pointer and length.
    Output(Box<Type>),
    /// Anything else, by value.
    Value,
}

pub(crate) struct Parameter {
    pub(crate) name: Ident,
    mutability: Option<Token![mut]>,
    pub(crate) ty: Type,
    passing: Passing,
}

impl Parameter {
    pub(crate) fn parse(input: &FnArg) -> syn::Result<Self> {
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
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(Error::new(
                typed.pat.span(),
                "a kernel's parameter needs a name, not a pattern",
            ));
        };
        if let Some(token) = &pattern.by_ref {
            return Err(Error::new(
                token.span,
                "a kernel's parameter needs a name, not a pattern: leave out `ref`",
            ));
        }
        if let Some((_, parts)) = &pattern.subpat {
            return Err(Error::new(
                parts.span(),
                "a kernel's parameter needs a name, not a pattern: take it apart with a `let`",
            ));
        }
        let ty = peel(&typed.ty);
        Ok(Parameter {
            name: pattern.ident.clone(),
            mutability: pattern.mutability,
            ty: ty.clone(),
            passing: Passing::of(ty)?,
        })
    }

    /// The sizes in bytes of the PTX parameters.
    pub(crate) fn sizes(&self) -> Vec<TokenStream> {
        match &self.passing {
            Passing::Slice(_) | Passing::Output(_) => vec![quote! { 8 }, quote! { 8 }],
            Passing::Const(_) | Passing::Mut(_) | Passing::Reference(_) => vec![quote! { 8 }],
            Passing::Value => {
                let ty = &self.ty;
                vec![quote! { ::core::mem::size_of::<#ty>() }]
            }
        }
    }

    /// What the parameter's type must be for threads to have it all at once, as a call of one of
    /// the functions that the expansion declares. Of a raw pointer the kernel's author says it.
    pub(crate) fn required(&self) -> Option<TokenStream> {
        match &self.passing {
            Passing::Value => {
                let ty = &self.ty;
                Some(quote! { every_thread_copies::<#ty>() })
            }
            Passing::Slice(element) | Passing::Reference(element) => {
                Some(quote! { every_thread_reads::<#element>() })
            }
            Passing::Output(element) => Some(quote! { one_thread_has::<#element>() }),
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

    /// The parameters of the PTX entry.
    pub(crate) fn device_parameters(&self) -> TokenStream {
        let Parameter {
            name,
            mutability,
            ty,
            ..
        } = self;
        let length = self.length_name();
        match &self.passing {
            Passing::Slice(element) => quote! { #name: *const #element, #length: usize },
            Passing::Output(element) => quote! { #name: *mut #element, #length: usize },
            Passing::Reference(element) => quote! { #name: *const #element },
            _ => quote! { #mutability #name: #ty },
        }
    }

    /// Rebuilds the author's parameter inside the PTX entry.
    pub(crate) fn device_binding(&self) -> TokenStream {
        let Parameter {
            name, mutability, ..
        } = self;
        let length = self.length_name();
        let value = match &self.passing {
            Passing::Slice(_) => quote! { ::core::slice::from_raw_parts(#name, #length) },
            Passing::Output(_) => quote! { ::cuda_std::Output::from_raw(#name, #length) },
            Passing::Reference(_) => quote! { &*#name },
            _ => return TokenStream::new(),
        };
        // SAFETY: of all of them, a typed launch passes pointer and length of one live allocation.
        quote! { let #mutability #name = unsafe { #value }; }
    }

    pub(crate) fn argument_type(&self) -> TokenStream {
        let ty = &self.ty;
        match &self.passing {
            Passing::Slice(element) | Passing::Const(element) | Passing::Reference(element) => {
                quote! { ::cuda_std::launch::Slice<'a, #element> }
            }
            Passing::Mut(element) | Passing::Output(element) => {
                quote! { ::cuda_std::launch::SliceMut<'a, #element> }
            }
            Passing::Value => quote! { #ty },
        }
    }

    /// Hands the address of each PTX parameter's value to `sink`, and whose memory it points to.
    pub(crate) fn marshal(&self, argument: &TokenStream, sink: &Ident) -> TokenStream {
        match &self.passing {
            Passing::Slice(_) | Passing::Output(_) => quote! {
                #sink(#argument.pointer_parameter(), #argument.home());
                #sink(#argument.length_parameter(), ::core::option::Option::None);
            },
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
            _ => Some(quote! { #argument.memory(#name) }),
        }
    }

    /// The author's parameter, made from the launch argument, for the emulator.
    pub(crate) fn host_value(&self, argument: &TokenStream) -> TokenStream {
        match &self.passing {
            // SAFETY in the caller: `Entry::call` asks for live buffers.
            Passing::Slice(_) => quote! { #argument.as_slice() },
            Passing::Output(_) => {
                quote! { ::cuda_std::Output::from_raw(#argument.as_ptr(), #argument.len()) }
            }
            Passing::Reference(_) => quote! { #argument.as_reference() },
            Passing::Const(_) | Passing::Mut(_) => quote! { #argument.as_ptr() },
            Passing::Value => quote! { #argument },
        }
    }

    pub(crate) fn description(&self) -> TokenStream {
        let name = self.name.to_string();
        let ty = &self.ty;
        let text = type_text(ty);
        let passing = match &self.passing {
            Passing::Slice(_) | Passing::Output(_) => quote! { Slice },
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
                        "every thread would hold this `&mut` at once: take `*mut T` instead",
                    ));
                }
                if let Some(lifetime) = &reference.lifetime {
                    refuse_named(lifetime)?;
                }
                Ok(match peel(&reference.elem) {
                    Type::Slice(slice) => Passing::Slice(slice.elem.clone()),
                    _ => Passing::Reference(reference.elem.clone()),
                })
            }
            Type::Ptr(pointer) => Ok(match pointer.mutability {
                PointerMutability::Mut(_) => Passing::Mut(pointer.elem.clone()),
                PointerMutability::Const(_) => Passing::Const(pointer.elem.clone()),
            }),
            _ => Ok(match output_element(ty)? {
                Some(element) => Passing::Output(Box::new(element.clone())),
                None => Passing::Value,
            }),
        }
    }
}

/// The `T` of `Output<T>`.
fn output_element(ty: &Type) -> syn::Result<Option<&Type>> {
    let Type::Path(path) = peel(ty) else {
        return Ok(None);
    };
    let Some(last) = path.path.segments.last() else {
        return Ok(None);
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return Ok(None);
    };
    if last.ident != "Output" {
        return Ok(None);
    }
    let mut element = None;
    for argument in &arguments.args {
        match argument {
            GenericArgument::Lifetime(lifetime) => refuse_named(lifetime)?,
            GenericArgument::Type(ty) => element = element.or(Some(ty)),
            _ => {}
        }
    }
    Ok(element)
}

fn refuse_named(lifetime: &Lifetime) -> syn::Result<()> {
    if lifetime.ident == "_" {
        return Ok(());
    }
    Err(Error::new(lifetime.span(), NO_LIFETIMES))
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
