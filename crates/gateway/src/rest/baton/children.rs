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

fn key_is(column: u8, key: Key) -> Filter {
    Filter::Column(column, Test::Equal(Operand::Integer(key.cast_signed())))
}

/// The process instance that a scope belongs to, or is.
async fn instance_of(call: &Call<'_>, scope: Key) -> Result<Key, Failure> {
    let missing = || Failure::not_found(format!("Element Instance with key '{scope}' not found"));
    let id = || Operand::Integer(scope.cast_signed());
    match query::visible_row(call, &instance::ENTITY, id(), 1, missing()).await {
        Err(failure) if failure.status == StatusCode::NOT_FOUND => {}
        found => return found.map(|_| scope),
    }
    let row = query::visible_row(call, &element::ENTITY, id(), 1 << element::INSTANCE_KEY, missing()).await?;
    Ok(key_of(&row, element::INSTANCE_KEY))
}

/// The children that are asked for. Keys are given in the order in which elements begin.
async fn window(call: &Call<'_>, instance_key: Key, scope: Key) -> Result<Found, Failure> {
    let mut filter = key_is(element::INSTANCE_KEY, instance_key);
    match call.query_parameter("deep")?.as_deref() {
        Some("true") if scope != instance_key => {
            let reason =
                "deep: expected the key of a process instance in the path, but found that of an element";
            return Err(Failure::invalid(reason));
        }
        Some("true") => {}
        _ => filter = filter.and(key_is(element::SCOPE_KEY, scope)),
    }
    if let Some(text) = call.query_parameter("text")? {
        filter = filter.and(containing(&text));
    }
    if let Some(state) = call.query_parameter("state")? {
        let state = Operand::Text(Name::from(state));
        filter = filter.and(Filter::Column(element::STATE, Test::Equal(state)));
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
    let search = Search {
        entity: EntityRef(&element::ENTITY),
        filter: filter.and(call.visible_rows(&element::ENTITY).await?),
        sort: vec![Sort { column: element::KEY, descending }],
        position,
        limit: limit as u32,
        count_up_to: EXACT_MAX,
        columns: u64::MAX >> (64 - element::ENTITY.columns.len()),
        cut: None,
    };
    call.fresh_storage().await?.search(search).await
}

/// Those whose ID or name has a text in it, and that of a key.
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
    any.extend(text.parse().ok().map(|key| key_is(element::KEY, key)));
    Filter::Any(any)
}

/// Those with incidents, or without.
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
    let is_scope = |row: &&Row| {
        let kind = row[usize::from(element::TYPE)].text();
        kind.is_some_and(|kind| SCOPES.contains(&kind.as_str()))
    };
    let mut scopes: Vec<_> =
        rows.iter().filter(is_scope).filter_map(|row| row[0].integer().map(Operand::Integer)).collect();
    scopes.sort_unstable();
    let mut counts = BTreeMap::new();
    for scopes in scopes.chunks(SCOPES_AT_ONCE) {
        let asked = Statistics {
            entity: EntityRef(&element::ENTITY),
            filter: key_is(element::INSTANCE_KEY, instance_key)
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

fn key_of(row: &Row, column: u8) -> Key {
    statistics::number(row, usize::from(column)).cast_unsigned()
}

fn write(row: &Row, counts: &BTreeMap<Key, i64>, out: &mut Vec<u8>) {
    let at = |column: u8| &row[usize::from(column)];
    let key = key_of(row, element::KEY);
    object(out)
        .with("elementInstanceKey", Digits(key))
        .with("elementId", at(element::ELEMENT_ID).text())
        .with("elementName", at(element::ELEMENT_NAME).text())
        .with("type", at(element::TYPE).text())
        .with("state", at(element::STATE).text())
        .with("hasIncident", at(element::HAS_INCIDENT).integer().is_some_and(|count| count > 0))
        .with("incidentKey", at(element::INCIDENT_KEY).integer().map(|key| Digits(key.cast_unsigned())))
        .with("startDate", Moment(statistics::number(row, usize::from(element::START))))
        .with("endDate", at(element::END).integer().map(Moment))
        .with("childCount", counts.get(&key).copied().unwrap_or(0))
        .end();
}
