//! Overlays that are out of use.

use std::any::Any;
use std::sync::Arc;

/// Overlays that nobody reads any more. Dropping a large one takes a while: a thread with time should do it.
#[derive(Debug)]
pub struct Retired(#[allow(dead_code)] pub(crate) Vec<Arc<dyn Any + Send + Sync>>);
