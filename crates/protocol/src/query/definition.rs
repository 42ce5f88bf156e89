//! Views of definitions.

use crate::{Key, Name};

/// A process definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessDefinitionView {
    /// Its key.
    pub key: Key,
    /// BPMN process ID.
    pub process_id: Name,
    /// Name of the process.
    pub name: Option<Name>,
    /// Version.
    pub version: u32,
    /// Version tag.
    pub version_tag: Option<Name>,
    /// File name.
    pub resource_name: Name,
    /// Owner.
    pub tenant_id: Name,
    /// Whether its none start event has a form.
    pub has_start_form: bool,
    /// Whether it is deleted and only drains.
    pub is_deleted: bool,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionView {
    /// Its key.
    pub key: Key,
    /// ID of the decision.
    pub id: Name,
    /// Name of the decision.
    pub name: Name,
    /// Version.
    pub version: u32,
    /// The graph that it is part of.
    pub requirements: DecisionRequirementsView,
}

/// A decision requirements graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRequirementsView {
    /// Its key.
    pub key: Key,
    /// ID of the graph.
    pub id: Name,
    /// Name of the graph.
    pub name: Name,
    /// Version.
    pub version: u32,
    /// File name.
    pub resource_name: Name,
    /// Owner.
    pub tenant_id: Name,
}

/// A form, or a resource of no kind that the engine knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileView {
    /// Its key.
    pub key: Key,
    /// Its ID.
    pub id: Name,
    /// Version.
    pub version: u32,
    /// Version tag.
    pub version_tag: Option<Name>,
    /// File name.
    pub resource_name: Name,
    /// Owner.
    pub tenant_id: Name,
    /// Content; empty where it is not asked for.
    pub content: Vec<u8>,
}

/// A file that can be asked for by the key of what came from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceOf {
    /// A process definition.
    Process,
    /// A decision.
    Decision,
    /// A decision requirements graph.
    DecisionRequirements,
}
