//! `POST /v2/decision-instances/{decisionEvaluationKey}/deletion`: all decisions of one evaluation.

use protocol::HistoryKind;
use secondary::model::decision_instance as decision;

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use super::{Call, history};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let kept = history::Kept {
        kind: HistoryKind::DecisionInstance,
        name: "decision instance",
        entity: &decision::ENTITY,
        key: decision::EVALUATION_KEY,
        definition_id: decision::DECISION_ID,
        tenant: decision::TENANT,
    };
    history::delete(call, &kept).await
}
