//! Many changes as one statement: what is alike in form is written together, its values as arrays.

use search::model::{Column, ColumnId, Entity};
use search::{StoreError, Value};
use sqlx::postgres::{PgArguments, PgConnection};
use sqlx::query::Query as Statement;
use sqlx::{AssertSqlSafe, Error, Postgres as Database};

use super::dialect::Postgres;
use super::text;
use crate::change::{self, Batch, Change, Operation};
use crate::sql::{Query, grown};

/// Changes of the same shape, in the order of their rows.
pub(super) struct Group<'b>(pub Vec<&'b Change>);

/// All changes of a batch.
pub(super) fn groups(batch: &Batch) -> Vec<Group<'_>> {
    change::groups(batch.changes()).into_iter().map(Group).collect()
}

/// Values of one column.
enum Array {
    Integers(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
}

/// A statement with the arrays of its placeholders.
pub(super) struct Bulk {
    text: String,
    arrays: Vec<Array>,
}

impl Bulk {
    pub async fn execute(self, connection: &mut PgConnection) -> Result<(), Error> {
        // Made of names of the model; what comes from outside is among the values.
        let mut statement: Statement<'_, Database, PgArguments> = sqlx::query(AssertSqlSafe(self.text));
        for array in self.arrays {
            statement = match array {
                Array::Integers(numbers) => statement.bind(numbers),
                Array::Texts(texts) => statement.bind(texts),
            };
        }
        statement.execute(connection).await.map(|_| ())
    }
}

impl Group<'_> {
    /// The statement that makes these changes.
    pub fn bulk(&self) -> Result<Bulk, StoreError> {
        let first = self.0[0];
        let mut arrays = vec![self.array(0, |change| change.id.value())?];
        if first.operation != Operation::Delete {
            for at in 0..first.values.len() {
                arrays.push(self.array(first.values[at].0, |change| change.values[at].1.clone())?);
            }
            for at in 0..first.increments.len() {
                let column = first.increments[at].0;
                arrays.push(self.array(column, |change| change.increments[at].1.into())?);
            }
        }
        Ok(Bulk { text: statement(first), arrays })
    }

    fn array(&self, column: ColumnId, value: impl Fn(&Change) -> Value) -> Result<Array, StoreError> {
        let entity = Entity::of(self.0[0].entity);
        let kind = entity.columns[column as usize].kind;
        if kind.is_integer() {
            let integer = |change: &&Change| match value(change) {
                Value::Null => Ok(None),
                Value::Integer(number) => Ok(Some(number)),
                Value::Text(text) => {
                    let reason = || format!("'{}' is no integer", entity.columns[column as usize].name);
                    text.parse().map(Some).map_err(|_| refused(change, reason()))
                }
            };
            return Ok(Array::Integers(self.0.iter().map(integer).collect::<Result<_, _>>()?));
        }
        let is_indexed = entity.is_indexed(column);
        let text = |change: &&Change| match value(change) {
            Value::Null => None,
            Value::Integer(number) => Some(number.to_string()),
            Value::Text(text) => Some(text::stored(&text, kind, is_indexed).into_owned()),
        };
        Ok(Array::Texts(self.0.iter().map(text).collect()))
    }
}

/// A change that the database will never take.
pub(super) fn refused(change: &Change, reason: String) -> StoreError {
    let entity = Entity::of(change.entity).name;
    StoreError::Refused { entity, row: format!("{:?}", change.id), reason }
}

/// The statement of a shape. Its placeholders are arrays: identities, values, increments.
fn statement(change: &Change) -> String {
    let entity = Entity::of(change.entity);
    let column = |id: &ColumnId| &entity.columns[*id as usize];
    let id = &entity.columns[0];
    let values: Vec<_> = change.values.iter().map(|(id, _)| column(id)).collect();
    let increments: Vec<_> = change.increments.iter().map(|(id, _)| column(id)).collect();
    let all: Vec<_> = std::iter::once(id).chain(values.clone()).chain(increments.clone()).collect();
    let mut query = Query::new(&Postgres);
    match change.operation {
        Operation::Delete => {
            query.push("DELETE FROM ").name(entity.name).push(" WHERE ").name(id.name);
            query.push("=ANY($1::").push(array_type(id)).push(")");
        }
        Operation::Update => {
            query.push("UPDATE ").name(entity.name).push(" t SET ");
            assignments(&mut query, &values, &increments, "t", "u");
            query.push(" FROM ");
            arrays(&mut query, &all);
            query.push(" AS u(");
            names(&mut query, &all);
            query.push(") WHERE t.").name(id.name).push("=u.").name(id.name);
        }
        Operation::Insert => {
            query.push("INSERT INTO ").name(entity.name).push(" AS t (");
            names(&mut query, &all);
            query.push(") SELECT * FROM ");
            arrays(&mut query, &all);
            query.push(" ON CONFLICT (").name(id.name).push(") DO ");
            if all.len() == 1 {
                query.push("NOTHING");
            } else {
                query.push("UPDATE SET ");
                assignments(&mut query, &values, &increments, "t", "excluded");
            }
        }
    }
    query.text
}

fn array_type(column: &Column) -> &'static str {
    if column.kind.is_integer() { "BIGINT[]" } else { "TEXT[]" }
}

fn arrays(query: &mut Query<'_>, columns: &[&Column]) {
    query.push("UNNEST(");
    for (at, column) in columns.iter().enumerate() {
        query.push(if at == 0 { "$" } else { ",$" }).push(&(at + 1).to_string());
        query.push("::").push(array_type(column));
    }
    query.push(")");
}

fn names(query: &mut Query<'_>, columns: &[&Column]) {
    for (at, column) in columns.iter().enumerate() {
        query.push(if at == 0 { "" } else { "," }).name(column.name);
    }
}

fn assignments(query: &mut Query<'_>, values: &[&Column], increments: &[&Column], old: &str, new: &str) {
    let mut comma = "";
    for column in values {
        query.push(comma).name(column.name).push("=").push(new).push(".").name(column.name);
        comma = ",";
    }
    for column in increments {
        query.push(comma).name(column.name).push("=");
        grown(query, column, true, &format!("{old}."), |query| {
            _ = query.push(new).push(".").name(column.name);
        });
        comma = ",";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::RowId;
    use search::model::{element_instance as element, process_instance as instance};

    #[test]
    fn what_is_alike_is_one_statement() {
        let mut batch = Batch::default();
        for key in [3, 1, 2] {
            batch
                .insert(&element::ENTITY, RowId::Key(key))
                .set(element::STATE, "ACTIVE")
                .add(element::HAS_INCIDENT, 1);
        }
        batch
            .update(&element::ENTITY, RowId::Key(4))
            .set(element::STATE, "COMPLETED")
            .add(element::HAS_INCIDENT, -1);
        batch.update(&element::ENTITY, RowId::Key(5));
        batch.insert(&instance::ENTITY, RowId::Key(6));
        batch.delete(&instance::ENTITY, RowId::Key(7));
        let groups = groups(&batch);
        let keys: Vec<_> = groups[2].0.iter().map(|change| change.id.clone()).collect();
        assert_eq!(keys, [RowId::Key(1), RowId::Key(2), RowId::Key(3)]);
        let statements: Vec<_> = groups.iter().map(|group| statement(group.0[0])).collect();
        assert_eq!(
            statements,
            [
                r#"INSERT INTO "process_instance" AS t ("processInstanceKey") SELECT * FROM UNNEST($1::BIGINT[]) ON CONFLICT ("processInstanceKey") DO NOTHING"#,
                r#"DELETE FROM "process_instance" WHERE "processInstanceKey"=ANY($1::BIGINT[])"#,
                r#"INSERT INTO "element_instance" AS t ("elementInstanceKey","state","hasIncident") SELECT * FROM UNNEST($1::BIGINT[],$2::TEXT[],$3::BIGINT[]) ON CONFLICT ("elementInstanceKey") DO UPDATE SET "state"=excluded."state","hasIncident"=COALESCE(t."hasIncident",0)+excluded."hasIncident""#,
                r#"UPDATE "element_instance" t SET "state"=u."state","hasIncident"=COALESCE(t."hasIncident",0)+u."hasIncident" FROM UNNEST($1::BIGINT[],$2::TEXT[],$3::BIGINT[]) AS u("elementInstanceKey","state","hasIncident") WHERE t."elementInstanceKey"=u."elementInstanceKey""#,
            ]
        );
    }

    #[test]
    fn a_text_where_a_number_belongs_is_told_with_its_row() {
        let mut batch = Batch::default();
        batch.insert(&element::ENTITY, RowId::Key(1)).set(element::START, "yesterday");
        let error = groups(&batch)[0].bulk().err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("row Key(1) of element_instance: 'startDate' is no integer"));
    }
}
