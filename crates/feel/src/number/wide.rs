//! 256-bit unsigned integers: just enough arithmetic to round a product or a quotient of two
//! 34-digit coefficients correctly. Nothing here knows about decimals' signs or scales.

/// An unsigned 256-bit integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wide {
    high: u128,
    low: u128,
}

/// Powers of ten that fit into 256 bits: 10^0 ..= 10^77.
const POWERS: [Wide; 78] = powers();

const fn powers() -> [Wide; 78] {
    let mut table = [Wide { high: 0, low: 1 }; 78];
    let mut index = 1;
    while index < 78 {
        table[index] = table[index - 1].times_small(10);
        index += 1;
    }
    table
}

const MASK: u128 = u64::MAX as u128;

impl Wide {
    pub(super) const ZERO: Self = Self { high: 0, low: 0 };

    pub(super) const fn from_u128(low: u128) -> Self {
        Self { high: 0, low }
    }

    pub(super) const fn as_u128(self) -> Option<u128> {
        if self.high == 0 { Some(self.low) } else { None }
    }

    pub(super) const fn is_zero(self) -> bool {
        self.high == 0 && self.low == 0
    }

    /// The full product of two 128-bit integers.
    pub(super) const fn product(left: u128, right: u128) -> Self {
        let (left_high, left_low) = (left >> 64, left & MASK);
        let (right_high, right_low) = (right >> 64, right & MASK);
        let low = left_low * right_low;
        let middle_one = left_high * right_low;
        let middle_two = left_low * right_high;
        let carry = (low >> 64) + (middle_one & MASK) + (middle_two & MASK);
        Self {
            high: left_high * right_high + (middle_one >> 64) + (middle_two >> 64) + (carry >> 64),
            low: (low & MASK) | (carry << 64),
        }
    }

    /// Multiplies by a number below 2^64; the caller knows that the result fits.
    const fn times_small(self, factor: u64) -> Self {
        let low = Self::product(self.low, factor as u128);
        Self { high: self.high.wrapping_mul(factor as u128).wrapping_add(low.high), low: low.low }
    }

    /// `value × 10^exponent`; the caller knows that the result has at most 77 digits.
    pub(super) fn scaled(value: u128, exponent: u32) -> Self {
        let first = exponent.min(38);
        let mut result = Self::product(value, POWERS[first as usize].low);
        let mut left = exponent - first;
        while left > 0 {
            let step = left.min(19);
            result = result.times_small(10u64.pow(step));
            left -= step;
        }
        result
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self { high: self.high.wrapping_add(other.high).wrapping_add(carry as u128), low }
    }

    /// `self - other`, the caller knows that `other <= self`.
    pub(super) const fn minus(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Self { high: self.high.wrapping_sub(other.high).wrapping_sub(borrow as u128), low }
    }

    pub(super) fn compare(self, other: Self) -> std::cmp::Ordering {
        self.high.cmp(&other.high).then(self.low.cmp(&other.low))
    }

    /// Number of decimal digits; zero has one.
    pub(super) fn digits(self) -> u32 {
        if self.high == 0 {
            return if self.low == 0 { 1 } else { self.low.ilog10() + 1 };
        }
        let bits = 256 - self.high.leading_zeros();
        let estimate = (bits * 1233) >> 12;
        if (estimate as usize) < POWERS.len() && self.compare(POWERS[estimate as usize]).is_ge() {
            estimate + 1
        } else {
            estimate
        }
    }

    /// Quotient and remainder by a divisor below 2^64.
    fn divide_small(self, divisor: u64) -> (Self, u64) {
        if self.high == 0 && self.low <= MASK {
            let value = self.low as u64;
            return (Self::from_u128(u128::from(value / divisor)), value % divisor);
        }
        let divisor = u128::from(divisor);
        let limbs = [self.high >> 64, self.high & MASK, self.low >> 64, self.low & MASK];
        let mut quotient = [0u128; 4];
        let mut remainder = 0u128;
        for (limb, place) in limbs.into_iter().zip(&mut quotient) {
            let current = (remainder << 64) | limb;
            *place = current / divisor;
            remainder = current % divisor;
        }
        (
            Self { high: (quotient[0] << 64) | quotient[1], low: (quotient[2] << 64) | quotient[3] },
            remainder as u64,
        )
    }

    /// Quotient and remainder by any non-zero divisor.
    pub(super) fn divide(self, divisor: u128) -> (Self, u128) {
        if divisor <= MASK {
            let (quotient, remainder) = self.divide_small(divisor as u64);
            return (quotient, u128::from(remainder));
        }
        if self.high == 0 {
            return (Self::from_u128(self.low / divisor), self.low % divisor);
        }
        let mut quotient = Self::ZERO;
        let mut remainder = 0u128;
        for bit in (0..256u32).rev() {
            let overflow = remainder >> 127 == 1;
            let next = if bit >= 128 { self.high >> (bit - 128) } else { self.low >> bit } & 1;
            remainder = (remainder << 1) | next;
            if overflow || remainder >= divisor {
                remainder = remainder.wrapping_sub(divisor);
                if bit >= 128 {
                    quotient.high |= 1 << (bit - 128);
                } else {
                    quotient.low |= 1 << bit;
                }
            }
        }
        (quotient, remainder)
    }

    /// Divides by `10^exponent` and compares the part cut off with one half.
    pub(super) fn cut(self, exponent: u32) -> (Self, Cut) {
        let mut rest = self;
        let mut sticky = false;
        let mut left = exponent;
        while left > 1 {
            let step = (left - 1).min(19);
            let (quotient, remainder) = rest.divide_small(10u64.pow(step));
            sticky |= remainder != 0;
            rest = quotient;
            left -= step;
            if rest.is_zero() {
                return (rest, if sticky { Cut::BelowHalf } else { Cut::Nothing });
            }
        }
        if left == 0 {
            return (rest, Cut::Nothing);
        }
        let (quotient, digit) = rest.divide_small(10);
        let cut = match (digit, sticky) {
            (0, false) => Cut::Nothing,
            (0..=4, _) => Cut::BelowHalf,
            (5, false) => Cut::Half,
            _ => Cut::AboveHalf,
        };
        (quotient, cut)
    }
}

/// The part cut off by a division by a power of ten, compared with half a unit of the last digit kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cut {
    Nothing,
    BelowHalf,
    Half,
    AboveHalf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_exact_around_every_power_of_ten() {
        for (exponent, power) in POWERS.into_iter().enumerate().skip(1) {
            assert_eq!(power.digits(), exponent as u32 + 1);
            assert_eq!(power.minus(Wide::from_u128(1)).digits(), exponent as u32);
        }
    }

    #[test]
    fn division_undoes_multiplication() {
        let big = 9_999_999_999_999_999_999_999_999_999_999_999u128;
        let product = Wide::product(big, big - 7).plus(Wide::from_u128(12));
        assert_eq!(product.divide(big), (Wide::from_u128(big - 7), 12));
        let product = Wide::product(big, 77).plus(Wide::from_u128(5));
        assert_eq!(product.divide(77), (Wide::from_u128(big), 5));
    }

    #[test]
    fn cuts_compare_with_half() {
        let cut = |value: u128, exponent| Wide::from_u128(value).cut(exponent);
        assert_eq!(cut(12_500, 3), (Wide::from_u128(12), Cut::Half));
        assert_eq!(cut(12_501, 3), (Wide::from_u128(12), Cut::AboveHalf));
        assert_eq!(cut(12_499, 3), (Wide::from_u128(12), Cut::BelowHalf));
        assert_eq!(cut(12_000, 3), (Wide::from_u128(12), Cut::Nothing));
        assert_eq!(cut(7, 60), (Wide::ZERO, Cut::BelowHalf));
    }
}
