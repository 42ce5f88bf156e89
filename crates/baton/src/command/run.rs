//! `baton run`.

use std::io::Read;
use std::process::ExitCode;

use ::client::{CreateInstance, Definition, ProcessInstance};
use serde_json::{Map, Value, json};

use crate::cli::Run;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let variables = arguments.variables.as_deref().map(variables).transpose()?;
    let definition = Definition::Id { id: &arguments.process_id, version: arguments.version };
    let command = CreateInstance {
        definition,
        variables: variables.as_deref(),
        tenant_id: arguments.tenant.as_deref(),
        ..CreateInstance::latest(&arguments.process_id)
    };
    let client = arguments.target.connect()?;
    let failed = |error: ::client::Error| {
        let failure = Failure::request(format!("run process '{}'", arguments.process_id), &error);
        if error.is_not_found() { failure.hint("deploy it first: `baton deploy FILE`") } else { failure }
    };
    let (instance, result) = if arguments.wait {
        let ended =
            client.create_instance_with_result(&command, &[], arguments.timeout).await.map_err(failed)?;
        (ended.instance, Some(ended.variables))
    } else {
        (client.create_instance(&command).await.map_err(failed)?, None)
    };
    if arguments.json {
        output::line(format_args!("{:#}", as_json(&instance, result.as_deref())?))?;
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

fn as_json(instance: &ProcessInstance, variables: Option<&str>) -> Result<Value, Failure> {
    let mut body = json!({
        "processInstanceKey": instance.key.to_string(),
        "processDefinitionId": instance.process_definition_id,
        "processDefinitionKey": instance.process_definition_key.to_string(),
        "processDefinitionVersion": instance.version,
        "tenantId": instance.tenant_id,
    });
    if let Some(variables) = variables {
        body["variables"] = serde_json::from_str(variables)
            .map_err(|error| Failure::new(format!("the result is not JSON: {error}")))?;
    }
    Ok(body)
}

/// The text of the variables, checked here so that the place of a mistake can be told.
fn variables(argument: &str) -> Result<String, Failure> {
    let (place, text) = match argument.strip_prefix('@') {
        None => ("--variables", argument.to_owned()),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::usage(format!("cannot read the standard input: {error}")))?;
            ("the standard input", text)
        }
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Failure::usage(format!("cannot read {path}: {error}")))?;
            (path, text)
        }
    };
    serde_json::from_str::<Map<String, Value>>(&text)
        .map_err(|error| Failure::usage(format!("{place} is not a JSON object: {error}")))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_an_object_from_anywhere() {
        assert_eq!(variables("{\"a\": 1}").unwrap(), "{\"a\": 1}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{\"b\": 2}").unwrap();
        assert_eq!(variables(&format!("@{}", file.path().display())).unwrap(), "{\"b\": 2}");
        for wrong in ["[1]", "{", "@/nowhere"] {
            assert!(variables(wrong).is_err(), "{wrong}");
        }
    }
}
