//! `GET /baton/v1/process-instances/{processInstanceKey}/explanation`: the things that each active element
//! of an instance waits for, since when, whether anybody serves it, and its incidents.
//!
//! An element that others run in is told of only if it waits itself, for a listener of its own, or has an incident.

mod awaited;
mod parts;

use std::collections::BTreeMap;

use protocol::{Key, Name};
use search::model::{
    element_instance as element, incident, process_instance as instance, wait_state as wait,
};
use search::{Filter, Found, Operand, Position, Row, Search, Test};

use super::EXACT_MAX;
use super::children::{SCOPES, with_incident};
use super::rows::{key_of, number, operand, search, text, whole, with_key, with_text};
use crate::rest::call::Call;
use crate::rest::problem::Failure;
use crate::rest::query;
use crate::rest::reply::Reply;
use crate::rest::writer::{Digits, Moment, object};
use parts::{grouped, one_of, visible};

/// Default number of elements in a page.
const LIMIT_DEFAULT: u64 = 50;

pub(super) async fn get(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = call.key()?;
    let missing = Failure::not_found(format!("Process Instance with key '{key}' not found"));
    let of =
        query::visible_row(call, &instance::ENTITY, operand(key), whole(&instance::ENTITY), missing).await?;
    let found = elements(call, key, &of).await?;
    let keys: Vec<Key> = found.rows.iter().map(|row| key_of(row, element::KEY)).collect();
    let (awaited, incidents) =
        futures::future::try_join(awaited::of(call, &of, &found.rows, &keys), incidents(call, key, &keys))
            .await?;
    let mut out = Vec::with_capacity(64 + 512 * found.rows.len());
    object(&mut out)
        .with("state", text(&of, instance::STATE))
        .list("items", &found.rows, |row, out| {
            let key = key_of(row, element::KEY);
            object(out)
                .with("elementInstanceKey", Digits(key))
                .with("elementId", text(row, element::ELEMENT_ID))
                .with("elementName", text(row, element::ELEMENT_NAME))
                .with("type", text(row, element::TYPE))
                .with("since", Moment(number(row, element::START).unwrap_or(0)))
                .with("waitsFor", awaited.get(&key).map(Vec::as_slice).unwrap_or_default())
                .list("incidents", incidents.get(&key).into_iter().flatten(), write_incident)
                .end();
        })
        .with("totalItems", found.total)
        .end();
    Ok(Reply::json(out))
}

/// The active elements of the page that wait, or have an incident, in the order in which they began.
async fn elements(call: &Call<'_>, key: Key, instance: &Row) -> Result<Found, Failure> {
    let element_id = call.query_parameter("elementId")?.map(Name::from);
    let from = call.query_number("from")?.unwrap_or(0);
    let limit = call.query_number("limit")?.unwrap_or(LIMIT_DEFAULT);
    let waiting = waiting_scopes(call, key).await?;
    let is_scope = Filter::Column(element::TYPE, Test::In(SCOPES.map(word).into()));
    let is_none = Filter::Column(element::TYPE, Test::NotIn(SCOPES.map(word).into()));
    let told = is_scope.and(Filter::Any(vec![
        with_incident(true),
        Filter::Column(element::KEY, Test::In(waiting.iter().copied().map(operand).collect())),
    ]));
    let mut filter = with_key(element::INSTANCE_KEY, key)
        .and(with_text(element::STATE, "ACTIVE"))
        .and(Filter::Column(element::KEY, Test::NotEqual(operand(key))))
        .and(Filter::Any(vec![is_none, told]));
    if let Some(id) = &element_id {
        filter = filter.and(with_text(element::ELEMENT_ID, id));
    }
    // The instance itself waits for listeners, too: it comes before its elements.
    let process_id = text(instance, instance::PROCESS_ID);
    let is_own =
        waiting.contains(&key) && element_id.as_ref().is_none_or(|id| Some(id) == process_id.as_ref());
    let search = Search {
        position: Position::Offset(from.saturating_sub(u64::from(is_own))),
        count_up_to: EXACT_MAX,
        ..search(&element::ENTITY, filter.and(call.visible_rows(&element::ENTITY).await?), limit as u32)
    };
    let mut found = call.storage()?.search(search).await?;
    found.total += u64::from(is_own);
    if is_own && from == 0 {
        found.rows.truncate(limit as usize - 1);
        found.rows.insert(0, as_element(instance));
    }
    Ok(found)
}

/// The elements with others in them that wait for a listener of their own.
async fn waiting_scopes(call: &Call<'_>, key: Key) -> Result<Vec<Key>, Failure> {
    let kinds = Filter::Column(wait::ELEMENT_TYPE, Test::In(SCOPES.map(word).into()));
    let rows = visible(call, &wait::ENTITY, with_key(wait::INSTANCE_KEY, key).and(kinds)).await?;
    let mut keys: Vec<Key> = rows.iter().map(|row| key_of(row, wait::ELEMENT_KEY)).collect();
    keys.sort_unstable();
    keys.dedup();
    Ok(keys)
}

/// An instance as the element that it is.
fn as_element(instance: &Row) -> Row {
    let mut row = vec![search::Value::Null; element::ENTITY.columns.len()];
    for (column, from) in [
        (element::KEY, instance::KEY),
        (element::INSTANCE_KEY, instance::KEY),
        (element::START, instance::START),
        (element::ELEMENT_ID, instance::PROCESS_ID),
        (element::ELEMENT_NAME, instance::PROCESS_NAME),
        (element::TENANT, instance::TENANT),
    ] {
        row[usize::from(column)] = instance[usize::from(from)].clone();
    }
    row[usize::from(element::TYPE)] = search::Value::from("PROCESS");
    row
}

/// Open incidents of elements, by their keys.
async fn incidents(call: &Call<'_>, key: Key, keys: &[Key]) -> Result<BTreeMap<Key, Vec<Row>>, Failure> {
    let filter = with_key(incident::INSTANCE_KEY, key)
        .and(with_text(incident::STATE, "ACTIVE"))
        .and(one_of(incident::ELEMENT_KEY, keys));
    Ok(grouped(visible(call, &incident::ENTITY, filter).await?, incident::ELEMENT_KEY))
}

fn write_incident(row: &Row, out: &mut Vec<u8>) {
    object(out)
        .with("incidentKey", Digits(key_of(row, incident::KEY)))
        .with("errorType", text(row, incident::ERROR_TYPE).unwrap_or_default())
        .with("errorMessage", text(row, incident::ERROR_MESSAGE).unwrap_or_default())
        .with("jobKey", number(row, incident::JOB_KEY).map(|key| Digits(key.cast_unsigned())))
        .with("since", Moment(number(row, incident::CREATED).unwrap_or(0)))
        .end();
}

fn word(word: &str) -> Operand {
    Operand::Text(Name::from(word))
}
