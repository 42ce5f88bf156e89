//! `GET /v2/process-instances/{processInstanceKey}/statistics/element-instances`

use search::Filter;
use search::model::element_instance as element;
use search::{Operand, Test};

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::{self, Counted};
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let key = Operand::Integer(call.key()?.cast_signed());
    statistics::of_elements(call, Filter::Column(element::INSTANCE_KEY, Test::Equal(key)), Counted::Elements)
        .await
}
