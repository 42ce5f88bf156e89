//! What a file says of itself and of the models that it needs, before it is compiled.

use crate::compile::is_of_model;
use crate::limits::Limits;
use crate::problem::Problems;
use crate::requirements::text_of;
use crate::xml::Document;

/// The namespace of a model and those that it imports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// The namespace by which others import the model.
    pub namespace: String,
    /// The models that it imports, in the order of the file.
    pub imports: Vec<ImportedModel>,
}

/// A model that another one imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedModel {
    /// Its namespace.
    pub namespace: String,
    /// Where the importing file says that it is.
    pub location: Option<String>,
}

impl Head {
    /// Reads a file, within the limits that hold for compiling it.
    pub fn read(xml: &[u8], limits: &Limits) -> Result<Self, Problems> {
        let text = text_of(xml, limits)?;
        let document = Document::read(&text, limits).map_err(Problems::of_file)?;
        if document.is_empty() {
            return Ok(Self::default());
        }
        let attribute = |node, name| document.attribute(node, name).map(str::to_owned);
        let imports = document.named(0, "import").filter(|node| is_of_model(&document, *node));
        Ok(Self {
            namespace: attribute(0, "namespace").unwrap_or_default(),
            imports: imports
                .map(|node| ImportedModel {
                    namespace: attribute(node, "namespace").unwrap_or_default(),
                    location: attribute(node, "locationURI"),
                })
                .collect(),
        })
    }
}
