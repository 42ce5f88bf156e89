//! `GET /v2/process-definitions/{processDefinitionKey}/xml`: the file as it was deployed.

use protocol::SourceOf;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    call.source(SourceOf::Process).await
}
