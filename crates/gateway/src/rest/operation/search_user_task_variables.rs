//! `POST /v2/user-tasks/{userTaskKey}/variables/search`: of all scopes that the task sees.

use super::Call;
use crate::rest::problem::Failure;
use crate::rest::query::{VARIABLES, scopes, search_where};
use crate::rest::reply::Reply;

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let scopes = scopes::of_user_task(call, call.key()?).await?;
    search_where(call, &VARIABLES, scopes::variables_of(&scopes)).await
}
