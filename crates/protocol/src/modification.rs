//! The modification of a process instance: elements activated and element instances terminated from outside.

use minicbor::{Decode, Encode};

use crate::{Document, Key, Name};

/// See [`crate::Command::ModifyInstance`]. Activations come before terminations.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ModifyInstance {
    /// Key of the process instance.
    #[n(0)]
    pub process_instance_key: Key,
    /// Elements to activate.
    #[n(1)]
    pub activate: Vec<ActivationInstruction>,
    /// Element instances to end in favour of another element.
    #[n(2)]
    pub moves: Vec<MoveElement>,
    /// Element instances to terminate.
    #[n(3)]
    pub terminate: Vec<ElementSource>,
    /// Echoed in the records of this command.
    #[n(4)]
    pub operation_reference: Option<u64>,
}

impl ModifyInstance {
    /// A modification that changes nothing yet.
    pub fn of(process_instance_key: Key) -> Self {
        Self {
            process_instance_key,
            activate: Vec::new(),
            moves: Vec::new(),
            terminate: Vec::new(),
            operation_reference: None,
        }
    }
}

/// Activates an element, and the scopes around it that are missing.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ActivationInstruction {
    /// ID of the element.
    #[n(0)]
    pub element_id: Name,
    /// The instance of a scope around it, directly or not; `None` if there is no choice.
    #[n(1)]
    pub ancestor_key: Option<Key>,
    /// Variables to set before.
    #[n(2)]
    pub variables: Vec<ScopeVariables>,
}

/// Variables of one scope.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct ScopeVariables {
    /// ID of the element, or of a scope around it; empty means the process instance.
    #[n(0)]
    pub scope_id: Name,
    /// The variables.
    #[n(1)]
    pub variables: Document,
}

/// Which element instances are meant.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum ElementSource {
    /// One.
    #[n(0)]
    Key(#[n(0)] Key),
    /// All of an element that are active.
    #[n(1)]
    Id(#[n(0)] Name),
}

/// Terminates element instances and activates another element for each of them.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct MoveElement {
    /// Element instances to terminate.
    #[n(0)]
    pub source: ElementSource,
    /// ID of the element to activate.
    #[n(1)]
    pub target_id: Name,
    /// In which scope.
    #[n(2)]
    pub ancestor: AncestorScope,
    /// Variables to set before.
    #[n(3)]
    pub variables: Vec<ScopeVariables>,
}

/// How a move chooses the scope of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum AncestorScope {
    /// There is no choice.
    #[n(0)]
    Only,
    /// The instance with this key.
    #[n(1)]
    Direct(#[n(0)] Key),
    /// The innermost scope around the source that is around the target as well.
    #[n(2)]
    Inferred,
    /// The scope of the source.
    #[n(3)]
    SourceParent,
}
