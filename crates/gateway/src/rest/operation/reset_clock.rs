//! `POST /v2/clock/reset`

use protocol::{Clock, Command};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    call.submit_for_nothing("RESET", Command::Clock(Clock::Reset)).await
}
