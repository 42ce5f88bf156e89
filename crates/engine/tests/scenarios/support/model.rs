//! Models for tests (`crates/models`), and whether they can be deployed.

use bpmn::Limits;

pub use models::bpmn;

/// Checks that a text describes a deployable model.
pub fn assert_valid(text: &str) {
    let xml = bpmn(text);
    if let Err(problems) = bpmn::parse(xml.as_bytes(), &Limits::default()) {
        panic!("the model is not valid: {problems}\n{text}\n{xml}");
    }
}
