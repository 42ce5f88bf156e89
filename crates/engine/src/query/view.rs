//! The state, to look at, and reads that take more than one look.

use std::sync::Arc;

use bpmn::Process;
use protocol::{Key, QueryReply, Rejection};
use state::StateError;

use crate::definition::Definitions;
use crate::entity::Instance;
use crate::entity::tables::Tables;

/// Rows that a scan looks at before others get their turn.
pub(crate) const ROWS_PER_SLICE: usize = 512;

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no answer, with the reason.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// State cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
}

/// How far a read is.
pub enum Read {
    /// This is the answer.
    Done(QueryReply),
    /// There is more to look at: hand it to [`Engine::read_on`].
    More(Box<dyn Scan>),
}

/// A read in slices.
pub trait Scan: Send {
    /// Looks at the next rows.
    fn slice(self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError>;
}

/// The state, to look at.
pub struct View<'a> {
    pub(crate) tables: &'a Tables,
    pub(super) definitions: &'a mut Definitions,
    /// Position of the last change to what anybody is granted.
    pub(super) grants_version: u64,
    pub(super) had_administrator: bool,
}

impl View<'_> {
    /// The model of a definition.
    pub(crate) fn process(&mut self, definition_key: Key) -> Result<Arc<Process>, StateError> {
        self.definitions.process(self.tables, definition_key)
    }

    /// The process instance that something belongs to.
    pub(super) fn instance(&self, key: Key) -> Result<Arc<Instance>, ReadError> {
        let instance = self.tables.instances.get(&key)?;
        instance.ok_or_else(|| not_found("Process instance", key))
    }
}

pub(super) fn not_found(what: &str, key: Key) -> ReadError {
    Rejection::not_found(format!("{what} with key '{key}' not found")).into()
}
