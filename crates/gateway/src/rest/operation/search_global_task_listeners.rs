//! `POST /v2/global-task-listeners/search`: up to ten thousand listeners are looked at.

use protocol::{GlobalListener, Query, QueryReply};
use search::{Operand, Test};

use super::global_task_listener::{event_types, write};
use super::{Call, unexpected};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::operators::{self, ValueKind};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::search::Search;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let search = Search::read(&call.fields)?;
    let events = events(call)?;
    let reply = call.read(Query::GlobalListeners { limit: ENTITIES_MAX }).await?;
    let QueryReply::GlobalListeners { mut listeners, has_more } = reply else {
        return Err(unexpected(&reply));
    };
    listeners.retain(|listener| events.iter().all(|tests| has_event(listener, tests)));
    Ok(Reply::json(search.answer(listeners, has_more, property, write)))
}

/// Filter on the event types of a listener: for each entry, one of them must meet it.
fn events(call: &Call<'_>) -> Result<Vec<Vec<Test>>, Failure> {
    let filter = call.fields.value("filter");
    let wanted = filter["eventTypes"].as_array();
    let read = |(at, value)| operators::tests(&format!("filter.eventTypes[{at}]"), value, ValueKind::Text);
    wanted.into_iter().flatten().enumerate().map(read).collect()
}

fn has_event(listener: &GlobalListener, tests: &[Test]) -> bool {
    event_types(listener).any(|name| {
        let operand = Operand::Text(name.into());
        tests.iter().all(|test| test.is_met_by(Some(&operand)))
    })
}

fn property(listener: &GlobalListener, name: &str) -> Option<String> {
    match name {
        "id" => Some(listener.id.to_string()),
        "type" => Some(listener.job_type.to_string()),
        "retries" => Some(listener.retries.to_string()),
        "afterNonGlobal" => Some(listener.after_non_global.to_string()),
        "priority" => Some(listener.priority.to_string()),
        "source" => Some(listener.source.as_str().to_owned()),
        _ => None,
    }
}
