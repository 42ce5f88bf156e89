//! The bounds of a pack, known without reading it: the least and the largest value of each column.

use protocol::Name;
use search::model::{ColumnId, Kind};
use search::{Operand, Test, Value};

use super::bytes::{Input, put_i64, put_text, put_u32, seal, sealed};
use super::texts::may_have;
use super::{Condition, PackError, TextSource};

/// Bytes of the texts that are kept.
const TEXT_BYTES_MAX: usize = 32;

/// The values of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Zone {
    Null,
    Numbers {
        low: i64,
        high: i64,
        nulls: bool,
    },
    /// The beginnings of the least and the largest text.
    Texts {
        low: Name,
        high: Name,
        nulls: bool,
        is_filtered: bool,
    },
    Anything,
}

/// The columns of a pack.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Zones {
    pub rows: usize,
    columns: Vec<Zone>,
}

impl Zone {
    pub(super) fn same(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(number) => Self::Numbers { low: *number, high: *number, nulls: false },
            Value::Text(text) => {
                let text = Self::shortened(text);
                Self::Texts { low: text.clone(), high: text, nulls: false, is_filtered: false }
            }
        }
    }

    pub(super) fn texts(texts: &[Option<&Name>]) -> Self {
        let bound = |text: Option<&&Name>| text.map(|text| Self::shortened(text)).unwrap_or_default();
        let (low, high) = (bound(texts.iter().flatten().min()), bound(texts.iter().flatten().max()));
        Self::Texts { low, high, nulls: texts.contains(&None), is_filtered: false }
    }

    pub(super) fn filtered(self, by_filter: bool) -> Self {
        match self {
            Self::Texts { low, high, nulls, .. } => Self::Texts { low, high, nulls, is_filtered: by_filter },
            other => other,
        }
    }

    fn shortened(text: &str) -> Name {
        Name::from(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)])
    }

    /// Whether a value may be in there that passes a test. Lists are not looked into.
    fn may_pass(&self, test: &Test) -> bool {
        match (self, test) {
            (Self::Anything, _) => true,
            (Self::Null, test) => matches!(test, Test::NotEqual(_) | Test::NotIn(_) | Test::Exists(false)),
            (Self::Numbers { nulls, .. } | Self::Texts { nulls, .. }, Test::Exists(false)) => *nulls,
            (_, Test::Equal(operand)) => self.may_be(operand),
            // They are sorted: the first that is not too small decides.
            (Self::Numbers { low, high, .. }, Test::In(operands)) => {
                let at = operands.partition_point(|operand| *operand < Operand::Integer(*low));
                operands.get(at).is_some_and(|operand| *operand <= Operand::Integer(*high))
            }
            (_, Test::In(operands)) => operands.iter().any(|operand| self.may_be(operand)),
            (Self::Numbers { high, .. }, Test::Greater(Operand::Integer(than))) => high > than,
            (Self::Numbers { high, .. }, Test::GreaterOrEqual(Operand::Integer(than))) => high >= than,
            (Self::Numbers { low, .. }, Test::Less(Operand::Integer(than))) => low < than,
            (Self::Numbers { low, .. }, Test::LessOrEqual(Operand::Integer(than))) => low <= than,
            (Self::Texts { low, high, .. }, Test::Like(pattern)) => {
                let end = pattern.find(['*', '?', '\\']).unwrap_or(pattern.len());
                let beginning = Self::shortened(&pattern[..end]);
                // A text that begins so is not less than the beginning, and no more than the texts that begin so, too.
                (*low <= beginning || low.starts_with(beginning.as_str())) && beginning <= *high
            }
            _ => true,
        }
    }

    fn may_be(&self, operand: &Operand) -> bool {
        match (self, operand) {
            (Self::Numbers { low, high, .. }, Operand::Integer(number)) => (low..=high).contains(&number),
            (Self::Texts { low, high, .. }, Operand::Text(text)) => {
                let text = Self::shortened(text);
                *low <= text && text <= *high
            }
            (Self::Anything, _) => true,
            _ => false,
        }
    }
}

impl Zones {
    pub(super) fn new(columns: Vec<Zone>) -> Self {
        Self { rows: 0, columns }
    }

    pub(super) fn bytes(&self, rows: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.columns.len() * 18);
        put_u32(&mut out, rows);
        put_u32(&mut out, self.columns.len());
        for zone in &self.columns {
            match zone {
                Zone::Null => out.push(0),
                Zone::Anything => out.push(1),
                Zone::Numbers { low, high, nulls } => {
                    out.extend([2, u8::from(*nulls)]);
                    put_i64(&mut out, *low);
                    put_i64(&mut out, *high);
                }
                Zone::Texts { low, high, nulls, is_filtered } => {
                    out.extend([3, u8::from(*nulls) | u8::from(*is_filtered) << 1]);
                    put_text(&mut out, low);
                    put_text(&mut out, high);
                }
            }
        }
        seal(&mut out);
        out
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, PackError> {
        let mut input = Input::new(sealed(bytes)?);
        let rows = input.u32()?;
        let count = input.u32()?;
        let columns = (0..count).map(|_| {
            Ok(match input.u8()? {
                0 => Zone::Null,
                1 => Zone::Anything,
                2 => Zone::Numbers { nulls: input.u8()? > 0, low: input.i64()?, high: input.i64()? },
                3 => {
                    let flags = input.u8()?;
                    let (low, high) = (input.text()?, input.text()?);
                    Zone::Texts { low, high, nulls: flags & 1 == 1, is_filtered: flags & 2 == 2 }
                }
                _ => return Err(PackError::Damaged("a zone has an unknown form")),
            })
        });
        Ok(Self { rows, columns: columns.collect::<Result<_, _>>()? })
    }

    /// Columns that later releases added are null in all rows.
    fn zone(&self, column: ColumnId) -> &Zone {
        self.columns.get(column as usize).unwrap_or(&Zone::Null)
    }

    /// The bounds of a column: no value is less than the first, none more than the second, and whether there are
    /// nulls. `None` if they are not known; all null has no bounds.
    pub(crate) fn bounds(&self, column: ColumnId) -> Option<(Option<(Value, Value)>, bool)> {
        match self.zone(column) {
            Zone::Null => Some((None, true)),
            Zone::Numbers { low, high, nulls } => {
                Some((Some((Value::Integer(*low), Value::Integer(*high))), *nulls))
            }
            Zone::Texts { low, high, nulls, .. } => {
                // The text behind its beginning is not known.
                let is_whole = high.len() + char::MAX.len_utf8() <= TEXT_BYTES_MAX;
                let high = if is_whole { high.clone() } else { Name::from(format!("{high}{}", char::MAX)) };
                Some((Some((Value::Text(low.clone()), Value::Text(high))), *nulls))
            }
            Zone::Anything => None,
        }
    }

    /// Whether a row may meet a condition.
    pub(crate) fn may_meet(&self, condition: &Condition) -> bool {
        match condition {
            Condition::All(all) => all.iter().all(|condition| self.may_meet(condition)),
            Condition::Any(any) => any.iter().any(|condition| self.may_meet(condition)),
            Condition::Column { kind: Kind::List, .. } | Condition::Related { .. } => true,
            Condition::Column { column, test, .. } => self.zone(*column).may_pass(test),
        }
    }

    /// Whether a row may meet a condition, by the zones and the filters of texts.
    pub(crate) fn may_have(&self, condition: &Condition, source: &dyn TextSource) -> Result<bool, PackError> {
        let Condition::All(all) = condition else {
            return match condition {
                Condition::Column { column, test, .. } => self.may_have_text(*column, test, source),
                _ => Ok(true),
            };
        };
        for condition in all {
            if !self.may_have(condition, source)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn may_have_text(
        &self,
        column: ColumnId,
        test: &Test,
        source: &dyn TextSource,
    ) -> Result<bool, PackError> {
        let operands = match test {
            Test::Equal(operand) => std::slice::from_ref(operand),
            Test::In(operands) => operands,
            _ => return Ok(true),
        };
        if !matches!(self.zone(column), Zone::Texts { is_filtered: true, .. }) {
            return Ok(true);
        }
        let filter = source.filter(column)?;
        let filter = sealed(&filter)?;
        Ok(operands.iter().any(|operand| matches!(operand, Operand::Text(text) if may_have(filter, text))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_may_be_there() {
        let zone = Zone::Numbers { low: 10, high: 20, nulls: false };
        let one_of =
            |numbers: &[i64]| Test::In(numbers.iter().map(|number| Operand::Integer(*number)).collect());
        for (numbers, wanted) in [
            (&[][..], false),
            (&[1, 9], false),
            (&[1, 10], true),
            (&[1, 15, 30], true),
            (&[20], true),
            (&[1, 21], false),
        ] {
            assert_eq!(zone.may_pass(&one_of(numbers)), wanted, "{numbers:?}");
        }
        assert!(!zone.may_pass(&Test::Exists(false)) && zone.may_pass(&Test::Exists(true)));
        assert!(zone.may_pass(&Test::Greater(Operand::Integer(19))));
        assert!(!zone.may_pass(&Test::Greater(Operand::Integer(20))));
    }

    #[test]
    fn texts_that_may_be_there_by_their_beginnings() {
        let long = "m".repeat(100);
        let texts = [Name::from("ab"), Name::from(long.as_str())];
        let zone = Zone::texts(&texts.iter().map(Some).collect::<Vec<_>>());
        let text = |text: &str| Operand::Text(Name::from(text));
        for (sought, wanted) in [("a", false), ("ab", true), ("c", true), (&*long, true), ("n", false)] {
            assert_eq!(zone.may_pass(&Test::Equal(text(sought))), wanted, "{sought}");
        }
        for (pattern, wanted) in
            [("a*", true), ("b*c", true), ("n*", false), ("aa*", false), ("*", true), ("mmm?", true)]
        {
            assert_eq!(zone.may_pass(&Test::Like(pattern.into())), wanted, "{pattern}");
        }
        let other = Zone::texts(&[Some(&Name::from("")), Some(&Name::from("ä"))]);
        assert!(other.may_pass(&Test::Like("%".into())) && !other.may_pass(&Test::Like("ö*".into())));
        let bytes = Zones::new(vec![zone.clone(), Zone::Null, Zone::Anything]).bytes(7);
        let read = Zones::read(&bytes).unwrap();
        assert_eq!((read.rows, &read.columns[..]), (7, &[zone, Zone::Null, Zone::Anything][..]));
    }
}
