//! Tables and indexes, made and extended at start.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use search::StoreError;
use search::model::{ENTITIES, Entity, INDEXES_RETIRED, Index, element_instance};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Error};
use xxhash_rust::xxh3::xxh3_64;

use super::dialect::Postgres;
use super::{PostgresOptions, within};
use crate::former::of_what_is_there;
use crate::sql::{Dialect as _, create_index, create_table};

/// Grows when the meaning of what is stored changes; columns and tables that are added need no new number.
const VERSION: i64 = 1;
/// How long making indexes of what is there already may take, or waiting for another broker that makes them.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(4 * 3600);
/// PostgreSQL cuts longer names.
const NAME_BYTES_MAX: usize = 63;

const VERSION_TABLE: &str = "baton_schema";
const PROGRESS_TABLE: &str = "progress";
const GAP_TABLE: &str = "progress_gap";

/// Contents of a schema.
#[derive(Debug, Default)]
struct Found {
    exists: bool,
    columns: BTreeMap<String, BTreeSet<String>>,
    indexes: BTreeSet<String>,
    version: Option<i64>,
}

/// Creates missing tables and indexes. Servers that start at the same time wait.
pub(super) async fn prepare(
    connection: &mut PgConnection,
    options: &PostgresOptions,
) -> Result<(), StoreError> {
    let schema = &options.schema;
    let found = within(options.write_timeout, read(connection, schema)).await?;
    if found.missing(schema)?.is_empty() {
        return Ok(());
    }
    let extended = async {
        let mut transaction = connection.begin().await?;
        sqlx::query("SET LOCAL statement_timeout = 0").execute(&mut *transaction).await?;
        let lock = xxh3_64(format!("baton {schema}").as_bytes()).cast_signed();
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(lock).execute(&mut *transaction).await?;
        let statements = match read(&mut transaction, schema).await?.missing(schema) {
            Ok(statements) => statements,
            Err(error) => return Ok(Err(error)),
        };
        for statement in statements {
            // Made of names of the model, and the name of the schema in quotes.
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(Ok(()))
    };
    within(PREPARE_TIMEOUT, extended).await?
}

async fn read(connection: &mut PgConnection, schema: &str) -> Result<Found, Error> {
    let encoding: String =
        sqlx::query_scalar("SELECT current_setting('server_encoding')").fetch_one(&mut *connection).await?;
    if encoding != "UTF8" {
        let reason = format!("the database has the encoding {encoding}; it must be UTF8");
        return Err(Error::Configuration(reason.into()));
    }
    let exists = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname=$1)");
    let mut found =
        Found { exists: exists.bind(schema).fetch_one(&mut *connection).await?, ..Found::default() };
    let columns = "SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_namespace n ON n.oid=c.relnamespace \
         JOIN pg_attribute a ON a.attrelid=c.oid \
         WHERE n.nspname=$1 AND c.relkind IN ('r','p','v','m','f') AND a.attnum>0 AND NOT a.attisdropped";
    let columns =
        sqlx::query_as::<_, (String, String)>(columns).bind(schema).fetch_all(&mut *connection).await?;
    for (table, column) in columns {
        found.columns.entry(table).or_default().insert(column);
    }
    let indexes = sqlx::query_scalar("SELECT indexname::text FROM pg_indexes WHERE schemaname=$1");
    found.indexes.extend(indexes.bind(schema).fetch_all(&mut *connection).await? as Vec<String>);
    if found.columns.get(VERSION_TABLE).is_some_and(|columns| columns.contains("version")) {
        let version = format!("SELECT MAX(version) FROM {}.{VERSION_TABLE}", quoted(schema));
        found.version = sqlx::query_scalar(AssertSqlSafe(version)).fetch_one(&mut *connection).await?;
    }
    Ok(found)
}

impl Found {
    /// The statements that make what is missing.
    fn missing(&self, schema: &str) -> Result<Vec<String>, StoreError> {
        match self.version {
            Some(version) if version > VERSION => {
                return Err(StoreError::Schema(format!(
                    "the schema '{schema}' has version {version}, this release knows versions up to {VERSION}"
                )));
            }
            Some(_) => {}
            None => self.check_free(schema)?,
        }
        let mut statements = Vec::new();
        if !self.exists {
            statements.push(format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(schema)));
        }
        for entity in ENTITIES {
            self.missing_of(entity, &mut statements);
        }
        let retired = INDEXES_RETIRED.iter().filter(|name| self.indexes.contains(**name));
        statements.extend(retired.map(|name| format!("DROP INDEX IF EXISTS \"{name}\"")));
        if !self.columns.contains_key(PROGRESS_TABLE) {
            statements.push(format!(
                "CREATE TABLE {PROGRESS_TABLE} (partition BIGINT PRIMARY KEY, position BIGINT NOT NULL)"
            ));
        }
        if !self.columns.contains_key(GAP_TABLE) {
            statements.push(format!(
                "CREATE TABLE {GAP_TABLE} (partition BIGINT NOT NULL, lower BIGINT NOT NULL, upper BIGINT NOT NULL, \
                 accepted BOOLEAN NOT NULL, PRIMARY KEY (partition, lower))"
            ));
        }
        if self.version.is_none() {
            statements.push(format!("CREATE TABLE {VERSION_TABLE} (version BIGINT NOT NULL)"));
            statements.push(format!("INSERT INTO {VERSION_TABLE} VALUES ({VERSION})"));
        }
        Ok(statements)
    }

    /// Nothing is added to tables of somebody else.
    fn check_free(&self, schema: &str) -> Result<(), StoreError> {
        let names =
            ENTITIES.iter().map(|entity| entity.name).chain([PROGRESS_TABLE, GAP_TABLE, VERSION_TABLE]);
        let taken = names.into_iter().find(|name| self.columns.contains_key(*name));
        taken.map_or(Ok(()), |name| {
            Err(StoreError::Schema(format!(
                "the schema '{schema}' has a table '{name}' that is not Baton's; give Baton a schema of its own"
            )))
        })
    }

    fn missing_of(&self, entity: &Entity, statements: &mut Vec<String>) {
        match self.columns.get(entity.name) {
            None => {
                statements.push(create_table(&Postgres, entity, ""));
                let has_elements = self.columns.contains_key(element_instance::ENTITY.name);
                statements.extend(of_what_is_there(&Postgres, entity).filter(|_| has_elements));
            }
            Some(known) => {
                for column in entity.columns.iter().filter(|column| !known.contains(column.name)) {
                    let kind = Postgres.column_type(column.kind);
                    let sql =
                        format!("ALTER TABLE \"{}\" ADD COLUMN \"{}\" {kind}", entity.name, column.name);
                    statements.push(sql);
                }
            }
        }
        let is_missing = |index: &&Index| !self.indexes.contains(index_name(entity, index).as_str());
        let missing = entity.indexes.iter().filter(is_missing);
        statements.extend(missing.filter_map(|index| create_index(&Postgres, entity, index)));
    }
}

/// As PostgreSQL keeps it.
fn index_name(entity: &Entity, index: &Index) -> String {
    let mut name = crate::sql::index_name(entity, index);
    name.truncate(NAME_BYTES_MAX);
    name
}

/// A name in quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schema as this release makes it.
    fn whole() -> Found {
        let columns = |entity: &&Entity| {
            (entity.name.to_owned(), entity.columns.iter().map(|column| column.name.to_owned()).collect())
        };
        let mut found = Found { exists: true, version: Some(VERSION), ..Found::default() };
        found.columns = ENTITIES.iter().map(columns).collect();
        found.columns.extend([PROGRESS_TABLE, GAP_TABLE].map(|table| (table.to_owned(), BTreeSet::new())));
        let indexes =
            ENTITIES.iter().flat_map(|entity| entity.indexes.iter().map(|index| index_name(entity, index)));
        found.indexes = indexes.collect();
        found
    }

    #[test]
    fn only_what_is_missing_is_made() {
        assert_eq!(whole().missing("s").expect("it is ours"), Vec::<String>::new());
        let mut found = whole();
        found.columns.get_mut("form").expect("there are forms").remove("isDeleted");
        found.indexes.remove("form_formId_version");
        found.indexes.insert("job_state".to_owned());
        assert_eq!(
            found.missing("s").expect("it is ours"),
            [
                r#"ALTER TABLE "form" ADD COLUMN "isDeleted" BIGINT"#,
                r#"CREATE INDEX IF NOT EXISTS "form_formId_version" ON "form" ("formId", "version", "formKey")"#,
                r#"DROP INDEX IF EXISTS "job_state""#,
            ]
        );
    }

    #[test]
    fn names_of_indexes_stay_different_when_they_are_cut() {
        let count: usize = ENTITIES.iter().map(|entity| entity.indexes.len()).sum();
        assert_eq!(whole().indexes.len(), count);
    }

    #[test]
    fn what_is_of_others_or_later_is_refused() {
        let later = Found { version: Some(VERSION + 1), ..whole() };
        assert!(
            matches!(later.missing("s"), Err(StoreError::Schema(reason)) if reason.contains("version 2"))
        );
        let mut foreign = Found { exists: true, ..Found::default() };
        foreign.columns.insert("job".to_owned(), BTreeSet::new());
        assert!(matches!(foreign.missing("s"), Err(StoreError::Schema(reason)) if reason.contains("'job'")));
    }
}
