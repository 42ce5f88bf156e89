//! One broker in a directory of its own, without a network: what gateways may rely on.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too, stop at the first surprise")]

mod await_result;
mod backups;
mod business_id;
mod clock;
mod credit;
mod delivery;
mod disk;
mod fairness;
mod flow_control;
mod gone;
mod left_over;
mod limits;
mod long_poll;
mod partitions;
mod pause;
mod reads;
mod restart;
mod set_aside;
mod shutdown;
mod support;
