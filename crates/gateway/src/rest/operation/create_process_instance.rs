//! `POST /v2/process-instances`: creates an instance, and waits for its end if asked.

use broker_api::{Answer, Requester};
use protocol::{Command, CreateInstance, DefinitionRef, Document, InstanceCreated, Name, Response};

use super::{Call, unexpected};
use crate::rest::parameter::wait_of;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_key, write_names, write_text};

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct StartInstruction {
    element_id: Name,
}

/// The only runtime instruction there is.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct TerminateInstruction {
    after_element_id: Name,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = command(call)?;
    let answer = if call.fields.flag("awaitCompletion") {
        let timeout =
            wait_of(call.fields.integer("requestTimeout")).unwrap_or(call.gateway.options.await_timeout);
        let idempotency = call.idempotency(|| Command::CreateInstance(command.clone()).encode());
        let requester = Requester { caller: call.caller().await?, idempotency };
        let answer = call.gateway.broker.create_with_result(
            Some(requester),
            command,
            call.fields.names("fetchVariables"),
            timeout,
        );
        let answer = answer.await.map_err(|error| Failure::submit(error, "CREATE_WITH_AWAITING_RESULT"))?;
        call.reached(&answer.positions());
        answer
    } else {
        call.submit("CREATE", Command::CreateInstance(command)).await?
    };
    reply(&answer)
}

fn command(call: &Call<'_>) -> Result<CreateInstance, Failure> {
    let fields = &call.fields;
    let starts: Vec<StartInstruction> = fields.list("startInstructions")?;
    let ends: Vec<TerminateInstruction> = fields.list("runtimeInstructions")?;
    let definition = match fields.key("processDefinitionKey")? {
        // The version is of no matter then; Java sends one all the same.
        Some(key) => DefinitionRef::Key(key),
        None => DefinitionRef::Id {
            id: fields.name_or_empty("processDefinitionId"),
            version: version(fields.int32("processDefinitionVersion"))?,
        },
    };
    Ok(CreateInstance {
        tenant_id: fields.tenant(),
        variables: call.document("variables")?,
        tags: fields.names("tags"),
        business_id: fields.text("businessId").map(|text| Name::from(&*text)),
        operation_reference: fields.operation_reference(),
        start_before: starts.into_iter().map(|start| start.element_id).collect(),
        terminate_after: ends.into_iter().map(|end| end.after_element_id).collect(),
        ..CreateInstance::of(definition)
    })
}

/// Versions count from 1; -1 is the latest one, which is the default.
fn version(version: Option<i32>) -> Result<Option<u32>, Failure> {
    match version {
        None | Some(-1) => Ok(None),
        Some(version @ 1..) => Ok(Some(version.unsigned_abs())),
        Some(other) => Err(Failure::not_found(format!(
            "there is no processDefinitionVersion {other}: versions count from 1"
        ))),
    }
}

fn reply(answer: &Answer) -> Result<Reply, Failure> {
    let none = Document::empty();
    let (instance, variables) = match &answer.response {
        Response::InstanceCreated(instance) => (instance, &none),
        Response::InstanceCompleted { instance, variables } => (instance, variables),
        other => return Err(unexpected(other)),
    };
    let mut out = Vec::with_capacity(320 + variables.json_len());
    write(instance, variables, &mut out);
    Ok(Reply::json(out).timed(answer.timing))
}

fn write(instance: &InstanceCreated, variables: &Document, out: &mut Vec<u8>) {
    out.push(b'{');
    member("processDefinitionId", out);
    write_text(&instance.process_id, out);
    member("processDefinitionVersion", out);
    write_integer(instance.version, out);
    member("tenantId", out);
    write_text(&instance.tenant_id, out);
    member("variables", out);
    variables.write_json(out);
    member("processDefinitionKey", out);
    write_key(instance.process_definition_key, out);
    member("processInstanceKey", out);
    write_key(instance.process_instance_key, out);
    member("tags", out);
    write_names(&instance.tags, out);
    member("businessId", out);
    match &instance.business_id {
        Some(id) => write_text(id, out),
        None => out.extend_from_slice(b"null"),
    }
    out.push(b'}');
}
