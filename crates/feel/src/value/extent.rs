//! How deep and how large a value is. Values share their parts, so one that was made in few steps
//! may be immense when it is written out; whoever makes values refuses those beyond the bounds.

/// Deepest nesting of values that an evaluation may build; it bounds every recursion over values.
pub const VALUE_DEPTH_MAX: u16 = 500;
/// Largest weight of a value: one for each part and each eight bytes of text. Written out, such a
/// value has some hundred MiB.
pub const VALUE_WEIGHT_MAX: u32 = 12_000_000;

/// The measure of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) depth: u16,
    pub(crate) weight: u32,
}

impl Extent {
    /// That of a number and its like.
    pub(crate) const POINT: Self = Self { depth: 0, weight: 1 };

    /// That of a text, or of raw JSON, whose depth has a bound of its own.
    pub(crate) fn of_bytes(depth: u16, length: usize) -> Self {
        Self { depth, weight: u32::try_from(length / 8).unwrap_or(u32::MAX).saturating_add(1) }
    }

    /// That of a value with parts.
    pub(crate) fn around(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self { depth: 1, weight: 1 }, Self::with)
    }

    /// That of a value which gets one more part.
    #[must_use]
    pub(crate) fn with(self, part: Self) -> Self {
        Self {
            depth: self.depth.max(part.depth.saturating_add(1)),
            weight: self.weight.saturating_add(part.weight),
        }
    }

    pub(crate) fn is_within_bounds(self) -> bool {
        self.depth <= VALUE_DEPTH_MAX && self.weight <= VALUE_WEIGHT_MAX
    }
}
