//! Agents, their history, and the subscriptions that are tools of agents are found.

use search::model::{
    ColumnId, Entity, agent_definition as definition, agent_history as history, agent_instance as agent,
    message_subscription as subscription,
};
use search::{Filter, Operand, Search, Sort, Test, Value};
use secondary::{Batch, RowId};

use super::suite::{Store, block_on, search};

/// Keys that other tests do not have.
const INSTANCE: u64 = 7_700;
const FIRST: u64 = 7_701;
const SECOND: u64 = 7_702;

fn is(column: ColumnId, value: Operand) -> Filter {
    Filter::Column(column, Test::Equal(value))
}

fn key(number: u64) -> Operand {
    Operand::Integer(number.cast_signed())
}

fn word(text: &str) -> Operand {
    Operand::Text(text.into())
}

/// The keys of all rows that pass, in the order of a column.
fn keys(store: &dyn Store, entity: &'static Entity, filter: Filter, sorted: ColumnId) -> Vec<u64> {
    let sort = vec![Sort { column: sorted, descending: true }];
    let found = block_on(store.reader().search(Search { sort, ..search(entity, filter) })).unwrap();
    found.rows.iter().map(|row| row[0].integer().unwrap().cast_unsigned()).collect()
}

pub fn run(store: &dyn Store) {
    agents_are_found(store);
    histories_are_found(store);
    tools_are_found(store);
}

fn agents_are_found(store: &dyn Store) {
    let metrics = |tokens| format!(r#"{{"inputTokens":{tokens},"reasoningTokenCount":{tokens}}}"#);
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    let mut batch = Batch::default();
    batch
        .insert(&definition::ENTITY, RowId::Key(7_710))
        .set(definition::TYPE, "external")
        .set(definition::NAME, "Think")
        .set(definition::ELEMENT_ID, "think")
        .set(definition::DEFINITION_KEY, 7_711_u64)
        .set(definition::VERSION, 2);
    for (number, elements) in [(FIRST, r#"["41","42"]"#), (SECOND, r#"["43"]"#)] {
        batch
            .insert(&agent::ENTITY, RowId::Key(number))
            .set(agent::DEFINITION_KEY, 7_710_u64)
            .set(agent::STATUS, "THINKING")
            .set(agent::INSTANCE_KEY, INSTANCE)
            .set(agent::CREATED, number.cast_signed())
            .set(agent::METRICS, metrics(1))
            .set(agent::TOOLS, r#"[{"name":"ä \"quoted\""}]"#)
            .set(agent::ELEMENT_KEYS, elements);
    }
    writer.write(&batch, position + 1).unwrap();
    let mut batch = Batch::default();
    batch
        .update(&agent::ENTITY, RowId::Key(FIRST))
        .set(agent::STATUS, "COMPLETED")
        .set(agent::METRICS, metrics(2))
        .set(agent::COMPLETED, 9_000_i64);
    writer.write(&batch, position + 2).unwrap();

    let of_type = is(definition::TYPE, word("external")).and(is(definition::ELEMENT_ID, word("think")));
    assert_eq!(keys(store, &definition::ENTITY, of_type, definition::VERSION), [7_710]);
    let of_instance = || is(agent::INSTANCE_KEY, key(INSTANCE));
    let found = |filter: Filter| keys(store, &agent::ENTITY, of_instance().and(filter), agent::CREATED);
    assert_eq!(found(Filter::everything()), [SECOND, FIRST]);
    assert_eq!(found(is(agent::STATUS, word("COMPLETED"))), [FIRST]);
    assert_eq!(found(Filter::Column(agent::COMPLETED, Test::Exists(false))), [SECOND]);
    assert_eq!(found(is(agent::ELEMENT_KEYS, word("42"))), [FIRST]);
    let one = search(&agent::ENTITY, is(agent::KEY, key(FIRST)));
    let row = block_on(store.reader().search(one)).unwrap().rows.remove(0);
    assert_eq!(row[agent::METRICS as usize], Value::from(metrics(2)), "JSON comes back as it was written");
    assert_eq!(row[agent::TOOLS as usize], r#"[{"name":"ä \"quoted\""}]"#.into());
}

fn histories_are_found(store: &dyn Store) {
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    let mut batch = Batch::default();
    for (number, role, commit_status) in
        [(7_721, "USER", "COMMITTED"), (7_722, "ASSISTANT", "COMMITTED"), (7_723, "ASSISTANT", "PENDING")]
    {
        batch
            .insert(&history::ENTITY, RowId::Key(number))
            .set(history::ITEM_ID, format!("item-{number}"))
            .set(history::AGENT_KEY, FIRST)
            .set(history::LEASE, "l-1")
            .set(history::ROLE, role)
            .set(history::COMMIT_STATUS, commit_status)
            .set(history::CONTENT, r#"[{"contentType":"TEXT","text":"Yes."}]"#)
            .set(history::PRODUCED, number.cast_signed())
            .set(history::INSTANCE_KEY, INSTANCE);
    }
    writer.write(&batch, position + 1).unwrap();
    let found = |filter: Filter| {
        let of_agent = is(history::AGENT_KEY, key(FIRST));
        keys(store, &history::ENTITY, of_agent.and(filter), history::PRODUCED)
    };
    let said = || is(history::ROLE, word("ASSISTANT"));
    assert_eq!(found(Filter::everything()), [7_723, 7_722, 7_721]);
    assert_eq!(found(said().and(is(history::COMMIT_STATUS, word("COMMITTED")))), [7_722]);
    let mut batch = Batch::default();
    batch.update(&history::ENTITY, RowId::Key(7_723)).set(history::COMMIT_STATUS, "DISCARDED");
    writer.write(&batch, position + 2).unwrap();
    assert_eq!(found(is(history::COMMIT_STATUS, word("DISCARDED"))), [7_723]);
    assert_eq!(found(is(history::ITEM_ID, word("item-7721"))), [7_721]);
}

fn tools_are_found(store: &dyn Store) {
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    let mut batch = Batch::default();
    for (number, tool, business_id) in [(7_731, Some("pay"), None), (7_732, None, Some("order-1"))] {
        batch
            .insert(&subscription::ENTITY, RowId::Key(number))
            .set(subscription::INSTANCE_KEY, INSTANCE)
            .set(subscription::UPDATED, number.cast_signed())
            .set(subscription::TOOL_NAME, tool.map_or(Value::Null, Value::from))
            .set(subscription::CONNECTOR_TYPE, tool.map_or(Value::Null, |_| "http".into()))
            .set(subscription::BUSINESS_ID, business_id.map_or(Value::Null, Value::from));
    }
    writer.write(&batch, position + 1).unwrap();
    let found = |filter: Filter| {
        let of_instance = is(subscription::INSTANCE_KEY, key(INSTANCE));
        keys(store, &subscription::ENTITY, of_instance.and(filter), subscription::UPDATED)
    };
    assert_eq!(found(is(subscription::TOOL_NAME, word("pay"))), [7_731]);
    assert_eq!(found(Filter::Column(subscription::CONNECTOR_TYPE, Test::Like("ht*".into()))), [7_731]);
    assert_eq!(found(is(subscription::BUSINESS_ID, word("order-1"))), [7_732]);
    let either =
        vec![is(subscription::TOOL_NAME, word("pay")), is(subscription::BUSINESS_ID, word("order-1"))];
    assert_eq!(found(Filter::Any(either)), [7_732, 7_731]);
}
