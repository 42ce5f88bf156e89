//! `POST /v2/resources/search`: up to ten thousand files are looked at.

use protocol::{FileView, Query, QueryReply};

use super::{Call, resource, unexpected};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let search = Search::read(&call.fields)?;
    let reply = call.read(Query::Resources { limit: ENTITIES_MAX }).await?;
    let QueryReply::Resources { resources, has_more } = reply else { return Err(unexpected(&reply)) };
    Ok(Reply::json(search.answer(resources, has_more, property, resource::write)))
}

fn property(file: &FileView, name: &str) -> Option<String> {
    match name {
        "resourceKey" => Some(file.key.to_string()),
        "resourceName" => Some(file.resource_name.to_string()),
        "resourceId" => Some(file.id.to_string()),
        "version" => Some(file.version.to_string()),
        "versionTag" => file.version_tag.as_ref().map(ToString::to_string),
        "deploymentKey" => Some(file.deployment_key.to_string()),
        "tenantId" => Some(file.tenant_id.to_string()),
        _ => None,
    }
}
