//! Whole clusters in one process, on a simulated clock, network and disk, with faults that a seed chooses.
//!
//! The brokers are those of the program, threads and all: nothing of them is replaced. The functions of the C library
//! that they wait, look at the time and write files with are (`hooks`), so that one thread runs at a time, in an order
//! that the seed tells (`scheduler`), files lose what was not synced (`disk`), and connections run over `network`.

#![allow(missing_docs, reason = "names say what is held")]

pub mod archive;
pub mod clients;
pub mod disk;
pub mod exclusive;
pub mod hooks;
pub mod host;
pub mod ledger;
pub mod network;
pub mod plan;
pub mod random;
pub mod scheduler;
pub mod world;
