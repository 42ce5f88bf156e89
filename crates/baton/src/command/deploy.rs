//! `baton deploy`.

use std::process::ExitCode;

use ::client::Resource;
use serde_json::json;

use crate::cli::Deploy;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(arguments: &Deploy) -> Result<ExitCode, Failure> {
    let mut files = Vec::with_capacity(arguments.files.len());
    for path in &arguments.files {
        let content = std::fs::read(path)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        files.push((name, content));
    }
    let resources: Vec<_> = files.iter().map(|(name, content)| Resource { name, content }).collect();
    let names = files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let client = arguments.target.connect()?;
    let deployment = client
        .deploy(&resources, arguments.tenant.as_deref())
        .await
        .map_err(|error| Failure::request(format!("deploy {names}"), &error))?;
    if arguments.json {
        let deployed: Vec<_> = deployment
            .deployed
            .iter()
            .map(|d| {
                json!({ "kind": d.kind, "id": d.id, "version": d.version, "key": d.key.to_string(), "resourceName": d.resource_name })
            })
            .collect();
        let body = json!({
            "deploymentKey": deployment.key.to_string(), "tenantId": deployment.tenant_id, "deployed": deployed,
        });
        output::line(format_args!("{body:#}"))?;
    } else {
        output::line(format_args!("deployment {}", deployment.key))?;
        for d in &deployment.deployed {
            output::line(format_args!("  {} {} version {}, key {}", d.kind, d.id, d.version, d.key))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
