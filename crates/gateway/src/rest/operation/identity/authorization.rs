//! `/v2/authorizations`

use protocol::{
    Authorization, AuthorizationScope, AuthorizationView, EntityType, IdentityCommand, IdentityQuery,
    IdentityReply, Name, Page, PermissionType, ResourceType, Response, UserTaskProperty,
};
use serde_json::Value;

use super::super::{Call, unexpected};
use super::created;
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::{Digits, member, object, write_text};

pub(crate) async fn create(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = IdentityCommand::CreateAuthorization(read_authorization(call)?);
    let answer = call.change_identity("CREATE", command).await?;
    let Response::AuthorizationCreated { authorization_key } = answer.response else {
        return Err(unexpected(&answer.response));
    };
    let mut out = Vec::with_capacity(64);
    object(&mut out).with("authorizationKey", Digits(authorization_key)).end();
    Ok(created(out, &answer))
}

pub(crate) async fn update(call: &Call<'_>) -> Result<Reply, Failure> {
    let (authorization_key, authorization) = (call.key()?, read_authorization(call)?);
    let command = IdentityCommand::UpdateAuthorization { authorization_key, authorization };
    call.change_identity_only("UPDATE", command).await
}

pub(crate) async fn delete(call: &Call<'_>) -> Result<Reply, Failure> {
    let command = IdentityCommand::DeleteAuthorization { authorization_key: call.key()? };
    call.change_identity_only("DELETE", command).await
}

pub(crate) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    match call.read_identity(IdentityQuery::Authorization { key: call.key()? }).await? {
        IdentityReply::Authorization(view) => Ok(Reply::json(super::json(&view, write))),
        other => Err(unexpected(&other)),
    }
}

pub(crate) async fn search(call: &Call<'_>) -> Result<Reply, Failure> {
    match call.read_identity(IdentityQuery::Authorizations { limit: ENTITIES_MAX }).await? {
        IdentityReply::Authorizations(page) => Ok(Reply::json(found(call, page)?)),
        other => Err(unexpected(&other)),
    }
}

/// `POST /v2/authentication/me/authorizations/search`: authorizations of the caller, its groups, roles and mapping
/// rules, which take no permission.
pub(crate) async fn search_own(call: &Call<'_>) -> Result<Reply, Failure> {
    let known = call.known().await?;
    let own = Page { items: known.grants.authorizations.clone(), has_more: known.grants.has_more };
    let mut out = found(call, own)?;
    let end = out.pop();
    assert_eq!(end, Some(b'}'), "an answer is an object");
    member("authorizationsEnabled", &mut out);
    out.extend_from_slice(if call.access_options().authorizations { b"true}" } else { b"false}" });
    Ok(Reply::json(out))
}

/// The authorizations of the page that the request is for.
fn found(call: &Call<'_>, mut page: Page<AuthorizationView>) -> Result<Vec<u8>, Failure> {
    let search = Search::read(&call.fields)?;
    let filter = call.fields.value("filter");
    let wanted = |list: &str| filter[list].as_array();
    let (ids, names) = (wanted("resourceIds"), wanted("resourcePropertyNames"));
    page.items.retain(|view| {
        let scope = &view.authorization.scope;
        is_wanted(ids, scope.resource_id()) && is_wanted(names, scope.property_name())
    });
    Ok(search.answer(page.items, page.has_more, property, write))
}

/// Whether a value is in a list, if there is one. An empty list says nothing.
fn is_wanted(list: Option<&Vec<Value>>, found: Option<&str>) -> bool {
    list.is_none_or(|list| list.is_empty() || list.iter().any(|value| value.as_str() == found))
}

fn read_authorization(call: &Call<'_>) -> Result<Authorization, Failure> {
    let text = |name: &str| call.fields.text(name).unwrap_or_default();
    let scope = match call.fields.text("resourcePropertyName") {
        Some(name) => AuthorizationScope::Property(known(
            "resourcePropertyName",
            &name,
            UserTaskProperty::ALL,
            UserTaskProperty::as_str,
        )?),
        None => AuthorizationScope::from_id(&call.not_blank("resourceId")?),
    };
    let permissions = call.fields.names("permissionTypes").into_iter();
    let permission =
        |name: Name| known("permissionTypes", &name, PermissionType::ALL, PermissionType::as_str);
    Ok(Authorization {
        owner_type: known("ownerType", &text("ownerType"), EntityType::ALL, EntityType::as_str)?,
        owner_id: call.not_blank("ownerId")?,
        resource_type: known("resourceType", &text("resourceType"), ResourceType::ALL, ResourceType::as_str)?,
        scope,
        permissions: permissions.map(permission).collect::<Result<_, _>>()?,
    })
}

/// The one of a name. The contract has names of things that no request can mean.
fn known<T: Copy>(
    field: &str,
    name: &str,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
) -> Result<T, Failure> {
    all.iter().copied().find(|known| as_str(*known) == name).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|known| as_str(*known)).collect();
        Failure::invalid(format!("{field}: expected one of {}", names.join(", ")))
    })
}

fn write(view: &AuthorizationView, out: &mut Vec<u8>) {
    let Authorization { owner_type, owner_id, resource_type, scope, permissions } = &view.authorization;
    object(out)
        .with("authorizationKey", Digits(view.key))
        .with("ownerType", owner_type.as_str())
        .with("ownerId", owner_id)
        .with("resourceType", resource_type.as_str())
        .with("resourceId", scope.resource_id())
        .with("resourcePropertyName", scope.property_name())
        .list("permissionTypes", permissions, |permission, out| write_text(permission.as_str(), out))
        .end();
}

fn property(view: &AuthorizationView, name: &str) -> Option<String> {
    let Authorization { owner_type, owner_id, resource_type, scope, .. } = &view.authorization;
    match name {
        "ownerId" => Some(owner_id.to_string()),
        "ownerType" => Some(owner_type.to_string()),
        "resourceType" => Some(resource_type.to_string()),
        "resourceId" => scope.resource_id().map(str::to_owned),
        "resourcePropertyName" => scope.property_name().map(str::to_owned),
        _ => None,
    }
}
