//! `POST /v2/expression/evaluation`

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::writer::{member, object, write_list, write_text};

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let expression = call.fields.text("expression").unwrap_or_default().into_owned();
    let variables = call.document("variables")?;
    if !expression.starts_with('=') {
        return Err(Failure::invalid("expression: must start with '='"));
    }
    let tenant_id = call.fields.tenant();
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
