//! The rows of a pack.

use std::cell::RefCell;

use protocol::Name;
use search::model::{ColumnId, Entity};
use search::{Row, Sort, Value};

use super::bytes::{Input, sealed};
use super::column::{Column, is_null, number};
use super::order::{Place, placed};
use super::texts::OpenBlock;
use super::{PackError, TextSource};

/// Rows of one entity, without their long texts.
#[derive(Debug)]
pub(crate) struct PackedRows {
    pub entity: &'static Entity,
    pub rows: usize,
    pub(super) bytes: Vec<u8>,
    columns: Vec<Column>,
}

static NULL: Column = Column::Same(Value::Null);

impl PackedRows {
    /// Reads the head of a pack.
    pub fn read(entity: &'static Entity, mut bytes: Vec<u8>) -> Result<Self, PackError> {
        let length = sealed(&bytes)?.len();
        bytes.truncate(length);
        let mut input = Input::new(&bytes);
        let rows = input.u32()?;
        let mut columns = Vec::with_capacity(entity.columns.len());
        while input.at < bytes.len() {
            columns.push(Column::read(&mut input, rows)?);
        }
        let known = columns.len();
        let is_known = |column: &Column| match column {
            Column::Numbers { beside: Some(beside), .. } | Column::Names { beside: Some(beside), .. } => {
                usize::from(*beside) < known
            }
            _ => true,
        };
        if known > entity.columns.len() || !columns.iter().all(is_known) {
            return Err(PackError::Damaged("the pack has columns of a later release"));
        }
        Ok(Self { entity, rows, bytes, columns })
    }

    /// Bytes in memory.
    pub fn size(&self) -> usize {
        self.bytes.len() + size_of_val(&self.columns[..]) + 256
    }

    /// Columns that later releases added are null in all rows.
    pub(super) fn column(&self, column: ColumnId) -> &Column {
        self.columns.get(column as usize).unwrap_or(&NULL)
    }

    /// The number of a row in a column of integers.
    pub(super) fn integer(&self, column: ColumnId, row: usize) -> Option<i64> {
        match self.column(column) {
            Column::Same(value) => value.integer(),
            Column::Numbers { base, beside, width, at, nulls } => {
                if is_null(&self.bytes, nulls.as_ref(), row) {
                    return None;
                }
                let other = beside.map_or(0, |beside| self.integer(beside, row).unwrap_or(0));
                let rest = number(&self.bytes, *width, *at, row).cast_signed();
                Some(rest.wrapping_add(*base).wrapping_add(other))
            }
            Column::Names { .. } | Column::Texts(_) => None,
        }
    }

    /// The number of a row's text, from 1.
    pub(super) fn code(&self, width: usize, at: usize, row: usize) -> usize {
        number(&self.bytes, width, at, row) as usize
    }
}

/// A pack whose values are read.
pub(crate) struct Opened<'p> {
    pub pack: &'p PackedRows,
    pub source: &'p dyn TextSource,
    /// The block of texts that was read last.
    block: RefCell<Option<(ColumnId, OpenBlock)>>,
}

impl<'p> Opened<'p> {
    pub fn new(pack: &'p PackedRows, source: &'p dyn TextSource) -> Self {
        Self { pack, source, block: RefCell::new(None) }
    }

    pub fn value(&self, column: ColumnId, row: usize) -> Result<Value, PackError> {
        let pack = self.pack;
        Ok(match pack.column(column) {
            Column::Same(value) => value.clone(),
            Column::Numbers { .. } => Value::from(pack.integer(column, row)),
            Column::Names { names, width, at, beside } => {
                let Some(code) = pack.code(*width, *at, row).checked_sub(1) else { return Ok(Value::Null) };
                let name = names.get(code).ok_or(PackError::Damaged("a text has an unknown number"))?;
                match beside {
                    Some(beside) => {
                        let key = pack.integer(*beside, row).unwrap_or_default();
                        Value::from(format!("{key}_{name}"))
                    }
                    None => Value::Text(name.clone()),
                }
            }
            Column::Texts(texts) => {
                if is_null(&pack.bytes, texts.nulls.as_ref(), row) {
                    return Ok(Value::Null);
                }
                self.with_text(column, row, |text| Value::Text(Name::from(text)))?
            }
        })
    }

    /// Reads the text of a row in a column of long texts.
    pub(super) fn with_text<T>(
        &self,
        column: ColumnId,
        row: usize,
        read: impl FnOnce(&str) -> T,
    ) -> Result<T, PackError> {
        let Column::Texts(texts) = self.pack.column(column) else {
            return Err(PackError::Damaged("a column has no long texts"));
        };
        let mut block = self.block.borrow_mut();
        let open = match block.take().filter(|(of, open)| *of == column && open.has(row)) {
            Some((_, open)) => open,
            None => texts.open(column, row, self.pack.rows, self.source)?,
        };
        let result = open.text(row).map(read);
        *block = Some((column, open));
        result
    }

    pub fn place(&self, order: &[Sort], row: usize) -> Result<Place, PackError> {
        let place =
            order.iter().map(|sort| Ok(placed(self.pack.entity, *sort, self.value(sort.column, row)?)));
        place.collect()
    }

    /// A row with the columns whose bits are set.
    pub fn row(&self, row: usize, columns: u64) -> Result<Row, PackError> {
        let values = (0..self.pack.entity.columns.len())
            .map(|at| if columns >> at & 1 == 1 { self.value(at as ColumnId, row) } else { Ok(Value::Null) });
        values.collect()
    }
}
