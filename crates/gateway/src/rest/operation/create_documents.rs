//! `POST /v2/documents/batch`: stores several files; those that cannot be stored are listed beside the others.

use http::StatusCode;
use serde_json::value::RawValue;

use super::{Call, document};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::object;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let store = document::store(call)?;
    let metadata = metadata_list(call)?;
    let files = &call.form.files;
    if !metadata.is_empty() && metadata.len() != files.len() {
        return Err(Failure::invalid(format!(
            "metadataList: expected one for each of the {} files, but found {}",
            files.len(),
            metadata.len()
        )));
    }
    let (mut created, mut failed) = (Vec::new(), Vec::new());
    for (at, (file, staged)) in files.iter().zip(call.take_staged()).enumerate() {
        let metadata = metadata.get(at).map(|metadata| metadata.get()).or(file.metadata.as_deref());
        match document::create(call, store, staged, file, metadata).await {
            Ok(stored) => created.push(stored),
            Err(failure) => failed.push((document::name(file, metadata), failure)),
        }
    }
    let status = if failed.is_empty() { StatusCode::CREATED } else { StatusCode::MULTI_STATUS };
    let mut out = Vec::with_capacity(512 * files.len());
    object(&mut out)
        .list("createdDocuments", &created, |stored, out| {
            document::write_reference(stored, store.store_id(), out);
        })
        .list("failedDocuments", &failed, |(name, failure), out| {
            object(out)
                .with("fileName", name)
                .with("status", failure.status().as_u16())
                .with("title", failure.title())
                .with("detail", &failure.detail)
                .end();
        })
        .end();
    Ok(Reply { status, ..Reply::json(out) })
}

/// Metadata of the files: one after the other, or all in one list.
fn metadata_list<'a>(call: &'a Call<'_>) -> Result<Vec<&'a RawValue>, Failure> {
    let mut list = Vec::new();
    for text in call.form.all_texts("metadataList") {
        let is_list = text.trim_start().starts_with('[');
        let read = if is_list {
            serde_json::from_str::<Vec<&RawValue>>(text)
        } else {
            serde_json::from_str(text).map(|one| vec![one])
        };
        list.extend(read.map_err(|error| Failure::invalid(format!("metadataList: {error}")))?);
    }
    Ok(list)
}
