//! The `filter` of a request, validated from the contract, as a condition on rows.

use search::model::{ColumnId, EntityId, Kind, variable};
use search::{Filter, Operand, Test};
use serde_json::{Map, Value};

use super::super::call::Call;
use super::super::problem::Failure;
use super::filter_reader::FilterReader;
use super::table::Spec;
use super::{special, values, write};

/// Reads the filter of a request; none passes everything.
pub(super) fn read(call: &Call<'_>, spec: &Spec) -> Result<Filter, Failure> {
    FilterReader::new(spec.entity).object("filter", &call.fields.object("filter"))
}

impl FilterReader {
    /// All properties of an object.
    pub(super) fn object(&mut self, path: &str, object: &Map<String, Value>) -> Result<Filter, Failure> {
        let mut all = Vec::new();
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let path = format!("{path}.{name}");
            if name == "$or" {
                let mut any = Vec::new();
                for (at, alternative) in value.as_array().into_iter().flatten().enumerate() {
                    if let Value::Object(alternative) = alternative {
                        let before = self.count;
                        any.push(self.object(&format!("{path}[{at}]"), alternative)?);
                        self.count(usize::from(self.count == before))?;
                    }
                }
                // No alternatives are none to choose from, as the official Java client sends them.
                if !any.is_empty() {
                    all.push(Filter::Any(any));
                }
            } else if !special::is_special(self.entity, name) {
                let column = self.entity.column(name);
                let column =
                    column.ok_or_else(|| Failure::invalid(format!("{path}: is no property to filter by")))?;
                let kind = self.entity.columns[column as usize].kind;
                if kind == Kind::List {
                    // All that are named must be there.
                    for text in value.as_array().into_iter().flatten() {
                        all.extend(
                            self.tests(&path, text, kind)?
                                .into_iter()
                                .map(|test| Filter::Column(column, test)),
                        );
                    }
                } else {
                    let mut tests = self.tests(&path, value, kind)?;
                    if self.entity.id == EntityId::Variable && column == variable::VALUE {
                        values::respell(&mut tests);
                    }
                    let is_number = write::is_number(self.entity, column);
                    all.extend(tests.into_iter().map(|test| {
                        if is_number { with_no_key(column, test) } else { Filter::Column(column, test) }
                    }));
                }
            }
        }
        all.extend(special::read(self, path, object)?);
        Ok(Filter::All(all))
    }
}

/// A test of a column that shows [`write::NO_KEY`] where it has no value.
fn with_no_key(column: ColumnId, test: Test) -> Filter {
    let no_key = Operand::Integer(write::NO_KEY);
    let is_there = |there| Filter::Column(column, Test::Exists(there));
    match test {
        Test::Equal(key) if key == no_key => is_there(false),
        Test::NotEqual(key) if key == no_key => is_there(true),
        Test::In(mut keys) if keys.contains(&no_key) => {
            keys.retain(|key| *key != no_key);
            Filter::Any(vec![Filter::Column(column, Test::In(keys)), is_there(false)])
        }
        Test::NotIn(mut keys) if keys.contains(&no_key) => {
            keys.retain(|key| *key != no_key);
            Filter::Column(column, Test::NotIn(keys)).and(is_there(true))
        }
        other => Filter::Column(column, other),
    }
}

#[cfg(test)]
mod tests {
    use search::model::decision_instance::{ENTITY, INSTANCE_KEY};
    use serde_json::json;

    use super::*;

    #[test]
    fn evaluations_without_an_instance_are_found_by_the_key_that_they_show() {
        let read = |value: Value| {
            let filter = Map::from_iter([("processInstanceKey".to_owned(), value)]);
            FilterReader::new(&ENTITY).object("filter", &filter).unwrap()
        };
        let column = |test| Filter::Column(INSTANCE_KEY, test);
        let seven = || Operand::Integer(7);
        for (value, expected) in [
            (json!("-1"), column(Test::Exists(false))),
            (json!("7"), column(Test::Equal(seven()))),
            (json!({"$neq": "-1"}), column(Test::Exists(true))),
            (
                json!({"$in": ["7", "-1"]}),
                Filter::Any(vec![column(Test::In(vec![seven()])), column(Test::Exists(false))]),
            ),
            (
                json!({"$notIn": ["7", "-1"]}),
                column(Test::NotIn(vec![seven()])).and(column(Test::Exists(true))),
            ),
        ] {
            assert_eq!(read(value.clone()), Filter::All(vec![expected]), "{value}");
        }
    }
}
