//! DMN 1.1 to 1.5: from XML to a compiled decision requirements graph, and its evaluation.
//!
//! [`parse`] compiles a file once and reports all its problems; a [`Parser`] does so in steps for files with imports.
//! [`DecisionRequirements::evaluate`] computes a decision and everything it requires from variables, a clock, a seed,
//! and limits given in a [`feel::Environment`], whose dialect also decides between Camunda's reading of DMN and the
//! standard's.
//!
//! Modules of a file: `xml` → `file` → `compile` → `model`; of an evaluation: `evaluate` → `outcome`.
//!
//! This crate must not know processes, deployments, versions, keys, files, or clocks. Nothing in it recurses without
//! a bound over input that a user controls: XML nesting, chains of requirements, and the depth of values are limited,
//! and calls count against the depth of FEEL.

mod compile;
mod evaluate;
mod file;
mod limits;
mod model;
mod outcome;
mod problem;
mod requirements;
mod types;
mod xml;

pub use file::{File, ImportedModel};
pub use limits::Limits;
pub use outcome::{
    DecisionKind, EvaluatedDecision, EvaluatedInput, EvaluatedOutput, Evaluation, FailedRule, Failure,
    MatchedRule,
};
pub use problem::{MAX_DISPLAY_BYTES, Problem, Problems};
pub use requirements::{DecisionInfo, DecisionRequirements, InputInfo, Parser, ServiceInfo, parse};
