//! Where in a crate a module is: its path, its file, and the folder of those inside.

use std::path::PathBuf;

use super::attributes::{is_public, place_of};
use super::items::{Item, Use};

/// Where in a crate one is.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) path: Vec<String>,
    pub(crate) is_public: bool,
    /// The folder of its modules, and the file itself.
    pub(crate) folder: PathBuf,
    pub(crate) file: PathBuf,
}

impl Place {
    /// An item of this name that is declared here.
    pub(crate) fn item(&self, name: &str) -> Item {
        let path = self.path.iter().map(String::as_str).chain([name]);
        Item {
            path: path.collect::<Vec<_>>().join("::"),
            name: name.to_owned(),
            used: Use::Name,
            module: Some(self.path.clone()),
        }
    }

    /// The place of a module that is declared here.
    pub(crate) fn inside(&self, module: &syn::ItemMod) -> Place {
        let name = module.ident.to_string();
        let folder = self.folder.join(&name);
        let mut inner = Place {
            path: self.path.iter().cloned().chain([name.clone()]).collect(),
            is_public: self.is_public && is_public(&module.vis),
            folder,
            file: self.file.clone(),
        };
        if module.content.is_none() {
            let files = [
                place_of(&module.attrs).map(|path| self.folder.join(path)),
                Some(self.folder.join(format!("{name}.rs"))),
                Some(inner.folder.join("mod.rs")),
            ];
            let file = files.into_iter().flatten().find(|file| file.exists());
            inner.file = file.unwrap_or_else(|| panic!("{:?} has no file", inner.path));
            if inner.file.ends_with("mod.rs") {
                inner.folder = inner.file.parent().expect("a folder").to_owned();
            }
        }
        inner
    }

    /// Returns a member of a type or a trait.
    pub(crate) fn member(&self, owner: &str, name: &str, used: Use) -> Item {
        let item = self.item(&format!("{owner}::{name}"));
        let name = name.to_owned();
        Item { name, used, ..item }
    }
}
