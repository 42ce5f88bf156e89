//! E19: Network file system.

use crate::experiment::{Body, Experiment};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E19",
    title: "Network file system",
    hypothesis: "An error of the disk lets a replica step down, and it comes back.",
    set_up: "",
    steady_state: "",
    action: "",
    measurement: "",
    reference: "Errors of a flush made a replica inactive; reads of memory-mapped files killed the process.",
    seconds: (0, 0),
    body: Body::NotRun(
        "a cluster on a network file system that can be cut; `make faults` has failing and full disks of a cluster",
    ),
};
