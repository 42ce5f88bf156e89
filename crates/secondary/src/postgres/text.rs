//! Texts that PostgreSQL does not take as they are.

use std::borrow::Cow;

use protocol::Name;
use search::{Operand, Test};
use xxhash_rust::xxh3::xxh3_64;

use search::model::{ColumnId, Entity, Kind};

/// Bytes of a text in an index. An entry must fit a third of a page, and two texts stand in some.
const INDEXED_BYTES_MAX: usize = 1000;
/// Bytes of what marks a text that was cut.
const MARK_BYTES: usize = '…'.len_utf8() + 16;

/// U+0000 cannot be stored; the sign for what cannot be shown stands for it, in questions, too.
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// A text as a column holds it.
pub(super) fn stored(text: &str, kind: Kind, is_indexed: bool) -> Cow<'_, str> {
    if kind == Kind::List && text.contains("\\u0000") {
        // The database looks into lists.
        let list: Vec<String> = serde_json::from_str(text).unwrap_or_default();
        let list: Vec<_> = list.iter().map(|text| storable(text)).collect();
        return Cow::Owned(serde_json::json!(list).to_string());
    }
    if is_indexed && text.len() > INDEXED_BYTES_MAX {
        return Cow::Owned(cut(&storable(text)));
    }
    storable(text)
}

/// Equal texts become equal, others stay different.
fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(INDEXED_BYTES_MAX - MARK_BYTES);
    format!("{}…{:016x}", &text[..end], xxh3_64(text.as_bytes()))
}

/// A test of a column whose texts may have been cut.
pub(super) fn test<'t>(entity: &Entity, column: ColumnId, test: &'t Test) -> Cow<'t, Test> {
    let is_long =
        |operand: &Operand| matches!(operand, Operand::Text(text) if text.len() > INDEXED_BYTES_MAX);
    let one = |operand: &Operand| match operand {
        Operand::Text(text) => Operand::Text(Name::from(&*stored(text, Kind::Text, true))),
        Operand::Integer(number) => Operand::Integer(*number),
    };
    let all = |operands: &[Operand]| operands.iter().map(one).collect();
    if !entity.is_indexed(column) {
        return Cow::Borrowed(test);
    }
    Cow::Owned(match test {
        Test::Equal(operand) if is_long(operand) => Test::Equal(one(operand)),
        Test::NotEqual(operand) if is_long(operand) => Test::NotEqual(one(operand)),
        Test::Greater(operand) if is_long(operand) => Test::Greater(one(operand)),
        Test::GreaterOrEqual(operand) if is_long(operand) => Test::GreaterOrEqual(one(operand)),
        Test::Less(operand) if is_long(operand) => Test::Less(one(operand)),
        Test::LessOrEqual(operand) if is_long(operand) => Test::LessOrEqual(one(operand)),
        Test::In(operands) if operands.iter().any(is_long) => Test::In(all(operands)),
        Test::NotIn(operands) if operands.iter().any(is_long) => Test::NotIn(all(operands)),
        _ => return Cow::Borrowed(test),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::model::{CUT_CHARS, ENTITIES, IndexScope, process_instance as instance};

    #[test]
    fn what_cannot_be_stored_is_replaced() {
        assert_eq!(stored("a\0b", Kind::Text, true), "a\u{fffd}b");
        assert_eq!(stored(r#"["a\u0000b","\\u0000"]"#, Kind::List, false), "[\"a\u{fffd}b\",\"\\\\u0000\"]");
        assert_eq!(stored(r#""\u0000""#, Kind::Json, false), r#""\u0000""#);
    }

    #[test]
    fn long_texts_are_cut_where_an_index_needs_it_and_stay_different() {
        let long = "ä".repeat(5000);
        let other = format!("{long}!");
        assert_eq!(stored(&long, Kind::Text, false), long);
        let (one, two) = (stored(&long, Kind::Text, true), stored(&other, Kind::Text, true));
        assert!(one.len() <= INDEXED_BYTES_MAX && one.starts_with("ää"), "{one}");
        assert_ne!(one, two);
        let asked = Test::Equal(Operand::Text(long.as_str().into()));
        let cut = Test::Equal(Operand::Text((&*one).into()));
        assert_eq!(*test(&instance::ENTITY, instance::BUSINESS_ID, &asked), cut);
        assert_eq!(*test(&instance::ENTITY, instance::PROCESS_NAME, &asked), asked);
    }

    #[test]
    fn every_entry_fits_its_index() {
        for entity in ENTITIES {
            let bytes = |column: &ColumnId| match entity.columns[*column as usize].kind {
                kind if kind.is_integer() => 8,
                _ if entity.is_cut(*column) => CUT_CHARS * 4 + 8,
                _ => INDEXED_BYTES_MAX + 8,
            };
            // Long elements are in an index of their own kind as hashes.
            let whole = entity.indexes.iter().filter(|index| !matches!(index.scope, IndexScope::Elements(_)));
            for index in whole {
                let entry: usize = index.columns.iter().map(bytes).sum::<usize>() + bytes(&0) + 32;
                assert!(entry <= 2704, "{}: {entry} bytes", entity.name);
            }
        }
    }
}
