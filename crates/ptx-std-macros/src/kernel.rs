//! Expansion of `#[kernel]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, Ident, ItemFn, Pat, PointerMutability, ReturnType, Safety, Type, parse_quote,
};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new(attribute.span(), "#[kernel] takes no arguments"));
    }
    let function: ItemFn = syn::parse2(item)?;
    check_signature(&function)?;
    let parameters = function
        .sig
        .inputs
        .iter()
        .map(Parameter::parse)
        .collect::<syn::Result<Vec<_>>>()?;
    let device = device_entry(&function, &parameters);
    let host = host_function(&function, &parameters);
    Ok(quote! { #device #host })
}

fn check_signature(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if !matches!(signature.safety, Safety::Unsafe(_)) {
        return Err(Error::new(
            signature.fn_token.span,
            "a kernel must be an `unsafe fn`: every thread of the grid runs it on the same memory",
        ));
    }
    if let ReturnType::Type(_, returned) = &signature.output {
        return Err(Error::new(
            returned.span(),
            "a kernel returns nothing: write results through a `*mut T` parameter",
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new(
            signature.generics.span(),
            "a kernel has a fixed signature: call a generic function from a kernel for each type",
        ));
    }
    if let Some(token) = &signature.asyncness {
        return Err(Error::new(token.span, "a kernel cannot be `async`"));
    }
    if let Some(token) = &signature.constness {
        return Err(Error::new(token.span, "a kernel cannot be `const`"));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new(abi.span(), "#[kernel] chooses the ABI itself"));
    }
    Ok(())
}

/// How a parameter travels from the host to the kernel.
enum Passing {
    /// `&[T]`: pointer and length.
    Slice(Box<Type>),
    /// `*const T`.
    Const(Box<Type>),
    /// `*mut T`.
    Mut(Box<Type>),
    /// Anything else, by value.
    Value,
}

struct Parameter {
    name: Ident,
    ty: Type,
    passing: Passing,
}

impl Parameter {
    fn parse(input: &FnArg) -> syn::Result<Self> {
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
            ty: (*typed.ty).clone(),
            passing: Passing::of(&typed.ty)?,
        })
    }

    fn length_name(&self) -> Ident {
        format_ident!("{}_len", self.name)
    }

    /// The parameters of the PTX entry.
    fn device_parameters(&self) -> TokenStream {
        let Parameter { name, ty, .. } = self;
        match &self.passing {
            Passing::Slice(element) => {
                let length = self.length_name();
                quote! { #name: *const #element, #length: usize }
            }
            _ => quote! { #name: #ty },
        }
    }

    /// Rebuilds the author's parameter inside the PTX entry.
    fn device_binding(&self) -> TokenStream {
        let name = &self.name;
        match &self.passing {
            Passing::Slice(_) => {
                let length = self.length_name();
                quote! {
                    // SAFETY: a typed launch passes pointer and length of one live allocation.
                    let #name = unsafe { ::core::slice::from_raw_parts(#name, #length) };
                }
            }
            _ => TokenStream::new(),
        }
    }

    fn argument_type(&self) -> TokenStream {
        let ty = &self.ty;
        match &self.passing {
            Passing::Slice(element) | Passing::Const(element) => {
                quote! { ::cuda_std::launch::Slice<'a, #element> }
            }
            Passing::Mut(element) => quote! { ::cuda_std::launch::SliceMut<'a, #element> },
            Passing::Value => quote! { #ty },
        }
    }

    /// Hands the address of each PTX parameter's value to `sink`.
    fn marshal(&self, argument: &TokenStream) -> TokenStream {
        match &self.passing {
            Passing::Slice(_) => quote! {
                sink(#argument.pointer_parameter());
                sink(#argument.length_parameter());
            },
            Passing::Const(_) | Passing::Mut(_) => {
                quote! { sink(#argument.pointer_parameter()); }
            }
            Passing::Value => quote! { sink(&raw const #argument as *const ::core::ffi::c_void); },
        }
    }

    /// The author's parameter, made from the launch argument, for the emulator.
    fn host_value(&self, argument: &TokenStream) -> TokenStream {
        match &self.passing {
            // SAFETY in the caller: `Entry::call` asks for live buffers.
            Passing::Slice(_) => quote! { #argument.as_slice() },
            Passing::Const(_) | Passing::Mut(_) => quote! { #argument.as_ptr() },
            Passing::Value => quote! { #argument },
        }
    }

    fn description(&self) -> TokenStream {
        let name = self.name.to_string();
        let ty = &self.ty;
        let text = type_text(ty);
        let passing = match &self.passing {
            Passing::Slice(_) => quote! { Slice },
            Passing::Const(_) | Passing::Mut(_) => quote! { Pointer },
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
                match &*reference.elem {
                    Type::Slice(slice) => Ok(Passing::Slice(slice.elem.clone())),
                    other => Err(Error::new(
                        other.span(),
                        "a reference parameter must be a slice, `&[T]`: pass a value by value",
                    )),
                }
            }
            Type::Ptr(pointer) => Ok(match pointer.mutability {
                PointerMutability::Mut(_) => Passing::Mut(pointer.elem.clone()),
                PointerMutability::Const(_) => Passing::Const(pointer.elem.clone()),
            }),
            _ => Ok(Passing::Value),
        }
    }
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

fn device_entry(function: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = function;
    let name = &sig.ident;
    let inputs = parameters.iter().map(Parameter::device_parameters);
    let bindings = parameters.iter().map(Parameter::device_binding);
    quote! {
        #(#attrs)*
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(no_mangle)]
        #vis unsafe extern "ptx-kernel" fn #name(#(#inputs),*) {
            #(#bindings)*
            #block
        }
    }
}

fn host_function(function: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let ItemFn { vis, sig, .. } = function;
    let name = &sig.ident;
    let name_text = name.to_string();
    let arguments: Vec<TokenStream> = (0..parameters.len())
        .map(|position| {
            let field = syn::Index::from(position);
            quote! { arguments.#field }
        })
        .collect();
    let types: Vec<_> = parameters.iter().map(Parameter::argument_type).collect();
    let marshal: Vec<_> = parameters
        .iter()
        .zip(&arguments)
        .map(|(parameter, argument)| parameter.marshal(argument))
        .collect();
    let values: Vec<_> = parameters
        .iter()
        .zip(&arguments)
        .map(|(parameter, argument)| parameter.host_value(argument))
        .collect();
    let descriptions = parameters.iter().map(Parameter::description);
    let by_value = parameters
        .iter()
        .filter(|parameter| matches!(parameter.passing, Passing::Value))
        .map(|parameter| &parameter.ty);
    let documentation = format!(
        "Describes the kernel `{name}`: its name, its parameters and what a launch of it takes."
    );

    let mut host = function.clone();
    host.attrs
        .push(parse_quote!(#[cfg(not(target_arch = "nvptx64"))]));
    quote! {
        #host

        #[cfg(not(target_arch = "nvptx64"))]
        #[doc = #documentation]
        #[allow(non_camel_case_types)]
        #vis enum #name {}

        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::Signature for #name {
            type Arguments<'a> = (#(#types,)*);
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::Kernel for #name {
            const NAME: &'static str = #name_text;
            const PARAMETERS: &'static [::cuda_std::launch::Parameter] = &[#(#descriptions),*];

            #[allow(unused_variables)]
            fn marshal(
                arguments: &Self::Arguments<'_>,
                sink: &mut dyn ::core::ops::FnMut(*const ::core::ffi::c_void),
            ) {
                #(#marshal)*
            }

            #[allow(unused_variables)]
            unsafe fn call(arguments: &Self::Arguments<'_>) {
                // SAFETY: the caller keeps the kernel's own contract, and its buffers alive.
                unsafe { #name(#(#values),*) }
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        const _: () = {
            const fn passed_by_value<T: ::core::marker::Copy + ::core::marker::Sync + 'static>() {}
            #(passed_by_value::<#by_value>();)*
        };
    }
}
