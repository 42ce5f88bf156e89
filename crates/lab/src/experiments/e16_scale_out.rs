//! E16: Scale out under load.

use crate::experiment::{Body, Experiment};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E16",
    title: "Scale out under load",
    hypothesis: "Scaling is online, and throughput for each partition stays within a tenth.",
    set_up: "",
    steady_state: "",
    action: "",
    measurement: "",
    reference: "240 to 480 instances/s from 3 to 6 brokers; a backlog of jobs that was worked off made the cluster collapse.",
    seconds: (0, 0),
    body: Body::NotRun(
        "several partitions and brokers that join a running cluster, which Baton does not have yet",
    ),
};
