//! FEEL numbers: decimals of 34 significant digits, rounded half-even (IEEE 754 decimal128
//! arithmetic, DMN 1.5 §10.3.2.3.1), with a fast path for 64-bit integers.
//!
//! Like Java's `BigDecimal`, a number remembers its scale, so `string(decimal(10, 2))` is `10.00`.
//! Operations that leave the range of exponents return `None`; nothing panics.
//!
//! The arithmetic is our own because the candidates lose digits (28 of 34) or round twice
//! (to 38, then to 34), and some of them panic on overflow.

#![expect(missing_docs, reason = "names say what is held")]

mod rounding;
mod text;
mod wide;

pub use rounding::Rounding;

use std::cmp::Ordering;
use wide::{Cut, Wide};

/// Significant digits kept by arithmetic.
pub const PRECISION: u32 = 34;
/// Largest absolute scale; beyond it an operation fails.
const SCALE_MAX: i32 = 6_176;
const COEFFICIENT_MAX: u128 = 10u128.pow(PRECISION) - 1;

/// A decimal number. Equality and order are by value: `1 = 1.00`.
#[derive(Clone, Copy)]
pub struct Number(Repr);

#[derive(Clone, Copy)]
enum Repr {
    Int(i64),
    Decimal(Decimal),
}

/// `±(high·2^64 + low) × 10^-scale`. Split in halves to keep eight-byte alignment.
#[derive(Clone, Copy)]
struct Decimal {
    high: u64,
    low: u64,
    scale: i32,
    negative: bool,
}

impl Decimal {
    fn coefficient(self) -> u128 {
        (u128::from(self.high) << 64) | u128::from(self.low)
    }
}

impl Number {
    pub const ZERO: Self = Self(Repr::Int(0));
    pub const ONE: Self = Self(Repr::Int(1));

    fn parts(self) -> Decimal {
        match self.0 {
            Repr::Int(value) => Decimal { high: 0, low: value.unsigned_abs(), scale: 0, negative: value < 0 },
            Repr::Decimal(decimal) => decimal,
        }
    }

    /// Rounds a wide coefficient to the precision and normalizes the representation.
    fn normalize(negative: bool, mut coefficient: Wide, mut scale: i32) -> Option<Self> {
        if let Some(small) = coefficient.as_u128().filter(|small| *small <= COEFFICIENT_MAX) {
            return Self::build(negative, small, scale);
        }
        let digits = coefficient.digits();
        if digits > PRECISION {
            let excess = digits - PRECISION;
            let (quotient, cut) = coefficient.cut(excess);
            scale -= excess as i32;
            let odd = quotient.as_u128()? & 1 == 1;
            coefficient = if cut == Cut::AboveHalf || (cut == Cut::Half && odd) {
                quotient.plus(Wide::from_u128(1))
            } else {
                quotient
            };
        }
        Self::build(negative, coefficient.as_u128()?, scale)
    }

    /// Normalizes a coefficient of at most 10^34.
    fn build(negative: bool, mut coefficient: u128, mut scale: i32) -> Option<Self> {
        if coefficient > COEFFICIENT_MAX {
            coefficient /= 10;
            scale -= 1;
        }
        if coefficient == 0 {
            scale = scale.clamp(0, SCALE_MAX);
        }
        if scale == 0 && coefficient <= i64::MAX as u128 {
            let value = coefficient as i64;
            return Some(Self(Repr::Int(if negative { -value } else { value })));
        }
        if !(-SCALE_MAX..=SCALE_MAX).contains(&scale) {
            return None;
        }
        Some(Self(Repr::Decimal(Decimal {
            high: (coefficient >> 64) as u64,
            low: coefficient as u64,
            scale,
            negative: negative && coefficient != 0,
        })))
    }

    /// `coefficient × 10^-scale`, rounded to the precision; `None` outside the range of exponents.
    pub fn from_parts(coefficient: i128, scale: i32) -> Option<Self> {
        Self::normalize(coefficient < 0, Wide::from_u128(coefficient.unsigned_abs()), scale)
    }

    /// The integer, if the number is whole and fits.
    pub fn as_i64(self) -> Option<i64> {
        match self.0 {
            Repr::Int(value) => Some(value),
            Repr::Decimal(decimal) => {
                let value = whole(decimal)?;
                let value = i128::try_from(value).ok()?;
                i64::try_from(if decimal.negative { -value } else { value }).ok()
            }
        }
    }

    /// The part before the decimal point as an integer, saturating at the limits of `i64`.
    pub fn truncate_to_i64(self) -> i64 {
        let whole = self.round(0, Rounding::Down);
        whole.and_then(Self::as_i64).unwrap_or(if self.is_negative() { i64::MIN } else { i64::MAX })
    }

    /// Whether there is nothing behind the decimal point.
    pub fn is_whole(self) -> bool {
        match self.0 {
            Repr::Int(_) => true,
            Repr::Decimal(decimal) => {
                decimal.scale <= 0
                    || (decimal.scale as u32 <= PRECISION
                        && decimal.coefficient().is_multiple_of(10u128.pow(decimal.scale as u32)))
                    || decimal.coefficient() == 0
            }
        }
    }

    /// Whether the number is below zero.
    pub fn is_negative(self) -> bool {
        match self.0 {
            Repr::Int(value) => value < 0,
            Repr::Decimal(decimal) => decimal.negative,
        }
    }

    /// Whether the number is zero.
    pub fn is_zero(self) -> bool {
        match self.0 {
            Repr::Int(value) => value == 0,
            Repr::Decimal(decimal) => decimal.coefficient() == 0,
        }
    }

    pub fn to_f64(self) -> f64 {
        match self.0 {
            Repr::Int(value) => value as f64,
            Repr::Decimal(decimal) => {
                let coefficient = decimal.coefficient();
                if coefficient < 1 << 53 && (0..=22).contains(&decimal.scale) {
                    // Both are exact doubles, so the one division rounds correctly.
                    let value = coefficient as f64 / 10f64.powi(decimal.scale);
                    return if decimal.negative { -value } else { value };
                }
                let sign = if decimal.negative { "-" } else { "" };
                format!("{sign}{coefficient}e{}", -decimal.scale).parse().unwrap_or(f64::NAN)
            }
        }
    }

    /// The shortest decimal that reads back as the double; `None` for NaN and infinities.
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        Self::parse(&format!("{value:e}"))
    }

    pub fn plus(self, other: Self) -> Option<Self> {
        if let (Repr::Int(left), Repr::Int(right)) = (self.0, other.0)
            && let Some(sum) = left.checked_add(right)
        {
            return Some(Self(Repr::Int(sum)));
        }
        add(self.parts(), other.parts())
    }

    pub fn minus(self, other: Self) -> Option<Self> {
        if let (Repr::Int(left), Repr::Int(right)) = (self.0, other.0)
            && let Some(difference) = left.checked_sub(right)
        {
            return Some(Self(Repr::Int(difference)));
        }
        let mut right = other.parts();
        right.negative = !right.negative;
        add(self.parts(), right)
    }

    pub fn times(self, other: Self) -> Option<Self> {
        if let (Repr::Int(left), Repr::Int(right)) = (self.0, other.0)
            && let Some(product) = left.checked_mul(right)
        {
            return Some(Self(Repr::Int(product)));
        }
        let (left, right) = (self.parts(), other.parts());
        if left.high == 0 && right.high == 0 {
            let product = u128::from(left.low) * u128::from(right.low);
            if product <= COEFFICIENT_MAX {
                return Self::build(left.negative != right.negative, product, left.scale + right.scale);
            }
        }
        let product = Wide::product(left.coefficient(), right.coefficient());
        Self::normalize(left.negative != right.negative, product, left.scale + right.scale)
    }

    /// Quotient, `None` for a zero divisor. An exact quotient keeps no needless zeros.
    pub fn divided_by(self, other: Self) -> Option<Self> {
        if let (Repr::Int(left), Repr::Int(right)) = (self.0, other.0)
            && left.checked_rem(right)? == 0
        {
            return Some(Self(Repr::Int(left.checked_div(right)?)));
        }
        let (left, right) = (self.parts(), other.parts());
        let divisor = right.coefficient();
        if divisor == 0 {
            return None;
        }
        let negative = left.negative != right.negative;
        let preferred = left.scale - right.scale;
        let dividend_digits = Wide::from_u128(left.coefficient()).digits();
        let divisor_digits = Wide::from_u128(divisor).digits();
        // One digit more than the precision, and one more for a sticky digit below.
        let shift = (PRECISION + 1 + divisor_digits).saturating_sub(dividend_digits);
        let (quotient, remainder) = Wide::scaled(left.coefficient(), shift).divide(divisor);
        let scale = preferred + shift as i32;
        if remainder == 0 {
            let mut coefficient = quotient;
            let mut scale = scale;
            while scale > preferred {
                let (shorter, cut) = coefficient.cut(1);
                if cut != Cut::Nothing {
                    break;
                }
                coefficient = shorter;
                scale -= 1;
            }
            return Self::normalize(negative, coefficient, scale);
        }
        // A sticky last digit: the remainder decides ties but never the digits themselves.
        let coefficient = quotient.plus(quotient).plus(Wide::from_u128(1));
        let doubled = Wide::product(coefficient.as_u128()?, 5);
        Self::normalize(negative, doubled, scale + 1)
    }

    /// The number with its sign changed.
    #[must_use]
    pub fn negated(self) -> Self {
        match self.0 {
            Repr::Int(value) => match value.checked_neg() {
                Some(value) => Self(Repr::Int(value)),
                None => Self(Repr::Decimal(Decimal { high: 0, low: 1 << 63, scale: 0, negative: false })),
            },
            Repr::Decimal(decimal) => {
                Self::build(!decimal.negative, decimal.coefficient(), decimal.scale).unwrap_or(self)
            }
        }
    }

    #[must_use]
    pub fn magnitude(self) -> Self {
        if self.is_negative() { self.negated() } else { self }
    }

    /// Remainder with the sign of the divisor (DMN 1.5 table 76, `modulo`); `None` for a zero divisor.
    pub fn modulo(self, divisor: Self) -> Option<Self> {
        if divisor.is_zero() {
            return None;
        }
        if let (Repr::Int(left), Repr::Int(right)) = (self.0, divisor.0) {
            let remainder = left.checked_rem(right).unwrap_or(0);
            let adjust = remainder != 0 && (remainder < 0) != (right < 0);
            return Some(Self(Repr::Int(if adjust { remainder + right } else { remainder })));
        }
        let (left, right) = (self.parts(), divisor.parts());
        let remainder = Self::build(left.negative, remainder(left, right), left.scale.max(right.scale))?;
        if remainder.is_zero() || left.negative == right.negative {
            return Some(remainder);
        }
        remainder.plus(divisor)
    }

    /// Power. Whole exponents are computed in decimal, others as doubles.
    pub fn power(self, exponent: Self) -> Option<Self> {
        if exponent.is_whole() {
            let exponent = exponent.as_i64()?;
            let mut left = exponent.unsigned_abs();
            let mut base = self;
            let mut result = Self::ONE;
            loop {
                if left & 1 == 1 {
                    result = result.times(base)?;
                }
                left >>= 1;
                if left == 0 {
                    break;
                }
                base = base.times(base)?;
            }
            return if exponent < 0 { Self::ONE.divided_by(result) } else { Some(result) };
        }
        Self::from_f64(libm::pow(self.to_f64(), exponent.to_f64()))
    }

    /// Square root (as a double), `None` below zero.
    pub fn square_root(self) -> Option<Self> {
        if self.is_negative() { None } else { Self::from_f64(self.to_f64().sqrt()) }
    }

    /// Natural logarithm (as a double), `None` at or below zero.
    pub fn logarithm(self) -> Option<Self> {
        if self.is_negative() || self.is_zero() {
            return None;
        }
        Self::from_f64(libm::log(self.to_f64()))
    }

    /// `e` to the power of the number (as a double), `None` on overflow.
    pub fn exponential(self) -> Option<Self> {
        Self::from_f64(libm::exp(self.to_f64()))
    }
}

/// The integer that a whole decimal stands for.
fn whole(decimal: Decimal) -> Option<u128> {
    let coefficient = decimal.coefficient();
    if coefficient == 0 {
        return Some(0);
    }
    if decimal.scale <= 0 {
        let factor = 10u128.checked_pow(decimal.scale.unsigned_abs())?;
        return coefficient.checked_mul(factor);
    }
    let factor = 10u128.checked_pow(decimal.scale as u32)?;
    coefficient.is_multiple_of(factor).then_some(coefficient / factor)
}

/// The remainder of the magnitudes at the larger of the two scales; exact, however large the
/// quotient is.
fn remainder(left: Decimal, right: Decimal) -> u128 {
    let (dividend, divisor) = (left.coefficient(), right.coefficient());
    if left.scale > right.scale {
        // A divisor that does not fit is larger than the dividend.
        let factor = 10u128.checked_pow((left.scale - right.scale) as u32);
        return match factor.and_then(|factor| divisor.checked_mul(factor)) {
            Some(divisor) => dividend % divisor,
            None => dividend,
        };
    }
    let mut rest = dividend % divisor;
    let mut digits = (right.scale - left.scale) as u32;
    while digits > 0 && rest != 0 {
        let step = digits.min(PRECISION);
        rest = Wide::scaled(rest, step).divide(divisor).1;
        digits -= step;
    }
    rest
}

/// Both numbers as integers at the larger scale, if they fit into 128 bits.
fn aligned(left: Decimal, right: Decimal) -> (Option<(i128, i128)>, i32) {
    let scale = left.scale.max(right.scale);
    let bring = |decimal: Decimal| -> Option<i128> {
        let shift = (scale - decimal.scale) as u32;
        // The common case in 64-bit steps: 19 digits times ten to the 18th fit.
        let value = if decimal.high == 0 && shift <= 18 {
            i128::from(decimal.low) * i128::from(10u64.pow(shift))
        } else {
            let factor = 10u128.checked_pow(shift)?;
            i128::try_from(decimal.coefficient().checked_mul(factor)?).ok()?
        };
        Some(if decimal.negative { -value } else { value })
    };
    (bring(left).zip(bring(right)), scale)
}

/// Largest shift whose result, times ten, still fits into 256 bits.
const SHIFT_MAX: i32 = 42;

fn add(left: Decimal, right: Decimal) -> Option<Number> {
    if let (Some((left, right)), scale) = aligned(left, right)
        && let Some(sum) = left.checked_add(right)
    {
        return Number::from_parts(sum, scale);
    }
    // `coarse` has the smaller scale and is multiplied up; the digits of `fine` below the last digit only matter as
    // "not exact" and become a sticky digit.
    let (coarse, fine) = if left.scale <= right.scale { (left, right) } else { (right, left) };
    if coarse.coefficient() == 0 {
        return Number::build(fine.negative, fine.coefficient(), fine.scale);
    }
    let shift = (fine.scale - coarse.scale).min(SHIFT_MAX);
    let below = (fine.scale - coarse.scale - shift) as u32;
    let scale = coarse.scale + shift + 1;
    let big = Wide::scaled(coarse.coefficient(), shift as u32 + 1);
    let (kept, cut) = if below > 40 {
        let cut = if fine.coefficient() == 0 { Cut::Nothing } else { Cut::BelowHalf };
        (Wide::ZERO, cut)
    } else {
        Wide::from_u128(fine.coefficient()).cut(below)
    };
    let mut small = Wide::scaled(kept.as_u128()?, 1);
    if cut != Cut::Nothing {
        small = small.plus(Wide::from_u128(1));
    }
    let (negative, total) = if coarse.negative == fine.negative {
        (coarse.negative, big.plus(small))
    } else if big.compare(small) == Ordering::Less {
        (fine.negative, small.minus(big))
    } else {
        (coarse.negative, big.minus(small))
    };
    let (shorter, last) = total.cut(1);
    if last == Cut::Nothing {
        return Number::normalize(negative, shorter, scale - 1);
    }
    Number::normalize(negative, total, scale)
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Repr::Int(left), Repr::Int(right)) = (self.0, other.0) {
            return left.cmp(&right);
        }
        let (left, right) = (self.parts(), other.parts());
        if let (Some((left, right)), _) = aligned(left, right) {
            return left.cmp(&right);
        }
        let sign = |decimal: Decimal| match (decimal.coefficient(), decimal.negative) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let signs = sign(left).cmp(&sign(right));
        if signs != Ordering::Equal || sign(left) == 0 {
            return signs;
        }
        let magnitude = compare_magnitudes(left, right);
        if left.negative { magnitude.reverse() } else { magnitude }
    }
}

fn compare_magnitudes(left: Decimal, right: Decimal) -> Ordering {
    let (left_value, right_value) = (left.coefficient(), right.coefficient());
    if left.scale == right.scale {
        return left_value.cmp(&right_value);
    }
    let place = |decimal: Decimal| decimal.coefficient().ilog10() as i32 - decimal.scale;
    match place(left).cmp(&place(right)) {
        Ordering::Equal => {
            let scale = left.scale.max(right.scale);
            let bring =
                |decimal: Decimal| Wide::scaled(decimal.coefficient(), (scale - decimal.scale) as u32);
            bring(left).compare(bring(right))
        }
        unequal => unequal,
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(Repr::Int(value))
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        Self(Repr::Int(i64::from(value)))
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        Self(Repr::Int(i64::try_from(value).unwrap_or(i64::MAX)))
    }
}

#[cfg(test)]
mod tests;
