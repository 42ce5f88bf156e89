//! `POST /v2/user-tasks/{userTaskKey}/effective-variables/search`: of each name, the one that the task sees.

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::{VARIABLES, scopes, search_where};
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let scopes = scopes::of_user_task(call, call.key()?).await?;
    search_where(call, &VARIABLES, scopes::effective_variables_of(call, &scopes).await?).await
}
