//! Links: resolves the throw events of a scope to their catch event.

use std::collections::HashMap;
use std::sync::Arc;

use crate::graph::{Element, ElementIndex, ElementKind, Throw};
use crate::problem::excerpt;

/// Connects the link events of all scopes. Returns the findings, each with its element.
pub(super) fn resolve(elements: &mut [Element]) -> Vec<(ElementIndex, String)> {
    let mut problems = Vec::new();
    let mut catches: HashMap<(ElementIndex, Arc<str>), ElementIndex> = HashMap::new();
    for (index, element) in elements.iter().enumerate() {
        let ElementKind::LinkCatch { name } = &element.kind else { continue };
        let index = index as ElementIndex;
        if *catches.entry((element.scope, name.clone())).or_insert(index) != index {
            let name = excerpt(name);
            problems
                .push((index, format!("another link catch event of the same scope has the name '{name}'")));
        }
    }
    for (index, element) in elements.iter_mut().enumerate() {
        let scope = element.scope;
        let ElementKind::Throw(Throw::Link { name, target }) = &mut element.kind else { continue };
        if let Some(&catch) = catches.get(&(scope, name.clone())) {
            *target = catch;
            continue;
        }
        let name = excerpt(name);
        let reason = format!("no link catch event of the same scope has the name '{name}'");
        problems.push((index as ElementIndex, reason));
        // It has no target, so no other rule applies.
        element.kind = ElementKind::PassThrough;
    }
    problems
}
