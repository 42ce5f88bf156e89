//! `POST /v2/process-definitions/{processDefinitionKey}/statistics/element-instances`

use search::Filter;
use search::model::element_instance as element;
use search::{Operand, Test};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::{self, Counted};
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = Operand::Integer(call.key()?.cast_signed());
    let filter = statistics::of_filtered_instances(call, &key)?;
    if filter == Filter::everything() {
        return statistics::of_elements_of_definition(call, key).await;
    }
    let of_definition = Filter::Column(element::DEFINITION_KEY, Test::Equal(key));
    statistics::of_elements(call, of_definition.and(filter), Counted::Instances).await
}
