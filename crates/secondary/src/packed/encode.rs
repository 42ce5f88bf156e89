//! From rows to bytes.

use std::collections::HashMap;

use protocol::Name;
use search::Value;
use search::model::{ColumnId, Entity, Kind};

use super::bytes::{bits, put_i64, put_text, put_u32, seal, width};
use super::column::{NAMES, NO_COLUMN, NUMBERS, SAME_INTEGER, SAME_NULL, SAME_TEXT, TEXTS};
use super::texts;
use super::zones::{Zone, Zones};
use crate::change::Change;

/// Different texts of a column up to which a byte tells them apart.
const NAMES_MAX: usize = 255;
/// Bytes of all different texts of a column that stand in the pack itself.
const NAMES_BYTES_MAX: usize = 16 * 1024;

static NULL: Value = Value::Null;

/// A row to pack.
#[derive(Clone, Copy)]
pub(crate) enum Unpacked<'r> {
    Row(&'r [Value]),
    Change(&'r Change),
}

/// Rows of one entity as bytes.
pub(crate) struct Encoded {
    pub zones: Vec<u8>,
    pub head: Vec<u8>,
    /// Columns that have many different texts, or enough for a filter.
    pub texts: Vec<EncodedTexts>,
}

/// The texts of a column beside a pack.
pub(crate) struct EncodedTexts {
    pub column: ColumnId,
    /// Empty if the texts stand in the pack, which has not to be read where the filter tells that none is sought.
    pub blocks: Vec<u8>,
    /// Tells most texts that the column does not have; empty if nobody looks for one.
    pub filter: Vec<u8>,
}

/// Packs rows of an entity, which are in the order of their keys.
pub(crate) fn encode(entity: &'static Entity, rows: &[Unpacked<'_>]) -> Encoded {
    let ids: Vec<Value> = rows.iter().map(|row| row.value(0)).collect();
    let mut columns: Vec<Vec<&Value>> = vec![Vec::new(); entity.columns.len()];
    columns[0] = ids.iter().collect();
    for (number, row) in rows.iter().enumerate() {
        for (at, value) in row.others() {
            let column = &mut columns[at as usize];
            column.resize(number, &NULL);
            column.push(value);
        }
    }
    let mut encoder =
        Encoder { entity, columns: &columns, head: Vec::new(), zones: Vec::new(), texts: Vec::new() };
    put_u32(&mut encoder.head, rows.len());
    // Those that are never searched for may be missing at the end.
    for at in 0..entity.columns.len() {
        encoder.column(at as ColumnId, rows.len());
    }
    let mut head = encoder.head;
    seal(&mut head);
    Encoded { zones: Zones::new(encoder.zones).bytes(rows.len()), head, texts: encoder.texts }
}

impl Encoded {
    pub fn size(&self) -> usize {
        let texts = self.texts.iter().map(|texts| texts.blocks.len() + texts.filter.len());
        self.zones.len() + self.head.len() + texts.sum::<usize>()
    }
}

impl<'r> Unpacked<'r> {
    /// The value of a column.
    pub fn value(&self, column: ColumnId) -> Value {
        match self {
            Self::Row(row) => row[column as usize].clone(),
            Self::Change(change) if column == 0 => change.id.value(),
            Self::Change(change) => {
                let at = change.values.binary_search_by_key(&column, |(at, _)| *at);
                at.map_or(Value::Null, |at| change.values[at].1.clone())
            }
        }
    }

    /// The values that are set, by column, in the order of columns.
    fn others(self) -> impl Iterator<Item = (ColumnId, &'r Value)> {
        let (row, change) = match self {
            Self::Row(row) => (Some(row), None),
            Self::Change(change) => (None, Some(change)),
        };
        let of_row = row
            .into_iter()
            .flat_map(|row| row.iter().enumerate().skip(1).map(|(at, value)| (at as ColumnId, value)));
        let of_change =
            change.into_iter().flat_map(|change| change.values.iter().map(|(at, value)| (*at, value)));
        of_row.chain(of_change)
    }
}

struct Encoder<'r> {
    entity: &'static Entity,
    columns: &'r [Vec<&'r Value>],
    head: Vec<u8>,
    zones: Vec<Zone>,
    texts: Vec<EncodedTexts>,
}

impl Encoder<'_> {
    fn value(&self, column: ColumnId, row: usize) -> &Value {
        self.columns[column as usize].get(row).copied().unwrap_or(&NULL)
    }

    fn column(&mut self, column: ColumnId, rows: usize) {
        let values = &self.columns[column as usize];
        let first = self.value(column, 0).clone();
        let is_same = match &first {
            Value::Null => values.iter().all(|value| **value == Value::Null),
            first => values.len() == rows && values.iter().all(|value| *value == first),
        };
        if is_same {
            match &first {
                Value::Null => self.head.push(SAME_NULL),
                Value::Integer(number) => {
                    self.head.push(SAME_INTEGER);
                    put_i64(&mut self.head, *number);
                }
                Value::Text(text) => {
                    self.head.push(SAME_TEXT);
                    put_text(&mut self.head, text);
                }
            }
            self.zones.push(Zone::same(&first));
        } else if self.entity.columns[column as usize].kind.is_integer() {
            self.numbers(column, rows);
        } else {
            self.text(column, rows);
        }
    }

    fn numbers(&mut self, column: ColumnId, rows: usize) {
        let numbers: Vec<Option<i64>> = (0..rows).map(|row| self.value(column, row).integer()).collect();
        let bounds = |beside: Option<ColumnId>| {
            let beside = beside.map(|beside| &self.columns[beside as usize]);
            let differences = numbers.iter().enumerate().filter_map(|(row, number)| {
                let other = beside.map_or(0, |column| column[row].integer().unwrap_or(0));
                number.map(|number| number.wrapping_sub(other))
            });
            differences.fold((i64::MAX, i64::MIN), |(low, high), number| (low.min(number), high.max(number)))
        };
        let range = |(low, high): (i64, i64)| high.wrapping_sub(low).cast_unsigned();
        let plain = bounds(None);
        let mut best = (width(range(plain)), None, plain.0);
        for beside in self.candidates(column, rows) {
            let bounds = bounds(Some(beside));
            let is_ordered = bounds.0 <= bounds.1 && bounds.1.checked_sub(bounds.0).is_some();
            if is_ordered && width(range(bounds)) < best.0 {
                best = (width(range(bounds)), Some(beside), bounds.0);
            }
        }
        let (width, beside, base) = best;
        let mut head = std::mem::take(&mut self.head);
        head.extend([NUMBERS, beside.unwrap_or(NO_COLUMN), width as u8]);
        put_i64(&mut head, base);
        let nulls = numbers.iter().any(Option::is_none);
        head.push(u8::from(nulls));
        if nulls {
            head.extend(bits(rows, |row| numbers[row].is_none()));
        }
        for (row, number) in numbers.iter().enumerate() {
            let other = beside.map_or(0, |column| self.value(column, row).integer().unwrap_or(0));
            let rest = number.map_or(0, |number| number.wrapping_sub(other).wrapping_sub(base));
            head.extend_from_slice(&rest.to_le_bytes()[..width]);
        }
        self.head = head;
        self.zones.push(Zone::Numbers { low: plain.0, high: plain.1, nulls });
    }

    /// Earlier columns without nulls that numbers are likely to be near: the identity, and the last of the same kind.
    fn candidates(&self, column: ColumnId, rows: usize) -> impl Iterator<Item = ColumnId> {
        let kind = |column: ColumnId| self.entity.columns[column as usize].kind;
        let is_full = |column: &ColumnId| {
            let values = &self.columns[*column as usize];
            values.len() == rows && values.iter().all(|value| value.integer().is_some())
        };
        let id = Some(0).filter(|_| kind(0) == Kind::Key && kind(column) == Kind::Key && column > 0);
        let last = (1..column).rev().find(|other| kind(*other) == kind(column) && is_full(other));
        id.into_iter().chain(last).filter(is_full).collect::<Vec<_>>().into_iter()
    }

    fn text(&mut self, column: ColumnId, rows: usize) {
        let columns = self.columns;
        let values = &columns[column as usize];
        let whole: Vec<Option<&Name>> =
            (0..rows).map(|row| values.get(row).and_then(|value| value.text())).collect();
        // An identity that begins with a key is kept without it.
        let begun = self.entity.id_begins_with.filter(|_| column == 0).and_then(|key| {
            let rests: Option<Vec<Name>> = (0..rows).map(|row| self.rest_of_id(key, row)).collect();
            Some((key, rests?))
        });
        let (beside, zone, named) = match &begun {
            Some((key, rests)) => {
                let rests: Vec<_> = rests.iter().map(Some).collect();
                (*key, Zone::Anything, numbered(&rests))
            }
            None => (NO_COLUMN, Zone::texts(&whole), numbered(&whole)),
        };
        let is_sought = self.entity.columns[column as usize].kind == Kind::Text;
        if let Some((names, codes)) = named {
            let is_filtered = is_sought && begun.is_none() && names.len() > NAMES_MAX;
            if is_filtered {
                let names: Vec<_> = names.iter().copied().map(Some).collect();
                self.texts.push(EncodedTexts { column, blocks: Vec::new(), filter: filter_of(&names) });
            }
            let width = if names.len() <= NAMES_MAX { 1 } else { 2 };
            self.head.extend([NAMES, beside, width]);
            put_u32(&mut self.head, names.len());
            for name in names {
                put_text(&mut self.head, name);
            }
            for code in codes {
                self.head.extend_from_slice(&code.to_le_bytes()[..usize::from(width)]);
            }
            self.zones.push(zone.filtered(is_filtered));
            return;
        }
        self.head.push(TEXTS);
        let mut blocks = Vec::new();
        texts::put(&whole, &mut self.head, &mut blocks);
        let filter = if is_sought { filter_of(&whole) } else { Vec::new() };
        self.texts.push(EncodedTexts { column, blocks, filter });
        self.zones.push(Zone::texts(&whole).filtered(is_sought));
    }

    fn rest_of_id(&self, key: ColumnId, row: usize) -> Option<Name> {
        let key = self.value(key, row).integer()?.to_string();
        let id = self.value(0, row).text()?;
        id.strip_prefix(key.as_str()).and_then(|rest| rest.strip_prefix('_')).map(Name::from)
    }
}

fn filter_of(texts: &[Option<&Name>]) -> Vec<u8> {
    let mut filter = texts::filter(texts);
    seal(&mut filter);
    filter
}

/// The different texts, and for each row the number of its own, from 1; 0 is none. `None` if they are too many.
fn numbered<'t>(texts: &[Option<&'t Name>]) -> Option<(Vec<&'t Name>, Vec<u16>)> {
    let mut names: Vec<&Name> = Vec::new();
    let mut numbers: HashMap<&str, u16> = HashMap::new();
    let mut codes = Vec::with_capacity(texts.len());
    let mut bytes = 0;
    let mut last: Option<(&Name, u16)> = None;
    for text in texts {
        let Some(text) = text else {
            codes.push(0);
            continue;
        };
        let code = match last {
            Some((name, code)) if std::sync::Arc::ptr_eq(&name.0, &text.0) => code,
            _ => *numbers.entry(text.as_str()).or_insert_with(|| {
                names.push(text);
                bytes += text.len();
                names.len() as u16
            }),
        };
        let is_too_much = names.len() > 1 && bytes > NAMES_BYTES_MAX;
        // Many names must still be few for the rows that have them.
        if is_too_much || names.len() > NAMES_MAX && (names.len() * 8 > texts.len() || names.len() >= 1 << 15)
        {
            return None;
        }
        last = Some((text, code));
        codes.push(code);
    }
    Some((names, codes))
}
