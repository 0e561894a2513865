//! The public items of a crate and the documentation of each module, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proc_macro2::TokenStream;
use syn::{Attribute, ImplItem, Item as Syntax, Signature, TraitItem, UseTree, Visibility};

use super::attributes::{attributes, is_compiled, is_doc_hidden, is_public};
use super::expand::{Macro, pasted};
use super::place::Place;

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
    /// The documentation of each module's items.
    pub(crate) documents: Vec<(Vec<String>, String)>,
    files: BTreeMap<PathBuf, Rc<syn::File>>,
    /// By their module and name.
    macros: BTreeMap<(Vec<String>, String), Rc<Macro>>,
    /// Public items in private modules, which are public if they are used from outside.
    hidden: Vec<(Vec<String>, Item)>,
    /// Names that `pub use` has of this crate, and modules of which it has all.
    exported: BTreeSet<String>,
    all_exported: BTreeSet<Vec<String>>,
    /// Types and traits that are public.
    owners: BTreeSet<String>,
    /// Members of a type, by the type's name.
    members: Vec<(String, Item)>,
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
        let file = read.parsed(&place);
        read.survey(&place, &file.items);
        read.tables();
        read.file(&place);
        read.publish();
        read
    }

    /// Finds the macros of other crates that hand rows to one of this crate.
    fn tables(&mut self) {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/occupancy/src/capabilities.rs");
        let place = Place {
            path: vec!["occupancy".to_owned()],
            is_public: false,
            folder: file.parent().expect("a folder").to_owned(),
            file,
        };
        let table = self.parsed(&place);
        self.survey(&place, &table.items);
    }

    fn parsed(&mut self, place: &Place) -> Rc<syn::File> {
        let read = || {
            let text = fs::read_to_string(&place.file);
            let text = text.unwrap_or_else(|error| panic!("{}: {error}", place.file.display()));
            let file = syn::parse_file(&text);
            Rc::new(file.unwrap_or_else(|error| panic!("{}: {error}", place.file.display())))
        };
        let file = self.files.entry(place.file.clone());
        file.or_insert_with(read).clone()
    }

    /// Finds the macros of all modules: those of a module may be called in any other.
    fn survey(&mut self, place: &Place, items: &[Syntax]) {
        for item in items.iter().filter(|item| is_compiled(attributes(item))) {
            match item {
                Syntax::Macro(syn::ItemMacro {
                    ident: Some(name),
                    mac,
                    ..
                }) => {
                    let key = (place.path.clone(), name.to_string());
                    let declared = Rc::new(Macro::parse(mac.tokens.clone()));
                    self.macros.insert(key, declared);
                }
                Syntax::Mod(module) => {
                    let inner = place.inside(module);
                    match &module.content {
                        Some((_, items)) => self.survey(&inner, items),
                        None => {
                            let file = self.parsed(&inner);
                            self.survey(&inner, &file.items);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn file(&mut self, place: &Place) {
        let file = self.parsed(place);
        self.document(place, &file.attrs);
        self.module(place, &file.items);
    }

    /// Adds public items of private modules, if they are exported, and members of public types.
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
        self.declared(place, &module.vis, &module.ident, &module.attrs);
        let inner = place.inside(module);
        self.document(&inner, &module.attrs);
        match &module.content {
            Some((_, items)) => self.module(&inner, items),
            None => self.file(&inner),
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
        let Some(name) = &item.ident else {
            if let Some(made) = self.expanded(place, &item.mac) {
                let file: syn::File = parsed(made);
                self.module(place, &file.items);
            }
            return;
        };
        let is_export = |it: &Attribute| it.path().is_ident("macro_export");
        if item.attrs.iter().any(is_export) {
            self.document(place, &item.attrs);
            let item = place.item(&name.to_string());
            self.items.push(Item {
                module: None,
                ..item
            });
        }
    }

    /// Expands a call of one of the crate's macros, or of `paste!`; `None` of those that declare nothing.
    pub(crate) fn expanded(&self, place: &Place, call: &syn::Macro) -> Option<TokenStream> {
        let name = call.path.segments.last().expect("a name").ident.to_string();
        if name == "paste" {
            return Some(pasted(call.tokens.clone()));
        }
        let declared = self.declared_macro(place, &name);
        if declared.is_none() && WITHOUT_ITEMS.contains(&&name[..]) {
            return None;
        }
        let declared = declared.unwrap_or_else(|| panic!("{:?}: what is {name}!?", place.path));
        let made = declared.expand(call.tokens.clone());
        Some(made.unwrap_or_else(|| panic!("{name}! has no rule for {}", call.tokens)))
    }

    /// The macro of the module itself, of the nearest around it, or of the only one that has it.
    fn declared_macro(&self, place: &Place, name: &str) -> Option<&Macro> {
        let named = |module: &[String]| self.macros.get(&(module.to_vec(), name.to_owned()));
        let mut around = (0..=place.path.len()).rev();
        let near = around.find_map(|end| named(&place.path[..end]));
        let mut all = self.macros.iter().filter(|((_, it), _)| it == name);
        let found = near.or_else(|| match (all.next(), all.next()) {
            (Some((_, only)), None) => Some(only),
            (None, _) => None,
            _ => panic!("{:?}: which {name}!?", place.path),
        });
        found.map(|it| &**it)
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
                    if let Some(made) = self.expanded(place, &it.mac) {
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
                    if let Some(made) = self.expanded(place, &it.mac) {
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
}

/// Macros of the standard library that declare nothing that is public.
const WITHOUT_ITEMS: [&str; 2] = ["global_asm", "thread_local"];

/// Crates that are documented elsewhere.
const STANDARD: [&str; 3] = ["alloc", "core", "std"];

/// Tokens as what they must be.
pub(crate) fn parsed<T: syn::parse::Parse>(tokens: TokenStream) -> T {
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
