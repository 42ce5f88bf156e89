//! Order and page of a request, and what an answer says about its page.

use search::model::Entity;
use search::{Found, Position, Sort, decode_cursor, encode_cursor};
use serde_json::Value;

use super::super::call::Call;
use super::super::operators::check_sorts;
use super::super::problem::Failure;
use super::super::writer::{member, write_flag, write_integer, write_text};
use super::table::Spec;
use crate::rest::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};

/// Part of what was found.
pub(super) struct Page {
    pub(super) position: Position,
    pub(super) limit: u32,
}

impl Page {
    /// Everything, of answers that have no pages.
    pub(super) const WHOLE: Self = Self { position: Position::Offset(0), limit: PAGE_LIMIT_MAX };
}

/// The order asked for. A property that comes again says nothing.
pub(super) fn sort(call: &Call<'_>, spec: &Spec) -> Result<Vec<Sort>, Failure> {
    let wanted = call.fields.value("sort");
    check_sorts(wanted.as_array().map_or(0, Vec::len))?;
    let mut order: Vec<Sort> = Vec::new();
    for (at, one) in wanted.as_array().into_iter().flatten().enumerate() {
        let field = one.get("field").and_then(Value::as_str).unwrap_or_default();
        let name =
            spec.sort_names.iter().find(|(name, _)| *name == field).map_or(field, |(_, column)| column);
        let column = spec.entity.column(name);
        let column = column
            .ok_or_else(|| Failure::invalid(format!("sort[{at}].field: {field} is nothing to sort by")))?;
        let descending = one.get("order").and_then(Value::as_str) == Some("DESC");
        if order.iter().all(|sort| sort.column != column) {
            order.push(Sort { column, descending });
        }
    }
    Ok(order)
}

/// The page asked for.
pub(super) fn read(call: &Call<'_>, entity: &Entity, sort: &[Sort]) -> Result<Page, Failure> {
    let page = call.fields.value("page");
    let number = |name: &str| page.get(name).and_then(Value::as_u64);
    let limit = number("limit").map_or(PAGE_LIMIT_DEFAULT, |limit| u32::try_from(limit).unwrap_or(u32::MAX));
    let cursor = |name: &str| {
        page.get(name).and_then(Value::as_str).map(|cursor| {
            decode_cursor(entity, sort, cursor).ok_or_else(|| {
                Failure::invalid(format!("page.{name}: is no cursor of an earlier answer in this order"))
            })
        })
    };
    let position = match (cursor("after").transpose()?, cursor("before").transpose()?) {
        (Some(row), _) => Position::After(row),
        (None, Some(row)) => Position::Before(row),
        (None, None) => Position::Offset(number("from").unwrap_or(0)),
    };
    Ok(Page { position, limit: limit.min(PAGE_LIMIT_MAX) })
}

/// Writes `page`.
pub(super) fn write(entity: &Entity, sort: &[Sort], found: &Found, out: &mut Vec<u8>) {
    member("page", out);
    out.push(b'{');
    member("totalItems", out);
    write_integer(found.total, out);
    member("hasMoreTotalItems", out);
    write_flag(found.has_more, out);
    for (name, row) in [("startCursor", found.rows.first()), ("endCursor", found.rows.last())] {
        member(name, out);
        match row {
            Some(row) => write_text(&encode_cursor(entity, sort, row), out),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.push(b'}');
}
