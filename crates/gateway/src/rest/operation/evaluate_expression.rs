//! `POST /v2/expression/evaluation`

use std::collections::HashSet;

use protocol::{Document, Key, Name, Query, QueryReply, Rejection};

use super::{Call, unexpected};
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, object, write_list, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let expression = call.fields.text("expression").unwrap_or_default().into_owned();
    let variables = call.document("variables")?;
    if !expression.starts_with('=') {
        return Err(Failure::invalid("expression: must start with '='"));
    }
    let (variables, tenant_id) = match call.fields.key("scopeKey")? {
        None => (variables, call.fields.tenant()),
        Some(key) => in_scope(call, key, variables).await?,
    };
    let evaluation = call.gateway.broker.evaluate_expression(expression.clone(), variables, tenant_id);
    let evaluated = evaluation.await.map_err(|error| Failure::submit(error, "EVALUATE"))?;
    let mut out = Vec::with_capacity(96 + expression.len() + evaluated.result_json.len());
    out.push(b'{');
    member("expression", &mut out);
    write_text(&expression, &mut out);
    member("result", &mut out);
    out.extend_from_slice(evaluated.result_json.as_bytes());
    member("warnings", &mut out);
    write_list(&evaluated.warnings, &mut out, |warning, out| {
        object(out).with("message", warning).end();
    });
    // Expressions refer to no secrets: they are resolved where jobs are handed out.
    member("referencedSecrets", &mut out);
    out.extend_from_slice(b"[]");
    out.push(b'}');
    Ok(Reply::json(out))
}

/// The variables that an instance sees, unless the request has others of the same names, and its tenant.
async fn in_scope(call: &Call<'_>, key: Key, variables: Document) -> Result<(Document, Name), Failure> {
    let reply = call.read(Query::Scope { key }).await?;
    let QueryReply::Scope(scope) = reply else { return Err(unexpected(&reply)) };
    if call.fields.name("tenantId").is_some_and(|tenant_id| tenant_id != scope.tenant_id) {
        let reason = format!("Process or element instance with key '{key}' not found");
        return Err(Failure::read(Rejection::not_found(reason).into()));
    }
    let hidden: HashSet<&str> = variables.iter().map(|(name, _)| &**name).collect();
    let seen = scope.variables.iter().filter(|(name, _)| !hidden.contains(&**name));
    Ok((seen.chain(variables.iter()).cloned().collect(), scope.tenant_id))
}
