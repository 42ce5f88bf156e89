//! Rows of bits: the elements that can reach the incoming flows of joins.

use std::collections::{BTreeMap, BTreeSet};

use crate::index::{ElementIndex, FlowIndex};

pub(crate) const BITS: usize = u64::BITS as usize;

/// For the incoming flows of joins: the elements that can reach them.
#[derive(Debug, Default)]
pub struct Reach {
    pub(crate) rows: BTreeMap<FlowIndex, Box<[u64]>>,
    /// The inclusive and complex joins.
    pub(crate) joins: Vec<ElementIndex>,
    /// Scopes of the joins.
    pub(crate) scopes: BTreeSet<ElementIndex>,
}

pub(crate) fn is_set(row: &[u64], index: ElementIndex) -> bool {
    row.get(index as usize / BITS).is_some_and(|word| word >> (index as usize % BITS) & 1 == 1)
}
