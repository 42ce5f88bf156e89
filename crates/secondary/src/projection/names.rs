//! Names that models give to processes and their elements: records carry IDs only.

use std::collections::HashMap;
use std::sync::Arc;

use protocol::{Key, Name};

use search::StoreError;

/// Definitions whose names are remembered.
const DEFINITIONS_MAX: usize = 1000;
const BPMN: &str = "http://www.omg.org/spec/BPMN/20100524/MODEL";
/// Elements that wait for messages.
const RECEIVERS: &[&str] = &["boundaryEvent", "intermediateCatchEvent", "receiveTask", "startEvent"];
const ZEEBE: &str = "http://camunda.org/schema/zeebe/1.0";
/// The engine has accepted the file with limits of its own.
const LIMITS: xml::Limits = xml::Limits { max_depth: 1000, max_elements: 10_000_000 };

/// A process definition and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployedModel {
    /// The ID of the process.
    pub process_id: Name,
    /// The version of the definition.
    pub version: u32,
    /// The BPMN.
    pub file: Name,
}

impl DeployedModel {
    /// As a store has it.
    pub(crate) fn stored(process_id: Name, version: i64, file: Name) -> Self {
        let version = u32::try_from(version).expect("versions of definitions are stored as they were told");
        Self { process_id, version, file }
    }
}

/// Finds models that were deployed before.
pub trait Loader: Send {
    /// A process definition, if it is known.
    fn load(&mut self, process_definition_key: Key) -> Result<Option<DeployedModel>, StoreError>;
}

/// Names in a model.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ProcessNames {
    /// Name of the process.
    pub name: Option<Name>,
    /// Whether its start event has a form.
    pub has_start_form: bool,
    /// Names of elements by ID.
    pub elements: HashMap<Name, Name>,
    /// The version of the definition.
    pub version: Option<u32>,
    pub version_tag: Option<Name>,
    /// Extension properties of the elements that wait for messages, by ID.
    properties: HashMap<Name, Vec<(Name, Name)>>,
}

impl ProcessNames {
    /// The extension properties of an element that waits for messages, by name.
    pub fn properties(&self, element_id: &Name) -> &[(Name, Name)] {
        self.properties.get(element_id).map_or(&[], Vec::as_slice)
    }

    /// The name of an element; its ID if it has none.
    pub fn element(&self, id: &Name) -> Name {
        self.elements.get(id).unwrap_or(id).clone()
    }
}

/// Names by definition.
pub struct Names {
    known: HashMap<Key, Arc<ProcessNames>>,
    loader: Box<dyn Loader>,
    /// The reason why a model could not be loaded. Rows made since then lack names.
    failure: Option<StoreError>,
}

impl Names {
    pub(super) fn new(loader: Box<dyn Loader>) -> Self {
        Self { known: HashMap::new(), loader, failure: None }
    }

    /// The names of a definition; none if its model is nowhere to be found.
    pub fn of(&mut self, process_definition_key: Key) -> Arc<ProcessNames> {
        if let Some(names) = self.known.get(&process_definition_key) {
            return Arc::clone(names);
        }
        let names = match self.loader.load(process_definition_key) {
            Ok(Some(model)) => read(&model),
            Ok(None) => ProcessNames::default(),
            Err(error) => {
                self.failure.get_or_insert(error);
                return Arc::default();
            }
        };
        self.remember(process_definition_key, names)
    }

    /// Why a model could not be looked for since this was asked last.
    pub(super) fn take_failure(&mut self) -> Option<StoreError> {
        self.failure.take()
    }

    /// Reads the names of a new definition.
    pub fn learn(&mut self, key: Key, model: &DeployedModel) -> Arc<ProcessNames> {
        self.remember(key, read(model))
    }

    fn remember(&mut self, key: Key, names: ProcessNames) -> Arc<ProcessNames> {
        if self.known.len() >= DEFINITIONS_MAX {
            self.known.clear();
        }
        let names = Arc::new(names);
        self.known.insert(key, Arc::clone(&names));
        names
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Bpmn,
    Zeebe,
}

fn read(model: &DeployedModel) -> ProcessNames {
    let space = |uri: &str, _: &str| match uri {
        BPMN => Some(Space::Bpmn),
        ZEEBE => Some(Space::Zeebe),
        _ => None,
    };
    let mut names = ProcessNames { version: Some(model.version), ..ProcessNames::default() };
    let Ok(document) = xml::Document::read(&model.file, LIMITS, space) else { return names };
    let ids = 0..document.len() as xml::NodeId;
    let process = ids.clone().find(|&id| {
        let node = document.node(id);
        node.space == Space::Bpmn
            && node.name == "process"
            && document.attribute(id, "id") == Some(&*model.process_id)
    });
    let Some(process) = process else { return names };
    names.name = document.attribute(process, "name").map(Name::from);
    for id in document.descendants(process) {
        let node = document.node(id);
        match (node.space, node.name) {
            (Space::Bpmn, _) => {
                if let (Some(id), Some(name)) = (document.attribute(id, "id"), document.attribute(id, "name"))
                    && !name.is_empty()
                {
                    names.elements.insert(Name::from(id), Name::from(name));
                }
            }
            (Space::Zeebe, "versionTag") => {
                names.version_tag = document.attribute(id, "value").map(Name::from);
            }
            (Space::Zeebe, "property") => {
                // Extension elements have a list of properties.
                let extensions = node.parent.and_then(|list| document.node(list).parent);
                let element = extensions.and_then(|id| document.node(id).parent);
                let attribute = |name| document.attribute(id, name);
                if let Some(element) = element.filter(|at| RECEIVERS.contains(&document.node(*at).name))
                    && let Some(id) = document.attribute(element, "id")
                    && let (Some(name), Some(value)) = (attribute("name"), attribute("value"))
                {
                    let properties = names.properties.entry(Name::from(id)).or_default();
                    properties.push((Name::from(name), Name::from(value)));
                }
            }
            (Space::Zeebe, "formDefinition") => {
                let extensions = node.parent;
                let element = extensions.and_then(|id| document.node(id).parent);
                names.has_start_form |= element.is_some_and(|element| {
                    document.node(element).name == "startEvent"
                        && document.node(element).parent == Some(process)
                });
            }
            _ => {}
        }
    }
    names
}
