//! `GET /baton/v1/element-instances/{elementInstanceKey}/children`: a window of the elements directly in a process
//! instance or an element instance, with how many there are in all and in each of them.

use std::collections::BTreeMap;

use http::StatusCode;
use protocol::{Key, Name};
use search::model::{element_instance as element, process_instance as instance};
use search::{
    Aggregate, EntityRef, Filter, Found, Operand, Position, Row, Search, Sort, Statistics, Test, Value,
};

use super::EXACT_MAX;
use super::rows::{key, key_of, number, operand, search, text, with_key, with_text};
use crate::rest::call::Call;
use crate::rest::fields::parse_key;
use crate::rest::limits::PAGE_LIMIT_DEFAULT;
use crate::rest::problem::Failure;
use crate::rest::query::{self, statistics};
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, object};

/// Types of elements that others can be in, in order.
pub(super) const SCOPES: [&str; 6] = [
    "AD_HOC_SUB_PROCESS",
    "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
    "EVENT_SUB_PROCESS",
    "MULTI_INSTANCE_BODY",
    "PROCESS",
    "SUB_PROCESS",
];

pub(super) async fn list(call: &Call<'_>) -> Result<Reply, Failure> {
    let scope = call.key()?;
    let instance_key = instance_of(call, scope).await?;
    let found = window(call, instance_key, scope).await?;
    let counts = counts(call, instance_key, &found.rows).await?;
    let mut out = Vec::with_capacity(64 + 256 * found.rows.len());
    object(&mut out)
        .list("items", &found.rows, |row, out| write(row, &counts, out))
        .with("totalItems", found.total)
        .with("processInstanceKey", Digits(instance_key))
        .end();
    Ok(Reply::json(out))
}

/// The process instance that a scope belongs to, or is.
async fn instance_of(call: &Call<'_>, scope: Key) -> Result<Key, Failure> {
    let missing = || Failure::not_found(format!("Element Instance with key '{scope}' not found"));
    match query::visible_row(call, &instance::ENTITY, operand(scope), 1, missing()).await {
        Err(failure) if failure.status() == StatusCode::NOT_FOUND => {}
        found => return found.map(|_| scope),
    }
    let row =
        query::visible_row(call, &element::ENTITY, operand(scope), 1 << element::INSTANCE_KEY, missing())
            .await?;
    Ok(key_of(&row, element::INSTANCE_KEY))
}

/// The children that are asked for. Keys are given in the order in which elements begin.
async fn window(call: &Call<'_>, instance_key: Key, scope: Key) -> Result<Found, Failure> {
    let mut filter = with_key(element::INSTANCE_KEY, instance_key);
    match call.query_parameter("deep")?.as_deref() {
        Some("true") if scope != instance_key => {
            let reason =
                "deep: expected the key of a process instance in the path, but found that of an element";
            return Err(Failure::invalid(reason));
        }
        Some("true") => {}
        _ => filter = filter.and(with_key(element::SCOPE_KEY, scope)),
    }
    if let Some(text) = call.query_parameter("text")? {
        filter = filter.and(containing(&text));
    }
    if let Some(state) = call.query_parameter("state")? {
        filter = filter.and(with_text(element::STATE, &state));
    }
    if let Some(has_incident) = call.query_parameter("hasIncident")? {
        filter = filter.and(with_incident(has_incident == "true"));
    }
    let descending = call.query_parameter("order")?.as_deref() == Some("DESC");
    let position = match call.query_parameter("after")? {
        Some(after) => {
            let key = Value::Integer(parse_key("after", &after)?.cast_signed());
            Position::After(vec![key.clone(), key])
        }
        None => Position::Offset(call.query_number("from")?.unwrap_or(0)),
    };
    let limit = call.query_number("limit")?.unwrap_or(u64::from(PAGE_LIMIT_DEFAULT));
    let filter = filter.and(call.visible_rows(&element::ENTITY).await?);
    let search = Search {
        sort: vec![Sort { column: element::KEY, descending }],
        position,
        count_up_to: EXACT_MAX,
        ..search(&element::ENTITY, filter, limit as u32)
    };
    call.fresh_storage().await?.search(search).await
}

/// Elements whose ID or name has a text in it, and the one of a key.
fn containing(text: &str) -> Filter {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('*');
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('*');
    let like = |column| Filter::Column(column, Test::Like(Name::from(&*pattern)));
    let mut any = vec![like(element::ELEMENT_ID), like(element::ELEMENT_NAME)];
    any.extend(text.parse().ok().map(|key| with_key(element::KEY, key)));
    Filter::Any(any)
}

/// Elements with incidents, or without.
pub(super) fn with_incident(has_incident: bool) -> Filter {
    let some = Filter::Column(element::HAS_INCIDENT, Test::Greater(Operand::Integer(0)));
    if has_incident {
        return some;
    }
    Filter::Any(vec![
        Filter::Column(element::HAS_INCIDENT, Test::Equal(Operand::Integer(0))),
        Filter::Column(element::HAS_INCIDENT, Test::Exists(false)),
    ])
}

/// How many elements are in each of these that may have some.
async fn counts(call: &Call<'_>, instance_key: Key, rows: &[Row]) -> Result<BTreeMap<Key, i64>, Failure> {
    let is_scope = |row: &&Row| text(row, element::TYPE).is_some_and(|kind| SCOPES.contains(&kind.as_str()));
    let scopes = rows.iter().filter(is_scope).map(|row| operand(key_of(row, element::KEY)));
    let mut scopes: Vec<_> = scopes.collect();
    scopes.sort_unstable();
    let mut counts = BTreeMap::new();
    for scopes in scopes.chunks(SCOPES_AT_ONCE) {
        let asked = Statistics {
            entity: EntityRef(&element::ENTITY),
            filter: with_key(element::INSTANCE_KEY, instance_key)
                .and(Filter::Column(element::SCOPE_KEY, Test::In(scopes.to_vec()))),
            group_by: vec![element::SCOPE_KEY],
            aggregates: vec![Aggregate::Count(Filter::everything())],
            limit: scopes.len() as u32,
        };
        let groups = statistics::ask(call, asked).await?;
        counts.extend(groups.iter().map(|row| (key_of(row, 0), statistics::number(row, 1))));
    }
    Ok(counts)
}

/// Scopes that one question names.
const SCOPES_AT_ONCE: usize = 1_000;

fn write(row: &Row, counts: &BTreeMap<Key, i64>, out: &mut Vec<u8>) {
    let key_here = key_of(row, element::KEY);
    object(out)
        .with("elementInstanceKey", Digits(key_here))
        .with("elementId", text(row, element::ELEMENT_ID))
        .with("elementName", text(row, element::ELEMENT_NAME))
        .with("type", text(row, element::TYPE))
        .with("state", text(row, element::STATE))
        .with("hasIncident", number(row, element::HAS_INCIDENT).is_some_and(|count| count > 0))
        .with("incidentKey", key(row, element::INCIDENT_KEY).map(Digits))
        .with("startDate", Moment(number(row, element::START).unwrap_or(0)))
        .with("endDate", number(row, element::END).map(Moment))
        .with("childCount", counts.get(&key_here).copied().unwrap_or(0))
        .end();
}
