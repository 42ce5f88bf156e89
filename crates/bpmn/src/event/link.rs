//! Links: a throw event continues at the catch event of the same name.

use std::sync::Arc;

use crate::context::Context;
use crate::xml::NodeId;

pub(crate) fn link_name(cx: &mut Context<'_, '_>, definition: NodeId) -> Option<Arc<str>> {
    cx.required(definition, "name").map(Arc::from)
}
