//! Rounding a number to a scale.

use super::{Number, PRECISION, SCALE_MAX, Wide, wide::Cut};

/// How to round; the names are those that FEEL's `decimal(n, scale, mode)` takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Away from zero.
    Up,
    /// Towards zero.
    Down,
    /// Towards positive infinity.
    Ceiling,
    /// Towards negative infinity.
    Floor,
    /// To nearest, ties away from zero.
    HalfUp,
    /// To nearest, ties towards zero.
    HalfDown,
    /// To nearest, ties to the even digit.
    HalfEven,
}

impl Number {
    /// The number with exactly `scale` digits behind the point, or fewer if the scale is negative;
    /// `None` if the result would need more digits than the precision.
    pub fn round(self, scale: i32, mode: Rounding) -> Option<Self> {
        if !(-SCALE_MAX..=SCALE_MAX).contains(&scale) {
            return None;
        }
        let decimal = self.parts();
        if decimal.scale <= scale {
            let missing = (scale - decimal.scale) as u32;
            if decimal.coefficient() == 0 {
                return Self::build(false, 0, scale);
            }
            if missing > PRECISION {
                return Some(self);
            }
            let longer = Wide::scaled(decimal.coefficient(), missing);
            if longer.digits() > PRECISION {
                return Some(self);
            }
            return Self::normalize(decimal.negative, longer, scale);
        }
        let excess = (decimal.scale - scale) as u32;
        let (quotient, cut) = Wide::from_u128(decimal.coefficient()).cut(excess.min(60));
        let odd = quotient.as_u128()? & 1 == 1;
        let away = match mode {
            Rounding::Up => cut != Cut::Nothing,
            Rounding::Down => false,
            Rounding::Ceiling => cut != Cut::Nothing && !decimal.negative,
            Rounding::Floor => cut != Cut::Nothing && decimal.negative,
            Rounding::HalfUp => matches!(cut, Cut::Half | Cut::AboveHalf),
            Rounding::HalfDown => cut == Cut::AboveHalf,
            Rounding::HalfEven => cut == Cut::AboveHalf || (cut == Cut::Half && odd),
        };
        let rounded = if away { quotient.plus(Wide::from_u128(1)) } else { quotient };
        Self::normalize(decimal.negative, rounded, scale).map(Self::without_negative_scale)
    }

    /// Writes `12E+2` as `1200`, so that whole results of rounding stay plain integers.
    fn without_negative_scale(self) -> Self {
        let decimal = self.parts();
        if decimal.scale >= 0 || decimal.scale < -(PRECISION as i32) {
            return self;
        }
        let longer = Wide::scaled(decimal.coefficient(), decimal.scale.unsigned_abs());
        if longer.digits() > PRECISION {
            return self;
        }
        Self::normalize(decimal.negative, longer, 0).unwrap_or(self)
    }
}
