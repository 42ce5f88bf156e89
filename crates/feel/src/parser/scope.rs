//! Scopes: the names bound at a position of the text, and their capture by functions.

use crate::ast::Name;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The names bound so far.
#[derive(Default)]
pub(super) struct Scope {
    bound: Vec<Arc<str>>,
    /// Positions of each name in `bound`, innermost last.
    places: BTreeMap<Arc<str>, Vec<usize>>,
    /// Number of open filters; inside them any name may be an entry of the item.
    filters: usize,
    functions: Vec<OpenFunction>,
    variables: Vec<Arc<str>>,
    slots: BTreeMap<Arc<str>, u32>,
}

struct OpenFunction {
    /// Names bound outside of the function.
    outside: usize,
    /// Whether the function is inside a filter.
    in_filter: bool,
    free: BTreeSet<Arc<str>>,
    roots: BTreeSet<u32>,
}

/// Names that a function reads from its enclosing scopes.
pub(super) struct Captures {
    pub(super) free: Box<[Arc<str>]>,
    pub(super) roots: Box<[u32]>,
}

impl Scope {
    pub(super) fn bind(&mut self, name: Arc<str>) {
        self.places.entry(name.clone()).or_default().push(self.bound.len());
        self.bound.push(name);
    }

    pub(super) fn depth(&self) -> usize {
        self.bound.len()
    }

    pub(super) fn truncate(&mut self, depth: usize) {
        for name in self.bound.drain(depth..) {
            if let Some(places) = self.places.get_mut(&name) {
                places.pop();
            }
        }
    }

    pub(super) fn open_filter(&mut self) {
        self.filters += 1;
    }

    pub(super) fn close_filter(&mut self) {
        self.filters -= 1;
    }

    pub(super) fn open_function(&mut self) {
        let (outside, in_filter) = (self.bound.len(), self.filters > 0);
        self.functions.push(OpenFunction {
            outside,
            in_filter,
            free: BTreeSet::new(),
            roots: BTreeSet::new(),
        });
    }

    /// Ends a function; gives the outer names that its body reads.
    pub(super) fn close_function(&mut self) -> Captures {
        let (free, roots) =
            self.functions.pop().map(|function| (function.free, function.roots)).unwrap_or_default();
        Captures { free: free.into_iter().collect(), roots: roots.into_iter().collect() }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name)?.last().copied()
    }

    /// Whether the name is bound here.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// Resolves a name to the location of its value, and records captures.
    pub(super) fn resolve(&mut self, name: &str) -> Name {
        let place = self.place(name);
        for function in &mut self.functions {
            let inside = place.is_some_and(|place| place >= function.outside);
            let outer = function.outside > 0 || function.in_filter;
            if !inside && outer && !function.free.contains(name) {
                function.free.insert(Arc::from(name));
            }
        }
        match place {
            Some(place) => Name::Local(self.bound[place].clone()),
            None if self.filters > 0 && name == "item" => Name::Local(Arc::from(name)),
            None if self.filters > 0 => Name::Open(Arc::from(name), self.slot(name)),
            None => Name::Global(self.slot(name)),
        }
    }

    fn slot(&mut self, name: &str) -> u32 {
        let slot = self.slot_of(name);
        for function in &mut self.functions {
            function.roots.insert(slot);
        }
        slot
    }

    fn slot_of(&mut self, name: &str) -> u32 {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let (name, slot) = (Arc::<str>::from(name), self.variables.len() as u32);
        self.variables.push(name.clone());
        self.slots.insert(name, slot);
        slot
    }

    pub(super) fn into_variables(self) -> Vec<Arc<str>> {
        self.variables
    }
}
