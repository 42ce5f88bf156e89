//! Rules that span the processes of a file.

mod endless_loop;
mod ids;

use crate::kind::ReadProcess;
use crate::problem::Report;
use crate::xml::Document;

/// Checks the processes of a file together.
pub(crate) fn check_file(document: &Document<'_>, processes: &[ReadProcess], report: &mut Report) {
    ids::check(document, report);
    endless_loop::check(document, processes, report);
}
