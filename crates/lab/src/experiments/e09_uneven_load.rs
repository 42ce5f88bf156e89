//! E9: Uneven load.

use crate::experiment::{Body, Experiment};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E9",
    title: "Uneven load",
    hypothesis: "The cost is even enough, whatever broker clients connect to.",
    set_up: "",
    steady_state: "",
    action: "",
    measurement: "",
    reference: "Clients of a headless service used one address: one broker took all requests and was throttled.",
    seconds: (0, 0),
    body: Body::NotRun(
        "three brokers under load through one of them, with the CPU of each; the lab starts one broker",
    ),
};
