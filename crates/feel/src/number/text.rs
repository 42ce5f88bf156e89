//! Numbers: parsing and formatting.

use super::{COEFFICIENT_MAX, Number, PRECISION, Repr, SCALE_MAX, Wide};
use std::fmt;

impl Number {
    /// Reads `-?digits[.digits][(e|E)[+-]digits]`, also `.5`; rounds to the precision, half-even.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (negative, digits) = match bytes.first()? {
            b'-' => (true, &bytes[1..]),
            _ => (false, bytes),
        };
        if digits.len() <= 18 && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
            let value = digits.iter().fold(0i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
            return Some(Self(Repr::Int(if negative { -value } else { value })));
        }
        if let Some(short) = short_decimal(negative, digits) {
            return Some(short);
        }
        let mut reader = Reader::default();
        let mut position = 0;
        while let Some(&byte) = digits.get(position) {
            match byte {
                b'0'..=b'9' => reader.digit(byte - b'0'),
                b'.' if !reader.fraction => reader.fraction = true,
                b'e' | b'E' => break,
                _ => return None,
            }
            position += 1;
        }
        if !reader.seen || digits.get(position.wrapping_sub(1)) == Some(&b'.') {
            return None;
        }
        let exponent = match digits.get(position) {
            None => 0,
            Some(_) => exponent(&digits[position + 1..])?,
        };
        reader.finish(negative, exponent)
    }

    /// Reads a number of a JSON document. The reference stores numbers with a point or an exponent as doubles, so
    /// their trailing zeros are dropped: `2.50` is `2.5`, and `1e2` is `100.0`.
    pub fn parse_json(text: &str) -> Option<Self> {
        let number = Self::parse(text)?;
        if !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            return Some(number);
        }
        let decimal = number.parts();
        let mut coefficient = decimal.coefficient();
        let mut scale = decimal.scale;
        if let Ok(mut short) = u64::try_from(coefficient) {
            while scale > 1 && short.is_multiple_of(10) {
                short /= 10;
                scale -= 1;
            }
            coefficient = u128::from(short);
        }
        while scale > 1 && coefficient.is_multiple_of(10) {
            coefficient /= 10;
            scale -= 1;
        }
        if scale < 1 && Wide::from_u128(coefficient).digits() as i32 - scale < PRECISION as i32 {
            coefficient *= 10u128.pow((1 - scale) as u32);
            scale = 1;
        }
        Self::build(decimal.negative, coefficient, scale)
    }

    /// Appends the number as JSON, in the one spelling that [`::json::canonical`] has for it. A result that was rounded
    /// to the precision, such as that of `1 / 3`, is written as the nearest double.
    pub fn write_json(self, out: &mut Vec<u8>) {
        let decimal = match self.0 {
            Repr::Int(value) => return write_int(value, out),
            Repr::Decimal(decimal) => decimal,
        };
        let is_full = decimal.coefficient() > COEFFICIENT_MAX / 10;
        let double = self.to_f64();
        if is_full && double != 0.0 && !self.is_whole() {
            return ::json::write_number(&format!("{double:e}"), out);
        }
        let sign = if decimal.negative { "-" } else { "" };
        ::json::write_number(&format!("{sign}{}e{}", decimal.coefficient(), -decimal.scale), out);
    }

    /// The digits before the decimal point, unless the number is so large that some are lost.
    pub fn whole_digits(self) -> Option<String> {
        let whole = self.round(0, super::Rounding::Down)?;
        let decimal = whole.parts();
        // One that was rounded to the precision may have lost digits.
        (decimal.scale >= 0 || decimal.coefficient() == 0).then(|| whole.to_string())
    }

    /// Removes zeros at the end of the fraction: equal value, smallest scale that is not negative.
    #[must_use]
    pub fn without_trailing_zeros(self) -> Self {
        let decimal = self.parts();
        let mut coefficient = decimal.coefficient();
        let mut scale = decimal.scale;
        while scale > 0 && coefficient.is_multiple_of(10) {
            coefficient /= 10;
            scale -= 1;
        }
        Self::build(decimal.negative, coefficient, scale).unwrap_or(self)
    }
}

fn write_int(value: i64, out: &mut Vec<u8>) {
    use std::io::Write;
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{value}");
}

/// Reads digits with one point among them, few enough for 64 bits.
fn short_decimal(negative: bool, digits: &[u8]) -> Option<Number> {
    if digits.len() > 19 {
        return None;
    }
    let point = digits.iter().position(|byte| *byte == b'.')?;
    let scale = digits.len() - point - 1;
    let mut coefficient = 0u64;
    for byte in digits[..point].iter().chain(&digits[point + 1..]) {
        if !byte.is_ascii_digit() {
            return None;
        }
        coefficient = coefficient * 10 + u64::from(byte - b'0');
    }
    if scale == 0 { None } else { Number::build(negative, u128::from(coefficient), scale as i32) }
}

/// Collects digits; digits beyond the precision only decide the rounding.
#[derive(Default)]
struct Reader {
    coefficient: u128,
    scale: i32,
    kept: u32,
    seen: bool,
    fraction: bool,
    sticky: bool,
}

impl Reader {
    fn digit(&mut self, digit: u8) {
        self.seen = true;
        // Two guard digits above the precision, all others are sticky.
        if self.kept < PRECISION + 2 {
            self.coefficient = self.coefficient * 10 + u128::from(digit);
            self.kept += u32::from(self.coefficient != 0);
            self.scale += i32::from(self.fraction);
        } else {
            self.sticky |= digit != 0;
            self.scale -= i32::from(!self.fraction);
        }
    }

    fn finish(self, negative: bool, exponent: i32) -> Option<Number> {
        let scale = self.scale.checked_sub(exponent)?;
        if self.coefficient == 0 {
            return Number::build(false, 0, scale.clamp(0, SCALE_MAX));
        }
        let (coefficient, scale) = if self.sticky {
            (Wide::from_u128(self.coefficient * 10 + 1), scale.checked_add(1)?)
        } else {
            (Wide::from_u128(self.coefficient), scale)
        };
        Number::normalize(negative, coefficient, scale)
    }
}

fn exponent(digits: &[u8]) -> Option<i32> {
    let (negative, digits) = match digits.first()? {
        b'-' => (true, &digits[1..]),
        b'+' => (false, &digits[1..]),
        _ => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0i32, |sum, digit| {
        sum.saturating_mul(10).saturating_add(i32::from(digit - b'0')).min(1_000_000)
    });
    Some(if negative { -value } else { value })
}

/// Plain notation with the digits that the scale says, never an exponent.
impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = match self.0 {
            Repr::Int(value) => return write!(formatter, "{value}"),
            Repr::Decimal(decimal) => decimal,
        };
        if decimal.negative {
            formatter.write_str("-")?;
        }
        let digits = decimal.coefficient().to_string();
        if decimal.scale <= 0 {
            let zeros = if decimal.coefficient() == 0 { 0 } else { decimal.scale.unsigned_abs() };
            formatter.write_str(&digits)?;
            return formatter.write_str(&"0".repeat(zeros as usize));
        }
        let scale = decimal.scale as usize;
        if digits.len() > scale {
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            write!(formatter, "{whole}.{fraction}")
        } else {
            write!(formatter, "0.{}{digits}", "0".repeat(scale - digits.len()))
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
