//! BPMN 2.0 XML in, a validated executable graph out.
//!
//! A request enters at [`parse`]: the file is read into a flat list of XML elements (`xml`), the root elements are
//! collected (`catalogue`), each executable process is laid out (`outline`), every element is read by the module of
//! its kind (`kind`, with `event` and `extension` for the parts that kinds share) and checked, and rules that span
//! processes follow (`rule`). All problems of a file are reported at once.
//!
//! To support one more element, add its file in `kind` and its line in `kind::KINDS`.
//!
//! Out of scope: evaluation, versions and keys of definitions, and the clock. The diagram, lanes, data and
//! annotations are skipped.

mod catalogue;
mod context;
mod event;
mod extension;
pub mod graph;
mod index;
mod kind;
mod limits;
mod outline;
mod parsed;
mod problem;
mod reach;
mod reachability;
mod rule;
pub mod timer;
mod xml;

pub use graph::Process;
pub use limits::Limits;
pub use problem::{MAX_DISPLAY_BYTES, Problem, Problems};

use self::xml::Document;
use catalogue::Catalogue;
use outline::Outline;
use problem::Report;

/// Whether an XML file seems to be a model, though maybe one with mistakes: it names the namespace of BPMN.
pub fn is_model(xml: &[u8]) -> bool {
    self::xml::decode(xml).is_ok_and(|text| text.contains(self::xml::MODEL_NAMESPACE))
}

/// Reads the executable processes of a file, in document order.
///
/// Processes that are not executable are skipped; a file without an executable one is refused.
pub fn parse(xml: &[u8], limits: &Limits) -> Result<Vec<Process>, Problems> {
    let of_file = |reason: String| Problems(vec![Problem::of_file(reason)]);
    if xml.len() > limits.max_bytes {
        return Err(of_file(format!("the file is larger than {} bytes", limits.max_bytes)));
    }
    let text = self::xml::decode(xml).map_err(of_file)?;
    let document = Document::read(&text, limits).map_err(of_file)?;
    let mut report = Report::new(limits.max_problems);
    let catalogue = Catalogue::read(&document, limits, &mut report);
    let mut processes = Vec::new();
    for &node in &catalogue.executable_processes {
        if let Some(outline) = Outline::read(&document, node, limits, &mut report, kind::shape) {
            processes.push(kind::read_process(&document, &catalogue, &outline, limits, &mut report));
        }
    }
    rule::check_file(&document, &processes, &mut report);
    report.finish(())?;
    Ok(processes.into_iter().map(kind::wrap_loops).collect())
}
