//! `/v2/groups`, `/v2/roles` and `/v2/tenants`

use protocol::{
    Circle, CircleKind, CircleView, EntityType, IdentityCommand, IdentityQuery, IdentityReply, Name, Page,
};

use super::super::{Call, unexpected};
use super::{created, json, text, write_object};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

/// The API's name of the ID.
const fn id_name(kind: CircleKind) -> &'static str {
    match kind {
        CircleKind::Group => "groupId",
        CircleKind::Role => "roleId",
        CircleKind::Tenant => "tenantId",
    }
}

pub(crate) async fn create(call: &Call<'_>, kind: CircleKind) -> Result<Reply, Failure> {
    let circle = read_circle(call, call.fields.name_or_empty(id_name(kind)))?;
    let body = json(&circle, |circle, out| write_circle(circle, kind, out));
    let answer = call.change_identity("CREATE", IdentityCommand::CreateCircle { kind, circle }).await?;
    Ok(created(body, &answer))
}

pub(crate) async fn update(call: &Call<'_>, kind: CircleKind) -> Result<Reply, Failure> {
    let circle = read_circle(call, call.placeholder(0))?;
    let body = json(&circle, |circle, out| write_circle(circle, kind, out));
    let answer = call.change_identity("UPDATE", IdentityCommand::UpdateCircle { kind, circle }).await?;
    Ok(Reply::json(body).timed(answer.timing))
}

pub(crate) async fn delete(call: &Call<'_>, kind: CircleKind) -> Result<Reply, Failure> {
    let id = call.placeholder(0);
    call.change_identity_only("DELETE", IdentityCommand::DeleteCircle { kind, id }).await
}

pub(crate) async fn get(call: &Call<'_>, kind: CircleKind) -> Result<Reply, Failure> {
    match call.read_identity(IdentityQuery::Circle { kind, id: call.placeholder(0) }).await? {
        IdentityReply::Circle(view) => {
            Ok(Reply::json(json(&view, |view, out| write_circle(&view.circle, kind, out))))
        }
        other => Err(unexpected(&other)),
    }
}

pub(crate) async fn search(call: &Call<'_>, kind: CircleKind) -> Result<Reply, Failure> {
    search_in(call, kind, IdentityQuery::Circles { kind, limit: ENTITIES_MAX }).await
}

/// Searches those that a member is in.
pub(crate) async fn search_of(
    call: &Call<'_>,
    entity_type: EntityType,
    kind: CircleKind,
) -> Result<Reply, Failure> {
    let entity_id = call.placeholder(0);
    search_in(call, kind, IdentityQuery::CirclesOf { entity_type, entity_id, kind, limit: ENTITIES_MAX })
        .await
}

/// Searches among what a query lists.
pub(super) async fn search_in(
    call: &Call<'_>,
    kind: CircleKind,
    query: IdentityQuery,
) -> Result<Reply, Failure> {
    let page = |reply| -> Result<Page<CircleView>, Failure> {
        match reply {
            IdentityReply::Circles(page) => Ok(page),
            other => Err(unexpected(&other)),
        }
    };
    let property = |view: &CircleView, name: &str| property(view, kind, name);
    call.search_identity(query, page, property, |view, out| write_circle(&view.circle, kind, out)).await
}

fn read_circle(call: &Call<'_>, id: Name) -> Result<Circle, Failure> {
    Ok(Circle { id, name: call.not_blank("name")?, description: call.fields.name_or_empty("description") })
}

fn write_circle(circle: &Circle, kind: CircleKind, out: &mut Vec<u8>) {
    write_object(
        &[(id_name(kind), &circle.id), ("name", &circle.name), ("description", &circle.description)],
        out,
    );
}

fn property(view: &CircleView, kind: CircleKind, name: &str) -> Option<String> {
    match name {
        "key" => Some(view.key.to_string()),
        "name" => Some(view.circle.name.to_string()),
        "description" => text(&view.circle.description),
        name if name == id_name(kind) => Some(view.circle.id.to_string()),
        _ => None,
    }
}
