//! The public items of a crate and the documentation of each module, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use syn::{
    Attribute, Expr, ImplItem, Item as Syntax, Meta, Signature, TraitItem, UseTree, Visibility,
};

use crate::attributes::{attributes, is_compiled, is_doc_hidden, place_of};
use crate::expand::{Macro, pasted};

/// How an item is named where it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// By its name: a type, a function, a module.
    Name,
    /// Behind a dot or a path: a method with `self`, what a trait has.
    Member,
    /// Behind the name of its type: a function or constant of this type.
    Associated(String),
}

/// A public item.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// `buffer::DeviceBuffer::len`.
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) used: Use,
    /// Where it is declared; `None` of what another crate declares, which any module may show.
    pub(crate) module: Option<Vec<String>>,
}

/// A crate, as far as it is read.
#[derive(Default)]
pub(crate) struct Crate {
    pub(crate) items: Vec<Item>,
    /// What is written of each module's items.
    pub(crate) documents: Vec<(Vec<String>, String)>,
    macros: BTreeMap<String, Macro>,
    /// Public items in private modules, which are public if they are used from outside.
    hidden: Vec<(Vec<String>, Item)>,
    /// Names that `pub use` has of this crate, and modules of which it has all.
    exported: BTreeSet<String>,
    all_exported: BTreeSet<Vec<String>>,
    /// Types and traits that are public.
    owners: BTreeSet<String>,
    /// What belongs to a type, by the type's name.
    members: Vec<(String, Item)>,
}

/// Where in a crate one is.
#[derive(Clone)]
struct Place {
    path: Vec<String>,
    is_public: bool,
    /// The folder of its modules, and the file itself.
    folder: PathBuf,
    file: PathBuf,
}

impl Place {
    fn item(&self, name: &str) -> Item {
        let path = self.path.iter().map(String::as_str).chain([name]);
        Item {
            path: path.collect::<Vec<_>>().join("::"),
            name: name.to_owned(),
            used: Use::Name,
            module: Some(self.path.clone()),
        }
    }

    fn member(&self, owner: &str, name: &str, used: Use) -> Item {
        let item = self.item(&format!("{owner}::{name}"));
        let name = name.to_owned();
        Item { name, used, ..item }
    }
}

impl Crate {
    /// Reads the crate whose root is this file.
    pub(crate) fn read(root: &Path) -> Crate {
        let mut read = Crate::default();
        let place = Place {
            path: Vec::new(),
            is_public: true,
            folder: root.parent().expect("a folder").to_owned(),
            file: root.to_owned(),
        };
        read.file(&place);
        read.publish();
        read
    }

    fn file(&mut self, place: &Place) {
        let text = fs::read_to_string(&place.file);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", place.file.display()));
        let file = syn::parse_file(&text);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", place.file.display()));
        self.document(place, &file.attrs);
        self.module(place, &file.items);
    }

    /// What is public in private modules, and of public types.
    fn publish(&mut self) {
        for (module, item) in std::mem::take(&mut self.hidden) {
            if self.exported.contains(&item.name) || self.all_exported.contains(&module) {
                self.owners.insert(item.name.clone());
                self.items.push(item);
            }
        }
        for (owner, item) in std::mem::take(&mut self.members) {
            if self.owners.contains(&owner) {
                self.items.push(item);
            }
        }
        self.items.sort_by(|a, b| a.path.cmp(&b.path));
        self.items.dedup_by(|a, b| a.path == b.path);
    }

    fn module(&mut self, place: &Place, items: &[Syntax]) {
        // A macro is known from its declaration on, also in the modules below.
        for item in items {
            if is_compiled(attributes(item)) && !is_doc_hidden(attributes(item)) {
                self.item(place, item);
            }
        }
    }

    fn item(&mut self, place: &Place, item: &Syntax) {
        match item {
            Syntax::Mod(module) => self.submodule(place, module),
            Syntax::Use(used) if is_public(&used.vis) => {
                self.document(place, &used.attrs);
                self.reexport(place, &used.tree, &mut Vec::new());
            }
            Syntax::Macro(declared) => self.macro_item(place, declared),
            Syntax::Impl(of) => self.implementation(place, of),
            Syntax::Trait(declared) if is_public(&declared.vis) => self.trait_item(place, declared),
            Syntax::Struct(it) => {
                self.declared(place, &it.vis, &it.ident, &it.attrs);
                let fields = it.fields.iter().filter(|field| is_public(&field.vis));
                fields.for_each(|field| self.document(place, &field.attrs));
            }
            Syntax::Enum(it) => {
                self.declared(place, &it.vis, &it.ident, &it.attrs);
                let is_shown = is_public(&it.vis);
                let variants = it.variants.iter().filter(|_| is_shown);
                variants.for_each(|variant| self.document(place, &variant.attrs));
            }
            Syntax::Union(it) => self.declared(place, &it.vis, &it.ident, &it.attrs),
            Syntax::Type(it) => self.declared(place, &it.vis, &it.ident, &it.attrs),
            Syntax::Const(it) => self.declared(place, &it.vis, &it.ident, &it.attrs),
            Syntax::Static(it) => self.declared(place, &it.vis, &it.ident, &it.attrs),
            Syntax::Fn(it) => self.declared(place, &it.vis, &it.sig.ident, &it.attrs),
            _ => {}
        }
    }

    fn declared(
        &mut self,
        place: &Place,
        visibility: &Visibility,
        name: &syn::Ident,
        attributes: &[Attribute],
    ) {
        if !is_public(visibility) {
            return;
        }
        self.document(place, attributes);
        let item = place.item(&name.to_string());
        match place.is_public {
            true => {
                self.owners.insert(item.name.clone());
                self.items.push(item);
            }
            false => self.hidden.push((place.path.clone(), item)),
        }
    }

    fn submodule(&mut self, place: &Place, module: &syn::ItemMod) {
        let name = module.ident.to_string();
        self.declared(place, &module.vis, &module.ident, &module.attrs);
        let mut path = place.path.clone();
        path.push(name.clone());
        let mut inner = Place {
            path,
            is_public: place.is_public && is_public(&module.vis),
            folder: place.folder.join(&name),
            file: place.file.clone(),
        };
        match &module.content {
            Some((_, items)) => {
                self.document(&inner, &module.attrs);
                self.module(&inner, items);
            }
            None => {
                let named = place_of(&module.attrs).map(|path| place.folder.join(path));
                let files = [
                    place.folder.join(format!("{name}.rs")),
                    inner.folder.join("mod.rs"),
                ];
                let file = named.or_else(|| files.into_iter().find(|file| file.exists()));
                inner.file = file.unwrap_or_else(|| panic!("{:?} has no file", inner.path));
                if inner.file.ends_with("mod.rs") {
                    inner.folder = inner.file.parent().expect("a folder").to_owned();
                }
                self.document(&inner, &module.attrs);
                self.file(&inner);
            }
        }
    }

    /// Of this crate, names; of others, items.
    fn reexport(&mut self, place: &Place, tree: &UseTree, path: &mut Vec<String>) {
        match tree {
            UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.reexport(place, &step.tree, path);
                path.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.reexport(place, tree, path);
                }
            }
            UseTree::Name(name) => self.reexported(place, &name.ident.to_string(), path),
            UseTree::Rename(renamed) => self.reexported(place, &renamed.rename.to_string(), path),
            UseTree::Glob(_) => {
                assert!(self.is_own(place, path), "all of another crate: {path:?}");
                let own = path
                    .iter()
                    .filter(|it| !["crate", "self"].contains(&&it[..]));
                let module = place.path.iter().chain(own).cloned();
                self.all_exported.insert(module.collect());
            }
        }
    }

    fn reexported(&mut self, place: &Place, name: &str, path: &[String]) {
        let name = match (name, path.last()) {
            ("self", Some(last)) => last,
            _ => name,
        };
        if self.is_own(place, path) {
            self.exported.insert(name.to_owned());
        } else if !path.first().is_some_and(|it| STANDARD.contains(&&it[..])) && place.is_public {
            let item = place.item(name);
            self.items.push(Item {
                module: None,
                ..item
            });
        }
    }

    /// Whether a path leads into this crate: by `crate`, or by a module beside it.
    fn is_own(&self, place: &Place, path: &[String]) -> bool {
        let Some(first) = path.first() else {
            return false;
        };
        let beside = [
            place.folder.join(format!("{first}.rs")),
            place.folder.join(first),
        ];
        ["crate", "self", "super"].contains(&&first[..]) || beside.iter().any(|it| it.exists())
    }

    fn macro_item(&mut self, place: &Place, item: &syn::ItemMacro) {
        let tokens = item.mac.tokens.clone();
        match &item.ident {
            Some(name) => {
                let is_exported = item
                    .attrs
                    .iter()
                    .any(|it| it.path().is_ident("macro_export"));
                if is_exported {
                    self.document(place, &item.attrs);
                    let item = place.item(&name.to_string());
                    self.items.push(Item {
                        module: None,
                        ..item
                    });
                }
                self.macros.insert(name.to_string(), Macro::parse(tokens));
            }
            None => {
                if let Some(made) = self.expanded(&item.mac) {
                    let file: syn::File = parsed(made);
                    self.module(place, &file.items);
                }
            }
        }
    }

    /// What a call of one of the crate's macros, or of `paste!`, becomes; `None` of other crates' macros, which
    /// declare nothing that is public.
    fn expanded(&self, call: &syn::Macro) -> Option<TokenStream> {
        let name = call.path.segments.last().expect("a name").ident.to_string();
        if name == "paste" {
            return Some(pasted(call.tokens.clone()));
        }
        let Some(declared) = self.macros.get(&name) else {
            let text = call.tokens.to_string();
            assert!(!text.contains("pub "), "{name}! of another crate: {text}");
            return None;
        };
        let made = declared.expand(call.tokens.clone());
        Some(made.unwrap_or_else(|| panic!("{name}! has no rule for {}", call.tokens)))
    }

    fn trait_item(&mut self, place: &Place, declared: &syn::ItemTrait) {
        self.declared(place, &declared.vis, &declared.ident, &declared.attrs);
        let owner = declared.ident.to_string();
        self.trait_members(place, &owner, &declared.items);
    }

    fn trait_members(&mut self, place: &Place, owner: &str, items: &[TraitItem]) {
        for item in items {
            let (name, attributes) = match item {
                TraitItem::Fn(it) => (&it.sig.ident, &it.attrs),
                TraitItem::Const(it) => (&it.ident, &it.attrs),
                TraitItem::Macro(it) => {
                    if let Some(made) = self.expanded(&it.mac) {
                        let made: syn::ItemTrait = parsed(quoted("trait Made", made));
                        self.trait_members(place, owner, &made.items);
                    }
                    continue;
                }
                _ => continue,
            };
            if is_compiled(attributes) && !is_doc_hidden(attributes) {
                self.document(place, attributes);
                let item = place.member(owner, &name.to_string(), Use::Member);
                self.members.push((owner.to_owned(), item));
            }
        }
    }

    fn implementation(&mut self, place: &Place, of: &syn::ItemImpl) {
        self.document(place, &of.attrs);
        let syn::Type::Path(owner) = &*of.self_ty else {
            return;
        };
        let owner = owner
            .path
            .segments
            .last()
            .expect("a name")
            .ident
            .to_string();
        self.members(place, &owner, of.trait_.is_some(), &of.items);
    }

    fn members(&mut self, place: &Place, owner: &str, is_of_a_trait: bool, items: &[ImplItem]) {
        for item in items {
            let (name, visibility, attributes, signature) = match item {
                ImplItem::Fn(it) => (&it.sig.ident, &it.vis, &it.attrs, Some(&it.sig)),
                ImplItem::Const(it) => (&it.ident, &it.vis, &it.attrs, None),
                ImplItem::Macro(it) => {
                    if let Some(made) = self.expanded(&it.mac) {
                        let made: syn::ItemImpl = parsed(quoted("impl Made", made));
                        self.members(place, owner, is_of_a_trait, &made.items);
                    }
                    continue;
                }
                _ => continue,
            };
            if !is_compiled(attributes) || is_doc_hidden(attributes) {
                continue;
            }
            if is_of_a_trait || is_public(visibility) {
                self.document(place, attributes);
            }
            if !is_of_a_trait && is_public(visibility) {
                let item = place.member(owner, &name.to_string(), used(owner, signature));
                self.members.push((owner.to_owned(), item));
            }
        }
    }

    fn document(&mut self, place: &Place, attributes: &[Attribute]) {
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

    /// What a `doc` attribute says.
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
                let parts = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
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
                    .expanded(call)
                    .unwrap_or_else(|| panic!("{name}! in a doc"));
                self.text(place, &parsed(made))
            }
        }
    }
}

/// What is documented elsewhere.
const STANDARD: [&str; 3] = ["alloc", "core", "std"];

fn parsed<T: syn::parse::Parse>(tokens: TokenStream) -> T {
    let text = tokens.to_string();
    syn::parse2(tokens).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Members in the braces of a trait or an implementation.
fn quoted(head: &str, members: TokenStream) -> TokenStream {
    let mut tokens: TokenStream = head.parse().expect("tokens");
    tokens.extend([proc_macro2::TokenTree::from(proc_macro2::Group::new(
        proc_macro2::Delimiter::Brace,
        members,
    ))]);
    tokens
}

fn used(owner: &str, signature: Option<&Signature>) -> Use {
    match signature.and_then(Signature::receiver) {
        Some(_) => Use::Member,
        None => Use::Associated(owner.to_owned()),
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}
