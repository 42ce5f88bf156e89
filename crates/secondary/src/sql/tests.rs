//! SQL as literals: what a change of the builder changes.

use protocol::Name;
use search::model::{
    Entity, IndexScope, element_instance as element, process_instance as instance, variable,
};
use search::{Aggregate, EntityRef, Filter, Position, Related, Search, Sort, Statistics, Value};
use search::{Operand, Test};

use super::{count, create_index, create_table, search, statistics, total_of_page, upsert};
use crate::change::{Batch, Columns, RowId};
use crate::postgres::dialect::Postgres;
use crate::sqlite::dialect::Sqlite;

fn text(text: &str) -> Operand {
    Operand::Text(Name::from(text))
}

fn all(entity: &'static Entity, filter: Filter, sort: Vec<Sort>, position: Position) -> Search {
    Search {
        entity: EntityRef(entity),
        filter,
        sort,
        position,
        limit: 10,
        count_up_to: 5,
        columns: 1,
        cut: None,
    }
}

fn where_of(filter: Filter) -> (String, Vec<Value>) {
    let query = count(&Sqlite, &all(&instance::ENTITY, filter, Vec::new(), Position::Offset(0)));
    let start = query.text.find("WHERE ").expect("a condition") + 6;
    let end = query.text.rfind(" LIMIT ").expect("a limit");
    let values = query.values[..query.values.len() - 1].to_vec();
    (query.text[start..end].to_owned(), values)
}

#[test]
fn the_page_tells_the_total_if_it_has_the_end() {
    let total = |position, rows| {
        total_of_page(&all(&instance::ENTITY, Filter::everything(), Vec::new(), position), rows)
    };
    for (offset, rows, expected) in
        [(0, 0, Some(0)), (0, 9, Some(9)), (0, 10, None), (20, 3, Some(23)), (20, 0, None), (20, 10, None)]
    {
        assert_eq!(total(Position::Offset(offset), rows), expected, "{rows} rows from {offset} on");
    }
    assert_eq!(total(Position::After(vec![Value::Integer(1)]), 3), None, "there are rows before");
}

#[test]
fn tests_become_conditions() {
    let state = |test| where_of(Filter::Column(instance::STATE, test));
    let one = |sql: &str, value: &str| (sql.to_owned(), vec![Value::from(value)]);
    // Says that the index of what is not completed has all of it.
    assert_eq!(state(Test::Equal(text("A"))), one("(t0.\"state\"=?1 AND t0.\"state\"<>'COMPLETED')", "A"));
    assert_eq!(state(Test::Equal(text("COMPLETED"))), one("t0.\"state\"=?1", "COMPLETED"));
    assert_eq!(state(Test::NotEqual(text("A"))), one("(t0.\"state\" IS NULL OR t0.\"state\"<>?1)", "A"));
    assert_eq!(state(Test::Like("a*[\\*".into())), one("t0.\"state\" GLOB ?1", "a*[[][*]"));
    assert_eq!(state(Test::Exists(false)), ("t0.\"state\" IS NULL".to_owned(), vec![]));
    assert_eq!(state(Test::In(vec![])), ("1=0".to_owned(), vec![]));
    assert_eq!(
        state(Test::NotIn(vec![text("A"), text("B")])),
        ("(t0.\"state\" IS NULL OR t0.\"state\" NOT IN (?1,?2))".to_owned(), vec!["A".into(), "B".into()])
    );
    // A text is no number.
    assert_eq!(where_of(Filter::Column(instance::KEY, Test::Equal(text("A")))), ("1=0".to_owned(), vec![]));
    assert_eq!(where_of(Filter::nothing()).0, "1=0");
    assert_eq!(where_of(Filter::everything()).0, "1=1");
}

#[test]
fn values_never_stand_in_the_text() {
    let evil = "'; DROP TABLE process_instance; --";
    let (sql, values) = where_of(Filter::Column(instance::STATE, Test::Equal(text(evil))));
    assert!(!sql.contains("DROP"), "{sql}");
    assert_eq!(values, [Value::from(evil)]);
}

#[test]
fn lists_and_other_rows() {
    let tag = Filter::Column(instance::TAGS, Test::Equal(text("x")));
    assert_eq!(where_of(tag).0, "EXISTS (SELECT 1 FROM json_each(t0.\"tags\") l WHERE l.value=?1)");
    let tagged = |test| {
        let search =
            all(&instance::ENTITY, Filter::Column(instance::TAGS, test), vec![], Position::Offset(0));
        count(&Postgres, &search).text
    };
    let (one, two) = (Test::Equal(text("x")), Test::NotIn(vec![text("x"), text("y")]));
    assert!(
        tagged(one.clone()).contains("WHERE CAST(t0.\"tags\" AS jsonb) ?| ARRAY[$1] "),
        "{}",
        tagged(one)
    );
    let negated = "WHERE (t0.\"tags\" IS NULL OR NOT CAST(t0.\"tags\" AS jsonb) ?| ARRAY[$1,$2]) ";
    assert!(tagged(two.clone()).contains(negated), "{}", tagged(two));
    let related = Filter::Related(Box::new(Related {
        column: instance::KEY,
        entity: EntityRef(&variable::ENTITY),
        other: variable::INSTANCE_KEY,
        filter: Filter::Column(variable::NAME, Test::Equal(text("n"))),
        exists: true,
    }));
    assert_eq!(
        where_of(related).0,
        "EXISTS (SELECT 1 FROM \"variable\" t1 WHERE t1.\"processInstanceKey\"=t0.\"processInstanceKey\" AND \
         t1.\"name\"=?1)"
    );
}

#[test]
fn pages_continue_where_they_ended() {
    let sort = vec![Sort { column: instance::START, descending: true }];
    let position = Position::After(vec![5_i64.into(), 7_i64.into()]);
    let query = search(&Sqlite, &all(&instance::ENTITY, Filter::everything(), sort, position));
    assert!(
        query.text.ends_with(
            "WHERE 1=1 AND (t0.\"startDate\"<=?1 AND ((t0.\"startDate\"<?2) OR (t0.\"startDate\"=?3 AND \
             t0.\"processInstanceKey\"<?4))) ORDER BY t0.\"startDate\" DESC, t0.\"processInstanceKey\" DESC LIMIT ?5"
        ),
        "{}",
        query.text
    );
}

#[test]
fn statements_of_changes() {
    let mut batch = Batch::default();
    let row = batch.insert(&element::ENTITY, RowId::Key(1));
    row.set(element::STATE, "ACTIVE").add(element::HAS_INCIDENT, 1);
    assert_eq!(
        upsert(&Sqlite, &batch.changes()[0], 2, Columns::default()),
        "INSERT INTO \"element_instance\" (\"elementInstanceKey\", \"state\", \"hasIncident\") VALUES (?1, ?2, ?3), (?4, ?5, ?6) ON \
         CONFLICT (\"elementInstanceKey\") DO UPDATE SET \"state\"=excluded.\"state\", \
         \"hasIncident\"=COALESCE(\"element_instance\".\"hasIncident\",0)+excluded.\"hasIncident\""
    );
}

#[test]
fn numbers_by_group() {
    let active = Filter::Column(element::STATE, Test::Equal(text("ACTIVE")));
    let query = statistics(
        &Sqlite,
        &Statistics {
            entity: EntityRef(&element::ENTITY),
            filter: Filter::everything(),
            group_by: vec![element::ELEMENT_ID],
            aggregates: vec![Aggregate::Count(active), Aggregate::Max(element::START)],
            limit: 9,
        },
    );
    assert_eq!(
        query.text,
        "SELECT t0.\"elementId\", COUNT(*) FILTER (WHERE (t0.\"state\"=?1 AND t0.\"state\"<>'COMPLETED')), MAX(t0.\"startDate\") FROM \
         \"element_instance\" t0 WHERE 1=1 GROUP BY t0.\"elementId\" ORDER BY t0.\"elementId\" ASC NULLS LAST LIMIT ?2"
    );
}

#[test]
fn statistics_list_the_instances_of_a_definition_once() {
    let of = |column, value| Filter::Column(column, Test::Equal(value));
    let where_of = |filter: Filter| {
        let related = Related {
            column: element::INSTANCE_KEY,
            entity: EntityRef(&instance::ENTITY),
            other: instance::KEY,
            filter,
            exists: true,
        };
        let asked = Statistics {
            entity: EntityRef(&element::ENTITY),
            filter: Filter::Related(Box::new(related)),
            group_by: vec![],
            aggregates: vec![Aggregate::Max(element::START)],
            limit: 1,
        };
        let text = statistics(&Sqlite, &asked).text;
        text.split_once(" WHERE ").expect("a condition").1.to_owned()
    };
    let completed = || of(instance::STATE, text("COMPLETED"));
    assert_eq!(
        where_of(of(instance::DEFINITION_KEY, Operand::Integer(7)).and(completed())),
        "t0.\"processInstanceKey\" IN (SELECT t1.\"processInstanceKey\" FROM \"process_instance\" t1 WHERE \
         (t1.\"processDefinitionKey\"=?1 AND t1.\"state\"=?2)) LIMIT ?3"
    );
    assert!(where_of(completed()).starts_with("EXISTS ("), "there may be many of all definitions");
}

#[test]
fn every_entity_has_a_table() {
    for entity in search::model::ENTITIES {
        assert!(create_table(&Sqlite, entity, "").contains(entity.name), "{}", entity.name);
        for index in entity.indexes {
            let is_of_elements = matches!(index.scope, IndexScope::Elements(_));
            assert_eq!(create_index(&Sqlite, entity, index).is_none(), is_of_elements, "{}", entity.name);
            assert!(create_index(&Postgres, entity, index).is_some(), "{}", entity.name);
        }
    }
}
