//! The forms of a column.

use std::ops::Range;

use protocol::Name;
use search::Value;
use search::model::ColumnId;

use super::PackError;
use super::bytes::{Input, is_set, read_number};
use super::texts::Texts;

/// First byte of a column.
pub(super) const SAME_NULL: u8 = 0;
pub(super) const SAME_INTEGER: u8 = 1;
pub(super) const SAME_TEXT: u8 = 2;
pub(super) const NUMBERS: u8 = 3;
pub(super) const NAMES: u8 = 4;
pub(super) const TEXTS: u8 = 5;
/// Beside the number of a column: none.
pub(super) const NO_COLUMN: u8 = u8::MAX;

/// A column, with places in the bytes of its pack.
#[derive(Debug)]
pub(super) enum Column {
    /// Every row has this value.
    Same(Value),
    /// Integers, as what they are more than a base and than another column of the row.
    Numbers { base: i64, beside: Option<ColumnId>, width: usize, at: usize, nulls: Option<Range<usize>> },
    /// Few different texts. A row has the number of its text, from 1; 0 is null. The texts stand behind a key of the
    /// row and an underscore, if a column of that key is named.
    Names { names: Vec<Name>, width: usize, at: usize, beside: Option<ColumnId> },
    /// Many different texts, which stand beside the pack.
    Texts(Texts),
}

impl Column {
    pub(super) fn read(input: &mut Input<'_>, rows: usize) -> Result<Self, PackError> {
        let column = |number: u8| (number != NO_COLUMN).then_some(number);
        Ok(match input.u8()? {
            SAME_NULL => Self::Same(Value::Null),
            SAME_INTEGER => Self::Same(Value::Integer(input.i64()?)),
            SAME_TEXT => Self::Same(Value::Text(input.text()?)),
            NUMBERS => {
                let beside = column(input.u8()?);
                let width = usize::from(input.u8()?);
                if width > 8 {
                    return Err(PackError::Damaged("a number is too wide"));
                }
                let base = input.i64()?;
                let nulls = match input.u8()? {
                    0 => None,
                    _ => Some(input.place(rows.div_ceil(8))?),
                };
                let at = input.place(rows * width)?.start;
                Self::Numbers { base, beside, width, at, nulls }
            }
            NAMES => {
                let beside = column(input.u8()?);
                let width = usize::from(input.u8()?);
                if !matches!(width, 1 | 2) {
                    return Err(PackError::Damaged("the number of a text is too wide"));
                }
                let count = input.u32()?;
                let names = (0..count).map(|_| input.text()).collect::<Result<Vec<_>, _>>()?;
                let at = input.place(rows * width)?.start;
                Self::Names { names, width, at, beside }
            }
            TEXTS => Self::Texts(Texts::read(input, rows)?),
            _ => return Err(PackError::Damaged("a column has an unknown form")),
        })
    }
}

/// The number of a row in a column of [`Column::Numbers`], before its base and the other column are added.
pub(super) fn number(bytes: &[u8], width: usize, at: usize, row: usize) -> u64 {
    read_number(&bytes[at + row * width..at + (row + 1) * width])
}

pub(super) fn is_null(bytes: &[u8], nulls: Option<&Range<usize>>, row: usize) -> bool {
    nulls.is_some_and(|nulls| is_set(&bytes[nulls.clone()], row))
}
