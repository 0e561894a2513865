//! Attributes of items: which of them are there, and where.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Item as Syntax, Meta, Visibility};

/// Those of an item; none of what declares nothing.
pub(crate) fn attributes(item: &Syntax) -> &[Attribute] {
    match item {
        Syntax::Const(it) => &it.attrs,
        Syntax::Enum(it) => &it.attrs,
        Syntax::Fn(it) => &it.attrs,
        Syntax::Impl(it) => &it.attrs,
        Syntax::Macro(it) => &it.attrs,
        Syntax::Mod(it) => &it.attrs,
        Syntax::Static(it) => &it.attrs,
        Syntax::Struct(it) => &it.attrs,
        Syntax::Trait(it) => &it.attrs,
        Syntax::Type(it) => &it.attrs,
        Syntax::Union(it) => &it.attrs,
        Syntax::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// Whether documentation leaves an item out.
pub(crate) fn is_doc_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let hidden = |list: &syn::MetaList| list.tokens.to_string() == "hidden";
        attribute.path().is_ident("doc") && attribute.meta.require_list().is_ok_and(hidden)
    })
}

/// Whether an item is there on the host, where documentation is tested, without features.
pub(crate) fn is_compiled(attributes: &[Attribute]) -> bool {
    let conditions = attributes.iter().filter(|it| it.path().is_ident("cfg"));
    let mut conditions = conditions.map(|it| it.parse_args::<Meta>().expect("a condition"));
    conditions.all(|condition| holds(&condition))
}

/// The file that `#[cfg_attr(.., path = "..")]` names.
pub(crate) fn place_of(attributes: &[Attribute]) -> Option<String> {
    let conditional = attributes
        .iter()
        .filter(|it| it.path().is_ident("cfg_attr"));
    conditional.into_iter().find_map(|attribute| {
        let parts = Punctuated::<Meta, syn::Token![,]>::parse_terminated;
        let parts = attribute.parse_args_with(parts).expect("a condition");
        let mut parts = parts.iter();
        let applies = parts.next().is_some_and(holds);
        let path = parts.find_map(|part| match part {
            Meta::NameValue(path) if path.path.is_ident("path") => literal(&path.value),
            _ => None,
        });
        path.filter(|_| applies)
    })
}

/// The text of an attribute.
fn literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

/// Whether a condition holds on this host, outside unit tests.
fn holds(condition: &Meta) -> bool {
    let inner = |list: &syn::MetaList| {
        let parts = Punctuated::<Meta, syn::Token![,]>::parse_terminated;
        list.parse_args_with(parts).expect("conditions")
    };
    match condition {
        Meta::Path(path) if path.is_ident("test") => false,
        Meta::NameValue(is) if is.path.is_ident("target_arch") => {
            literal(&is.value).is_some_and(|arch| arch == std::env::consts::ARCH)
        }
        Meta::NameValue(is) if is.path.is_ident("feature") => false,
        Meta::List(list) if list.path.is_ident("not") => !holds(&inner(list)[0]),
        Meta::List(list) if list.path.is_ident("any") => inner(list).iter().any(holds),
        Meta::List(list) if list.path.is_ident("all") => inner(list).iter().all(holds),
        other => panic!(
            "a condition that is not known: {:?}",
            other.path().get_ident()
        ),
    }
}

/// Whether a declaration begins with `pub` alone.
pub(crate) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}
