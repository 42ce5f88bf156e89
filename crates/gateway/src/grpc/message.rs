//! Messages: publish.

use grpc as pb;
use protocol::{Command, PublishMessage, Response};
use tonic::Status;

use super::field;
use super::status::unexpected_response;

pub(super) fn publish(request: pb::PublishMessageRequest) -> Result<Command, Status> {
    Ok(Command::PublishMessage(PublishMessage {
        name: field::name("name", request.name)?,
        correlation_key: field::optional_name("correlationKey", request.correlation_key)?,
        time_to_live_ms: field::non_negative_ms("timeToLive", request.time_to_live)?,
        message_id: field::optional_name("messageId", request.message_id)?,
        variables: field::variables("variables", request.variables)?,
        tenant_id: field::tenant("tenantId", &request.tenant_id)?,
        business_id: field::business_id("businessId", request.business_id)?,
    }))
}

pub(super) fn published(response: Response) -> Result<pb::PublishMessageResponse, Status> {
    match response {
        Response::MessagePublished { message_key, tenant_id } => {
            Ok(pb::PublishMessageResponse { key: message_key as i64, tenant_id: tenant_id.to_string() })
        }
        _ => Err(unexpected_response("PUBLISH")),
    }
}
