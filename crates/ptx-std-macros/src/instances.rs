//! Generic kernels: a function, and a kernel for each instance that the attribute names.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Safety, Type,
    parse_quote,
};

use crate::bounds::{Instance, Options};
use crate::parameter::Parameter;

pub(crate) fn expand(options: &Options, function: &ItemFn) -> syn::Result<TokenStream> {
    let parameters = &function.sig.generics.params;
    let kernels = options
        .instances
        .iter()
        .map(|instance| {
            let given = instance.arguments.args.len();
            if given != parameters.len() {
                return Err(Error::new(
                    instance.arguments.span(),
                    format!(
                        "{given} generic arguments; the kernel takes {}",
                        parameters.len()
                    ),
                ));
            }
            kernel(options, function, instance)
        })
        .collect::<syn::Result<Vec<_>>>()?;
    let mut generic = function.clone();
    generic.attrs.push(parse_quote!(#[inline(always)]));
    Ok(quote! { #generic #(#kernels)* })
}

fn kernel(options: &Options, function: &ItemFn, instance: &Instance) -> syn::Result<TokenStream> {
    let Instance { name, arguments } = instance;
    let generic = &function.sig.ident;
    let mut inputs = function.sig.inputs.clone();
    let mut substitution = Substitution {
        given: function
            .sig
            .generics
            .params
            .iter()
            .filter_map(name_of)
            .zip(&arguments.args)
            .collect(),
    };
    for input in &mut inputs {
        substitution.visit_fn_arg_mut(input);
        if let FnArg::Typed(typed) = input
            && let syn::Pat::Ident(pattern) = &mut *typed.pat
        {
            pattern.mutability = None;
        }
    }
    let names = inputs
        .iter()
        .map(|input| Parameter::parse(input).map(|parameter| parameter.name))
        .collect::<syn::Result<Vec<_>>>()?;
    let documentation: Vec<&Attribute> = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .collect();
    let vis = &function.vis;
    let argument = options.argument();
    let call = quote! { #generic::#arguments(#(#names),*) };
    let (safety, body) = match &function.sig.safety {
        // SAFETY in the expansion: the instance's contract is the generic kernel's.
        Safety::Unsafe(token) => (quote! { #token }, quote! { unsafe { #call } }),
        _ => (quote! {}, call),
    };
    Ok(quote! {
        #(#documentation)*
        #[::cuda_std::kernel(#argument)]
        #vis #safety fn #name(#inputs) { #body }
    })
}

fn name_of(parameter: &GenericParam) -> Option<&Ident> {
    match parameter {
        GenericParam::Type(ty) => Some(&ty.ident),
        GenericParam::Const(constant) => Some(&constant.ident),
        GenericParam::Lifetime(_) => None,
    }
}

/// Puts the instance's arguments where the generic parameters stand in a type.
struct Substitution<'a> {
    given: Vec<(&'a Ident, &'a GenericArgument)>,
}

impl Substitution<'_> {
    fn of_type(&self, ty: &Type) -> Option<&GenericArgument> {
        let Type::Path(path) = ty else { return None };
        self.given
            .iter()
            .find(|(name, _)| path.path.is_ident(*name))
            .map(|(_, argument)| *argument)
    }
}

impl VisitMut for Substitution<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match self.of_type(ty) {
            Some(GenericArgument::Type(given)) => *ty = given.clone(),
            _ => visit_mut::visit_type_mut(self, ty),
        }
    }

    /// `Foo<N>` parses as if `N` were a type.
    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        let given = match argument {
            GenericArgument::Type(ty) => self.of_type(ty).cloned(),
            _ => None,
        };
        match given {
            Some(given) => *argument = given,
            None => visit_mut::visit_generic_argument_mut(self, argument),
        }
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        let given = match expression {
            Expr::Path(path) => self
                .given
                .iter()
                .find(|(name, _)| path.path.is_ident(*name))
                .map(|(_, argument)| (*argument).clone()),
            _ => None,
        };
        match given {
            Some(GenericArgument::Const(given)) => *expression = given,
            _ => visit_mut::visit_expr_mut(self, expression),
        }
    }
}
