//! `baton deploy`.

use std::path::Path;
use std::process::ExitCode;

use ::client::{Client, Deployment, Resource};
use serde_json::{Value, json};

use crate::cli::Deploy;
use crate::failure::Failure;
use crate::output;

/// Endings of files that the engine reads; all others are generic resources, which it keeps only. An XML file without
/// the sign of BPMN is one, too.
const READ: [&str; 5] = ["bpmn", "xml", "dmn", "form", "rpa"];
/// Signs of models, in files with another ending; each with the ending that they should have.
const SIGNS: [(&str, &str); 3] = [
    ("http://www.omg.org/spec/BPMN/", "bpmn"),
    ("https://www.omg.org/spec/DMN/", "dmn"),
    ("http://www.omg.org/spec/DMN/", "dmn"),
];
/// Endings are alike from here on, from 0 to 1.
const LIKENESS_MIN: f64 = 0.85;

pub(crate) async fn run(arguments: &Deploy) -> Result<ExitCode, Failure> {
    let mut files = Vec::with_capacity(arguments.files.len());
    for path in &arguments.files {
        let content = std::fs::read(path)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        files.push((name, content));
    }
    let mut generic = files.iter().filter_map(|(name, content)| generic(name, content));
    if arguments.strict
        && let Some(warning) = generic.next()
    {
        return Err(Failure::usage(warning).hint("rename it, or deploy it without --strict"));
    }
    for warning in generic {
        output::note(format_args!("warning: {warning}"));
    }
    let resources: Vec<_> = files.iter().map(|(name, content)| Resource { name, content }).collect();
    let names = files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let tenant = arguments.tenant.as_deref();
    let client = arguments.target.connect()?;
    let failed = |error: ::client::Error| Failure::request(format!("deploy {names}"), &error);
    if let (Client::Rest(client), true) = (&client, arguments.json) {
        output::json(&client.deploy_for_answer(&resources, tenant).await.map_err(failed)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let deployment = client.deploy(&resources, tenant).await.map_err(failed)?;
    if arguments.json {
        output::line(format_args!("{:#}", as_json(&deployment)))?;
    } else {
        output::line(format_args!("deployment {}", deployment.key))?;
        for d in &deployment.deployed {
            output::line(format_args!("  {} {} version {}, key {}", d.kind, d.id, d.version, d.key))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says that the engine would not read a file, and why it might be meant to.
fn generic(name: &str, content: &[u8]) -> Option<String> {
    let ending = Path::new(name).extension().map(|ending| ending.to_string_lossy()).unwrap_or_default();
    let text = String::from_utf8_lossy(content);
    let lower = ending.to_lowercase();
    let is_read = READ.contains(&lower.as_str());
    if is_read && (lower != "xml" || ::bpmn::is_model(content)) {
        return None;
    }
    let sign = SIGNS.iter().find(|(sign, _)| text.contains(sign)).map(|(_, ending)| *ending);
    let is_alike = |read: &&str| {
        // A name that lost its end, such as order.bpm.
        (lower.len() > 1 && read.starts_with(&lower)) || strsim::jaro_winkler(&lower, read) >= LIKENESS_MIN
    };
    let alike = READ.iter().copied().filter(|_| !is_read).find(is_alike);
    let meant = match (sign, alike) {
        (Some(ending), _) => {
            format!("; its content is a model: a name that ends with .{ending} makes it one")
        }
        (None, Some(ending)) => format!("; a name that ends with .{ending} makes it more"),
        (None, None) => String::new(),
    };
    Some(format!("{name} is a generic resource, which is kept and never run{meant}"))
}

/// An answer over gRPC as the REST API gives it, as far as it is known.
fn as_json(deployment: &Deployment) -> Value {
    let deployments = deployment.deployed.iter().map(|d| {
        let key = d.key.to_string();
        let of = |part: &str, fields: Value| json!({ part: fields });
        match d.kind {
            "process" => of(
                "processDefinition",
                json!({
                    "processDefinitionId": d.id, "processDefinitionVersion": d.version,
                    "processDefinitionKey": key, "resourceName": d.resource_name,
                }),
            ),
            "decision" => of(
                "decisionDefinition",
                json!({ "decisionDefinitionId": d.id, "version": d.version, "decisionDefinitionKey": key }),
            ),
            "decision requirements" => of(
                "decisionRequirements",
                json!({
                    "decisionRequirementsId": d.id, "version": d.version, "decisionRequirementsKey": key,
                    "resourceName": d.resource_name,
                }),
            ),
            "form" => of(
                "form",
                json!({ "formId": d.id, "version": d.version, "formKey": key, "resourceName": d.resource_name }),
            ),
            _ => of(
                "resource",
                json!({
                    "resourceId": d.id, "version": d.version, "resourceKey": key, "resourceName": d.resource_name,
                }),
            ),
        }
    });
    json!({
        "deploymentKey": deployment.key.to_string(), "tenantId": deployment.tenant_id,
        "deployments": deployments.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_nothing_runs_are_told() {
        let model = b"<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"";
        for read in ["order.bpmn", "order.xml", "a.b.dmn", "ask.form", "ORDER.BPMN", "Order.Xml"] {
            assert_eq!(generic(read, model), None, "{read}");
        }
        let said = |name: &str, content: &[u8]| generic(name, content).unwrap();
        assert!(said("order.bpm", model).ends_with("a name that ends with .bpmn makes it one"));
        assert!(said("order", model).ends_with(".bpmn makes it one"), "the content tells");
        assert!(said("order.bpm", b"").ends_with(".bpmn makes it more"));
        assert!(said("ask.from", b"").ends_with(".form makes it more"));
        assert_eq!(
            said("notes.xml", b"<notes/>"),
            "notes.xml is a generic resource, which is kept and never run"
        );
        assert_eq!(said("notes.txt", b"x"), "notes.txt is a generic resource, which is kept and never run");
    }
}
