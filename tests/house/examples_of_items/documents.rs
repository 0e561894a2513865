//! The text that attributes and comments say of items.

use std::fs;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Meta};

use super::items::{Crate, parsed};
use super::place::Place;

impl Crate {
    /// Keeps what is written of an item.
    pub(crate) fn document(&mut self, place: &Place, attributes: &[Attribute]) {
        let lines = attributes
            .iter()
            .filter_map(|attribute| match &attribute.meta {
                Meta::NameValue(doc) if doc.path.is_ident("doc") => {
                    Some(self.text(place, &doc.value))
                }
                _ => None,
            });
        let text = lines.collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            self.documents.push((place.path.clone(), text));
        }
    }

    /// Returns the text of a `doc` attribute.
    fn text(&self, place: &Place, value: &Expr) -> String {
        match value {
            Expr::Lit(literal) => match &literal.lit {
                syn::Lit::Str(text) => text.value(),
                syn::Lit::Int(number) => number.base10_digits().to_owned(),
                _ => panic!("{}: a doc attribute that is not read", place.file.display()),
            },
            Expr::Macro(call) => self.called(place, &call.mac),
            Expr::Group(group) => self.text(place, &group.expr),
            _ => panic!("{}: a doc attribute that is not read", place.file.display()),
        }
    }

    fn called(&self, place: &Place, call: &syn::Macro) -> String {
        let name = call.path.segments.last().expect("a name").ident.to_string();
        let tokens = call.tokens.clone();
        match &name[..] {
            "stringify" => tokens.to_string(),
            "concat" => {
                let parts = Punctuated::<Expr, syn::Token![,]>::parse_terminated;
                let parts = syn::parse::Parser::parse2(parts, tokens).expect("texts");
                parts.iter().map(|part| self.text(place, part)).collect()
            }
            "include_str" => {
                let name: syn::LitStr = parsed(tokens);
                let path = place.file.with_file_name(name.value());
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
            }
            _ => {
                let made = self
                    .expanded(place, call)
                    .unwrap_or_else(|| panic!("{name}! in a doc"));
                self.text(place, &parsed(made))
            }
        }
    }
}
