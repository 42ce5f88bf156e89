//! Limits on the size of a model.

/// Bounds on one BPMN file. All of them are checked while reading, before memory is spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Size of the file in bytes. Default 4 MiB, the size of the largest command.
    pub max_bytes: usize,
    /// Nesting depth of XML elements. Default 128; a drawn model stays below 30.
    pub max_depth: usize,
    /// XML elements, diagram included. Default 200,000: a 4 MiB file of short elements has fewer.
    pub max_xml_elements: usize,
    /// Flow nodes and sequence flows of one process. Default 20,000.
    pub max_flow_elements: usize,
    /// Characters of an ID. Default 256, what a relational secondary storage can hold.
    pub max_id_chars: usize,
    /// Characters of a name, a job type or a message name. Default 32,768.
    pub max_name_chars: usize,
    /// Problems reported for one file; the rest is counted only. Default 500.
    pub max_problems: usize,
    /// Extension elements within one: mappings, headers, listeners or properties of an element. Default 2,000; a job
    /// is told all headers.
    pub max_list_entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 4 * 1024 * 1024,
            max_depth: 128,
            max_xml_elements: 200_000,
            max_flow_elements: 20_000,
            max_id_chars: 256,
            max_name_chars: 32 * 1024,
            max_problems: 500,
            max_list_entries: 2_000,
        }
    }
}
