//! `POST /v2/process-definitions/{processDefinitionKey}/statistics/element-instances`

use protocol::{Operand, Test};
use secondary::Filter;
use secondary::model::element_instance as element;

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::statistics;
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = Operand::Integer(call.key()?.cast_signed());
    let filter = Filter::Column(element::DEFINITION_KEY, Test::Equal(key));
    statistics::of_elements(call, Filter::All(vec![filter, statistics::of_filtered_instances(call)?])).await
}
