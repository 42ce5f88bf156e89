//! The `filter` of a request, validated from the contract, as a condition on rows.

use search::Filter;
use search::Test;
use search::model::{Entity, Kind};
use serde_json::{Map, Value};

use super::super::operation::Call;
use super::super::operators::{self, VALUES_MAX, ValueKind};
use super::super::problem::Failure;
use super::special;
use super::table::Spec;

/// Conditions of one filter. An alternative without any is one, and so is a relation to other rows.
const CONDITIONS_MAX: usize = 1000;

/// Reads the filter of a request; none passes everything.
pub(super) fn read(call: &Call<'_>, spec: &Spec) -> Result<Filter, Failure> {
    FilterReader::new(spec.entity).object("filter", &call.fields.object("filter"))
}

/// Reads conditions and counts them.
pub(super) struct FilterReader {
    pub(super) entity: &'static Entity,
    count: usize,
    /// Conditions that say something about a row.
    tests: usize,
    /// Values in lists.
    values: usize,
}

impl FilterReader {
    /// One that has read nothing yet.
    pub(super) const fn new(entity: &'static Entity) -> Self {
        Self { entity, count: 0, tests: 0, values: 0 }
    }

    /// Whether it has read no condition but empty alternatives.
    pub(super) const fn is_empty(&self) -> bool {
        self.tests == 0
    }

    /// Counts conditions.
    pub(super) fn count(&mut self, conditions: usize) -> Result<(), Failure> {
        self.count += conditions;
        if self.count <= CONDITIONS_MAX {
            return Ok(());
        }
        Err(Failure::invalid(format!(
            "filter: it has more than {CONDITIONS_MAX} conditions, empty alternatives of $or included"
        )))
    }

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
                    all.extend(
                        self.tests(&path, value, kind)?.into_iter().map(|test| Filter::Column(column, test)),
                    );
                }
            }
        }
        all.extend(special::read(self, path, object)?);
        Ok(Filter::All(all))
    }

    /// Expected value of a kind.
    pub(super) fn tests(&mut self, path: &str, value: &Value, kind: Kind) -> Result<Vec<Test>, Failure> {
        let kind = match kind {
            Kind::Key => ValueKind::Key,
            Kind::Integer => ValueKind::Integer,
            Kind::Time => ValueKind::Date,
            Kind::Flag => ValueKind::Flag,
            Kind::Text | Kind::List | Kind::Json => ValueKind::Text,
        };
        let mut tests = operators::tests(path, value, kind)?;
        if matches!(kind, ValueKind::Flag) {
            // Some flags count what makes them true.
            for test in &mut tests {
                if *test == Test::Equal(search::Operand::Integer(1)) {
                    *test = Test::Greater(search::Operand::Integer(0));
                }
            }
        }
        for test in &tests {
            if let Test::In(list) | Test::NotIn(list) = test {
                self.values += list.len();
            }
        }
        if self.values > VALUES_MAX {
            return Err(Failure::invalid(format!(
                "{path}: with it, the filter has more than {VALUES_MAX} values in lists"
            )));
        }
        self.tests += tests.len();
        self.count(tests.len())?;
        Ok(tests)
    }
}
