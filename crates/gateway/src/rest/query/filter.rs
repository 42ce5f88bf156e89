//! The `filter` of a request, validated from the contract, as a condition on rows.

use search::Filter;
use search::model::Kind;
use serde_json::{Map, Value};

use super::super::call::Call;
use super::super::problem::Failure;
use super::filter_reader::FilterReader;
use super::special;
use super::table::Spec;

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
                    all.extend(
                        self.tests(&path, value, kind)?.into_iter().map(|test| Filter::Column(column, test)),
                    );
                }
            }
        }
        all.extend(special::read(self, path, object)?);
        Ok(Filter::All(all))
    }
}
