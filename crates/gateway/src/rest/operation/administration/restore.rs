//! `/v2/restore`: refused with the reason. A broker that serves requests has its state open, and all replicas must
//! begin with the same one, so it is done while none runs: `baton restore`.

use http::StatusCode;
use protocol::RejectionType;

use super::super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

/// `POST /v2/restore` and `POST /cluster/v2/restore`
pub(crate) async fn refuse(call: &Call<'_>) -> Result<Reply, Failure> {
    call.check_physical_tenant()?;
    let is_said = |name: &str| !call.fields.value(name).is_null();
    let names_ids = call.fields.value("backupIds").as_array().is_some_and(|ids| !ids.is_empty());
    if names_ids == (is_said("from") || is_said("to")) {
        return Err(Failure::invalid("request body: expected either backupIds, or from and to"));
    }
    let detail = "Expected a cluster that does not run, but this one serves requests: stop all brokers, and begin new \
                  data directories with `baton restore`";
    Err(Failure::new(StatusCode::CONFLICT, RejectionType::InvalidState.as_str(), detail))
}

/// `GET /v2/restore`
pub(crate) async fn status(_: &Call<'_>) -> Result<Reply, Failure> {
    Err(Failure::not_found("no restore was begun over the API: `baton restore` does it while no broker runs"))
}
