//! Tables, made and extended at start.

use std::collections::HashSet;

use rusqlite::Connection;
use search::StoreError;
use search::model::{ENTITIES, Entity, INDEXES_RETIRED, Kind};

use super::dialect::Sqlite;
use super::error::failed;
use super::{packs, progress};
use crate::former::of_what_is_there;
use crate::sql::{Dialect as _, create_index, create_table};

/// Grows when the meaning of what is stored changes; columns and tables that are added need no new number. Since 2,
/// what has ended is in packs, which an older release would not look into.
const VERSION: i64 = 2;

/// Makes what is missing. Repeating is harmless.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction().map_err(failed)?;
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
    if version > VERSION {
        return Err(StoreError::Schema(format!(
            "the schema has version {version}, this release knows versions up to {VERSION}"
        )));
    }
    for entity in ENTITIES {
        let known = columns(&transaction, entity)?;
        if !known.is_empty() {
            for column in entity.columns.iter().filter(|column| !known.contains(column.name)) {
                let kind = Sqlite.column_type(column.kind);
                let sql = format!("ALTER TABLE \"{}\" ADD COLUMN \"{}\" {kind}", entity.name, column.name);
                transaction.execute_batch(&sql).map_err(failed)?;
            }
        }
        // Without a row number of its own, a table of texts is one tree instead of two.
        let suffix = if entity.columns[0].kind == Kind::Key { "" } else { " WITHOUT ROWID" };
        let indexes = entity.indexes.iter().filter_map(|index| create_index(&Sqlite, entity, index));
        for sql in std::iter::once(create_table(&Sqlite, entity, suffix)).chain(indexes) {
            transaction.execute_batch(&sql).map_err(failed)?;
        }
        if let Some(sql) = of_what_is_there(&Sqlite, entity).filter(|_| known.is_empty()) {
            transaction.execute_batch(&sql).map_err(failed)?;
        }
    }
    transaction.execute_batch(packs::TABLES).map_err(failed)?;
    for name in INDEXES_RETIRED {
        transaction.execute_batch(&format!("DROP INDEX IF EXISTS \"{name}\"")).map_err(failed)?;
    }
    transaction.execute_batch(progress::TABLES).map_err(failed)?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    transaction.commit().map_err(failed)
}

fn columns(connection: &Connection, entity: &Entity) -> Result<HashSet<String>, StoreError> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)").map_err(failed)?;
    let names = statement.query_map([entity.name], |row| row.get(0)).map_err(failed)?;
    names.collect::<Result<_, _>>().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_waited_for_before_there_were_wait_states_is_found() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection).unwrap();
        connection
            .execute_batch(
                "INSERT INTO element_instance (elementInstanceKey, elementId, type, rootProcessInstanceKey, startDate) \
                 VALUES (1,'a','SERVICE_TASK',9,1), (2,'u','USER_TASK',9,1), (3,'r','RECEIVE_TASK',9,1);
                 INSERT INTO job (jobKey, elementInstanceKey, elementId, type, kind, listenerEventType, retries, state, \
                 endTime, creationTime) VALUES (11,1,'a','pay \"now\"','BPMN_ELEMENT','UNSPECIFIED',3,'CREATED',NULL,1), \
                 (12,1,'a','pay','BPMN_ELEMENT','UNSPECIFIED',3,'CANCELED',5,1);
                 INSERT INTO user_task (userTaskKey, elementInstanceKey, elementId, state, dueDate, creationDate) \
                 VALUES (21,2,'u','CREATED',86400000,1), (22,2,'u','COMPLETED',NULL,1);
                 INSERT INTO message_subscription (messageSubscriptionKey, elementInstanceKey, elementId, \
                 messageSubscriptionState, messageName, lastUpdatedDate) \
                 VALUES (31,3,'r','CREATED','m',1), (32,1,'boundary','CREATED','m',1), (33,3,'r','CORRELATED','m',1);
                 DROP TABLE wait_state",
            )
            .unwrap();
        prepare(&mut connection).unwrap();
        // Only the first time.
        prepare(&mut connection).unwrap();
        let mut statement = connection
            .prepare("SELECT waitStateId, elementType, rootProcessInstanceKey, details FROM wait_state")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        let mut rows = rows.unwrap().collect::<Result<Vec<(String, String, i64, String)>, _>>().unwrap();
        rows.sort_unstable();
        let job = r#"{"waitStateType":"JOB","jobKey":"11","jobType":"pay \"now\"","jobKind":"BPMN_ELEMENT","retries":3,"listenerEventType":null}"#;
        let task = r#"{"waitStateType":"USER_TASK","taskKey":"21","dueDate":"1970-01-02T00:00:00.000Z"}"#;
        let message = r#"{"waitStateType":"MESSAGE","messageName":"m","correlationKey":null}"#;
        let wanted =
            [("1_11", "SERVICE_TASK", job), ("2_21", "USER_TASK", task), ("3_31", "RECEIVE_TASK", message)];
        assert_eq!(rows, wanted.map(|(id, kind, details)| (id.into(), kind.into(), 9, details.into())));
    }

    #[test]
    fn a_store_from_before_durations_were_counted_gets_their_place() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection).unwrap();
        connection
            .execute_batch(
                "INSERT INTO job (jobKey, creationTime) VALUES (11,1); DROP TABLE element_duration; \
                 ALTER TABLE job DROP COLUMN activationTime",
            )
            .unwrap();
        prepare(&mut connection).unwrap();
        connection
            .execute_batch(
                "UPDATE job SET activationTime=2; INSERT INTO element_duration (id,time) VALUES ('a',0)",
            )
            .unwrap();
        prepare(&mut connection).unwrap();
        let row = "SELECT creationTime, activationTime, count(*) FROM job, element_duration";
        let row = connection.query_row(row, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        assert_eq!(row, (1_i64, 2_i64, 1_i64));
    }

    #[test]
    fn what_has_ended_before_there_were_counts_is_counted() {
        let mut connection = Connection::open_in_memory().unwrap();
        prepare(&mut connection).unwrap();
        let insert = |key: i64, definition: Option<i64>, element: &str, state: &str| {
            let sql = "INSERT INTO element_instance (elementInstanceKey, processDefinitionKey, elementId, state, \
                       processDefinitionId, tenantId, startDate) VALUES (?1,?2,?3,?4,'p','t',1)";
            connection.execute(sql, (key, definition, element, state)).unwrap();
        };
        insert(1, Some(5), "a", "COMPLETED");
        insert(2, Some(5), "a", "COMPLETED");
        insert(3, Some(5), "a", "TERMINATED");
        insert(4, Some(5), "a", "ACTIVE");
        insert(5, Some(6), "a", "COMPLETED");
        insert(6, None, "a", "COMPLETED");
        connection.execute_batch("DROP TABLE element_count").unwrap();
        prepare(&mut connection).unwrap();
        // Only the first time.
        prepare(&mut connection).unwrap();
        let mut statement = connection
            .prepare("SELECT id, processDefinitionId, completed, terminated FROM element_count")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        let mut rows = rows.unwrap().collect::<Result<Vec<(String, String, i64, i64)>, _>>().unwrap();
        rows.sort_unstable();
        let wanted = [("0-5-a", 2, 1), ("0-6-a", 1, 0)];
        assert_eq!(rows, wanted.map(|(id, done, gone)| (id.to_owned(), "p".to_owned(), done, gone)));
    }
}
