//! Tables that are made, extended, or left alone.

use search::StoreError;

use super::server::Server;
use super::{Store, number, sql};

/// All of these open a schema at the same time.
fn open_together(server: &Server, schema: &str) {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Store::new(server, schema).open().unwrap());
        }
    });
}

pub fn many_start_at_once(server: &Server) {
    open_together(server, "together");
    let tables = "SELECT COUNT(*) FROM pg_tables WHERE schemaname='together'";
    assert_eq!(number(server, tables), search::model::ENTITIES.len() as i64 + 3);
    assert_eq!(number(server, "SELECT COUNT(*) FROM together.baton_schema"), 1);
}

pub fn what_is_missing_is_added(server: &Server) {
    let store = Store::new(server, "older");
    store.open().unwrap();
    let schema = "SELECT (SELECT COUNT(*) FROM pg_indexes WHERE schemaname='older') * 1000 + (SELECT COUNT(*) FROM \
                  information_schema.columns WHERE table_schema='older')";
    let whole = number(server, schema);
    sql(
        server,
        "INSERT INTO older.form (\"formKey\", \"formId\") VALUES (1, 'kept'); ALTER TABLE older.form DROP COLUMN \
         \"isDeleted\"; DROP INDEX older.\"job_type_state_creationTime_unusual\"; DROP TABLE older.user_task",
    );
    assert!(number(server, schema) < whole);
    // Of an earlier release, and of no use any more.
    sql(server, "CREATE INDEX \"job_type_state\" ON older.job (type, state)");
    open_together(server, "older");
    assert_eq!(number(server, schema), whole);
    let retired = "SELECT COUNT(*) FROM pg_indexes WHERE schemaname='older' AND indexname='job_type_state'";
    assert_eq!(number(server, retired), 0);
    assert_eq!(number(server, "SELECT COUNT(*) FROM older.form WHERE \"formId\"='kept'"), 1);
}

pub fn later_and_foreign_schemas_are_refused(server: &Server) {
    let store = Store::new(server, "later");
    store.open().unwrap();
    sql(server, "UPDATE later.baton_schema SET version=version+1");
    let error = store.open().unwrap_err();
    assert!(
        matches!(&error, StoreError::Schema(reason) if reason.contains("knows versions up to")),
        "{error}"
    );

    sql(server, "CREATE SCHEMA somebody; CREATE TABLE somebody.job (salary INT)");
    let error = Store::new(server, "somebody").open().unwrap_err();
    assert!(matches!(&error, StoreError::Schema(reason) if reason.contains("'job'")), "{error}");
    assert_eq!(number(server, "SELECT COUNT(*) FROM pg_tables WHERE schemaname='somebody'"), 1);
}

pub fn rights_to_write_are_enough(server: &Server) {
    let mut store = Store::new(server, "prepared");
    store.open().unwrap();
    sql(
        server,
        "CREATE ROLE clerk LOGIN; GRANT USAGE ON SCHEMA prepared TO clerk; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA prepared TO clerk",
    );
    "clerk".clone_into(&mut store.0.username);
    store.open().unwrap();
    // And no more than that.
    "unprepared".clone_into(&mut store.0.schema);
    let error = store.open().unwrap_err();
    assert!(error.to_string().contains("permission denied"), "{error}");
}

pub fn names_of_schemas_may_be_odd(server: &Server) {
    let name = "Odd\"; DROP SCHEMA older; --'";
    let store = Store::new(server, name);
    assert_eq!(store.open().unwrap(), 0);
    assert_eq!(store.open().unwrap(), 0);
    let tables = "SELECT COUNT(*) FROM pg_tables WHERE schemaname LIKE 'Odd\"%' AND tablename='progress'";
    assert_eq!(number(server, tables), 1);
}
