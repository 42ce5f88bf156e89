//! `POST /v2/process-instances/modification`

use protocol::{AncestorScope, BatchAction, ElementSource, MoveElement, Name};
use serde::Deserialize;

use super::{Call, batch_operation};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Move {
    source_element_id: Name,
    target_element_id: Name,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let moves: Vec<Move> = serde_json::from_str(call.fields.raw("moveInstructions").unwrap_or("[]"))
        .map_err(|error| Failure::invalid(format!("moveInstructions: {error}")))?;
    if moves.is_empty() {
        return Err(Failure::invalid("moveInstructions: at least one is required"));
    }
    let moves = moves
        .into_iter()
        .map(|instruction| MoveElement {
            source: ElementSource::Id(instruction.source_element_id),
            target_id: instruction.target_element_id,
            ancestor: AncestorScope::Inferred,
            variables: Vec::new(),
        })
        .collect();
    batch_operation::create(call, BatchAction::Modify(moves)).await
}
