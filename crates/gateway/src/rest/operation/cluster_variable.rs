//! Common parts of the operations on cluster variables.

use bytes::Bytes;
use protocol::{
    ClusterVariable, ClusterVariableAction, ClusterVariableKind, ClusterVariableView, Command, Document,
    Json, Name, Query,
};
use protocol::{QueryReply, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{Object, object};

/// The tenant of the path, and the last placeholder after it.
fn place<'a>(call: &'a Call<'_>, has_tenant: bool) -> (Option<Name>, Option<&'a str>) {
    let tenant_id = has_tenant.then(|| Name::from(&*call.parameters[0]));
    (tenant_id, call.parameters.get(usize::from(has_tenant)).map(|name| &**name))
}

/// Creates one of the name in the body.
pub(super) async fn create(call: &Call<'_>, has_tenant: bool) -> Result<Reply, Failure> {
    let (tenant_id, _) = place(call, has_tenant);
    let name = call.fields.name_or_empty("name");
    change(call, ClusterVariableAction::Create, tenant_id, name).await
}

/// Changes the one that the path names.
pub(super) async fn update(call: &Call<'_>, has_tenant: bool) -> Result<Reply, Failure> {
    let (tenant_id, name) = place(call, has_tenant);
    let name = Name::from(name.unwrap_or_default());
    change(call, ClusterVariableAction::Update, tenant_id, name).await
}

/// Deletes the one that the path names.
pub(super) async fn delete(call: &Call<'_>, has_tenant: bool) -> Result<Reply, Failure> {
    let (tenant_id, name) = place(call, has_tenant);
    let name = Name::from(name.unwrap_or_default());
    let (action, value) = (ClusterVariableAction::Delete, Json::null());
    let change = ClusterVariable { action, tenant_id, name, value, metadata: None, kind: None };
    call.submit_for_nothing("DELETE", Command::ClusterVariable(change)).await
}

/// Reads the one that the path names.
pub(super) async fn get(call: &Call<'_>, has_tenant: bool) -> Result<Reply, Failure> {
    let (tenant_id, name) = place(call, has_tenant);
    let name = Name::from(name.unwrap_or_default());
    let reply = call.read(Query::ClusterVariable { tenant_id, name }).await?;
    let QueryReply::ClusterVariable(variable) = reply else { return Err(unexpected(&reply)) };
    Ok(Reply::json(json(&variable)))
}

/// Any JSON but `null`, under the same limits as the variables of a process.
fn value(call: &Call<'_>) -> Result<Json, Failure> {
    let Some(raw) = call.fields.raw("value") else { return Err(Failure::invalid("value: must not be null")) };
    let document = Document::parse(Bytes::from(format!("{{\"value\":{raw}}}")))
        .map_err(|error| Failure::invalid(format!("value: {error}")))?;
    Ok(document.get("value").cloned().unwrap_or_else(Json::null))
}

async fn change(
    call: &Call<'_>,
    action: ClusterVariableAction,
    tenant_id: Option<Name>,
    name: Name,
) -> Result<Reply, Failure> {
    let intent = if action == ClusterVariableAction::Create { "CREATE" } else { "UPDATE" };
    let value = value(call)?;
    let metadata = Some(call.document("metadata")?).filter(|metadata| !metadata.is_empty());
    // A change keeps it.
    let kind = if call.fields.is_declared("kind") { call.fields.text("kind") } else { None };
    let kind = kind.and_then(|kind| ClusterVariableKind::of_name(&kind));
    let change = ClusterVariable { action, tenant_id, name, value, metadata, kind };
    let answer = call.submit(intent, Command::ClusterVariable(change)).await?;
    let Response::ClusterVariable(variable) = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    Ok(Reply::json(json(variable)).timed(answer.timing))
}

/// The value is JSON text inside a string.
fn json(variable: &ClusterVariableView) -> Vec<u8> {
    let mut out = Vec::with_capacity(96 + variable.value.as_str().len());
    members(variable, &variable.value.canonical(), object(&mut out)).end();
    out
}

/// The members of a variable, with as much of its value as is shown.
pub(super) fn members<'a>(variable: &ClusterVariableView, value: &str, object: Object<'a>) -> Object<'a> {
    let metadata = variable.metadata.as_ref().map_or_else(|| "{}".to_owned(), Document::to_json);
    object
        .with("name", &variable.name)
        .with("scope", scope(variable))
        .with("tenantId", &variable.tenant_id)
        .with("kind", variable.kind.unwrap_or_default().as_str())
        .raw("metadata", &metadata)
        .with("value", value)
}

pub(super) const fn scope(variable: &ClusterVariableView) -> &'static str {
    if variable.tenant_id.is_some() { "TENANT" } else { "GLOBAL" }
}
