//! Deletions of what is kept of something: it is looked for where it is kept, since the engine has forgotten it.

use protocol::{Command, DeleteHistory, HistoryKind, Name, Operand, Test};
use secondary::model::{ColumnId, Entity};
use secondary::{Filter, Search};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

/// Where something is kept.
pub(super) struct Kept {
    pub kind: HistoryKind,
    /// What it is called.
    pub name: &'static str,
    pub entity: &'static Entity,
    /// The column of its key.
    pub key: ColumnId,
    /// The column with the ID of its definition.
    pub definition_id: ColumnId,
    pub tenant: ColumnId,
}

/// Has it deleted.
pub(super) async fn delete(call: &Call<'_>, kept: &Kept) -> Result<Reply, Failure> {
    let key = call.key()?;
    let key_operand = Operand::Integer(key.cast_signed());
    let search = Search {
        filter: Filter::Column(kept.key, Test::Equal(key_operand.clone())),
        ..Search::one(kept.entity, key_operand, 1 << kept.definition_id | 1 << kept.tenant)
    };
    let found = call.storage()?.search(search).await?;
    let Some(row) = found.rows.first() else {
        let name = kept.name;
        let detail = format!("Expected to delete {name} with key '{key}', but no such {name} was found");
        return Err(Failure::not_found(detail));
    };
    let text = |column: ColumnId| row[column as usize].text().cloned().unwrap_or_else(Name::default);
    let command = DeleteHistory {
        kind: kept.kind,
        key,
        definition_id: text(kept.definition_id),
        tenant_id: text(kept.tenant),
        operation_reference: call.fields.operation_reference(),
    };
    call.submit_for_nothing("DELETE", Command::DeleteHistory(command)).await
}
