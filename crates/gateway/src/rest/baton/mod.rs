//! Operations of our own, below `/baton/v1`. They are in the contract like all others (`api/baton.json`), one file for
//! each area; `docs/baton-v1.md` tells of them.

mod boot;
mod changes;
mod children;
mod cluster;
mod count;
mod durations;
mod explanation;
mod jobs;
mod lookup;
mod permissions;
mod quarantine;
mod rows;
mod steps;
mod trend;
mod views;

use super::call::{Call, Served};
use super::contract::Operation;
use super::problem::Failure;
use crate::wall_clock;

macro_rules! served {
    ($($operation:ident in $handler:path),* $(,)?) => {
        #[cfg(test)]
        pub(super) const SERVED: &[Operation] = &[$(Operation::$operation),*];

        /// The work of a call on its operation. `None`: it is none of these.
        pub(super) fn serve<'a>(call: &'a Call<'_>) -> Option<Served<'a>> {
            match call.operation {
                $(Operation::$operation => Some(Box::pin($handler(call))),)*
                _ => None,
            }
        }
    };
}

served! {
    AwaitChanges in changes::wait,
    CancelBannedInstance in quarantine::cancel,
    CheckPermissions in permissions::check,
    CountProcessInstances in count::get,
    CreateView in views::create,
    DeleteView in views::delete,
    GetBoot in boot::get,
    GetCluster in cluster::get,
    GetJobTrend in trend::jobs,
    GetProcessDefinitionDurations in durations::get,
    GetProcessInstanceAt in steps::at,
    GetProcessInstanceExplanation in explanation::get,
    GetProcessInstanceTimeline in steps::timeline,
    GetProcessInstanceTrend in trend::instances,
    ListBannedInstances in quarantine::list,
    ListElementInstanceChildren in children::list,
    ListJobTypes in jobs::types,
    ListParkedRecords in cluster::parked,
    ListProcessInstanceSteps in steps::list,
    ListViews in views::list,
    ListWorkers in jobs::workers,
    ReleaseBannedInstance in quarantine::release,
    ReplayParkedRecords in cluster::replay,
    SearchAnything in lookup::search,
    UpdateView in views::update,
}

/// Totals are counted up to this number, which is more than there are, and which every store takes.
const EXACT_MAX: u64 = 2_000_000_000;

impl Call<'_> {
    /// The time of the engine's clock, if that is known here.
    fn now_ms(&self) -> i64 {
        let clock_ms = self.operations().map_or(0, |operations| operations.clock_ms());
        if clock_ms > 0 { clock_ms } else { wall_clock::now_ms() }
    }

    /// A number in the query, which the contract has checked.
    fn query_number(&self, name: &str) -> Result<Option<u64>, Failure> {
        Ok(self.query_parameter(name)?.and_then(|text| text.parse().ok()))
    }
}
