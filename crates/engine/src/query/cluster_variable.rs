//! Variables of the cluster and of tenants.

use std::ops::Bound;
use std::sync::Arc;

use protocol::{ClusterVariableView, Name, QueryReply, Rejection};

use super::view::{ROWS_PER_SLICE, Read, ReadError, Scan, View};
use crate::definition::cluster_variables::place;

pub(super) fn read(view: &View<'_>, tenant_id: Option<&Name>, name: &Name) -> Result<QueryReply, ReadError> {
    let row = view.tables.cluster_variables.get(&place(tenant_id, name))?;
    let row =
        row.ok_or_else(|| Rejection::not_found(format!("Cluster variable with name '{name}' not found")))?;
    Ok(QueryReply::ClusterVariable(row.view(tenant_id.cloned(), name.clone())))
}

/// The context `camunda` of a tenant's expressions.
pub(super) fn context(view: &View<'_>, tenant_id: &Name) -> Result<QueryReply, ReadError> {
    Ok(QueryReply::ClusterContext(view.definitions.cluster_variables.get(view.tables, tenant_id)?))
}

/// All of them, in slices.
pub(super) fn read_all(limit: usize) -> Read {
    Read::More(Box::new(Variables { after: None, limit, found: Vec::new() }))
}

struct Variables {
    after: Option<(Arc<str>, Arc<str>)>,
    limit: usize,
    found: Vec<ClusterVariableView>,
}

impl Scan for Variables {
    fn slice(mut self: Box<Self>, view: &mut View<'_>) -> Result<Read, ReadError> {
        // One more tells that there are more.
        let room = (self.limit + 1 - self.found.len()).min(ROWS_PER_SLICE);
        let from = self.after.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let rows = view.tables.cluster_variables.scan((from, Bound::Unbounded), room)?;
        let is_last = rows.len() < room;
        for ((tenant, name), row) in rows {
            self.after = Some((tenant.clone(), name.clone()));
            self.found.push(row.view((!tenant.is_empty()).then_some(Name(tenant)), Name(name)));
        }
        if !is_last && self.found.len() <= self.limit {
            return Ok(Read::More(self));
        }
        let has_more = self.found.len() > self.limit;
        self.found.truncate(self.limit);
        Ok(Read::Done(QueryReply::ClusterVariables { variables: self.found, has_more }))
    }
}
