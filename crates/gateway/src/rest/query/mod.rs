//! Searches in secondary storage.
//!
//! Most of a search follows from two tables: the contract says which properties may be filtered by, sorted by and
//! shown, `search::model` says which column holds them. `table` adds what is special about an operation, `filter`
//! and `page` read requests, `write` writes rows.

mod filter;
mod filter_reader;
mod page;
pub(super) mod scopes;
mod selection;
mod special;
pub(super) mod statistics;
mod table;
mod values;
mod write;

use protocol::Name;
use search::Operand;
use search::model::{Entity, Kind as ColumnKind, ORDER_CHARS};
use search::{EntityRef, Filter, Row, Search};

use super::call::Call;
use super::contract::{Kind, Object, Operation, Schema};
use super::download::Download;
use super::problem::Failure;
use super::reply::Reply;
use super::writer::{member, write_list};
use crate::rest::limits::COUNT_MAX;
pub(super) use selection::selected;
use table::Scope;
pub(super) use table::{Spec, VARIABLES, get_of, of};
pub(super) use values::respell;

/// The object that an operation answers with, or lists.
pub(super) fn result_object(operation: Operation, is_list: bool) -> &'static Object {
    let responses = operation.spec().responses;
    let schema = responses.iter().find_map(|(status, schema)| (*status == 200).then_some(*schema).flatten());
    let object = schema.and_then(object_of).expect("the contract has an object as the answer");
    if !is_list {
        return object;
    }
    let items = property(object, "items").expect("a search answers with items");
    let Kind::Array(array) = &items.kind else { unreachable!("items are a list") };
    object_of(array.items).expect("items are objects")
}

pub(super) fn object_of(schema: &'static Schema) -> Option<&'static Object> {
    match &schema.kind {
        Kind::Object(object) => Some(object),
        _ => None,
    }
}

pub(super) fn property(object: &'static Object, name: &str) -> Option<&'static Schema> {
    object.properties.iter().find(|property| property.name == name).map(|property| property.schema)
}

/// Answers a search operation.
pub(super) async fn search(call: &Call<'_>, spec: &Spec) -> Result<Reply, Failure> {
    let scope = match spec.scope {
        None => Filter::everything(),
        Some(Scope::Rows(filter)) => filter(call)?,
        Some(Scope::Incidents(holder)) => scopes::incidents_of(call, holder).await?,
    };
    search_where(call, spec, scope.and(call.visible_rows(spec.entity).await?)).await
}

/// Answers a search operation among rows that pass `among`, which must leave out rows that the caller may not see.
pub(super) async fn search_where(call: &Call<'_>, spec: &Spec, among: Filter) -> Result<Reply, Failure> {
    call.storage()?;
    let entity = spec.entity;
    let filter = filter::read(call, spec)?.and(among);
    let sort = page::sort(call, spec)?;
    let is_paged = property(result_object(call.operation, false), "page").is_some();
    let page = if is_paged { page::read(call, entity, &sort)? } else { page::Page::WHOLE };
    let shown = result_object(call.operation, true);
    let whole = call.query_parameter("truncateValues")?.as_deref() == Some("false");
    let cut = spec.cut.filter(|_| !whole).map(|column| (column, ORDER_CHARS as u32));
    let search = Search {
        entity: EntityRef(entity),
        filter,
        sort,
        position: page.position,
        limit: page.limit,
        count_up_to: COUNT_MAX,
        columns: write::columns(entity, shown),
        cut,
    };
    let order = search.sort.clone();
    let found = call.fresh_storage().await?.search(search).await?;
    let mut out = Vec::with_capacity(256 + 512 * found.rows.len());
    out.push(b'{');
    member("items", &mut out);
    write_list(&found.rows, &mut out, |row: &Row, out| {
        write::object(entity, shown, row, cut.is_some(), out);
    });
    if is_paged {
        page::write(entity, &order, &found, &mut out);
    }
    out.push(b'}');
    Ok(Reply::json(out))
}

/// Answers with the row of the key in the path, when the engine does not have it: it has ended.
pub(super) async fn get(call: &Call<'_>, missing: Failure) -> Result<Reply, Failure> {
    let (Some(gets), Ok(_)) = (table::get_of(call.operation), call.storage()) else {
        return Err(missing);
    };
    let entity = gets.entity;
    let Some(id) = identity(entity, call.parameter()) else { return Err(missing) };
    let columns = match gets.content {
        Some((column, ..)) => 1 << column,
        None => write::columns(entity, result_object(call.operation, false)),
    };
    let row = &visible_row(call, entity, id, columns, missing).await?;
    let mut out = Vec::with_capacity(512);
    if let Some((column, media_type, extension)) = gets.content {
        let content = row[column as usize].text().cloned().unwrap_or_default();
        out.extend_from_slice(content.as_bytes());
        let name = format!("{}.{extension}", call.parameter());
        return Ok(Reply::file(out, Download::new(media_type, &name)));
    }
    write::object(entity, result_object(call.operation, false), row, false, &mut out);
    Ok(Reply::json(out))
}

/// The row of an ID, if the caller may read it.
pub(super) async fn visible_row(
    call: &Call<'_>,
    entity: &'static Entity,
    id: Operand,
    columns: u64,
    missing: Failure,
) -> Result<Row, Failure> {
    let one = |columns, filter| {
        let search = Search::one(entity, id.clone(), columns);
        Search { filter: search.filter.clone().and(filter), ..search }
    };
    let storage = call.fresh_storage().await?;
    let found = storage.search(one(columns, call.visible_rows(entity).await?)).await?;
    if let Some(row) = found.rows.into_iter().next() {
        return Ok(row);
    }
    // It may be there, for others.
    Err(match call.known_rows(entity).await? {
        Some((filter, refusal)) if !storage.search(one(1, filter.clone())).await?.rows.is_empty() => refusal,
        _ => missing,
    })
}

/// The value of the first column that a text in the path means.
fn identity(entity: &Entity, text: &str) -> Option<Operand> {
    match entity.columns[0].kind {
        ColumnKind::Text => Some(Operand::Text(Name::from(text))),
        _ => text.parse().ok().map(Operand::Integer),
    }
}
