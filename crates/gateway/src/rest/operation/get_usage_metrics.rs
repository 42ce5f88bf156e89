//! `GET /v2/system/usage-metrics`: of a time, in all and by tenant.

use std::collections::BTreeMap;

use protocol::Name;
use search::model::{ColumnId, Entity, usage_assignee as assignee, usage_metric as usage};
use search::{Aggregate, EntityRef, Filter, Statistics};
use search::{Operand, Test};

use super::Call;
use crate::rest::limits::GROUPS_MAX;
use crate::rest::operators;
use crate::rest::problem::Failure;
use crate::rest::query::statistics::{ask, number};
use crate::rest::reply::Reply;
use crate::rest::writer::object;

/// Usage of a tenant.
#[derive(Default, Clone, Copy, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Used {
    process_instances: i64,
    decision_instances: i64,
    assignees: i64,
}

pub(super) async fn handle(call: &Call<'_>) -> Result<Reply, Failure> {
    let time = |name: &'static str| {
        let text = call.query_parameter(name)?.unwrap_or_default();
        operators::time(name, &text)
    };
    let (from, to) = (time("startTime")?, time("endTime")?);
    let tenant = call.query_parameter("tenantId")?;
    let filter = |time: ColumnId, tenant_id: ColumnId| {
        let mut all = vec![
            Filter::Column(time, Test::GreaterOrEqual(Operand::Integer(from))),
            Filter::Column(time, Test::Less(Operand::Integer(to))),
        ];
        all.extend(
            tenant
                .as_deref()
                .map(|tenant| Filter::Column(tenant_id, Test::Equal(Operand::Text(Name::from(tenant))))),
        );
        Filter::All(all)
    };
    let groups = |entity: &'static Entity, filter, group_by, aggregates| {
        ask(call, Statistics { entity: EntityRef(entity), filter, group_by, aggregates, limit: GROUPS_MAX })
    };
    let sums = || vec![Aggregate::Sum(usage::PROCESS_INSTANCES), Aggregate::Sum(usage::DECISION_INSTANCES)];
    let assignees = || vec![Aggregate::Distinct(assignee::ASSIGNEE_HASH, Filter::everything())];
    let used =
        groups(&usage::ENTITY, filter(usage::TIME, usage::TENANT), vec![usage::TENANT], sums()).await?;
    let by_tenant = filter(assignee::TIME, assignee::TENANT);
    let assigned = groups(&assignee::ENTITY, by_tenant.clone(), vec![assignee::TENANT], assignees()).await?;
    // A user may have had tasks of several tenants.
    let everybody = groups(&assignee::ENTITY, by_tenant, Vec::new(), assignees()).await?;

    let mut tenants: BTreeMap<Name, Used> = BTreeMap::new();
    let mut total = Used { assignees: everybody.first().map_or(0, |row| number(row, 0)), ..Used::default() };
    for row in &used {
        let tenant = tenants.entry(row[0].text().cloned().unwrap_or_default()).or_default();
        (tenant.process_instances, tenant.decision_instances) = (number(row, 1), number(row, 2));
        total.process_instances += tenant.process_instances;
        total.decision_instances += tenant.decision_instances;
    }
    for row in &assigned {
        tenants.entry(row[0].text().cloned().unwrap_or_default()).or_default().assignees = number(row, 1);
    }
    let mut out = Vec::with_capacity(256);
    let is_by_tenant = call.query_parameter("withTenants")?.as_deref() == Some("true");
    let active = tenants.len();
    let shown = if is_by_tenant { tenants } else { BTreeMap::new() };
    object(&mut out)
        .with("processInstances", total.process_instances)
        .with("decisionInstances", total.decision_instances)
        .with("assignees", total.assignees)
        .with("activeTenants", active)
        .with("tenants", shown)
        .end();
    Ok(Reply::json(out))
}
