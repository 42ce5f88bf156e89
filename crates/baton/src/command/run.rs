//! `baton run`.

use std::process::ExitCode;

use ::client::{ApiCall, Client, CreateInstance, Definition, ProcessInstance, RestClient};

use super::{call, definition, input};
use crate::cli::Run;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let variables = input::variables(arguments.variables.as_deref())?;
    let process = &arguments.process;
    let definition = if definition::is_key(process) {
        if arguments.version.is_some() {
            return Err(Failure::usage(format!("--version: {process} is a key, which has one version")));
        }
        let key = process.parse();
        Definition::Key(key.map_err(|_| Failure::usage(format!("'{process}' is too long for a key")))?)
    } else {
        Definition::Id { id: process, version: arguments.version }
    };
    let command = CreateInstance {
        definition,
        variables: variables.as_deref(),
        tenant_id: arguments.tenant.as_deref(),
        ..CreateInstance::latest(process)
    };
    let client = arguments.target.connect()?;
    let failed = |error: ::client::Error| failed(arguments, &error);
    if let (Client::Rest(client), true) = (&client, arguments.json) {
        let body = RestClient::creation(&command, arguments.wait.then_some(arguments.timeout));
        let call = ApiCall::post("/process-instances", &body);
        let call = if arguments.wait { call.waiting(arguments.timeout) } else { call };
        output::json(&client.call(&call).await.map_err(failed)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (instance, result) = if arguments.wait {
        let ended = client.create_instance_with_result(&command, &[], arguments.timeout).await;
        let ended = ended.map_err(failed)?;
        (ended.instance, Some(ended.variables))
    } else {
        (client.create_instance(&command).await.map_err(failed)?, None)
    };
    if arguments.json {
        output::json(&as_json(&instance, result))?;
    } else {
        output::line(format_args!(
            "instance {} of {} version {}",
            instance.key, instance.process_definition_id, instance.version
        ))?;
        if let Some(variables) = result {
            output::line(variables)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says which of the time-outs has ended the wait.
fn failed(arguments: &Run, error: &::client::Error) -> Failure {
    let Run { process, timeout, .. } = arguments;
    if arguments.wait && error.is_deadline_exceeded() {
        return Failure::new(format!(
            "the instance of '{process}' has not ended within --timeout ({timeout:?})"
        ))
        .hint("it goes on: `baton search instances` finds it, `baton watch KEY` waits for its end");
    }
    let failure = Failure::request(format!("run process '{process}'"), error);
    if let (::client::Error::Timeout { after, .. }, true) = (error, arguments.wait) {
        let request = after.saturating_sub(*timeout);
        return failure.hint(format!(
            "the server did not answer within --timeout ({timeout:?}) and --request-timeout ({request:?}) together; \
             whether an instance runs is not known"
        ));
    }
    if error.is_not_found() {
        return failure.hint("deploy it first: `baton deploy FILE`");
    }
    failure
}

/// An answer over gRPC as the REST API gives it.
fn as_json(instance: &ProcessInstance, variables: Option<String>) -> String {
    call::object(&[
        ("processDefinitionId", Some(call::quoted(&instance.process_definition_id))),
        ("processDefinitionVersion", Some(instance.version.to_string())),
        ("tenantId", Some(call::quoted(&instance.tenant_id))),
        ("variables", variables),
        ("processDefinitionKey", Some(call::quoted(&instance.process_definition_key.to_string()))),
        ("processInstanceKey", Some(call::quoted(&instance.key.to_string()))),
    ])
}
