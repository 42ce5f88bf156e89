//! Import cycles among the files of a crate. A file that imports another one is read after it; files of a cycle can
//! only be read together.
//!
//! An import is a path to an item of another module in code that is not for tests; paths inside of macros are not
//! seen. It leads to the file that defines the item: a `pub use` is a name, not an import.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Path, UseTree, Visibility};

/// A module by its path from the crate, or an item behind the path of its module.
type ModulePath = Vec<String>;

/// The items of a module of a file.
#[derive(Default)]
struct Module {
    file: String,
    imports: Vec<ModulePath>,
    /// Items under another path, by their names here.
    names: BTreeMap<String, ModulePath>,
}

/// The modules of a crate.
#[derive(Default)]
struct Modules(BTreeMap<ModulePath, Module>);

/// The files that take part in import cycles, by crate.
pub fn files_in_cycles(sources: &BTreeMap<String, String>) -> BTreeMap<String, Vec<String>> {
    let mut crates = BTreeMap::<&str, Vec<(&str, &str)>>::new();
    for (path, text) in sources {
        let below = path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        if let Some((name, _)) = below {
            crates.entry(name).or_default().push((path, text));
        }
    }
    let found = |(name, files): (&str, Vec<(&str, &str)>)| (name.to_owned(), Modules::of(&files).in_cycles());
    crates.into_iter().map(found).filter(|(_, files)| !files.is_empty()).collect()
}

/// The path of the module that a file is.
fn module_of(file: &str) -> ModulePath {
    let (_, below) = file.split_once("/src/").expect("it is a source of a crate");
    let mut path: ModulePath = below.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<Path>().is_ok_and(|condition| condition.is_ident("test"))
    };
    attributes.iter().any(is_test)
}

impl Modules {
    fn of(files: &[(&str, &str)]) -> Self {
        let parsed: BTreeMap<&str, syn::File> = files
            .iter()
            .map(|(path, text)| {
                (*path, syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}")))
            })
            .collect();
        let mut tests = BTreeSet::new();
        for (path, file) in &parsed {
            for item in &file.items {
                if let Item::Mod(module) = item
                    && module.content.is_none()
                    && is_for_tests(&module.attrs)
                {
                    tests.insert([module_of(path), vec![module.ident.to_string()]].concat());
                }
            }
        }
        let is_test =
            |module: &ModulePath| (0..=module.len()).any(|length| tests.contains(&module[..length]));
        let known: BTreeSet<ModulePath> = parsed.keys().map(|path| module_of(path)).collect();
        let mut modules = Self::default();
        for (path, file) in &parsed {
            let module = module_of(path);
            if is_test(&module) {
                continue;
            }
            let mut reader = Reader { module: &module, known: &known, found: Module::default() };
            (*path).clone_into(&mut reader.found.file);
            reader.visit_file(file);
            modules.0.insert(module.clone(), reader.found);
        }
        modules
    }

    /// The file that defines the item behind a path.
    fn file_of(&self, path: &[String], hops: usize) -> Option<&str> {
        let length = (0..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
        let module = &self.0[&path[..length]];
        let renamed = path.get(length).and_then(|name| module.names.get(name)).filter(|_| hops > 0);
        match renamed {
            Some(place) => self.file_of(&[place.as_slice(), &path[length + 1..]].concat(), hops - 1),
            None => Some(&module.file),
        }
    }

    /// The files from which the imports lead back to themselves.
    fn in_cycles(&self) -> Vec<String> {
        const HOPS_MAX: usize = 8;
        let mut edges = BTreeMap::<&str, BTreeSet<&str>>::new();
        for module in self.0.values() {
            let files = module.imports.iter().filter_map(|path| self.file_of(path, HOPS_MAX));
            edges.entry(&module.file).or_default().extend(files.filter(|file| *file != module.file));
        }
        let leads_back = |file: &&&str| {
            let mut seen = BTreeSet::new();
            let mut next: Vec<&str> = edges[**file].iter().copied().collect();
            while let Some(other) = next.pop() {
                if seen.insert(other) {
                    next.extend(&edges[other]);
                }
            }
            seen.contains(**file)
        };
        edges.keys().filter(leads_back).map(|file| (*file).to_owned()).collect()
    }
}

/// Reads the imports of a file.
struct Reader<'a> {
    module: &'a ModulePath,
    known: &'a BTreeSet<ModulePath>,
    found: Module,
}

impl Reader<'_> {
    /// A path of this crate, from its root.
    fn rooted(&self, path: &[String]) -> Option<ModulePath> {
        let mut base = self.module.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => return Some(rest[1..].to_vec()),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            first => {
                base.push(first.to_owned());
                if !self.known.contains(&base) {
                    return None;
                }
                base.pop();
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    fn read_use(&mut self, tree: &UseTree, before: &mut ModulePath, is_name: bool) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.read_use(&path.tree, before, is_name);
                before.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.read_use(tree, before, is_name);
                }
            }
            UseTree::Glob(_) => self.add(before.clone(), None),
            UseTree::Name(name) => {
                let is_self = name.ident == "self";
                let mut path = before.clone();
                path.extend((!is_self).then(|| name.ident.to_string()));
                let known_as = path.last().cloned();
                self.add(path, known_as.filter(|_| is_name));
            }
            UseTree::Rename(rename) => {
                let mut path = before.clone();
                path.extend((rename.ident != "self").then(|| rename.ident.to_string()));
                self.add(path, is_name.then(|| rename.rename.to_string()));
            }
        }
    }

    /// Notes an import, or a name under which others find an item.
    fn add(&mut self, path: ModulePath, known_as: Option<String>) {
        let Some(path) = self.rooted(&path) else { return };
        match known_as {
            Some(name) => drop(self.found.names.insert(name, path)),
            None => self.found.imports.push(path),
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Mod(ItemMod { attrs, .. }) = item
            && is_for_tests(attrs)
        {
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_for_tests(&item.attrs) {
            let is_name = !matches!(item.vis, Visibility::Inherited);
            self.read_use(&item.tree, &mut Vec::new(), is_name);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if path.segments.len() > 1 {
            let path = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(path, None);
        }
        visit::visit_path(self, path);
    }
}

#[test]
fn cycles_are_found() {
    let cycles = |files: &[(&str, &str)]| Modules::of(files).in_cycles();
    let named = "mod a;\nmod b;\npub use a::A;\n";
    let one = "use crate::b::B;\npub struct A(B);\n";
    assert!(
        cycles(&[("x/src/lib.rs", named), ("x/src/a.rs", one), ("x/src/b.rs", "pub struct B;\n")]).is_empty()
    );
    let back = "pub struct B;\nfn f() -> crate::A { loop {} }\n";
    let found = cycles(&[("x/src/lib.rs", named), ("x/src/a.rs", one), ("x/src/b.rs", back)]);
    assert_eq!(found, ["x/src/a.rs", "x/src/b.rs"], "the name at the root leads to the file");
    let in_tests = "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n";
    assert!(cycles(&[("x/src/lib.rs", named), ("x/src/a.rs", one), ("x/src/b.rs", in_tests)]).is_empty());
    let parent = "mod child;\npub struct P(child::C);\n";
    let child = "use super::P;\npub struct C;\nimpl C {\n    fn of(_: &P) {}\n}\n";
    assert_eq!(cycles(&[("x/src/p/mod.rs", parent), ("x/src/p/child.rs", child)]).len(), 2);
}
