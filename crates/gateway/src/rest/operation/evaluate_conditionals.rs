//! `POST /v2/conditionals/evaluation`

use protocol::{Command, EvaluateConditionals, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = EvaluateConditionals {
        variables: call.document("variables")?,
        tenant_id: call.fields.tenant(),
        definition_key: call.fields.key("processDefinitionKey")?,
    };
    let answer = call.submit("EVALUATE", Command::EvaluateConditionals(command)).await?;
    let Response::ConditionalsEvaluated { key, tenant_id, instances } = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(128 + 96 * instances.len());
    object(&mut out)
        .with("conditionalEvaluationKey", Digits(*key))
        .with("tenantId", tenant_id)
        .list("processInstances", instances, |(definition_key, instance_key), out| {
            object(out)
                .with("processDefinitionKey", Digits(*definition_key))
                .with("processInstanceKey", Digits(*instance_key))
                .end();
        })
        .end();
    Ok(Reply::json(out).timed(answer.timing))
}
