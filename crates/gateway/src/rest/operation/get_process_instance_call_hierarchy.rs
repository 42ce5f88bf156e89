//! `GET /v2/process-instances/{processInstanceKey}/call-hierarchy`: the root first, the instance itself last. Empty for
//! one that nobody called, as the reference has it.

use http::StatusCode;
use protocol::{CallHierarchyEntry, Key, Query, QueryReply};
use search::model::{ColumnId, process_instance as instance};
use search::{Operand, Row, Search};

use super::{Call, query, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object, write_list};

const COLUMNS: u64 = 1 << instance::KEY
    | 1 << instance::PROCESS_ID
    | 1 << instance::PROCESS_NAME
    | 1 << instance::DEFINITION_KEY
    | 1 << instance::PARENT_INSTANCE_KEY;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = call.key()?;
    let entries = match call.read(Query::CallHierarchy { process_instance_key: key }).await {
        Ok(QueryReply::CallHierarchy(entries)) => entries,
        Ok(reply) => return Err(unexpected(&reply)),
        // It may have ended.
        Err(missing) if missing.status() == StatusCode::NOT_FOUND && call.storage().is_ok() => {
            stored(call, key, missing).await?
        }
        Err(failure) => return Err(failure),
    };
    let shown = if entries.len() > 1 { &entries[..] } else { &[] };
    let mut out = Vec::with_capacity(640);
    write_list(shown, &mut out, |entry, out| {
        object(out)
            .with("processInstanceKey", Digits(entry.process_instance_key))
            .with("processDefinitionKey", Digits(entry.process_definition_key))
            .with("processDefinitionName", &entry.process_name)
            .end();
    });
    Ok(Reply::json(out))
}

/// The hierarchy as secondary storage has it, as far up as it is kept.
async fn stored(call: &Call<'_>, key: Key, missing: Failure) -> Result<Vec<CallHierarchyEntry>, Failure> {
    let mut entries = Vec::new();
    let mut next = Some(query::visible_row(call, &instance::ENTITY, id(key), COLUMNS, missing).await?);
    while let Some(row) = next {
        entries.push(entry(&row));
        next = match number(&row, instance::PARENT_INSTANCE_KEY) {
            Some(parent) => {
                let search = Search::one(&instance::ENTITY, id(parent), COLUMNS);
                call.fresh_storage().await?.search(search).await?.rows.pop()
            }
            None => None,
        };
    }
    entries.reverse();
    Ok(entries)
}

fn id(key: Key) -> Operand {
    Operand::Integer(key.cast_signed())
}

fn number(row: &Row, column: ColumnId) -> Option<Key> {
    row[column as usize].integer().map(i64::cast_unsigned)
}

fn entry(row: &Row) -> CallHierarchyEntry {
    let text = |column: ColumnId| row[column as usize].text().cloned();
    CallHierarchyEntry {
        process_instance_key: number(row, instance::KEY).unwrap_or_default(),
        process_definition_key: number(row, instance::DEFINITION_KEY).unwrap_or_default(),
        process_name: text(instance::PROCESS_NAME).or_else(|| text(instance::PROCESS_ID)).unwrap_or_default(),
    }
}
