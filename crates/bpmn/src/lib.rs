//! bpmn.
