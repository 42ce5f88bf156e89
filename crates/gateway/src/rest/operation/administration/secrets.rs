//! `/v2/secrets`: names of secrets, which take the permission READ, and their values, which take REVEAL.

use protocol::{PermissionType as P, ResourceType as R};

use super::super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::visible::ReadAuthorization;
use crate::rest::writer::object;
use crate::secrets::SecretError;

/// `POST /v2/secrets/list`
pub(crate) async fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let sight = ReadAuthorization::of(call).await?;
    let mut names = call.gateway.options.secrets.list().await.map_err(Failure::internal)?;
    names.retain(|name| sight.as_ref().is_none_or(|sight| sight.may(R::Secret, P::Read, Some(name))));
    let mut out = Vec::with_capacity(64);
    object(&mut out).with("references", names).end();
    Ok(Reply::json(out))
}

/// `POST /v2/secrets/resolve`
pub(crate) async fn resolve(call: &Call<'_>) -> Result<Reply, Failure> {
    let sight = ReadAuthorization::of(call).await?;
    let (mut resolved, mut errors) = (Vec::new(), Vec::new());
    for reference in call.fields.names("references") {
        // Whether it is there is for those who may have it.
        let may = sight.as_ref().is_none_or(|sight| sight.may(R::Secret, P::Reveal, Some(&reference)));
        let found = if may {
            call.gateway.options.secrets.read(&reference).await
        } else {
            Err(SecretError::AccessDenied)
        };
        match found {
            Ok(value) => resolved.push((reference, value)),
            Err(error) => errors.push((reference, error)),
        }
    }
    let mut out = Vec::with_capacity(256);
    object(&mut out)
        .list("resolved", &resolved, |(reference, value), out| {
            object(out).with("reference", reference).with("value", value).end();
        })
        .list("errors", &errors, |(reference, error), out| {
            object(out)
                .with("reference", reference)
                .with("code", error.code())
                .with("message", error.to_string())
                .end();
        })
        .end();
    Ok(Reply::json(out))
}
