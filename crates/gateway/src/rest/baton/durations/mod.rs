//! `POST /baton/v1/process-definitions/{processDefinitionKey}/durations`: how long elements take, from counters where
//! the server keeps them, else from the latest elements that have ended.

mod answer;
mod counters;
mod question;
mod sample;

use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use question::Question;

pub(super) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let question = Question::of(call)?;
    let counts = call.storage()?.storage.counts_durations();
    let durations =
        if counts { counters::read(call, &question).await? } else { sample::read(call, &question).await? };
    Ok(durations.written())
}
