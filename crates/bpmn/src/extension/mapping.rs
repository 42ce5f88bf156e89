//! `zeebe:ioMapping`: input and output mappings.

use crate::context::Context;
use crate::graph::Mapping;

/// Input and output mappings of an element, each in document order.
pub(crate) fn mappings(cx: &mut Context<'_, '_>) -> (Vec<Mapping>, Vec<Mapping>) {
    match cx.extension("ioMapping") {
        None => (Vec::new(), Vec::new()),
        Some(_) => (all(cx, "input"), all(cx, "output")),
    }
}

fn all(cx: &mut Context<'_, '_>, name: &str) -> Vec<Mapping> {
    let document = cx.document;
    let container = cx.extension("ioMapping");
    let nodes = container.into_iter().flat_map(|container| document.zeebe_children(container, name));
    let mut mappings = Vec::new();
    for node in nodes {
        let source = document.attribute(node, "source").unwrap_or_default();
        let place = format!("attribute 'source' of zeebe:{name}");
        let source = if source.is_empty() { Some(None) } else { cx.text(source, &place).map(Some) };
        let target = cx
            .required(node, "target")
            .and_then(|target| cx.path(target, &format!("attribute 'target' of zeebe:{name}")));
        if let (Some(source), Some(target)) = (source, target) {
            mappings.push(Mapping { source, target });
        }
    }
    mappings
}
