//! A kernel's parameters, and how each travels from the host to the kernel.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, Ident, Pat, PathArguments, PointerMutability, Token, Type,
};

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
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(Error::new(
                typed.pat.span(),
                "a kernel's parameter needs a name, not a pattern",
            ));
        };
        Ok(Parameter {
            name: pattern.ident.clone(),
            mutability: pattern.mutability,
            ty: (*typed.ty).clone(),
            passing: Passing::of(&typed.ty)?,
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

    /// The type of a parameter that is passed by value.
    pub(crate) fn value_type(&self) -> Option<&Type> {
        matches!(self.passing, Passing::Value).then_some(&self.ty)
    }

    /// Whether the kernel gets an address that no type vouches for.
    pub(crate) fn is_raw_pointer(&self) -> bool {
        matches!(self.passing, Passing::Const(_) | Passing::Mut(_))
    }

    fn length_name(&self) -> Ident {
        format_ident!("{}_len", self.name)
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
        // SAFETY of all: a typed launch passes pointer and length of one live allocation.
        let value = match &self.passing {
            Passing::Slice(_) => quote! { ::core::slice::from_raw_parts(#name, #length) },
            Passing::Output(_) => quote! { ::cuda_std::Output::from_raw(#name, #length) },
            Passing::Reference(_) => quote! { &*#name },
            _ => return TokenStream::new(),
        };
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

    /// Hands the address of each PTX parameter's value to `sink`.
    pub(crate) fn marshal(&self, argument: &TokenStream) -> TokenStream {
        match &self.passing {
            Passing::Slice(_) | Passing::Output(_) => quote! {
                sink(#argument.pointer_parameter());
                sink(#argument.length_parameter());
            },
            Passing::Const(_) | Passing::Mut(_) | Passing::Reference(_) => {
                quote! { sink(#argument.pointer_parameter()); }
            }
            Passing::Value => quote! {
                // The PTX entry has no parameter for a value without bytes.
                if ::core::mem::size_of_val(&#argument) > 0 {
                    sink(&raw const #argument as *const ::core::ffi::c_void);
                }
            },
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
            Passing::Reference(_) => quote! { &#argument.as_slice()[0] },
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
                Ok(match &*reference.elem {
                    Type::Slice(slice) => Passing::Slice(slice.elem.clone()),
                    _ => Passing::Reference(reference.elem.clone()),
                })
            }
            Type::Ptr(pointer) => Ok(match pointer.mutability {
                PointerMutability::Mut(_) => Passing::Mut(pointer.elem.clone()),
                PointerMutability::Const(_) => Passing::Const(pointer.elem.clone()),
            }),
            _ => Ok(match output_element(ty) {
                Some(element) => Passing::Output(Box::new(element.clone())),
                None => Passing::Value,
            }),
        }
    }
}

/// The `T` of `Output<T>`.
fn output_element(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let element = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(element) => Some(element),
        _ => None,
    });
    element.filter(|_| last.ident == "Output")
}

/// The type as one writes it; tokens alone print with a space between any two.
fn type_text(ty: &Type) -> String {
    const TIGHT: [(&str, &str); 7] = [
        ("& ", "&"),
        ("* ", "*"),
        (" ;", ";"),
        (" ,", ","),
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
    ];
    TIGHT
        .iter()
        .fold(quote!(#ty).to_string(), |text, (loose, tight)| {
            text.replace(loose, tight)
        })
}
