//! `POST /v2/process-definitions/{processDefinitionKey}/variable-names/search`: names of the variables that instances
//! of the definition have or had, each once.

use search::model::variable;
use search::{Aggregate, EntityRef, Filter, Operand, Row, Statistics, Test};

use super::Call;
use crate::rest::limits::GROUPS_MAX;
use crate::rest::problem::Failure;
use crate::rest::query::statistics;
use crate::rest::reply::Reply;
use crate::rest::search::Search;
use crate::rest::writer::object;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let search = Search::read(&call.fields)?;
    let key = Operand::Integer(call.key()?.cast_signed());
    let of_definition = Filter::Column(variable::DEFINITION_KEY, Test::Equal(key));
    let asked = Statistics {
        entity: EntityRef(&variable::ENTITY),
        filter: of_definition.and(statistics::filter_of(call, &variable::ENTITY)?),
        group_by: vec![variable::NAME],
        aggregates: vec![Aggregate::Count(Filter::everything())],
        // One more tells that there are more.
        limit: GROUPS_MAX + 1,
    };
    let mut names = statistics::ask(call, asked).await?;
    let has_more = names.len() > GROUPS_MAX as usize;
    names.truncate(GROUPS_MAX as usize);
    let name = |row: &Row| row[0].text().cloned().unwrap_or_default();
    // The order has no properties, and the store has looked at the filter.
    let answer =
        search.page(names, has_more, |_, _| None, |row, out| object(out).with("name", name(row)).end());
    Ok(Reply::json(answer))
}
