//! `GET /v2/authentication/me`: who is asking, and what it belongs to.

use auth::Identity;
use broker_api::SubmitError;
use protocol::{AuthorizationScope, CircleKind, IdentityQuery, IdentityReply, PermissionType, ResourceType};

use super::{Call, unexpected};
use crate::access::Known;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_list, write_names, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let (name, user) = match &call.principal.identity {
        Identity::Anonymous => ("anonymous", None),
        Identity::Client(id) => (id.as_str(), None),
        Identity::User(name) => (name.as_str(), find_user(call, name).await?),
    };
    let known = call.known().await?;
    let mut tenants = Vec::with_capacity(known.grants.tenants.len());
    for id in &known.grants.tenants {
        let query = IdentityQuery::Circle { kind: CircleKind::Tenant, id: id.clone() };
        // Whoever is assigned to one may know its name.
        match call.read_unseen(protocol::Query::Identity(query)).await? {
            protocol::QueryReply::Identity(IdentityReply::Circle(view)) => tenants.push(view.circle),
            other => return Err(unexpected(&other)),
        }
    }
    let (display_name, email) = user.map_or((None, None), |user| (Some(user.name), Some(user.email)));
    let or_null = |text: Option<&str>, out: &mut Vec<u8>| match text.filter(|text| !text.is_empty()) {
        Some(text) => write_text(text, out),
        None => out.extend_from_slice(b"null"),
    };
    let mut out = Vec::with_capacity(512);
    out.push(b'{');
    member("username", &mut out);
    write_text(name, &mut out);
    member("displayName", &mut out);
    or_null(display_name.as_deref(), &mut out);
    member("email", &mut out);
    or_null(email.as_deref(), &mut out);
    member("authorizedComponents", &mut out);
    write_list(&components(call, &known), &mut out, |id, out| write_text(id, out));
    member("tenants", &mut out);
    write_list(&tenants, &mut out, |tenant, out| {
        out.push(b'{');
        member("name", out);
        write_text(&tenant.name, out);
        member("tenantId", out);
        write_text(&tenant.id, out);
        member("description", out);
        or_null(Some(&*tenant.description), out);
        out.push(b'}');
    });
    member("groups", &mut out);
    write_names(&known.grants.groups, &mut out);
    member("roles", &mut out);
    write_names(&known.grants.roles, &mut out);
    member("salesPlanType", &mut out);
    out.extend_from_slice(b"null");
    member("c8Links", &mut out);
    out.extend_from_slice(b"{}");
    member("canLogout", &mut out);
    let can_logout = call.gateway.options.access.has_sessions();
    out.extend_from_slice(if can_logout { b"true" } else { b"false" });
    out.push(b'}');
    Ok(Reply::json(out))
}

/// What is kept of a user. Those of an issuer are not.
async fn find_user(call: &Call<'_>, name: &str) -> Result<Option<protocol::UserView>, Failure> {
    let query = protocol::Query::Identity(IdentityQuery::User { username: name.into() });
    match call.gateway.broker.read(query).await {
        Ok(protocol::QueryReply::Identity(IdentityReply::User(user))) => Ok(Some(user)),
        Err(SubmitError::Rejected(_)) => Ok(None),
        Ok(other) => Err(unexpected(&other)),
        Err(error) => Err(Failure::read(error)),
    }
}

/// The components that may be used; without authorizations, all.
fn components(call: &Call<'_>, known: &Known) -> Vec<String> {
    let all = || vec![AuthorizationScope::WILDCARD.to_owned()];
    if !call.gateway.options.access.options().authorizations {
        return all();
    }
    let authorizations = known.grants.authorizations.iter().filter(|authorization| {
        authorization.resource_type == ResourceType::Component
            && authorization.permissions.contains(&PermissionType::Access)
    });
    let mut ids: Vec<_> =
        authorizations.filter_map(|one| one.scope.resource_id().map(ToOwned::to_owned)).collect();
    if ids.iter().any(|id| id == AuthorizationScope::WILDCARD) {
        return all();
    }
    ids.sort_unstable();
    ids.dedup();
    ids
}
