//! `POST /v2/documents/batch`: stores several files; those that cannot be stored are listed beside the others.

use http::StatusCode;
use serde_json::value::RawValue;

use super::{Call, document};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, write_integer, write_list, write_text};

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
            Err(failure) => failed.push((&file.name, failure)),
        }
    }
    let status = if failed.is_empty() { StatusCode::CREATED } else { StatusCode::MULTI_STATUS };
    let mut out = Vec::with_capacity(512 * files.len());
    out.push(b'{');
    member("createdDocuments", &mut out);
    write_list(&created, &mut out, |stored, out| document::write_reference(stored, store.store_id(), out));
    member("failedDocuments", &mut out);
    write_list(&failed, &mut out, |(name, failure), out| {
        out.push(b'{');
        member("fileName", out);
        write_text(name, out);
        member("status", out);
        write_integer(failure.status.as_u16(), out);
        member("title", out);
        write_text(failure.title, out);
        member("detail", out);
        write_text(&failure.detail, out);
        out.push(b'}');
    });
    out.push(b'}');
    Ok(Reply { status, ..Reply::json(out) })
}

/// What is said about the files: one after the other, or all in one list.
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
