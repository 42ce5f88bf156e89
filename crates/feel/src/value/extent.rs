//! How deep and how large a value is. Values share their parts, so a value created in few steps may be immense as
//! JSON; code that creates values must refuse values beyond the bounds.

/// Deepest nesting of values that an evaluation may build; it bounds every recursion over values.
pub const VALUE_DEPTH_MAX: u16 = 500;
/// Largest weight of a value: one for each part and each eight bytes of text. As JSON, such a value has some hundred
/// MiB.
pub const VALUE_WEIGHT_MAX: u32 = 12_000_000;

/// The refusal of a value beyond these bounds.
pub const VALUE_EXCESS: &str =
    "a value is nested too deeply or too large: the limit is 500 levels and a weight of 12000000";

/// The measure of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) depth: u16,
    pub(crate) weight: u32,
    /// Lower bound of the bytes of its JSON.
    pub(crate) json_bytes: u64,
    /// Upper bound of the nesting of its JSON. Raw JSON counts as one level in `depth`.
    pub(crate) json_depth: u16,
}

impl Extent {
    /// Extent of a scalar.
    pub(crate) const POINT: Self = Self { depth: 0, weight: 1, json_bytes: 1, json_depth: 0 };

    /// Extent of a text.
    pub(crate) fn of_text(length: usize) -> Self {
        Self::of_bytes(0, length, 0)
    }

    /// Extent of raw JSON, whose depth has a bound of its own.
    pub(crate) fn of_json(length: usize, json_depth: u16) -> Self {
        Self::of_bytes(1, length, json_depth)
    }

    fn of_bytes(depth: u16, length: usize, json_depth: u16) -> Self {
        let weight = u32::try_from(length / 8).unwrap_or(u32::MAX).saturating_add(1);
        Self { depth, weight, json_bytes: length as u64, json_depth }
    }

    /// Extent of a value with parts.
    pub(crate) fn around(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self { depth: 1, weight: 1, json_bytes: 2, json_depth: 1 }, Self::with)
    }

    /// Extent of a value with one more part.
    #[must_use]
    pub(crate) fn with(self, part: Self) -> Self {
        Self {
            depth: self.depth.max(part.depth.saturating_add(1)),
            weight: self.weight.saturating_add(part.weight),
            json_depth: self.json_depth.max(part.json_depth.saturating_add(1)),
            json_bytes: self.json_bytes.saturating_add(part.json_bytes),
        }
    }

    pub(crate) fn is_within_bounds(self) -> bool {
        self.depth <= VALUE_DEPTH_MAX && self.weight <= VALUE_WEIGHT_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_names_the_limits() {
        for limit in [u32::from(VALUE_DEPTH_MAX), VALUE_WEIGHT_MAX] {
            assert!(VALUE_EXCESS.contains(&format!(" {limit}")), "{limit} in '{VALUE_EXCESS}'");
        }
    }
}
