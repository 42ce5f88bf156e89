//! The tables of a program as one struct that is written, flushed and compared as a whole.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Flush, Flushed, Snapshot, StateError, Store, Table, TableKey, TableValue,
    command::{Command, TABLES_MAX},
    flush::FrozenTable,
    store::{Claim, View},
};

/// Declares a struct of tables.
///
/// ```
/// state::tables! {
///     /// The state of a shop.
///     pub struct Tables {
///         /// Orders by key.
///         pub orders: Table<u64, u32> = 1,
///         /// Open orders by customer and key.
///         pub open: Table<(String, u64), ()> = 2,
///     }
/// }
///
/// # fn main() -> Result<(), state::StateError> {
/// let store = state::Store::in_memory(state::Options::default())?;
/// let mut tables = Tables::open(&store)?;
/// tables.begin();
/// tables.orders.insert(7, 100);
/// tables.open.insert(("ada".to_owned(), 7), ());
/// tables.commit();
///
/// let flush = tables.freeze(1)?; // the log up to entry 1 is applied
/// let outcome = flush.run()?; // on another thread, while reads and writes go on
/// tables.flushed(outcome)?;
/// assert_eq!(tables.applied_index(), 1);
/// # Ok(())
/// # }
/// ```
///
/// The number after each table names it on disk. It is never changed and never used again for another table.
#[macro_export]
macro_rules! tables {
    (
        $(#[$struct_meta:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[$field_meta:meta])*
                $field_visibility:vis $field:ident : Table<$key:ty, $value:ty> = $number:literal
            ),+ $(,)?
        }
    ) => {
        $(#[$struct_meta])*
        #[derive(Debug)]
        $visibility struct $name {
            $(
                $(#[$field_meta])*
                $field_visibility $field: $crate::Table<$key, $value>,
            )+
            __core: $crate::hidden::Core,
        }

        const _: () = {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Position {
                $($field,)+
            }

            const NUMBERS: &[u32] = &[$($number),+];
            const _: () = $crate::hidden::check_numbers(NUMBERS);

            #[allow(dead_code)]
            impl $name {
                /// Opens the tables of a store. A table the store does not have yet is empty. Only one set of
                /// tables is open on a store at a time.
                pub fn open(store: &$crate::Store) -> ::core::result::Result<Self, $crate::StateError> {
                    let mut opening = $crate::hidden::Core::open(store, NUMBERS)?;
                    Ok(Self {
                        $($field: opening.table(stringify!($field), $number, Position::$field as usize),)+
                        __core: opening.core,
                    })
                }

                /// Begins a command: what is written until `commit` can be taken back by `rollback`.
                #[inline]
                pub fn begin(&mut self) {
                    self.__core.begin();
                }

                /// Ends a command and keeps what it wrote.
                #[inline]
                pub fn commit(&mut self) {
                    let touched = self.__core.end();
                    $(
                        if touched & (1 << (Position::$field as u32)) != 0 {
                            self.$field.commit();
                        }
                    )+
                }

                /// Ends a command and takes back what it wrote. Also right after a panic inside the command.
                pub fn rollback(&mut self) {
                    let touched = self.__core.end();
                    $(
                        if touched & (1 << (Position::$field as u32)) != 0 {
                            self.$field.rollback();
                        }
                    )+
                }

                /// Tables by their names. A name of no table panics.
                pub fn set_of(names: &[&str]) -> $crate::TableSet {
                    const ALL: &[&str] = &[$(stringify!($field)),+];
                    $crate::TableSet::of(names, ALL)
                }

                /// Whether the command at hand has changed some of these tables.
                pub fn has_changed(&self, among: $crate::TableSet) -> bool {
                    among.touched(&self.__core) != 0
                }

                /// The rows of some tables that the command at hand has changed, as it leaves them.
                pub fn changes(
                    &self,
                    among: $crate::TableSet,
                ) -> ::core::result::Result<::std::vec::Vec<$crate::RowChange>, $crate::StateError> {
                    let touched = among.touched(&self.__core);
                    let mut changes = ::std::vec::Vec::new();
                    $(
                        if touched & (1 << (Position::$field as u32)) != 0 {
                            self.$field.changes(&mut changes)?;
                        }
                    )+
                    ::core::result::Result::Ok(changes)
                }

                /// Makes a change that another set of the same tables has told.
                pub fn apply_change(
                    &mut self,
                    change: &$crate::RowChange,
                ) -> ::core::result::Result<(), $crate::StateError> {
                    match change.table {
                        $($number => self.$field.apply_change(change),)+
                        number => ::core::result::Result::Err($crate::StateError::Decode(
                            ::std::format!("a change of table {number}, which there is not"),
                        )),
                    }
                }

                /// Freezes the overlay, which holds everything up to that log index, for a flush. Takes no time to
                /// speak of. Refused while the previous flush has not ended, and inside a command.
                pub fn freeze(
                    &mut self,
                    applied_index: u64,
                ) -> ::core::result::Result<$crate::Flush, $crate::StateError> {
                    self.__core.freeze(applied_index)?;
                    $(self.$field.freeze();)+
                    Ok(self.__core.flush(applied_index, self.__frozen_tables()))
                }

                /// The flush under way once more, after it failed.
                pub fn retry_flush(&self) -> ::core::option::Option<$crate::Flush> {
                    Some(self.__core.flush(self.__core.frozen_index()?, self.__frozen_tables()))
                }

                fn __frozen_tables(&self) -> ::std::vec::Vec<::std::boxed::Box<dyn $crate::hidden::FrozenTable>> {
                    [$(self.$field.frozen_table()),+].into_iter().flatten().collect()
                }

                /// Goes over to what a flush has written. The overlay comes back to be dropped wherever that does not
                /// hold anybody up.
                pub fn flushed(
                    &mut self,
                    outcome: $crate::Flushed,
                ) -> ::core::result::Result<$crate::Retired, $crate::StateError> {
                    let mut views = self.__core.flushed(outcome)?.into_iter();
                    let mut retired = ::std::vec::Vec::with_capacity(NUMBERS.len());
                    $(retired.extend(views.next().and_then(|view| self.$field.flushed(view)));)+
                    Ok($crate::hidden::retire(retired))
                }

                /// Removes all rows of all tables but those of these names. Outside of any command: it cannot be taken
                /// back.
                pub fn clear_but(
                    &mut self,
                    kept: &[&str],
                ) -> ::core::result::Result<(), $crate::StateError> {
                    $(if !kept.contains(&stringify!($field)) {
                        self.$field.clear()?;
                    })+
                    Ok(())
                }

                /// Memory of the overlay that the next `freeze` will take, by estimate.
                pub fn overlay_bytes(&self) -> usize {
                    0 $(+ self.$field.overlay_bytes())+
                }

                /// Memory of the overlay that the flush under way writes, by estimate; 0 if there is none.
                pub fn frozen_bytes(&self) -> usize {
                    0 $(+ self.$field.frozen_bytes())+
                }

                /// Whether a flush is under way: frozen, and not yet taken over.
                pub fn frozen(&self) -> bool {
                    self.__core.frozen_index().is_some()
                }

                /// A snapshot of what is on disk. Flushes and changes go on meanwhile.
                pub fn snapshot(&self) -> ::core::result::Result<$crate::Snapshot, $crate::StateError> {
                    self.__core.snapshot()
                }

                /// The log index up to which everything is on disk. The log is needed from the next one on.
                pub fn applied_index(&self) -> u64 {
                    self.__core.applied_index()
                }

                /// A hash of all rows, equal for equal content however it is spread over memory and disk. Reads
                /// everything.
                pub fn state_hash(&self) -> ::core::result::Result<u64, $crate::StateError> {
                    Ok($crate::hidden::combine_hashes([$(self.$field.state_hash()?),+].into_iter().flatten()))
                }

                /// The exact number of rows of each table, in the order of the struct.
                pub fn exact_row_counts(&self) -> ::core::result::Result<::std::vec::Vec<u64>, $crate::StateError> {
                    ::core::result::Result::Ok(::std::vec![$(self.$field.len()?),+])
                }

                /// About the number of rows of each table, by name; exact where few keys have to be looked up on disk.
                pub fn row_counts(&self) -> ::std::vec::Vec<(&'static str, u64)> {
                    ::std::vec![$(self.$field.row_count()),+]
                }
            }
        };
    };
}

/// Some tables of a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSet(u128);

impl TableSet {
    #[doc(hidden)]
    pub fn of(names: &[&str], all: &[&str]) -> Self {
        let bit = |name: &&str| {
            let place = all.iter().position(|known| known == name);
            1_u128 << place.unwrap_or_else(|| panic!("there is no table '{name}'"))
        };
        Self(names.iter().map(bit).fold(0, |set, bit| set | bit))
    }

    #[doc(hidden)]
    pub fn touched(self, core: &Core) -> u128 {
        self.0 & core.command.touched()
    }
}

/// Common operations on the tables of a struct.
#[derive(Debug)]
pub struct Core {
    store: Store,
    _claim: Claim,
    command: Arc<Command>,
    epoch: u64,
    applied_index: u64,
    frozen_index: Option<u64>,
}

/// Tables while they are being opened.
#[derive(Debug)]
pub struct CoreOpening {
    /// For the struct.
    pub core: Core,
    views: std::vec::IntoIter<View>,
}

impl CoreOpening {
    /// The next table.
    pub fn table<K: TableKey, V: TableValue>(
        &mut self,
        name: &'static str,
        number: u32,
        position: usize,
    ) -> Table<K, V> {
        let view = self.views.next().expect("a view was made for every table");
        Table::open(&self.core.store, &self.core.command, name, number, position, view)
    }
}

/// Refuses, at compile time, table numbers that occur twice and more tables than there is room for.
pub const fn check_numbers(numbers: &[u32]) {
    assert!(numbers.len() <= TABLES_MAX, "too many tables");
    let mut left = 0;
    while left < numbers.len() {
        let mut right = left + 1;
        while right < numbers.len() {
            assert!(numbers[left] != numbers[right], "two tables have the same number");
            right += 1;
        }
        left += 1;
    }
}

/// One hash of many, in the order of table numbers.
pub fn combine_hashes(hashes: impl Iterator<Item = (u32, u64)>) -> u64 {
    let mut hashes: Vec<_> = hashes.collect();
    hashes.sort_unstable();
    let bytes: Vec<u8> = hashes
        .iter()
        .flat_map(|(number, hash)| [u64::from(*number).to_le_bytes(), hash.to_le_bytes()].concat())
        .collect();
    xxh3_64(&bytes)
}

#[allow(missing_docs)]
impl Core {
    pub fn open(store: &Store, numbers: &[u32]) -> Result<CoreOpening, StateError> {
        let claim = store.claim()?;
        if let Some(number) = store.table_numbers()?.into_iter().find(|number| !numbers.contains(number)) {
            return Err(StateError::UnknownTable { path: store.path().to_owned(), number });
        }
        let core = Self {
            store: store.clone(),
            _claim: claim,
            command: Arc::new(Command::default()),
            epoch: 0,
            applied_index: store.read_applied()?,
            frozen_index: None,
        };
        let views = store.views(numbers.iter().copied())?.into_iter();
        Ok(CoreOpening { core, views })
    }

    #[inline]
    pub fn begin(&mut self) {
        debug_assert_eq!(self.command.epoch(), 0, "the previous command has not ended");
        self.epoch += 1;
        self.command.set_epoch(self.epoch);
    }

    #[inline]
    pub fn end(&mut self) -> u128 {
        self.command.set_epoch(0);
        self.command.take_touched()
    }

    pub fn freeze(&mut self, applied_index: u64) -> Result<(), StateError> {
        if self.command.epoch() != 0 {
            return Err(StateError::InsideCommand);
        }
        if self.frozen_index.is_some() {
            return Err(StateError::FlushPending);
        }
        if applied_index < self.applied_index {
            return Err(StateError::IndexWentBack { given: applied_index, flushed: self.applied_index });
        }
        self.frozen_index = Some(applied_index);
        Ok(())
    }

    pub fn flush(&self, applied_index: u64, tables: Vec<Box<dyn FrozenTable>>) -> Flush {
        Flush { store: self.store.clone(), tables, applied_index }
    }

    pub fn flushed(&mut self, outcome: Flushed) -> Result<Vec<View>, StateError> {
        if self.command.epoch() != 0 {
            return Err(StateError::InsideCommand);
        }
        if self.frozen_index != Some(outcome.applied_index) {
            return Err(StateError::NoSuchFlush(outcome.applied_index));
        }
        self.frozen_index = None;
        self.applied_index = outcome.applied_index;
        Ok(outcome.views)
    }

    pub fn frozen_index(&self) -> Option<u64> {
        self.frozen_index
    }

    pub fn snapshot(&self) -> Result<Snapshot, StateError> {
        self.store.snapshot()
    }

    pub fn applied_index(&self) -> u64 {
        self.applied_index
    }
}
