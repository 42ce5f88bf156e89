//! Bounds of requests, and of searches: of their filters, of their pages, and of the entities that one search looks at.

/// Elements of all lists of a request together, and members of all maps. Lists of one meaning have lower limits.
pub(super) const ELEMENTS_MAX: usize = 20_000;
/// Properties that one search sorts by, those that occur again included.
pub(super) const SORTS_MAX: usize = 100;
/// Items of a page whose request names no limit.
pub(super) const PAGE_LIMIT_DEFAULT: u32 = 100;
/// Items of a page.
pub(super) const PAGE_LIMIT_MAX: u32 = 10_000;
/// The largest exact total, as documented.
pub(super) const COUNT_MAX: u64 = 10_000;
/// Conditions of one filter. An alternative without any is one, and so is a relation to other rows.
pub(super) const CONDITIONS_MAX: usize = 1000;
/// Values of a `$in` or `$notIn`, and of all those of one filter. A store binds each of them, and takes not much
/// more than 30,000.
pub(super) const VALUES_MAX: usize = 5000;
/// Characters of a `$like`: comparing takes time by the product of pattern and text.
pub(super) const LIKE_CHARS_MAX: usize = 1000;
/// Groups of one answer with statistics, and tenants of one with usage metrics.
pub(super) const GROUPS_MAX: u32 = 10_000;
/// Entities of the engine's state that one search looks at. `hasMoreTotalItems` says that there are more, and counts
/// are then of those that were looked at.
pub(super) const ENTITIES_MAX: usize = 10_000;
/// Incidents of the engine's state that one search looks at; see [`ENTITIES_MAX`].
pub(super) const INCIDENTS_MAX: usize = 100_000;
const _: () = assert!(PAGE_LIMIT_DEFAULT <= PAGE_LIMIT_MAX && PAGE_LIMIT_MAX as usize <= ENTITIES_MAX);
