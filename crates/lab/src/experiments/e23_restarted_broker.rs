//! E23: Restarted broker under load.

use crate::experiment::{Body, Experiment};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E23",
    title: "Restarted broker under load",
    hypothesis: "No acknowledged command is lost, and p99 dips for less than 5 s.",
    set_up: "",
    steady_state: "",
    action: "",
    measurement: "",
    reference: "A change of the leader, then recovery.",
    seconds: (0, 0),
    body: Body::NotRun(
        "a cluster; `make cluster-bench` measures fail-over, `make faults` looks for what is lost",
    ),
};
