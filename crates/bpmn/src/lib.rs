//! BPMN 2.0 XML in, a validated executable graph out.
pub mod graph;
