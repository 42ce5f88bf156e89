//! The engine at its outer boundary: a model and a script of commands in, a transcript of what happened out.
//!
//! `UPDATE_EXPECT=1` writes new transcripts into the tests. After each script its log is applied to other engines, which
//! must end in the same state (see [`support::harness`]).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![expect(clippy::needless_raw_string_hashes, reason = "transcripts are written by a program")]

mod access;
mod actors;
mod ad_hoc;
mod ad_hoc_outputs;
mod await_result;
mod banned;
mod batch_filters;
mod batch_operations;
mod business_id;
mod call_activity;
mod cancellation;
mod clock;
mod cluster_variables;
mod compensation;
mod compensation_scopes;
mod complex;
mod conditions;
mod decision_imports;
mod decisions;
mod deletion;
mod deployment;
mod element_jobs;
mod error_event;
mod escalations;
mod event_sub_process;
mod event_sub_process_places;
mod events_of_scopes;
mod execution_listeners;
mod forms;
mod gateways;
mod given_items;
mod identity;
mod identity_grants;
mod incidents;
mod inclusive;
mod interruptions;
mod job_records;
mod jobs;
mod large_modifications;
mod large_scopes;
mod lifecycle;
mod links;
mod listener_places;
mod message_start;
mod messages;
mod migration;
mod migration_ad_hoc;
mod migration_events;
mod migration_loops;
mod migration_scopes;
mod modification;
mod modification_ad_hoc;
mod modification_elements;
mod modification_limits;
mod modification_loops;
mod multi_instance;
mod operation_references;
mod panics;
mod publications;
mod queries;
mod random_consistency;
mod random_migration;
mod random_model;
mod random_modification;
mod random_process;
mod rejections;
mod resources;
mod signals;
mod start_events;
mod start_instructions;
mod statistics;
mod step_budget;
mod sub_process;
mod support;
mod task_listeners;
mod tenants;
mod timers;
mod transaction;
mod user_tasks;
mod variables;
