//! What the operations on cluster variables share.

use protocol::{ClusterVariable, ClusterVariableAction, ClusterVariableView, Command, Json, Name, Query};
use protocol::{QueryReply, Response};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_optional_text, write_text};

/// The tenant of the path, and the last placeholder after it.
fn place<'a>(call: &'a Call<'_>, has_tenant: bool) -> (Option<Name>, Option<&'a str>) {
    let tenant_id = has_tenant.then(|| Name::from(&*call.parameters[0]));
    (tenant_id, call.parameters.get(usize::from(has_tenant)).map(|name| &**name))
}

/// Creates one of the name in the body.
pub(super) async fn create(call: &Call<'_>, has_tenant: bool) -> Result<Reply, Failure> {
    let (tenant_id, _) = place(call, has_tenant);
    let name = call.fields.name_or_empty("name");
    change(call, ClusterVariableAction::Create, tenant_id, name, value(call)).await
}

/// Changes the one that the path names.
pub(super) async fn update(call: &Call<'_>, has_tenant: bool) -> Result<Reply, Failure> {
    let (tenant_id, name) = place(call, has_tenant);
    let name = Name::from(name.unwrap_or_default());
    change(call, ClusterVariableAction::Update, tenant_id, name, value(call)).await
}

/// Deletes the one that the path names.
pub(super) async fn delete(call: &Call<'_>, has_tenant: bool) -> Result<Reply, Failure> {
    let (tenant_id, name) = place(call, has_tenant);
    let name = Name::from(name.unwrap_or_default());
    let command = command(ClusterVariableAction::Delete, tenant_id, name, Json::null());
    call.submit_for_nothing("DELETE", command).await
}

/// Reads the one that the path names.
pub(super) async fn get(call: &Call<'_>, has_tenant: bool) -> Result<Reply, Failure> {
    let (tenant_id, name) = place(call, has_tenant);
    let name = Name::from(name.unwrap_or_default());
    let reply = call.read(Query::ClusterVariable { tenant_id, name }).await?;
    let QueryReply::ClusterVariable(variable) = reply else { return Err(unexpected(&reply)) };
    Ok(Reply::json(json(&variable)))
}

fn value(call: &Call<'_>) -> Result<Json, Failure> {
    Ok(Json::from_valid(call.document("value")?.to_json()))
}

fn command(action: ClusterVariableAction, tenant_id: Option<Name>, name: Name, value: Json) -> Command {
    Command::ClusterVariable(ClusterVariable { action, tenant_id, name, value })
}

async fn change(
    call: &Call<'_>,
    action: ClusterVariableAction,
    tenant_id: Option<Name>,
    name: Name,
    value: Result<Json, Failure>,
) -> Result<Reply, Failure> {
    let intent = if action == ClusterVariableAction::Create { "CREATE" } else { "UPDATE" };
    let answer = call.submit(intent, command(action, tenant_id, name, value?)).await?;
    let Response::ClusterVariable(variable) = &answer.response else {
        return Err(unexpected(&answer.response));
    };
    Ok(Reply::json(json(variable)).timed(answer.timing))
}

/// The value is JSON text inside a string.
fn json(variable: &ClusterVariableView) -> Vec<u8> {
    let mut out = Vec::with_capacity(96 + variable.value.as_str().len());
    out.push(b'{');
    member("name", &mut out);
    write_text(&variable.name, &mut out);
    member("scope", &mut out);
    write_text(if variable.tenant_id.is_some() { "TENANT" } else { "GLOBAL" }, &mut out);
    member("tenantId", &mut out);
    write_optional_text(variable.tenant_id.as_ref(), &mut out);
    member("value", &mut out);
    write_text(variable.value.as_str(), &mut out);
    out.push(b'}');
    out
}
