//! Entities, their columns and their indexes.

use super::entity_id::EntityId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A key; a string of digits in the API.
    Key,
    Integer,
    Text,
    /// A moment, Unix milliseconds; RFC 3339 in the API.
    Time,
    Flag,
    /// A list of texts, as JSON; a test on it asks whether one of them passes.
    List,
    /// JSON as it is, never searched for.
    Json,
}

impl Kind {
    /// Whether values are kept as integers.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Key | Self::Integer | Self::Time | Self::Flag)
    }
}

/// A property of an entity.
#[derive(Debug)]
pub struct Column {
    /// Its name in the API.
    pub name: &'static str,
    pub kind: Kind,
    /// Whether no row lacks it, so that an order by it needs no place for those that do.
    pub is_always_set: bool,
    /// Whether it is the largest of what was added to it, 0 at least, rather than the sum.
    pub is_peak: bool,
}

impl Column {
    /// The value once something is added.
    pub fn grown(&self, before: i64, by: i64) -> i64 {
        if self.is_peak { before.max(by) } else { before + by }
    }
}

/// Lists show longer values of variables cut to this length, unless a request wants them whole.
pub const VALUE_CHARS_MAX: usize = 8191;

/// Position of a column in its entity.
pub type ColumnId = u8;

/// A kind of thing that can be found.
#[derive(Debug)]
pub struct Entity {
    /// Position in the table of entities.
    pub id: EntityId,
    /// Name of its table or index.
    pub name: &'static str,
    /// Its columns; the first one identifies a row. There are at most 64.
    pub columns: &'static [Column],
    /// Columns that are often filtered or sorted by.
    pub indexes: &'static [Index],
    /// The identity begins with this key and an underscore, so that looking for the key is looking for identities.
    pub id_begins_with: Option<ColumnId>,
}

/// Rows in the order of some columns; the row's identity follows if it is not among them. Each costs as much as a
/// row when a row is written, so what most rows have in common is left out.
#[derive(Debug)]
pub struct Index {
    pub columns: &'static [ColumnId],
    /// Which rows it has.
    pub scope: IndexScope,
}

/// The rows of an index. Conditions of a search are written so that databases see what is in there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexScope {
    All,
    /// Rows in which a column is set.
    Set(ColumnId),
    /// Rows in which a column is not what it is in most rows in the end.
    Unless(ColumnId, &'static str),
    /// Rows in which a column is more than 0.
    Above(ColumnId),
    /// Rows in which two columns differ.
    Apart(ColumnId, ColumnId),
    /// All; a column is a long text, of which only the first [`CUT_CHARS`] characters are in the index.
    Cut(ColumnId),
    /// All; a column is a list, and the index leads from each of its elements to the rows that have it. Only
    /// databases that have such indexes make it.
    Elements(ColumnId),
}

/// Characters of a long text that are in an index.
pub const CUT_CHARS: usize = 64;
/// Characters of a long text that say where it comes in an order, so that a cursor can hold them. Lists that cut
/// such texts leave as many.
pub const ORDER_CHARS: usize = VALUE_CHARS_MAX + 1;

impl Entity {
    /// Whether a column stands in an index as it is.
    pub fn is_indexed(&self, column: ColumnId) -> bool {
        let is_whole = |index: &Index| {
            let is_of_parts =
                matches!(index.scope, IndexScope::Cut(at) | IndexScope::Elements(at) if at == column);
            index.columns.contains(&column) && !is_of_parts
        };
        column == 0 || self.indexes.iter().any(is_whole)
    }

    /// Whether an index has only the beginning of a column's texts.
    pub fn is_cut(&self, column: ColumnId) -> bool {
        self.indexes.iter().any(|index| index.scope == IndexScope::Cut(column))
    }

    /// The value of most rows in a column, if indexes leave these out.
    pub fn usual(&self, column: ColumnId) -> Option<&'static str> {
        self.indexes.iter().find_map(|index| match index.scope {
            IndexScope::Unless(at, usual) if at == column => Some(usual),
            _ => None,
        })
    }

    /// Whether an index has only the rows in which a column is more than 0.
    pub fn is_above(&self, column: ColumnId) -> bool {
        self.indexes.iter().any(|index| index.scope == IndexScope::Above(column))
    }

    /// The column that is the same as this one in most rows, if an index leaves these out.
    pub fn twin(&self, column: ColumnId) -> Option<ColumnId> {
        self.indexes.iter().find_map(|index| match index.scope {
            IndexScope::Apart(at, twin) if at == column => Some(twin),
            _ => None,
        })
    }

    pub fn column(&self, name: &str) -> Option<ColumnId> {
        self.columns.iter().position(|column| column.name == name).map(|at| at as ColumnId)
    }
}

/// Names of indexes that earlier releases had and that only cost now.
pub const INDEXES_RETIRED: &[&str] = &[
    "audit_log_actorId",
    "element_instance_elementInstanceScopeKey",
    "element_instance_processDefinitionKey_elementId_state",
    "job_state",
    "job_type_state",
    "process_instance_businessId",
    "process_instance_parentProcessInstanceKey",
    "process_instance_processDefinitionId_state",
    "process_instance_processDefinitionKey_state",
    "process_instance_rootProcessInstanceKey",
    "process_instance_state",
    "sequence_flow_processInstanceKey",
    "variable_name",
    "variable_scopeKey",
];
