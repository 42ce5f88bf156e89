//! Members of groups, roles and tenants: the placeholders of the path are the ID of these, and then of the member.

use protocol::{CircleKind, EntityType, IdentityCommand, IdentityQuery, IdentityReply, Membership, Name};

use super::super::{Call, unexpected};
use super::{circle, mapping_rule, write_object};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(crate) async fn add(call: &Call<'_>, kind: CircleKind, member: EntityType) -> Result<Reply, Failure> {
    call.change_identity_only("ADD_ENTITY", IdentityCommand::AddMember(membership(call, kind, member))).await
}

pub(crate) async fn remove(call: &Call<'_>, kind: CircleKind, member: EntityType) -> Result<Reply, Failure> {
    let membership = membership(call, kind, member);
    call.change_identity_only("REMOVE_ENTITY", IdentityCommand::RemoveMember(membership)).await
}

/// Searches the members of one kind: roles and mapping rules with all that is known of them, others by their IDs.
pub(crate) async fn search(
    call: &Call<'_>,
    kind: CircleKind,
    entity_type: EntityType,
) -> Result<Reply, Failure> {
    let query =
        IdentityQuery::Members { kind, circle_id: call.placeholder(0), entity_type, limit: ENTITIES_MAX };
    let id_name = match entity_type {
        EntityType::Role => return circle::search_in(call, CircleKind::Role, query).await,
        EntityType::MappingRule => return mapping_rule::search_in(call, query).await,
        EntityType::User => "username",
        EntityType::Client => "clientId",
        EntityType::Group => "groupId",
    };
    let page = |reply| match reply {
        IdentityReply::Members(page) => Ok(page),
        other => Err(unexpected(&other)),
    };
    let property = |id: &Name, name: &str| (name == id_name).then(|| id.to_string());
    call.search_identity(query, page, property, |id, out| write_object(&[(id_name, id)], out)).await
}

fn membership(call: &Call<'_>, kind: CircleKind, entity_type: EntityType) -> Membership {
    Membership { kind, circle_id: call.placeholder(0), entity_type, entity_id: call.placeholder(1) }
}
