//! `/v2/mapping-rules`

use auth::ClaimPath;
use protocol::{IdentityCommand, IdentityQuery, IdentityReply, MappingRule, Name};

use super::super::{Call, unexpected};
use super::{created, json, write_object};
use crate::rest::limits::ENTITIES_MAX;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;

pub(crate) async fn create(call: &Call<'_>) -> Result<Reply, Failure> {
    let rule = read_rule(call, call.fields.name_or_empty("mappingRuleId"))?;
    let body = json(&rule, write);
    let answer = call.change_identity("CREATE", IdentityCommand::CreateMappingRule(rule)).await?;
    Ok(created(body, &answer))
}

pub(crate) async fn update(call: &Call<'_>) -> Result<Reply, Failure> {
    let rule = read_rule(call, call.placeholder(0))?;
    let body = json(&rule, write);
    let answer = call.change_identity("UPDATE", IdentityCommand::UpdateMappingRule(rule)).await?;
    Ok(Reply::json(body).timed(answer.timing))
}

pub(crate) async fn delete(call: &Call<'_>) -> Result<Reply, Failure> {
    call.change_identity_only("DELETE", IdentityCommand::DeleteMappingRule { id: call.placeholder(0) }).await
}

pub(crate) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    match call.read_identity(IdentityQuery::MappingRule { id: call.placeholder(0) }).await? {
        IdentityReply::MappingRule(rule) => Ok(Reply::json(json(&rule, write))),
        other => Err(unexpected(&other)),
    }
}

pub(crate) async fn search(call: &Call<'_>) -> Result<Reply, Failure> {
    search_in(call, IdentityQuery::MappingRules { limit: ENTITIES_MAX }).await
}

/// Searches among what a query lists.
pub(super) async fn search_in(call: &Call<'_>, query: IdentityQuery) -> Result<Reply, Failure> {
    let page = |reply| match reply {
        IdentityReply::MappingRules(page) => Ok(page),
        other => Err(unexpected(&other)),
    };
    call.search_identity(query, page, property, write).await
}

fn read_rule(call: &Call<'_>, id: Name) -> Result<MappingRule, Failure> {
    let claim_name = call.not_blank("claimName")?;
    if ClaimPath::is_expression(&claim_name) {
        ClaimPath::parse(&claim_name).map_err(|error| Failure::invalid(format!("claimName: {error}")))?;
    }
    Ok(MappingRule {
        id,
        claim_name,
        claim_value: call.not_blank("claimValue")?,
        name: call.not_blank("name")?,
    })
}

fn write(rule: &MappingRule, out: &mut Vec<u8>) {
    write_object(
        &[
            ("mappingRuleId", &rule.id),
            ("claimName", &rule.claim_name),
            ("claimValue", &rule.claim_value),
            ("name", &rule.name),
        ],
        out,
    );
}

fn property(rule: &MappingRule, name: &str) -> Option<String> {
    let text = match name {
        "mappingRuleId" => &rule.id,
        "claimName" => &rule.claim_name,
        "claimValue" => &rule.claim_value,
        "name" => &rule.name,
        _ => return None,
    };
    Some(text.to_string())
}
