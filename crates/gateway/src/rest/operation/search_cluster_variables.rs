//! `POST /v2/cluster-variables/search`: up to ten thousand variables are looked at.

use protocol::{ClusterVariableView, Query, QueryReply};
use search::model::VALUE_CHARS_MAX;

use super::cluster_variable::{members, scope};
use super::metadata_filter::MetadataFilter;
use super::{Call, unexpected};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::{cut, object};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let mut search = Search::read_without(&call.fields, "metadata")?;
    search.respell("value");
    let metadata = MetadataFilter::read(&call.fields)?;
    let is_whole = call.query_parameter("truncateValues")?.as_deref() == Some("false");
    let limit = if is_whole { usize::MAX } else { VALUE_CHARS_MAX };
    let reply = call.read(Query::ClusterVariables { limit: ENTITIES_MAX }).await?;
    let QueryReply::ClusterVariables { mut variables, has_more } = reply else {
        return Err(unexpected(&reply));
    };
    variables.retain(|variable| metadata.lets_pass(variable.metadata.as_ref()));
    let property = |variable: &ClusterVariableView, name: &str| property(variable, name, limit);
    let write = |variable: &ClusterVariableView, out: &mut Vec<u8>| write(variable, limit, out);
    Ok(Reply::json(search.answer(variables, has_more, property, write)))
}

fn property(variable: &ClusterVariableView, name: &str, limit: usize) -> Option<String> {
    match name {
        "name" => Some(variable.name.to_string()),
        "value" => Some(variable.value.canonical().into_owned()),
        "tenantId" => variable.tenant_id.as_ref().map(ToString::to_string),
        "scope" => Some(scope(variable).to_owned()),
        "kind" => Some(variable.kind.unwrap_or_default().as_str().to_owned()),
        "isTruncated" => Some(cut(&variable.value.canonical(), limit).1.to_string()),
        _ => None,
    }
}

fn write(variable: &ClusterVariableView, limit: usize, out: &mut Vec<u8>) {
    let value = variable.value.canonical();
    let (value, is_cut) = cut(&value, limit);
    members(variable, value, object(out)).with("isTruncated", is_cut).end();
}
