//! Cluster variables in scripts: commands, and lines of transcripts.

use std::fmt::Write as _;

use protocol::{
    ClusterVariable, ClusterVariableAction, ClusterVariableKind, ClusterVariableRecord, Command, Document,
    Json, Name,
};

use super::check::Line;

/// A change of a variable.
pub(super) fn change(line: &Line) -> Command {
    Command::ClusterVariable(ClusterVariable {
        action: match line.word(1) {
            "create" => ClusterVariableAction::Create,
            "update" => ClusterVariableAction::Update,
            _ => ClusterVariableAction::Delete,
        },
        tenant_id: line.option("tenant").map(Name::from),
        name: Name::from(line.word(2)),
        value: Json::from_valid(line.variables().to_json()),
        metadata: line.option("metadata").map(metadata),
        kind: line.option("kind").and_then(ClusterVariableKind::of_name),
    })
}

/// Entries like `name:text,other:1`.
fn metadata(text: &str) -> Document {
    let entries = text.split(',').filter_map(|entry| entry.split_once(':'));
    let json = |text: &str| match text.parse::<f64>() {
        Ok(_) => Json::from_valid(text.to_owned()),
        Err(_) => Json::string(text),
    };
    entries.map(|(name, value)| (Name::from(name), json(value))).collect()
}

/// A line of a transcript.
pub(super) fn line(variable: &ClusterVariableRecord, intent: &str) -> String {
    let owner = if variable.tenant_id.is_empty() { "all" } else { variable.tenant_id.as_str() };
    let mut text = format!("{} of {owner} = {} {intent}", variable.name, variable.value.as_str());
    if !variable.metadata.is_empty() || &*variable.kind != "JSON" {
        let _ = write!(text, ", {} with {}", variable.kind, variable.metadata.to_json());
    }
    text
}
