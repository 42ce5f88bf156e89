//! A file that was read, but not compiled, with the models that it imports.

use crate::xml::{Document, NodeId};

/// A file that was read, but not compiled.
#[derive(Debug)]
pub struct File<'x> {
    pub(crate) document: Document<'x>,
}

/// A model that another one imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedModel<'f> {
    /// Its namespace.
    pub namespace: &'f str,
    /// `locationURI` of the importing file.
    pub location: Option<&'f str>,
}

impl File<'_> {
    /// The namespace by which others import the model.
    pub fn namespace(&self) -> &str {
        if self.document.is_empty() {
            return "";
        }
        self.document.attribute(0, "namespace").unwrap_or_default()
    }

    /// The models that it imports, in the order of the file.
    pub fn imports(&self) -> impl Iterator<Item = ImportedModel<'_>> {
        let root = (!self.document.is_empty()).then_some(0);
        let imports = root.into_iter().flat_map(|root| imports(&self.document, root));
        imports.map(|node| ImportedModel {
            namespace: self.document.attribute(node, "namespace").unwrap_or_default(),
            location: self.document.attribute(node, "locationURI"),
        })
    }
}

/// The imports of DMN models; other kinds of files may be imported, but are not used.
pub(crate) fn imports<'d>(document: &'d Document, root: NodeId) -> impl Iterator<Item = NodeId> + 'd {
    let is_of_model = |node: &NodeId| {
        let kind = document.attribute(*node, "importType").unwrap_or_default();
        kind.to_ascii_lowercase().contains("/dmn/")
    };
    document.named(root, "import").filter(is_of_model)
}
