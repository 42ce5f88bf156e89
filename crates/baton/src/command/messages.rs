//! `baton messages` and `baton signals`.

use std::process::ExitCode;

use ::client::ApiCall;

use super::jobs::milliseconds;
use super::{call, input};
use crate::cli::{
    BroadcastArguments, CorrelateArguments, EventContent, MessageArguments, Messages, MessagesAction,
    PublishArguments, RestCommand, Signals, SignalsAction,
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

/// The body of a message or a signal, as its own properties and its content say.
fn body(own: &[(&str, Option<String>)], content: &EventContent) -> Result<String, Failure> {
    let content = [
        ("variables", input::variables(content.variables.as_deref())?),
        ("tenantId", content.tenant.as_deref().map(call::quoted)),
    ];
    Ok(call::object(&[own, &content].concat()))
}

fn message_body(message: &MessageArguments, more: &[(&str, Option<String>)]) -> Result<String, Failure> {
    let own = [
        ("name", Some(call::quoted(&message.name))),
        ("correlationKey", Some(call::quoted(&message.correlation_key))),
    ];
    body(&[&own, more].concat(), &message.content)
}

/// Prints an answer, or the line for a key in it.
fn tell(
    to: &RestCommand,
    answer: &str,
    key: &str,
    line: impl FnOnce(&str) -> String,
) -> Result<ExitCode, Failure> {
    if to.json {
        output::json(answer)?;
    } else {
        output::line(line(call::read(answer)?[key].as_str().unwrap_or_default()))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn publish(arguments: &PublishArguments) -> Result<ExitCode, Failure> {
    let more = [
        ("timeToLive", Some(milliseconds(arguments.ttl).to_string())),
        ("messageId", arguments.id.as_deref().map(call::quoted)),
    ];
    let body = message_body(&arguments.message, &more)?;
    let name = &arguments.message.name;
    let action = format!("publish message '{name}'");
    let client = arguments.to.connect()?;
    let answer = call::text(&client, &ApiCall::post("/messages/publication", &body), action).await?;
    tell(&arguments.to, &answer, "messageKey", |key| format!("published message {key} '{name}'"))
}

async fn correlate(arguments: &CorrelateArguments) -> Result<ExitCode, Failure> {
    let body = message_body(&arguments.message, &[])?;
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
    let line = |key: &str| format!("correlated message '{name}' with instance {key}");
    tell(&arguments.to, &answer, "processInstanceKey", line)
}

async fn broadcast(arguments: &BroadcastArguments) -> Result<ExitCode, Failure> {
    let name = &arguments.name;
    let body = body(&[("signalName", Some(call::quoted(name)))], &arguments.content)?;
    let action = format!("broadcast signal '{name}'");
    let client = arguments.to.connect()?;
    let answer = call::text(&client, &ApiCall::post("/signals/broadcast", &body), action).await?;
    tell(&arguments.to, &answer, "signalKey", |key| format!("broadcast signal {key} '{name}'"))
}
