//! `GET /v2/global-task-listeners/{id}`

use protocol::{Name, Query, QueryReply};

use super::global_task_listener::write;
use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let reply = call.read(Query::GlobalListener { id: Name::from(&*call.parameters[0]) }).await?;
    let QueryReply::GlobalListener(listener) = reply else { return Err(unexpected(&reply)) };
    let mut out = Vec::with_capacity(256);
    write(&listener, &mut out);
    Ok(Reply::json(out))
}
