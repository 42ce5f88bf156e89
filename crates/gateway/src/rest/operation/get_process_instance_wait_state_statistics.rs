//! `GET /v2/process-instances/{processInstanceKey}/statistics/wait-states`: of each element, how many of its instances
//! wait for something.

use search::model::wait_state as wait;
use search::{Aggregate, EntityRef, Filter, Operand, Row, Statistics, Test};

use super::Call;
use crate::rest::limits::GROUPS_MAX;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::{ask, number};
use crate::rest::reply::Reply;
use crate::rest::writer::object;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = Operand::Integer(call.key()?.cast_signed());
    let asked = Statistics {
        entity: EntityRef(&wait::ENTITY),
        filter: Filter::Column(wait::INSTANCE_KEY, Test::Equal(key)),
        group_by: vec![wait::ELEMENT_ID],
        aggregates: vec![Aggregate::Distinct(wait::ELEMENT_KEY, Filter::everything())],
        limit: GROUPS_MAX,
    };
    let rows = ask(call, asked).await?;
    let mut out = Vec::with_capacity(64 + rows.len() * 64);
    object(&mut out)
        .list("items", &rows, |row: &Row, out| {
            let element_id = row[0].text().cloned().unwrap_or_default();
            object(out).with("elementId", element_id).with("waitingCount", number(row, 1)).end();
        })
        .end();
    Ok(Reply::json(out))
}
