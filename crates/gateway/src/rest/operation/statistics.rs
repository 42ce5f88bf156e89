//! Common parts of the statistics operations.

/// Definitions with running instances, and message subscriptions, that one request looks at. `hasMoreTotalItems` says
/// that there are more, and then the counts are of those that were looked at.
pub(super) const ROWS_MAX: usize = 10_000;
/// The same of incidents.
pub(super) const INCIDENTS_MAX: usize = 100_000;
