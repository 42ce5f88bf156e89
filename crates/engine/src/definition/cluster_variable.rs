//! Creates, changes and deletes variables of the cluster and of tenants.

use protocol::{
    ClusterVariable, ClusterVariableAction, ClusterVariableRecord, ClusterVariableView, Intent,
    LENIENT_VERSION, Name, Rejection, Response,
};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::definition::cluster_variables::place;
use crate::entity::ClusterVariableRow;

impl CommandContext<'_> {
    pub(super) fn change_cluster_variable(&mut self, change: &ClusterVariable) -> Result<Response, Failure> {
        let place = place(change.tenant_id.as_ref(), &change.name);
        let old = self.tables.cluster_variables.get(&place)?;
        let (key, value, intent) = match (change.action, old) {
            (ClusterVariableAction::Create, None) => {
                self.check_cluster_variable(change)?;
                (self.next_key(), change.value.clone(), Intent::Created)
            }
            (ClusterVariableAction::Create, Some(_)) => {
                let reason = format!("{}, but it exists already", wanted("create", change));
                return Err(Rejection::new(protocol::RejectionType::AlreadyExists, reason).into());
            }
            (ClusterVariableAction::Update, Some(old)) => {
                self.check_cluster_variable(change)?;
                (old.key, change.value.clone(), Intent::Updated)
            }
            (ClusterVariableAction::Delete, Some(old)) => (old.key, old.value.clone(), Intent::Deleted),
            (ClusterVariableAction::Update, None) => return Err(missing("update", change)),
            (ClusterVariableAction::Delete, None) => return Err(missing("delete", change)),
        };
        self.definitions.cluster_variables_changed();
        if change.action == ClusterVariableAction::Delete {
            self.tables.cluster_variables.delete(&place);
        } else {
            self.tables.cluster_variables.put(place, ClusterVariableRow { key, value: value.clone() });
        }
        let (tenant_id, name) = (change.tenant_id.clone(), change.name.clone());
        self.emit(key, intent, |_| ClusterVariableRecord {
            name: name.clone(),
            value: value.clone(),
            scope: Name::from(if tenant_id.is_some() { "TENANT" } else { "GLOBAL" }),
            tenant_id: tenant_id.clone().unwrap_or_default(),
        });
        Ok(Response::ClusterVariable(ClusterVariableView { tenant_id, name, value }))
    }

    /// A name, and a value of a size that expressions can read each time.
    fn check_cluster_variable(&self, change: &ClusterVariable) -> Result<(), Failure> {
        let limit = self.options.max_cluster_variable_name_chars;
        let is_strict = self.version < LENIENT_VERSION;
        let is_name = if is_strict { is_variable(&change.name) } else { !change.name.trim().is_empty() };
        if !is_name || change.name.chars().count() > limit {
            let wanted = if is_strict {
                "a letter or '_', then letters, digits or '_', at most"
            } else {
                "not blank, and at most"
            };
            let reason = format!(
                "Expected the name of a cluster variable to be {wanted} {limit} characters, but it was '{}'",
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
        Ok(())
    }
}

/// Whether expressions can say a name without backticks.
fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
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
