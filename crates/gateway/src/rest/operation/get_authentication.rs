//! `GET /v2/authentication/me`: who is asking, and what it belongs to.

use auth::Identity;
use broker_api::SubmitError;
use protocol::{
    AuthorizationScope, CircleKind, IdentityQuery, IdentityReply, Name, PermissionType, ResourceType,
};

use super::{Call, unexpected};
use crate::access::PrincipalGrants;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::object;

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
        // Members of a tenant may know its name.
        match call.read_unseen(protocol::Query::Identity(query)).await? {
            protocol::QueryReply::Identity(IdentityReply::Circle(view)) => tenants.push(view.circle),
            other => return Err(unexpected(&other)),
        }
    }
    let (display_name, email) = user.map_or((None, None), |user| (Some(user.name), Some(user.email)));
    let given = |text: &Name| Some(text.clone()).filter(|text| !text.is_empty());
    let mut out = Vec::with_capacity(512);
    object(&mut out)
        .with("username", name)
        .with("displayName", display_name.as_ref().and_then(given))
        .with("email", email.as_ref().and_then(given))
        .with("authorizedComponents", components(call, &known))
        .list("tenants", &tenants, |tenant, out| {
            object(out)
                .with("name", &tenant.name)
                .with("tenantId", &tenant.id)
                .with("description", given(&tenant.description))
                .end();
        })
        .with("groups", &known.grants.groups)
        .with("roles", &known.grants.roles)
        .with("salesPlanType", ())
        .raw("c8Links", "{}")
        .with("canLogout", call.gateway.options.access.has_sessions())
        .end();
    Ok(Reply::json(out))
}

/// Properties of a user; none for users of an issuer.
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
fn components(call: &Call<'_>, known: &PrincipalGrants) -> Vec<String> {
    let all = || vec![AuthorizationScope::WILDCARD.to_owned()];
    if !call.gateway.options.access.options().authorizations {
        return all();
    }
    let authorizations = known.grants.authorizations.iter().map(|view| &view.authorization);
    let authorizations = authorizations.filter(|authorization| {
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
