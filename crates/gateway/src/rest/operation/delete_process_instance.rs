//! `POST /v2/process-instances/{processInstanceKey}/deletion`: of one that has ended, not of those that it called.

use protocol::HistoryKind;
use secondary::model::process_instance as instance;

use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use super::{Call, history};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let kept = history::Kept {
        kind: HistoryKind::ProcessInstance,
        name: "process instance",
        entity: &instance::ENTITY,
        key: instance::KEY,
        definition_id: instance::PROCESS_ID,
        tenant: instance::TENANT,
    };
    history::delete(call, &kept).await
}
