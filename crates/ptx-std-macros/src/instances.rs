//! Generic kernels: a function, and a kernel for each instance that the attribute names.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Error, Expr, ExprPath, FnArg, GenericArgument, GenericParam, Generics, Ident,
    ItemFn, Path, PathArguments, Safety, Type, TypeParamBound, TypePath, WherePredicate,
    parse_quote,
};

use crate::bounds::{Instance, Options};
use crate::parameter::{Parameter, parameter_name, peel};

/// The function, whose source has the digest `source`, and its kernels.
pub(crate) fn expand(
    options: &Options,
    function: &ItemFn,
    source: u64,
) -> syn::Result<TokenStream> {
    let parameters: Vec<&GenericParam> = instantiated(&function.sig.generics).collect();
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
            kernel(options, function, instance, source)
        })
        .collect::<syn::Result<Vec<_>>>()?;
    let mut generic = function.clone();
    generic.attrs.push(parse_quote!(#[inline(always)]));
    Ok(quote! { #generic #(#kernels)* })
}

fn kernel(
    options: &Options,
    function: &ItemFn,
    instance: &Instance,
    source: u64,
) -> syn::Result<TokenStream> {
    let Instance { name, arguments } = instance;
    let generic = &function.sig.ident;
    let mut inputs = function.sig.inputs.clone();
    let generics = &function.sig.generics;
    let mut substitution = Substitution {
        generics,
        given: instantiated(generics).zip(&arguments.args).collect(),
        error: None,
    };
    for (position, input) in inputs.iter_mut().enumerate() {
        substitution.visit_fn_arg_mut(input);
        if let FnArg::Typed(typed) = input {
            let name = parameter_name(position, &typed.pat);
            *typed.pat = parse_quote!(#name);
        }
    }
    if let Some(error) = substitution.error {
        return Err(error);
    }
    let parameters = Parameter::all(&inputs)?;
    let names = parameters.iter().map(|parameter| &parameter.name);
    let lifetimes = generics.lifetimes();
    let documentation: Vec<&Attribute> = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .collect();
    let vis = &function.vis;
    let argument = options.argument(source);
    let call = quote! { #generic::#arguments(#(#names),*) };
    let (safety, body) = match &function.sig.safety {
        // SAFETY in the expansion: the instance's contract is the generic kernel's.
        Safety::Unsafe(token) => (quote! { #token }, quote! { unsafe { #call } }),
        _ => (quote! {}, call),
    };
    Ok(quote! {
        #(#documentation)*
        #[::cuda_std::kernel(#argument)]
        #vis #safety fn #name<#(#lifetimes),*>(#inputs) { #body }
    })
}

/// The parameters that an instance gives arguments for.
fn instantiated(generics: &Generics) -> impl Iterator<Item = &GenericParam> {
    let parameters = generics.params.iter();
    parameters.filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
}

/// Puts the instance's arguments where the generic parameters stand in a type.
struct Substitution<'a> {
    generics: &'a Generics,
    given: Vec<(&'a GenericParam, &'a GenericArgument)>,
    error: Option<Error>,
}

impl Substitution<'_> {
    fn of_type(&self, ty: &Type) -> Option<&GenericArgument> {
        let Type::Path(path) = peel(ty) else {
            return None;
        };
        if path.qself.is_some() {
            return None;
        }
        self.given
            .iter()
            .find(|(parameter, _)| name_of(parameter).is_some_and(|name| path.path.is_ident(name)))
            .map(|(_, argument)| *argument)
    }

    /// The argument for a parameter `const N`. Where it names a constant it parses as a type.
    fn of_constant(&self, path: &ExprPath) -> Option<Expr> {
        let (_, argument) = self.given.iter().find(|(parameter, _)| {
            matches!(parameter, GenericParam::Const(constant) if path.path.is_ident(&constant.ident))
        })?;
        match argument {
            GenericArgument::Const(given) => Some(given.clone()),
            GenericArgument::Type(given) => match peel(given) {
                Type::Path(given) => Some(parse_quote!(#given)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `<f32 as Trait>::Acc` for `T::Acc`: a type that is known does not say which trait is meant.
    fn of_associated(&mut self, path: &TypePath) -> Option<Type> {
        if path.qself.is_some() || path.path.segments.len() < 2 {
            return None;
        }
        let first = &path.path.segments[0].ident;
        let given = self.given.iter().find_map(|given| match given {
            (GenericParam::Type(ty), GenericArgument::Type(given)) if ty.ident == *first => {
                Some((*given).clone())
            }
            _ => None,
        })?;
        let mut traits = traits_of(self.generics, first).into_iter();
        let (Some(mut of), None) = (traits.next(), traits.next()) else {
            self.error.get_or_insert_with(|| {
                let rest = path.path.segments.iter().skip(1);
                let rest = quote!(#(#rest)::*);
                Error::new(
                    path.span(),
                    format!("which trait's? write `<{first} as Trait>::{rest}`"),
                )
            });
            return None;
        };
        self.visit_path_mut(&mut of);
        let rest = path.path.segments.iter().skip(1);
        Some(parse_quote!(<#given as #of>::#(#rest)::*))
    }
}

impl VisitMut for Substitution<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Some(GenericArgument::Type(given)) = self.of_type(ty) {
            *ty = given.clone();
            return;
        }
        visit_mut::visit_type_mut(self, ty);
        if let Type::Path(path) = ty
            && let Some(known) = self.of_associated(path)
        {
            *ty = known;
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
            Expr::Path(path) => self.of_constant(path),
            _ => None,
        };
        match given {
            Some(given) => *expression = given,
            None => visit_mut::visit_expr_mut(self, expression),
        }
    }
}

fn name_of(parameter: &GenericParam) -> Option<&Ident> {
    match parameter {
        GenericParam::Type(ty) => Some(&ty.ident),
        GenericParam::Const(constant) => Some(&constant.ident),
        GenericParam::Lifetime(_) => None,
    }
}

/// The traits that bound the type parameter `name`, less those that have no associated types.
fn traits_of(generics: &Generics, name: &Ident) -> Vec<Path> {
    const WITHOUT_TYPES: [&str; 9] = [
        "Clone",
        "Copy",
        "Debug",
        "Default",
        "PartialEq",
        "PartialOrd",
        "Send",
        "Sized",
        "Sync",
    ];
    let inline = generics.type_params().filter(|ty| ty.ident == *name);
    let inline = inline.flat_map(|ty| &ty.bounds);
    let clauses = generics.where_clause.iter().flat_map(|it| &it.predicates);
    let clauses = clauses.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => match peel(&predicate.bounded_ty) {
            Type::Path(path) if path.path.is_ident(name) => Some(&predicate.bounds),
            _ => None,
        },
        _ => None,
    });
    inline
        .chain(clauses.flatten())
        .filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) => Some(without_equalities(bound.path.clone())),
            _ => None,
        })
        .filter(|path| {
            let last = path.segments.last();
            !last.is_some_and(|last| WITHOUT_TYPES.iter().any(|name| last.ident == name))
        })
        .collect()
}

/// `Mul<f32>` for `Mul<f32, Output = f32>`, which a bound may say and a type may not.
fn without_equalities(mut path: Path) -> Path {
    if let Some(last) = path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
    {
        arguments.args = std::mem::take(&mut arguments.args)
            .into_iter()
            .filter(|argument| {
                matches!(
                    argument,
                    GenericArgument::Lifetime(_)
                        | GenericArgument::Type(_)
                        | GenericArgument::Const(_)
                )
            })
            .collect();
        if arguments.args.is_empty() {
            last.arguments = PathArguments::None;
        }
    }
    path
}
