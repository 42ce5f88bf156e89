//! Deletions of what is kept of things that have ended: they are looked for where they are kept, since the engine
//! has forgotten them. Of a process instance it is all but those that it called; of a decision, all that one
//! evaluation decided.

use protocol::{BatchAction, Command, DeleteHistory, HistoryKind, HistoryOwner};
use search::model::{ColumnId, Entity, decision_instance as decision, process_instance as instance};
use search::{Filter, Row, Search};
use search::{Operand, Test};

use super::{Call, batch_operation};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

/// Where something is kept.
pub(in crate::rest) struct Kept {
    name: &'static str,
    pub(in crate::rest) entity: &'static Entity,
    pub(in crate::rest) key: ColumnId,
    /// The column of its process instance.
    pub(in crate::rest) instance: ColumnId,
    /// The column with the root of its process instance.
    pub(in crate::rest) root: ColumnId,
    owner: Owner,
}

/// Columns that tell whose something is.
#[derive(Clone, Copy)]
pub(in crate::rest) struct Owner {
    pub(in crate::rest) definition_id: ColumnId,
    pub(in crate::rest) tenant: ColumnId,
}

impl Owner {
    pub(in crate::rest) const fn columns(self) -> u64 {
        1 << self.definition_id | 1 << self.tenant
    }

    pub(in crate::rest) fn of(self, row: &Row) -> HistoryOwner {
        let text = |column: ColumnId| row[column as usize].text().cloned().unwrap_or_default();
        HistoryOwner { definition_id: text(self.definition_id), tenant_id: text(self.tenant) }
    }
}

/// Where things of a kind are kept.
pub(in crate::rest) const fn kept(kind: HistoryKind) -> Kept {
    match kind {
        HistoryKind::ProcessInstance => Kept {
            name: "process instance",
            entity: &instance::ENTITY,
            key: instance::KEY,
            instance: instance::KEY,
            root: instance::ROOT_INSTANCE_KEY,
            owner: Owner { definition_id: instance::PROCESS_ID, tenant: instance::TENANT },
        },
        HistoryKind::DecisionInstance => Kept {
            name: "decision instance",
            entity: &decision::ENTITY,
            key: decision::EVALUATION_KEY,
            instance: decision::INSTANCE_KEY,
            root: decision::ROOT_INSTANCE_KEY,
            owner: Owner { definition_id: decision::DECISION_ID, tenant: decision::TENANT },
        },
    }
}

impl Kept {
    /// Columns that tell whose it is.
    pub(in crate::rest) const fn owner(&self) -> Owner {
        self.owner
    }
}

/// Has the one deleted whose key is in the path.
pub(super) async fn delete(call: &Call<'_>, kind: HistoryKind) -> Result<Reply, Failure> {
    let kept = kept(kind);
    let key = call.key()?;
    let key_operand = Operand::Integer(key.cast_signed());
    // Deletion does not require permission to read; but an entity of another tenant does not exist for the caller.
    let among = call.rows_of_tenants(kept.entity).await?;
    let search = Search {
        filter: Filter::Column(kept.key, Test::Equal(key_operand.clone())).and(among),
        ..Search::one(kept.entity, key_operand, kept.owner().columns())
    };
    let storage = call.fresh_storage().await?;
    let found = storage.search(search).await?;
    let Some(row) = found.rows.first() else {
        let name = kept.name;
        let detail = format!("Expected to delete {name} with key '{key}', but no such {name} was found");
        return Err(Failure::not_found(detail));
    };
    let HistoryOwner { definition_id, tenant_id } = kept.owner().of(row);
    let operation_reference = call.fields.operation_reference();
    let command = DeleteHistory { kind, key, definition_id, tenant_id, operation_reference };
    call.submit_for_nothing("DELETE", Command::DeleteHistory(command)).await
}

/// Has all deleted that a filter finds.
pub(super) async fn delete_all(call: &Call<'_>, kind: HistoryKind) -> Result<Reply, Failure> {
    call.storage()?;
    batch_operation::create(call, BatchAction::DeleteHistory(kind)).await
}
