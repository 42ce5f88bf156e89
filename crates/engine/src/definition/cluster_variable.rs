//! Creates, changes and deletes variables of the cluster and of tenants.

use protocol::{
    ClusterVariable, ClusterVariableAction, ClusterVariableRecord, Document, Intent, Json, Name, Rejection,
    Response, is_kept_in_paths,
};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::definition::cluster_variables::place;
use crate::entity::ClusterVariableRow;

/// Entries of the metadata of a variable.
const METADATA_ENTRIES_MAX: usize = 100;
/// Characters of a name in it.
const METADATA_NAME_CHARS_MAX: usize = 256;
/// Characters of a value in it, as JSON.
const METADATA_VALUE_CHARS_MAX: usize = 8192;
/// Bytes of all of it, as JSON: searches read that of ten thousand variables.
const METADATA_BYTES_MAX: usize = 64 * 1024;

impl CommandContext<'_> {
    pub(super) fn change_cluster_variable(&mut self, change: &ClusterVariable) -> Result<Response, Failure> {
        let place = place(change.tenant_id.as_ref(), &change.name);
        let old = self.tables.cluster_variables.get(&place)?;
        let changed = |key, kind| {
            let metadata = change.metadata.clone().filter(|metadata| !metadata.is_empty());
            ClusterVariableRow { key, value: change.value.clone(), metadata, kind }
        };
        let (row, intent) = match (change.action, old) {
            (ClusterVariableAction::Create, None) => {
                if !is_kept_in_paths(&change.name) {
                    let name = self.options.cut_message(&change.name);
                    let reason = format!(
                        "Expected the name of a cluster variable to have no part '.' or '..', but it was '{name}'"
                    );
                    return Err(Rejection::invalid_argument(reason).into());
                }
                self.check_cluster_variable(change)?;
                (changed(self.next_key(), change.kind), Intent::Created)
            }
            (ClusterVariableAction::Create, Some(_)) => {
                let reason = format!("{}, but it exists already", wanted("create", change));
                return Err(Rejection::new(protocol::RejectionType::AlreadyExists, reason).into());
            }
            (ClusterVariableAction::Update, Some(old)) => {
                self.check_cluster_variable(change)?;
                (changed(old.key, old.kind), Intent::Updated)
            }
            (ClusterVariableAction::Delete, Some(old)) => ((*old).clone(), Intent::Deleted),
            (ClusterVariableAction::Update, None) => return Err(missing("update", change)),
            (ClusterVariableAction::Delete, None) => return Err(missing("delete", change)),
        };
        self.definitions.cluster_variables_changed();
        if change.action == ClusterVariableAction::Delete {
            self.tables.cluster_variables.delete(&place);
        } else {
            self.tables.cluster_variables.put(place, row.clone());
        }
        let (tenant_id, name) = (change.tenant_id.clone(), change.name.clone());
        self.emit(row.key, intent, |_| ClusterVariableRecord {
            name: name.clone(),
            value: row.value.clone(),
            scope: Name::from(if tenant_id.is_some() { "TENANT" } else { "GLOBAL" }),
            tenant_id: tenant_id.clone().unwrap_or_default(),
            metadata: row.metadata.clone().unwrap_or_default(),
            kind: Name::from(row.kind.unwrap_or_default().as_str()),
        });
        Ok(Response::ClusterVariable(row.view(tenant_id, name)))
    }

    /// A name, and a value of a size that expressions can read each time.
    fn check_cluster_variable(&self, change: &ClusterVariable) -> Result<(), Failure> {
        let limit = self.options.max_cluster_variable_name_chars;
        if change.name.trim().is_empty() || change.name.chars().count() > limit {
            let reason = format!(
                "Expected the name of a cluster variable to be not blank, and at most {limit} characters, but it was \
                 '{}'",
                self.options.cut_message(&change.name)
            );
            return Err(Rejection::invalid_argument(reason).into());
        }
        let (bytes, limit) = (change.value.as_bytes().len(), self.options.max_cluster_variable_bytes);
        if bytes > limit {
            let reason = format!(
                "Expected the value of cluster variable '{}' to have at most {limit} bytes, but it has {bytes}",
                change.name
            );
            return Err(Rejection::invalid_argument(reason).into());
        }
        let fault = change.metadata.as_ref().and_then(metadata_fault);
        fault.map_or(Ok(()), |fault| {
            let reason = format!("Expected the metadata of cluster variable '{}' {fault}", change.name);
            Err(Rejection::invalid_argument(self.options.cut_message(&reason).to_string()).into())
        })
    }
}

/// The first reason why entries are no metadata.
fn metadata_fault(metadata: &Document) -> Option<String> {
    let entries = metadata.len();
    if entries > METADATA_ENTRIES_MAX {
        return Some(format!("to have at most {METADATA_ENTRIES_MAX} entries, but it has {entries}"));
    }
    if metadata.json_len() > METADATA_BYTES_MAX {
        return Some(format!(
            "to have at most {METADATA_BYTES_MAX} bytes, but it has {}",
            metadata.json_len()
        ));
    }
    metadata.iter().find_map(|(name, value)| entry_fault(name, value))
}

fn entry_fault(name: &Name, value: &Json) -> Option<String> {
    if name.is_empty() || name.chars().count() > METADATA_NAME_CHARS_MAX {
        return Some(format!(
            "to have names of 1 to {METADATA_NAME_CHARS_MAX} characters, but one is '{name}'"
        ));
    }
    let text = value.as_str();
    if !text.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit()) {
        return Some(format!("to be texts and numbers, but '{name}' is neither"));
    }
    (text.chars().count() > METADATA_VALUE_CHARS_MAX).then(|| {
        format!("to have values of at most {METADATA_VALUE_CHARS_MAX} characters, but '{name}' is longer")
    })
}

fn wanted(what: &str, change: &ClusterVariable) -> String {
    match &change.tenant_id {
        None => format!("Expected to {what} cluster variable '{}' in global scope", change.name),
        Some(tenant) => {
            format!("Expected to {what} cluster variable '{}' in the scope of tenant '{tenant}'", change.name)
        }
    }
}

fn missing(what: &str, change: &ClusterVariable) -> Failure {
    Rejection::not_found(format!("{}, but there is none", wanted(what, change))).into()
}
