//! A partition at work: ingress with flow control, batched proposals, leader services, responses and records.
//!
//! Gateways see the broker through [`api::Broker`] only.

pub mod api;
