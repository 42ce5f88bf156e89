//! `baton tasks`.

use std::process::ExitCode;

use ::client::ApiCall;
use serde_json::{Value, json};

use super::done::Done;
use super::kind::Kind;
use super::{call, input, search};
use crate::cli::{AssignArguments, CompleteTaskArguments, TaskListArguments, Tasks, TasksAction};
use crate::failure::Failure;

pub(crate) async fn run(arguments: &Tasks) -> Result<ExitCode, Failure> {
    match &arguments.action {
        TasksAction::List(arguments) => list(arguments).await,
        TasksAction::Assign(arguments) => assign(arguments).await,
        TasksAction::Complete(arguments) => complete(arguments).await,
    }
}

async fn list(arguments: &TaskListArguments) -> Result<ExitCode, Failure> {
    let mut filter = json!({});
    let instance = arguments.instance.map(|key| key.to_string());
    let state = Some(&arguments.state).filter(|state| !state.eq_ignore_ascii_case("all"));
    for (property, value) in [
        ("assignee", arguments.assignee.as_ref()),
        ("candidateUser", arguments.candidate_user.as_ref()),
        ("candidateGroup", arguments.candidate_group.as_ref()),
        ("processDefinitionId", arguments.process.as_ref()),
        ("processInstanceKey", instance.as_ref()),
        ("state", state),
    ] {
        if let Some(value) = value {
            filter[property] = Value::from(value.as_str());
        }
    }
    if arguments.unassigned {
        filter["assignee"] = json!({ "$exists": false });
    }
    let sort = json!([{ "field": "creationDate", "order": "DESC" }]);
    let request = json!({ "filter": filter, "sort": sort, "page": { "limit": arguments.limit } });
    let client = arguments.to.connect()?;
    search::print(Kind::Tasks, &client, &request, arguments.to.json).await
}

async fn assign(arguments: &AssignArguments) -> Result<ExitCode, Failure> {
    let client = arguments.to.connect()?;
    let key = arguments.key;
    let (word, verb, path, body) = match &arguments.assignee {
        None => ("unassigned", "unassign", format!("/user-tasks/{key}/assignee"), None),
        Some(assignee) => {
            let body = json!({ "assignee": assignee, "allowOverride": !arguments.no_override });
            ("assigned", "assign", format!("/user-tasks/{key}/assignment"), Some(body.to_string()))
        }
    };
    let call = body.as_deref().map_or_else(|| ApiCall::delete(&path), |body| ApiCall::post(&path, body));
    let outcome = call::text(&client, &call, format_args!("{verb} user task {key}")).await;
    let mut done = Done::new(word, arguments.to.json);
    done.add(key, outcome.map(drop));
    done.finish()
}

async fn complete(arguments: &CompleteTaskArguments) -> Result<ExitCode, Failure> {
    let variables = input::variables(arguments.variables.as_deref())?;
    let body = call::object(&[("variables", variables)]);
    let client = arguments.to.connect()?;
    let complete = async |key| {
        let path = format!("/user-tasks/{key}/completion");
        let call = ApiCall::post(&path, &body);
        call::text(&client, &call, format_args!("complete user task {key}")).await.map(drop)
    };
    Done::new("completed", arguments.to.json).each(&arguments.keys, complete).await
}
