//! Variables of the cluster and of tenants.

use protocol::{ClusterVariableView, Name, QueryReply, Rejection};

use super::{ReadError, View};
use crate::cluster_variables::place;

pub(super) fn read(view: &View<'_>, tenant_id: Option<&Name>, name: &Name) -> Result<QueryReply, ReadError> {
    let row = view.tables.cluster_variables.get(&place(tenant_id, name))?;
    let row =
        row.ok_or_else(|| Rejection::not_found(format!("Cluster variable with name '{name}' not found")))?;
    Ok(QueryReply::ClusterVariable(ClusterVariableView {
        tenant_id: tenant_id.cloned(),
        name: name.clone(),
        value: row.value.clone(),
    }))
}

/// What expressions of a tenant find in `camunda`.
pub(super) fn context(view: &View<'_>, tenant_id: &Name) -> Result<QueryReply, ReadError> {
    Ok(QueryReply::ClusterContext(view.definitions.cluster_variables.get(view.tables, tenant_id)?))
}
