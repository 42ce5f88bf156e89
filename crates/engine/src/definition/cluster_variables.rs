//! Variables of the cluster and of tenants, as expressions see them: `camunda.vars.cluster` holds those of all,
//! `camunda.vars.tenant` those of the tenant, `camunda.vars.env` both, where the tenant's hide the others.
//!
//! A process variable `camunda` hides them all; an expression that does not say `camunda` never comes here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use protocol::{Document, Json, Name};
use state::StateError;

use crate::entity::tables::Tables;

/// The name under which expressions find them.
pub(crate) const ROOT: &str = "camunda";

/// Tenants whose variables are kept ready.
const CACHED_TENANTS: usize = 64;

/// The contexts of tenants. Derived from the tables, so it is no part of the state.
#[derive(Default)]
pub(crate) struct Contexts(RefCell<BTreeMap<Name, Json>>);

impl Contexts {
    /// Forgets all, because a variable changes or a change is undone.
    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// The context `camunda` of a tenant's expressions.
    pub fn get(&self, tables: &Tables, tenant_id: &Name) -> Result<Json, StateError> {
        let mut contexts = self.0.borrow_mut();
        if let Some(context) = contexts.get(tenant_id) {
            return Ok(context.clone());
        }
        let context = build(tables, tenant_id)?;
        if contexts.len() == CACHED_TENANTS {
            contexts.clear();
        }
        contexts.insert(tenant_id.clone(), context.clone());
        Ok(context)
    }
}

/// Where a variable stands in the table; a tenant of no name means all.
pub(crate) fn place(tenant_id: Option<&Name>, name: &Name) -> (Arc<str>, Arc<str>) {
    (tenant_id.map(|tenant_id| tenant_id.0.clone()).unwrap_or_default(), name.0.clone())
}

fn build(tables: &Tables, tenant_id: &Name) -> Result<Json, StateError> {
    let cluster = variables_of(tables, &Name::default())?;
    let tenant = variables_of(tables, tenant_id)?;
    let both = cluster.iter().chain(tenant.iter());
    let hidden: BTreeMap<&Name, &Json> = both.map(|(name, value)| (name, value)).collect();
    let env: Document = hidden.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let of = |name: &str, variables: &Document| (Name::from(name), Json::from_valid(variables.to_json()));
    let vars: Document =
        [of("env", &env), of("cluster", &cluster), of("tenant", &tenant)].into_iter().collect();
    let root: Document = [of("vars", &vars)].into_iter().collect();
    Ok(Json::from_valid(root.to_json()))
}

fn variables_of(tables: &Tables, tenant_id: &Name) -> Result<Document, StateError> {
    let mut rows = Vec::new();
    let start = (tenant_id.0.clone(), Arc::default());
    tables.cluster_variables.visit(start.., |(tenant, name), row| {
        if **tenant != **tenant_id {
            return ControlFlow::Break(());
        }
        rows.push((Name(name.clone()), row.value.clone()));
        ControlFlow::Continue(())
    })?;
    Ok(rows.into_iter().collect())
}
