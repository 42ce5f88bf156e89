//! Element instances of a scope, by element.
//!
//! Most scopes have few children, and to look at each of them costs less than to keep them by element. Once a scope has
//! had many, its children are kept by element for the rest of its life, so that nobody looks at thousands to find one.

use bpmn::graph::{ElementIndex, ElementKind};
use protocol::Key;
use state::StateError;

use bpmn::Process;

use crate::core::context::{ActiveElement, CommandContext};
use crate::core::slices::Slices;
use crate::entity::{ElementInstance, Phase};

/// A scope with more children keeps them by element.
const MANY: u32 = 64;
/// Children looked at together.
const SLICE: usize = 64;

/// Whether an element is the body of a multi-instance activity; the instances inside it have the same ID.
pub(crate) fn is_body(process: &Process, element: ElementIndex) -> bool {
    matches!(process.element(element).kind, ElementKind::MultiInstance(_) | ElementKind::Loop(_))
}

impl CommandContext<'_> {
    /// Notes an element instance that has come to its scope.
    pub(super) fn child_came(&mut self, child: &ActiveElement) -> Result<(), StateError> {
        let Some(scope) = self.tables.element_instances.get(&child.scope_key)? else { return Ok(()) };
        self.count_living(child, &scope, 1)?;
        if scope.lists_children {
            self.tables.children_by_element.insert((child.scope_key, child.index, child.key), ());
        } else if scope.active_children > MANY && !is_body(&child.process, scope.element) {
            // The children of a body are all of one element.
            self.list_children(child.scope_key)?;
        }
        Ok(())
    }

    /// Notes one that is gone from it.
    pub(super) fn child_left(&mut self, child: &ActiveElement) -> Result<(), StateError> {
        let Some(scope) = self.tables.element_instances.get(&child.scope_key)? else { return Ok(()) };
        self.count_living(child, &scope, -1)?;
        if scope.lists_children {
            self.tables.children_by_element.delete(&(child.scope_key, child.index, child.key));
        }
        Ok(())
    }

    /// Notes one that has become an instance of another element.
    pub(super) fn child_moved(
        &mut self,
        scope_key: Key,
        key: Key,
        from: ElementIndex,
        to: ElementIndex,
    ) -> Result<(), StateError> {
        let scope = self.tables.element_instances.get(&scope_key)?;
        if scope.is_some_and(|scope| scope.lists_children) {
            self.tables.children_by_element.delete(&(scope_key, from, key));
            self.tables.children_by_element.put((scope_key, to, key), ());
        }
        Ok(())
    }

    /// Begins to keep the children of a scope by element. There are about as many as it takes to do so.
    fn list_children(&mut self, scope_key: Key) -> Result<(), StateError> {
        debug_assert_ne!(scope_key, 0, "a scope has a key");
        self.tables.element_instances.update(&scope_key, |row| row.lists_children = true)?;
        let mut slices = Slices::of((scope_key, 0)..(scope_key + 1, 0));
        while let Some(children) = slices.keys(&self.tables.children)? {
            for (_, key) in children {
                if let Some(row) = self.tables.element_instances.get(&key)? {
                    self.tables.children_by_element.put((scope_key, row.element, key), ());
                }
            }
        }
        Ok(())
    }

    /// Instances of an element directly inside a scope that are active, so many at most.
    pub(super) fn active_children(
        &mut self,
        scope_key: Key,
        element: ElementIndex,
        limit: usize,
    ) -> Result<Vec<Key>, StateError> {
        let scope = self.tables.element_instances.get(&scope_key)?;
        let is_listed = scope.is_some_and(|scope| scope.lists_children);
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let slice: Vec<Key> = if is_listed {
                let range = (scope_key, element, after + 1)..=(scope_key, element, Key::MAX);
                self.tables
                    .children_by_element
                    .keys(range, SLICE)?
                    .into_iter()
                    .map(|(_, _, key)| key)
                    .collect()
            } else {
                let range = (scope_key, after + 1)..=(scope_key, Key::MAX);
                self.tables.children.keys(range, SLICE)?.into_iter().map(|(_, key)| key).collect()
            };
            self.counters.child_rows += slice.len() as u64;
            for &key in &slice {
                let row = self.tables.element_instances.get(&key)?;
                if row.is_some_and(|row| is_active(&row, element)) {
                    found.push(key);
                    if found.len() == limit {
                        return Ok(found);
                    }
                }
            }
            match slice.last() {
                Some(&last) if slice.len() == SLICE => {
                    after = last;
                    self.extra_steps += 1;
                }
                _ => return Ok(found),
            }
        }
    }
}

fn is_active(row: &ElementInstance, element: ElementIndex) -> bool {
    row.element == element && row.phase != Phase::Terminating && !row.interrupted
}
