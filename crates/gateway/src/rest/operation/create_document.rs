//! `POST /v2/documents`: stores a file.

use http::StatusCode;

use super::{Call, document};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let store = document::store(call)?;
    let [file] = &call.form.files[..] else { return Err(Failure::invalid("file: expected one file")) };
    let Some(staged) = call.take_staged().pop() else {
        return Err(Failure::internal("the file was not stored"));
    };
    let stored = document::create(call, store, staged, file, call.form.text("metadata")).await?;
    let mut out = Vec::with_capacity(512);
    document::write_reference(&stored, store.store_id(), &mut out);
    Ok(Reply { status: StatusCode::CREATED, ..Reply::json(out) })
}
