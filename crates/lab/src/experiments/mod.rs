//! All experiments: a file for each, in the order of their numbers, ours after the published ones.

mod e01_grpc_baseline;
mod e02_rest_instead_of_grpc;
mod e03_worker_memory;
mod e04_recovery;
mod e05_push_storm;
mod e06_poll_beside_push;
mod e07_overflow_knobs;
mod e08_routing_cost;
mod e09_uneven_load;
mod e10_logging_under_errors;
mod e11_rejection_cost;
mod e12_export_backlog;
mod e13_exporter_cost;
mod e14_data_availability;
mod e15_storage_outage;
mod e16_scale_out;
mod e17_sizing;
mod e18_memory;
mod e19_network_file_system;
mod e20_endless_loop;
mod e21_usage_metrics;
mod e22_profiling;
mod e23_restarted_broker;
mod l1_waiting;
mod l2_children;
mod l3_poison_models;
mod l4_day;
mod l5_killed_under_load;
mod parts;
mod refusals;
mod storage_fault;
mod store_proxy;

pub use l5_killed_under_load::PLANTED_SYNC_MS;

use crate::experiment::Experiment;

/// Every row of the lab, but for that with a peer, which runs only when it is asked for.
pub(crate) const ALL: &[&Experiment] = &[
    &e01_grpc_baseline::EXPERIMENT,
    &e02_rest_instead_of_grpc::EXPERIMENT,
    &e03_worker_memory::EXPERIMENT,
    &e04_recovery::EXPERIMENT,
    &e05_push_storm::EXPERIMENT,
    &e06_poll_beside_push::EXPERIMENT,
    &e07_overflow_knobs::EXPERIMENT,
    &e08_routing_cost::EXPERIMENT,
    &e09_uneven_load::EXPERIMENT,
    &e10_logging_under_errors::EXPERIMENT,
    &e11_rejection_cost::EXPERIMENT,
    &e12_export_backlog::EXPERIMENT,
    &e13_exporter_cost::EXPERIMENT,
    &e14_data_availability::EXPERIMENT,
    &e15_storage_outage::EXPERIMENT,
    &e16_scale_out::EXPERIMENT,
    &e17_sizing::EXPERIMENT,
    &e18_memory::EXPERIMENT,
    &e19_network_file_system::EXPERIMENT,
    &e20_endless_loop::EXPERIMENT,
    &e21_usage_metrics::EXPERIMENT,
    &e22_profiling::EXPERIMENT,
    &e23_restarted_broker::EXPERIMENT,
    &l1_waiting::EXPERIMENT,
    &l2_children::EXPERIMENT,
    &l3_poison_models::EXPERIMENT,
    &l4_day::EXPERIMENT,
    &l5_killed_under_load::EXPERIMENT,
];

/// The experiment of an ID, in either case of its letters.
pub(crate) fn find(id: &str) -> Option<&'static Experiment> {
    let all = ALL.iter().copied().chain([&crate::peer::EXPERIMENT]);
    all.into_iter().find(|experiment| experiment.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_different_and_texts_are_there() {
        for (place, experiment) in ALL.iter().enumerate() {
            let first = ALL.iter().position(|other| other.id.eq_ignore_ascii_case(experiment.id));
            assert_eq!(first, Some(place), "{} twice", experiment.id);
            assert!(!experiment.title.is_empty() && !experiment.hypothesis.is_empty(), "{}", experiment.id);
        }
        assert!(find("e1").is_some() && find("E99").is_none());
    }
}
