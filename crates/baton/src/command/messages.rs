//! `baton messages` and `baton signals`.

use std::process::ExitCode;

use ::client::ApiCall;

use super::jobs::milliseconds;
use super::{call, input};
use crate::cli::{
    BroadcastArguments, CorrelateArguments, MessageArguments, Messages, MessagesAction, PublishArguments,
    Signals, SignalsAction,
};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Messages) -> Result<ExitCode, Failure> {
    match &arguments.action {
        MessagesAction::Publish(arguments) => publish(arguments).await,
        MessagesAction::Correlate(arguments) => correlate(arguments).await,
    }
}

pub(crate) async fn signals(arguments: &Signals) -> Result<ExitCode, Failure> {
    match &arguments.action {
        SignalsAction::Broadcast(arguments) => broadcast(arguments).await,
    }
}

/// The body of a message, with more behind it.
fn body(message: &MessageArguments, more: &[(&str, Option<String>)]) -> Result<String, Failure> {
    let own = [
        ("name", Some(call::quoted(&message.name))),
        ("correlationKey", Some(call::quoted(&message.correlation_key))),
        ("variables", input::variables(message.variables.as_deref())?),
        ("tenantId", message.tenant.as_deref().map(call::quoted)),
    ];
    Ok(call::object(&[&own, more].concat()))
}

async fn publish(arguments: &PublishArguments) -> Result<ExitCode, Failure> {
    let more = [
        ("timeToLive", Some(milliseconds(arguments.ttl).to_string())),
        ("messageId", arguments.id.as_deref().map(call::quoted)),
    ];
    let body = body(&arguments.message, &more)?;
    let action = format!("publish message '{}'", arguments.message.name);
    let client = arguments.to.connect()?;
    let answer = call::text(&client, &ApiCall::post("/messages/publication", &body), action).await?;
    if arguments.to.json {
        output::json(&answer)?;
    } else {
        let key = &call::read(&answer)?["messageKey"];
        let key = key.as_str().unwrap_or_default();
        output::line(format_args!("published message {key} '{}'", arguments.message.name))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn correlate(arguments: &CorrelateArguments) -> Result<ExitCode, Failure> {
    let body = body(&arguments.message, &[])?;
    let name = &arguments.message.name;
    let client = arguments.to.connect()?;
    let answer = client.call(&ApiCall::post("/messages/correlation", &body)).await.map_err(|error| {
        let failure = Failure::request(format!("correlate message '{name}'"), &error);
        if error.is_not_found() {
            failure.hint(format!(
                "`baton search subscriptions` shows what is waited for; `baton messages publish {name}` keeps the message \
                 until somebody waits for it"
            ))
        } else {
            failure
        }
    })?;
    if arguments.to.json {
        output::json(&answer)?;
    } else {
        let key = &call::read(&answer)?["processInstanceKey"];
        let key = key.as_str().unwrap_or_default();
        output::line(format_args!("correlated message '{name}' with instance {key}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn broadcast(arguments: &BroadcastArguments) -> Result<ExitCode, Failure> {
    let body = call::object(&[
        ("signalName", Some(call::quoted(&arguments.name))),
        ("variables", input::variables(arguments.variables.as_deref())?),
        ("tenantId", arguments.tenant.as_deref().map(call::quoted)),
    ]);
    let action = format!("broadcast signal '{}'", arguments.name);
    let client = arguments.to.connect()?;
    let answer = call::text(&client, &ApiCall::post("/signals/broadcast", &body), action).await?;
    if arguments.to.json {
        output::json(&answer)?;
    } else {
        let key = &call::read(&answer)?["signalKey"];
        let key = key.as_str().unwrap_or_default();
        output::line(format_args!("broadcast signal {key} '{}'", arguments.name))?;
    }
    Ok(ExitCode::SUCCESS)
}
