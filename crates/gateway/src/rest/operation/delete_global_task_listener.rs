//! `DELETE /v2/global-task-listeners/{id}`

use protocol::{Command, GlobalListenerCommand, Name};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let id = Name::from(&*call.parameters[0]);
    call.submit_for_nothing("DELETE", Command::GlobalListener(GlobalListenerCommand::Delete { id })).await
}
