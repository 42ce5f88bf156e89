//! `POST /v2/conditionals/evaluation`

use protocol::{Command, EvaluateConditionals, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_key, write_list, write_text};

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
    out.push(b'{');
    member("conditionalEvaluationKey", &mut out);
    write_key(*key, &mut out);
    member("tenantId", &mut out);
    write_text(tenant_id, &mut out);
    member("processInstances", &mut out);
    write_list(instances, &mut out, |(definition_key, instance_key), out| {
        out.push(b'{');
        member("processDefinitionKey", out);
        write_key(*definition_key, out);
        member("processInstanceKey", out);
        write_key(*instance_key, out);
        out.push(b'}');
    });
    out.push(b'}');
    Ok(Reply::json(out).timed(answer.timing))
}
