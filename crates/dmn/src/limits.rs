//! Limits on the size of a model, and on one evaluation beyond the limits of FEEL.

/// Bounds on one DMN file and on the evaluation of what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Size of the file in bytes. Default 4 MiB, the size of the largest command.
    pub max_bytes: usize,
    /// Nesting depth of XML elements. Default 128; boxed expressions nest less deep than this, and
    /// the evaluation recurses over them.
    pub max_depth: usize,
    /// XML elements, diagram included. Default 200,000: a 4 MiB file of short elements has fewer.
    pub max_xml_elements: usize,
    /// Cells of all decision tables: rules × columns. Default 200,000.
    pub max_cells: usize,
    /// Longest chain of decisions or business knowledge models that require each other. Default 64;
    /// the evaluation recurses over it.
    pub max_requirement_depth: usize,
    /// Models that one model imports, directly or not; each counts as often as it is imported. Default 64.
    pub max_imported_models: usize,
    /// Characters of an ID. Default 256, what a relational secondary storage can hold.
    pub max_id_chars: usize,
    /// Problems reported for one file. Default 500.
    pub max_problems: usize,
    /// Decisions that one evaluation may evaluate, each counted as often as it is required. Default 1,000: a ladder
    /// in which each decision is required twice doubles with every step.
    pub max_evaluated_decisions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 4 * 1024 * 1024,
            max_depth: 128,
            max_xml_elements: 200_000,
            max_cells: 200_000,
            max_requirement_depth: 64,
            max_imported_models: 64,
            max_id_chars: 256,
            max_problems: 500,
            max_evaluated_decisions: 1_000,
        }
    }
}
