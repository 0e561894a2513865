//! Expansion of `#[kernel]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, GenericParam, Ident, ItemFn, ReturnType, Safety, parse_quote};

use crate::bounds::Options;
use crate::parameter::Parameter;
use crate::{digest, instances, lifetimes};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let source = digest::of(&attribute, &item);
    let options: Options = syn::parse2(attribute)?;
    let function: ItemFn = syn::parse2(item)?;
    check_signature(&function)?;
    if !options.instances.is_empty() {
        return instances::expand(&options, &function, source);
    }
    let mut parameters = function.sig.generics.params.iter();
    if parameters.any(|parameter| !matches!(parameter, GenericParam::Lifetime(_))) {
        return Err(Error::new(
            function.sig.generics.span(),
            "a generic kernel names its instances: \
             #[kernel(instances(scale_f32<f32>, scale_f64<f64>))]",
        ));
    }
    let parameters = Parameter::all(&function.sig.inputs)?;
    check_safety(&function, &parameters)?;
    let digest = digest_of(source, &parameters);
    let device = device_entry(&function, &parameters, &options);
    let description = device_description(&function, &parameters, &options, &digest);
    let host = host_function(&function, &parameters, &options, &digest);
    let checks = checks(&function, &parameters);
    let of_constants = options.check_of_constants();
    Ok(quote! { #description #device #host #checks #of_constants })
}

fn check_signature(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if let ReturnType::Type(_, returned) = &signature.output {
        return Err(Error::new(
            returned.span(),
            "a kernel returns nothing: write results through a `*mut T` or `Output<T>` parameter",
        ));
    }
    if let Some(token) = &signature.asyncness {
        return Err(Error::new(token.span, "a kernel cannot be `async`"));
    }
    if let Some(token) = &signature.constness {
        return Err(Error::new(token.span, "a kernel cannot be `const`"));
    }
    match &signature.abi {
        // What Rust-CUDA makes of a kernel, and some write themselves.
        Some(abi) if abi.name.as_ref().is_some_and(|name| name.value() != "C") => Err(Error::new(
            abi.span(),
            "#[kernel] chooses the ABI itself: leave it out",
        )),
        _ => Ok(()),
    }
}

fn is_safe(function: &ItemFn) -> bool {
    !matches!(function.sig.safety, Safety::Unsafe(_))
}

fn check_safety(function: &ItemFn, parameters: &[Parameter]) -> syn::Result<()> {
    match parameters
        .iter()
        .find(|parameter| parameter.is_raw_pointer())
    {
        Some(pointer) if is_safe(function) => Err(Error::new(
            function.sig.fn_token.span,
            format!(
                "a kernel with a raw pointer, `{}`, must be an `unsafe fn`: every thread of the \
                 grid runs it on the same memory; with `Output<T>` in its place it is safe",
                pointer.name
            ),
        )),
        _ => Ok(()),
    }
}

/// The kernel's digest, the same on the host and on the GPU: of its source, and of how its parameters lie in
/// memory there.
fn digest_of(source: u64, parameters: &[Parameter]) -> TokenStream {
    let layouts = parameters.iter().map(Parameter::layout);
    quote! {
        {
            #[allow(unused_imports)]
            use ::cuda_std::parameter::OtherLayout as _;
            ::cuda_std::parameter::digest(&[#source, #(#layouts),*])
        }
    }
}

/// A line in the PTX that tells ptx-builder what the entry must look like, and the driver what it was made
/// of.
fn device_description(
    function: &ItemFn,
    parameters: &[Parameter],
    options: &Options,
    digest: &TokenStream,
) -> TokenStream {
    let sizes: Vec<_> = parameters.iter().flat_map(Parameter::sizes).collect();
    let places = vec!["{}"; sizes.len()].join(",");
    let before = format!("// ptx-std kernel {} file=", function.sig.ident);
    let bounds = options.values();
    let after = format!(
        " params={places} max_threads={{}} min_blocks={{}} block={{}},{{}},{{}} allow={} digest={{}}",
        options.allowed_lints(),
    );
    quote! {
        #[cfg(target_arch = "nvptx64")]
        ::core::arch::global_asm!(
            ::core::concat!(#before, ::core::file!(), " line=", ::core::line!(), #after),
            #(const #sizes,)*
            #(const #bounds,)*
            const #digest
        );
    }
}

fn device_entry(function: &ItemFn, parameters: &[Parameter], options: &Options) -> TokenStream {
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = function;
    let name = &sig.ident;
    let generics = lifetimes::of_entry(&sig.generics);
    let (lifetimes, _, clauses) = generics.split_for_impl();
    let inputs = parameters.iter().map(Parameter::device_parameters);
    let own = Parameter::own(parameters);
    let bindings = parameters.iter().map(Parameter::device_binding);
    let bindings = own.into_iter().chain(bindings);
    let block_of_launches = options.block().map(|block| {
        quote! {
            // SAFETY: the description has the block, so ptx-builder writes `.reqntid`: no launch has another.
            unsafe { ::cuda_std::thread::assume_block(#block) };
        }
    });
    quote! {
        #(#attrs)*
        #[cfg(target_arch = "nvptx64")]
        // The braces are those of the kernel's own body.
        #[allow(unused_braces)]
        #[unsafe(no_mangle)]
        #vis unsafe extern "ptx-kernel" fn #name #lifetimes(#(#inputs),*) #clauses {
            #block_of_launches
            #(#bindings)*
            #block
        }
    }
}

/// Returns the checks of the parameters' types. Those of a safe kernel are compared on the GPU as well, where `cfg` may
/// have chosen others; the author of an unsafe one vouches for that.
fn checks(function: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let required = parameters.iter().filter_map(Parameter::required);
    let of_safe = parameters.iter().filter_map(Parameter::required_of_safe);
    let of_safe = of_safe.filter(|_| is_safe(function));
    let aligned = parameters.iter().filter_map(Parameter::aligned);
    let host_alone = (!is_safe(function)).then(|| quote! { #[cfg(not(target_arch = "nvptx64"))] });
    quote! {
        #host_alone
        const _: () = {
            const fn every_thread_copies<T: ::core::marker::Copy + ::core::marker::Sync + 'static>() {}
            const fn every_thread_reads<T: ::core::marker::Sync>() {}
            const fn one_thread_has<T: ::core::marker::Send>() {}
            const fn a_safe_kernel_takes<T: ::cuda_std::parameter::SafeValue>() {}
            #(#required;)*
            #(#of_safe;)*
        };
        const _: () = {
            #(#aligned;)*
        };
    }
}

fn host_function(
    function: &ItemFn,
    parameters: &[Parameter],
    options: &Options,
    digest: &TokenStream,
) -> TokenStream {
    let ItemFn { vis, sig, .. } = function;
    let name = &sig.ident;
    let name_text = name.to_string();
    // Names that the kernel's own cannot meet, not even when they read the same.
    let all = Ident::new("arguments", Span::mixed_site());
    let sink = Ident::new("sink", Span::mixed_site());
    let arguments: Vec<TokenStream> = (0..parameters.len())
        .map(|position| {
            let field = syn::Index::from(position);
            quote! { #all.#field }
        })
        .collect();
    let types: Vec<_> = parameters.iter().map(Parameter::argument_type).collect();
    let marshal: Vec<_> = parameters
        .iter()
        .zip(&arguments)
        .map(|(parameter, argument)| parameter.marshal(argument, &sink))
        .collect();
    let memory: Vec<_> = parameters
        .iter()
        .zip(&arguments)
        .filter_map(|(parameter, argument)| parameter.memory(argument))
        .collect();
    let values: Vec<_> = parameters
        .iter()
        .zip(&arguments)
        .map(|(parameter, argument)| parameter.host_value(argument))
        .collect();
    let descriptions = parameters.iter().map(Parameter::description);
    let bounds = options.description();
    let documentation = format!(
        "Describes the kernel `{name}`: its name, its parameters and what a launch of it takes."
    );

    // Of a safe function.
    let safe = is_safe(function).then(|| {
        quote! {
            // SAFETY: the function asks for nothing.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl ::cuda_std::launch::SafeKernel for #name {}
        }
    });

    let mut host = function.clone();
    host.sig.abi = None;
    host.attrs
        .push(parse_quote!(#[cfg(not(target_arch = "nvptx64"))]));
    quote! {
        #host

        #[cfg(not(target_arch = "nvptx64"))]
        #[doc = #documentation]
        #[allow(non_camel_case_types)]
        #vis enum #name {}

        #[cfg(not(target_arch = "nvptx64"))]
        impl #name {
            /// The arguments that a launch of the kernel is made from.
            #[allow(dead_code)]
            #vis fn entry() -> ::cuda_std::launch::Entry<Self> {
                <Self as ::cuda_std::launch::Kernel>::entry()
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::Signature for #name {
            type Arguments<'a> = (#(#types,)*);
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::Kernel for #name {
            const NAME: &'static str = #name_text;
            const PARAMETERS: &'static [::cuda_std::launch::Parameter] = &[#(#descriptions),*];
            const BOUNDS: ::cuda_std::launch::Bounds = #bounds;
            const DIGEST: u64 = #digest;

            #[allow(unused_variables)]
            fn marshal(
                #all: &Self::Arguments<'_>,
                #sink: &mut ::cuda_std::launch::Sink<'_>,
            ) {
                #(#marshal)*
            }

            #[allow(unused_variables)]
            fn memory(#all: &Self::Arguments<'_>) -> ::cuda_std::launch::MemoryList {
                [#(#memory),*].into()
            }

            #[allow(unused_variables, unused_unsafe)]
            unsafe fn call(#all: &Self::Arguments<'_>) {
                // SAFETY: the caller keeps the kernel's own contract, and its buffers alive.
                unsafe { #name(#(#values),*) }
            }
        }

        #safe
    }
}
