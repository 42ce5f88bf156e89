//! Names of the parts of a store.

/// Where the contents are.
pub(crate) const CONTENTS: &str = "contents";

/// Where contents are in a directory that belong to no document yet.
pub(crate) const UPLOADS: &str = "uploads";

/// Where the descriptions are.
pub(crate) const DESCRIPTIONS: &str = "descriptions";

/// Where empty objects are that have a time and an ID for name, so that expired documents are found without reading
/// any.
pub(crate) const EXPIRIES: &str = "expiries";
