//! `PUT /v2/clock`

use protocol::{Clock, Command};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let timestamp_ms = call.fields.integer("timestamp").unwrap_or_default();
    call.submit_for_nothing("PIN", Command::Clock(Clock::Pin { timestamp_ms })).await
}
