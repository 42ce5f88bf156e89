//! Common parts of the operations on documents.

use documents::{Document, Documents, Error, Metadata, Staged};
use protocol::{DEFAULT_TENANT, Query, QueryReply};

use super::Call;
use crate::rest::contract::{Kind, Operation, Schema};
use crate::rest::fields::Fields;
use crate::rest::moment;
use crate::rest::multipart::{File, Form};
use crate::rest::problem::Failure;
use crate::rest::problem_code::Code;
use crate::rest::validate::validate;
use crate::rest::visible::ReadAuthorization;
use crate::rest::writer::{Digits, Moment, object};

pub(super) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// The store that a request names, or the one that is meant without.
pub(in crate::rest) fn store<'a>(call: &Call<'a>) -> Result<&'a Documents, Failure> {
    let id = call.query_parameter("storeId")?;
    let found = call.gateway.options.documents.get(id.as_deref());
    found.ok_or_else(|| {
        let id = id.unwrap_or_default();
        Failure::invalid(format!("storeId: there is no document store '{id}'"))
    })
}

/// The store's answer for clients. The reason of a failure is logged for operators alone, once for each outage.
pub(in crate::rest) fn told<T>(
    call: &Call<'_>,
    store: &Documents,
    answer: Result<T, Error>,
) -> Result<T, Failure> {
    let note = |is_away| {
        let outage = call.gateway.documents_outages.get(store.store_id());
        outage.is_some_and(|outage| outage.note(is_away))
    };
    let is_news = match &answer {
        Ok(_) => note(false),
        Err(Error::Store(_)) => note(true),
        Err(_) => false,
    };
    if is_news && answer.is_ok() {
        tracing::info!(store = store.store_id(), "documents can be stored and read again");
    }
    answer.map_err(|error| match error {
        Error::NotFound(_) => Failure::not_found(error.to_string()),
        Error::AlreadyExists(_) => Failure::new(Code::AlreadyExists, error.to_string()),
        Error::Invalid(reason) => Failure::invalid(reason),
        Error::TooLarge(_) => {
            let detail = format!("file: {error}, the limit of documents.max_bytes");
            Failure::new(Code::ContentTooLarge, detail)
        }
        // As the broker says it of its own disk; clients come back later.
        Error::Full(_) => {
            let id = store.store_id();
            let detail =
                format!("file: the disk of the document store '{id}' is full but for data.min_free_bytes");
            Failure::new(Code::DiskFull, detail)
        }
        Error::Damaged(_) | Error::Garbled(..) => Failure::internal(error.to_string()),
        Error::Store(_) => {
            if is_news {
                tracing::warn!(%error, store = store.store_id(), "documents cannot be stored or read");
            }
            Failure::documents_away()
        }
    })
}

/// Metadata of a file when its content arrives. Its errors are reported when the whole form is there.
pub(in crate::rest) fn content_metadata(file: &File, form: &Form) -> Metadata {
    let text = form.text("metadata").or(file.metadata.as_deref());
    read_metadata(file, text).or_else(|_| read_metadata(file, None)).unwrap_or_default()
}

/// The name of a file whose document could not be made; empty if it has none.
pub(super) fn name(file: &File, metadata: Option<&str>) -> String {
    read_metadata(file, metadata).map_or_else(|_| file.name.clone(), |metadata| metadata.file_name)
}

/// Makes a document of a file whose content is stored.
pub(super) async fn create(
    call: &Call<'_>,
    store: &Documents,
    staged: Result<Staged, Failure>,
    file: &File,
    metadata: Option<&str>,
) -> Result<Document, Failure> {
    let mut metadata = read_metadata(file, metadata)?;
    let default_expiry = store.default_expiry(now_ms());
    metadata.expires_at_ms = metadata.expires_at_ms.or(default_expiry);
    if let Some(sight) = ReadAuthorization::of(call).await? {
        metadata.tenant_ids = tenants_of_new(call, &sight, metadata.process_instance_key).await;
        metadata.owner = owner(call);
    }
    let staged = staged?;
    // A client that goes away meanwhile leaves a document or nothing, but no half of one.
    match tokio::spawn(staged.commit(metadata)).await {
        Ok(created) => told(call, store, created),
        Err(error) => Err(Failure::internal(error.to_string())),
    }
}

/// Tenants whose members may have a document that is stored now: that of the instance that it belongs to, or all of
/// whoever stores it. `None` where tenants do not count.
async fn tenants_of_new(
    call: &Call<'_>,
    sight: &ReadAuthorization,
    process_instance_key: Option<u64>,
) -> Option<Vec<String>> {
    let tenants = sight.tenants()?;
    if let Some(key) = process_instance_key
        && let Ok(QueryReply::ProcessInstance(instance)) =
            call.read_unseen(Query::ProcessInstance { key }).await
        && sight.is_of_tenant(&instance.tenant_id)
    {
        return Some(vec![instance.tenant_id.to_string()]);
    }
    Some(tenants.iter().map(ToString::to_string).collect())
}

/// The kind and name of whoever asks.
fn owner(call: &Call<'_>) -> Option<String> {
    match (call.principal.user_name(), call.principal.client_id()) {
        (Some(user), _) => Some(format!("USER:{user}")),
        (None, Some(client)) => Some(format!("CLIENT:{client}")),
        (None, None) => None,
    }
}

/// A document that whoever asks may have: of one of its tenants, or its own. Others are not there for it.
pub(super) async fn find(
    call: &Call<'_>,
    store: &Documents,
    hash: Option<&str>,
) -> Result<Document, Failure> {
    let id = call.parameter();
    // With another hash it is not told either that there is one of another tenant.
    let found = told(call, store, store.find(id, None, now_ms()).await)?;
    if let Some(sight) = ReadAuthorization::of(call).await? {
        let is_of_tenant = match &found.metadata.tenant_ids {
            // Stored before tenants counted.
            None => sight.is_of_tenant(DEFAULT_TENANT),
            Some(tenants) => sight.tenants().is_none() || tenants.iter().any(|id| sight.is_of_tenant(id)),
        };
        let is_own = found.metadata.owner.is_some() && found.metadata.owner == owner(call);
        if !is_of_tenant && !is_own {
            return told(call, store, Err(Error::NotFound(id.to_owned())));
        }
    }
    match hash {
        Some(_) => told(call, store, store.find(id, hash, now_ms()).await),
        None => Ok(found),
    }
}

/// The schema of a document's metadata, as it stands in the form of one.
fn metadata_schema() -> Option<&'static Schema> {
    let body = Operation::CreateDocument.spec().body.as_ref()?;
    let Kind::Object(object) = &body.schema.kind else { return None };
    object.properties.iter().find(|property| property.name == "metadata").map(|property| property.schema)
}

fn read_metadata(file: &File, text: Option<&str>) -> Result<Metadata, Failure> {
    let fields = match (text, metadata_schema()) {
        (Some(text), Some(schema)) => validate(schema, text)?,
        (_, Some(schema)) => Fields::new(schema),
        _ => return Err(Failure::internal("the contract has no metadata here")),
    };
    let text = |name: &str| fields.text(name).map(std::borrow::Cow::into_owned);
    let expires_at_ms = match fields.text("expiresAt") {
        None => None,
        Some(time) => Some(
            moment::parse(&time)
                .ok_or_else(|| Failure::invalid("metadata.expiresAt: is no date and time with offset"))?,
        ),
    };
    Ok(Metadata {
        content_type: text("contentType")
            .or_else(|| file.content_type.clone())
            .unwrap_or_else(|| "application/octet-stream".to_owned()),
        file_name: text("fileName").filter(|name| !name.is_empty()).unwrap_or_else(|| file.name.clone()),
        expires_at_ms,
        process_definition_id: text("processDefinitionId"),
        process_instance_key: fields.key("processInstanceKey")?,
        custom_properties: fields.raw("customProperties").map(ToOwned::to_owned),
        tenant_ids: None,
        owner: None,
    })
}

pub(super) fn write_reference(document: &Document, store_id: &str, out: &mut Vec<u8>) {
    let metadata = &document.metadata;
    object(out)
        .with("camunda.document.type", "camunda")
        .with("storeId", store_id)
        .with("documentId", &document.id)
        .with("contentHash", &document.content_hash)
        .object("metadata", |object| {
            object
                .with("contentType", &metadata.content_type)
                .with("fileName", &metadata.file_name)
                .with("expiresAt", metadata.expires_at_ms.map(Moment))
                .with("size", document.size_bytes)
                .with("processDefinitionId", &metadata.process_definition_id)
                .with("processInstanceKey", metadata.process_instance_key.map(Digits))
                .raw("customProperties", metadata.custom_properties.as_deref().unwrap_or("{}"))
        })
        .end();
}
