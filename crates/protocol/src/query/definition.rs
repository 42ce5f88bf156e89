//! Views of definitions.

#![expect(missing_docs, reason = "names say what is held")]

use crate::{Key, Name};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessDefinitionView {
    pub key: Key,
    pub process_id: Name,
    /// Name of the process.
    pub name: Option<Name>,
    pub version: u32,
    pub version_tag: Option<Name>,
    pub resource_name: Name,
    pub tenant_id: Name,
    /// Whether its none start event has a form.
    pub has_start_form: bool,
    /// Whether it is deleted, but for instances that still run.
    pub is_draining: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionView {
    pub key: Key,
    /// ID of the decision.
    pub id: Name,
    /// Name of the decision.
    pub name: Name,
    pub version: u32,
    /// The graph that it is part of.
    pub requirements: DecisionRequirementsView,
}

/// A decision requirements graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRequirementsView {
    pub key: Key,
    /// ID of the graph.
    pub id: Name,
    /// Name of the graph.
    pub name: Name,
    pub version: u32,
    pub resource_name: Name,
    pub tenant_id: Name,
}

/// A form, or a resource of no kind that the engine knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileView {
    pub key: Key,
    pub id: Name,
    pub version: u32,
    pub version_tag: Option<Name>,
    pub resource_name: Name,
    pub tenant_id: Name,
    /// Key of the deployment that it came with.
    pub deployment_key: Key,
    /// Content; empty where it is not asked for.
    pub content: Vec<u8>,
}

/// A file that can be asked for by the key of what came from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceOf {
    Process,
    Decision,
    /// A decision requirements graph.
    DecisionRequirements,
}
