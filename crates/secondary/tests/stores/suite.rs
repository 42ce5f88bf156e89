//! Requirements of every store.

use std::sync::LazyLock;

use protocol::Name;
use search::model::{
    Entity, ORDER_CHARS, element_instance as element, process_definition as definition,
    process_instance as instance, sequence_flow as flow, variable,
};
use search::{
    Aggregate, EntityRef, Filter, Gap, Latest, Position, Reader, Related, Row, Search, Sort, Statistics,
    Value, decode_cursor, encode_cursor,
};
use search::{Operand, Test};
use secondary::{Batch, Cleaner, DeployedModel, Loader, RowId, Writer};

use tokio::runtime::Runtime;

use super::model::{self, Dice};
use super::{agents, candidates, counts, durations, indexes, replays, retention, steps, wait_states};

/// A store under test, empty at first.
pub trait Store {
    fn writer(&self) -> Box<dyn Writer>;
    fn reader(&self) -> Box<dyn Reader>;
    fn cleaner(&self) -> Box<dyn Cleaner>;
    fn loader(&self) -> Box<dyn Loader>;
}

/// Everything, with so many random searches.
pub fn run(store: &dyn Store, rounds: u32) {
    changes(store);
    searches(store, rounds);
    related(store);
    latest(store);
    statistics(store);
    names_of_variables(store);
    retention::run(store);
    indexes::run(store);
    counts::run(store);
    wait_states::run(store);
    steps::run(store);
    agents::run(store);
    models(store);
    candidates::run(store);
    replays::run(store);
    durations::run(store);
    long_texts(store);
    long_lists(store);
    gaps(store);
}

/// Lists in a filter may have more values than a statement has parameters or levels.
fn long_lists(store: &dyn Store) {
    const KEY: u64 = 2 << 50;
    const VALUES: u32 = 40_000;
    let mut batch = Batch::default();
    batch.insert(&instance::ENTITY, RowId::Key(KEY)).set(instance::PROCESS_ID, "of a long list 7");
    batch
        .insert(&flow::ENTITY, RowId::Text(Name::from(format!("{KEY}_a").as_str())))
        .set(flow::INSTANCE_KEY, KEY.cast_signed());
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    writer.write(&batch, position + 1).unwrap();
    let reader = store.reader();
    let found = |entity: &'static Entity, column, operands: Vec<Operand>| {
        let filter = Filter::Column(column, Test::In(operands));
        block_on(reader.search(search(entity, filter))).unwrap().rows.len()
    };
    let texts = (0..VALUES).map(|number| text(&format!("of a long list {number}"))).collect();
    assert_eq!(found(&instance::ENTITY, instance::PROCESS_ID, texts), 1);
    let keys = |count: u32| (0..count).map(|number| Operand::Integer(KEY.cast_signed() + i64::from(number)));
    assert_eq!(found(&instance::ENTITY, 0, keys(VALUES).collect()), 1);
    for count in [600, 5_000, VALUES] {
        assert_eq!(found(&flow::ENTITY, flow::INSTANCE_KEY, keys(count).collect()), 1, "{count} keys");
    }
}

/// Gaps that were noted are there for whoever opens the store.
fn gaps(store: &dyn Store) {
    let gap = |after, upto, is_accepted| Gap { after, upto, is_accepted };
    let mut writer = store.writer();
    writer.open().unwrap();
    assert_eq!(writer.gaps().unwrap(), []);
    writer.note_gaps(&[gap(5, 9, false), gap(20, 30, false)]).unwrap();
    writer.note_gaps(&[gap(20, 30, true)]).unwrap();
    drop(writer);
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    assert_eq!(writer.gaps().unwrap(), [gap(5, 9, false), gap(20, 30, true)]);
    writer.write(&Batch::default(), position + 1).unwrap();
    let mut writer = store.writer();
    assert_eq!(writer.open().unwrap(), position + 1);
    assert_eq!(writer.gaps().unwrap().len(), 2, "they stay");
}

/// Models of definitions are found by their keys.
fn models(store: &dyn Store) {
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    let mut batch = Batch::default();
    batch
        .insert(&definition::ENTITY, RowId::Key(7_001))
        .set(definition::PROCESS_ID, "order")
        .set(definition::VERSION, 3)
        .set(definition::XML, "<x>ä</x>");
    writer.write(&batch, position + 1).unwrap();
    let model = DeployedModel { process_id: "order".into(), version: 3, file: "<x>ä</x>".into() };
    let mut loader = store.loader();
    assert_eq!(loader.load(7_001).unwrap(), Some(model));
    assert_eq!(loader.load(7_002).unwrap(), None);
    let mut batch = Batch::default();
    batch.delete(&definition::ENTITY, RowId::Key(7_001));
    writer.write(&batch, position + 2).unwrap();
}

/// One runtime for all: connections of a reader belong to the runtime that made them.
pub fn block_on<F: Future>(future: F) -> F::Output {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
    RUNTIME.block_on(future)
}

pub fn search(entity: &'static Entity, filter: Filter) -> Search {
    Search {
        entity: EntityRef(entity),
        filter,
        sort: Vec::new(),
        position: Position::Offset(0),
        limit: 10_000,
        count_up_to: 10_000,
        columns: u64::MAX,
        cut: None,
    }
}

pub fn everything() -> Search {
    search(&instance::ENTITY, Filter::everything())
}

fn text(text: &str) -> Operand {
    Operand::Text(Name::from(text))
}

fn is(column: u8, value: &str) -> Filter {
    Filter::Column(column, Test::Equal(text(value)))
}

fn key(row: &Row) -> i64 {
    row[0].integer().unwrap()
}

/// Writes rows of process instances.
pub fn fill(writer: &mut dyn Writer, rows: &[Row]) {
    let mut batch = Batch::default();
    for row in rows {
        let change = batch.insert(&instance::ENTITY, RowId::Key(key(row).cast_unsigned()));
        for (at, value) in row.iter().enumerate().skip(1) {
            change.set(at as u8, value.clone());
        }
    }
    let position = writer.open().unwrap();
    writer.write(&batch, position + 1).unwrap();
}

/// Insert, update, add, delete; the position comes back.
fn changes(store: &dyn Store) {
    let mut writer = store.writer();
    assert_eq!(writer.open().unwrap(), 0);
    let id = || RowId::Key(1);
    let row = |reader: &dyn Reader| block_on(reader.search(everything())).unwrap().rows.pop();
    let reader = store.reader();

    let mut batch = Batch::default();
    batch
        .insert(&instance::ENTITY, id())
        .set(instance::STATE, "ACTIVE")
        .set(instance::BUSINESS_ID, "it's \"quoted\" ä\\");
    batch.update(&instance::ENTITY, RowId::Key(99)).set(instance::STATE, "nobody");
    writer.write(&batch, 10).unwrap();
    let found = row(&*reader).unwrap();
    assert_eq!(found[instance::STATE as usize], "ACTIVE".into());
    assert_eq!(found[instance::BUSINESS_ID as usize], "it's \"quoted\" ä\\".into());
    assert_eq!(found[instance::END as usize], Value::Null);

    let mut batch = Batch::default();
    batch.update(&instance::ENTITY, id()).set(instance::STATE, "COMPLETED").add(instance::HAS_INCIDENT, 2);
    writer.write(&batch, 11).unwrap();
    let mut batch = Batch::default();
    batch
        .update(&instance::ENTITY, id())
        .add(instance::HAS_INCIDENT, -1)
        .set(instance::BUSINESS_ID, Value::Null);
    writer.write(&batch, 12).unwrap();
    let found = row(&*reader).unwrap();
    assert_eq!(found[instance::STATE as usize], "COMPLETED".into());
    assert_eq!(found[instance::HAS_INCIDENT as usize], 1_i64.into());
    assert_eq!(found[instance::BUSINESS_ID as usize], Value::Null);
    assert_eq!(block_on(reader.position(1)).unwrap(), 12);

    // The next writer finds its position.
    drop(writer);
    let mut writer = store.writer();
    assert_eq!(writer.open().unwrap(), 12);
    let mut batch = Batch::default();
    batch.delete(&instance::ENTITY, id());
    writer.write(&batch, 13).unwrap();
    assert_eq!(row(&*reader), None);
}

fn random_test(dice: &mut Dice, column: u8) -> Test {
    let mut values = match column {
        instance::STATE => vec![text("ACTIVE"), text("COMPLETED"), text("other")],
        instance::BUSINESS_ID => vec![text("a"), text("A"), text("ä"), text("b*"), text("")],
        instance::TAGS => vec![text("x"), text("y"), text("z")],
        _ => vec![Operand::Integer(0), Operand::Integer(2), Operand::Integer(4)],
    };
    let first = dice.below(values.len() as u64) as usize;
    let one = values[first].clone();
    values.truncate(2);
    values.sort_unstable();
    let is_text = matches!(one, Operand::Text(_));
    match dice.below(11) {
        0 | 1 => Test::Equal(one),
        2 => Test::NotEqual(one),
        3 => Test::In(values),
        4 => Test::NotIn(values),
        5 => Test::Greater(one),
        6 => Test::GreaterOrEqual(one),
        7 => Test::Less(one),
        8 => Test::LessOrEqual(one),
        9 if is_text => {
            let patterns = ["a*", "*b*", "?", "b\\*", "*[*", "*%*", "_", "", "A*", "*\\"];
            Test::Like(patterns[dice.below(patterns.len() as u64) as usize].into())
        }
        _ => Test::Exists(column != instance::TAGS && dice.below(2) > 0),
    }
}

fn random_filter(dice: &mut Dice, depth: u32) -> Filter {
    let columns = [instance::STATE, instance::START, instance::END, instance::BUSINESS_ID, instance::TAGS];
    match dice.below(if depth == 0 { 4 } else { 6 }) {
        4 => Filter::All((0..dice.below(3)).map(|_| random_filter(dice, depth - 1)).collect()),
        5 => Filter::Any((0..dice.below(3)).map(|_| random_filter(dice, depth - 1)).collect()),
        _ => {
            let column = columns[dice.below(5) as usize];
            let test = random_test(dice, column);
            match (column, &test) {
                // A list is always there.
                (instance::TAGS, Test::Exists(_)) => Filter::everything(),
                _ => Filter::Column(column, test),
            }
        }
    }
}

fn random_sort(dice: &mut Dice) -> Vec<Sort> {
    let columns = [instance::START, instance::END, instance::BUSINESS_ID, instance::STATE];
    let mut sort: Vec<Sort> = Vec::new();
    for _ in 0..dice.below(4) {
        let column = columns[dice.below(4) as usize];
        if sort.iter().all(|other| other.column != column) {
            sort.push(Sort { column, descending: dice.below(2) > 0 });
        }
    }
    sort
}

/// Random searches over random rows, as a whole and page by page, both ways.
fn searches(store: &dyn Store, rounds: u32) {
    let rows = model::rows(120, 42);
    // Stores that pack what has ended do so with each write.
    rows.chunks(4).for_each(|rows| fill(&mut *store.writer(), rows));
    let reader = store.reader();
    let mut dice = Dice::new(1);
    for round in 0..rounds {
        let filter = random_filter(&mut dice, 2);
        let mut search = Search { sort: random_sort(&mut dice), ..search(&instance::ENTITY, filter) };
        let wanted = model::found(&rows, &search);
        let found = block_on(reader.search(search.clone())).unwrap();
        let keys = |rows: &[Row]| rows.iter().map(key).collect::<Vec<_>>();
        assert_eq!(keys(&found.rows), keys(&wanted), "round {round}: {search:?}");
        assert_eq!(found.rows, wanted, "round {round}: {search:?}");
        assert_eq!((found.total, found.has_more), (wanted.len() as u64, false), "round {round}");

        search.limit = 1 + dice.below(30) as u32;
        search.count_up_to = 7;
        let entity = &instance::ENTITY;
        let mut forward: Vec<Row> = Vec::new();
        loop {
            let found = block_on(reader.search(search.clone())).unwrap();
            assert_eq!((found.total, found.has_more), (wanted.len().min(7) as u64, wanted.len() > 7));
            let Some(last) = found.rows.last() else { break };
            let cursor = encode_cursor(entity, &search.sort, last);
            search.position = Position::After(decode_cursor(entity, &search.sort, &cursor).unwrap());
            forward.extend(found.rows);
        }
        assert_eq!(keys(&forward), keys(&wanted), "round {round}, forward: {search:?}");
        let mut backward: Vec<Row> = Vec::new();
        let mut end = wanted.last().cloned();
        while let Some(first) = end {
            let cursor = encode_cursor(entity, &search.sort, &first);
            search.position = Position::Before(decode_cursor(entity, &search.sort, &cursor).unwrap());
            let mut page = block_on(reader.search(search.clone())).unwrap().rows;
            end = page.first().cloned();
            page.extend(std::mem::take(&mut backward));
            backward = page;
        }
        backward.extend(wanted.last().cloned());
        assert_eq!(keys(&backward), keys(&wanted), "round {round}, backward: {search:?}");
        let offset = dice.below(40);
        search.position = Position::Offset(offset);
        let found = block_on(reader.search(search.clone())).unwrap().rows;
        let wanted: Vec<Row> =
            wanted.iter().skip(offset as usize).take(search.limit as usize).cloned().collect();
        assert_eq!(keys(&found), keys(&wanted), "round {round}, offset: {search:?}");
    }
}

/// Rows with other rows, or without; long texts are cut.
fn related(store: &dyn Store) {
    let mut batch = Batch::default();
    let owner = key(&model::rows(120, 42)[0]);
    for (number, (name, value)) in [("a", "\"ä1234567\""), ("b", "2")].into_iter().enumerate() {
        batch
            .insert(&variable::ENTITY, RowId::Key(5000 + number as u64))
            .set(variable::NAME, name)
            .set(variable::VALUE, value)
            .set(variable::INSTANCE_KEY, owner);
    }
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    writer.unpack(owner.cast_unsigned()).unwrap();
    writer.write(&batch, position + 1).unwrap();
    let reader = store.reader();
    let with = |filter, exists| {
        let related = Related {
            column: instance::KEY,
            entity: EntityRef(&variable::ENTITY),
            other: variable::INSTANCE_KEY,
            filter,
            exists,
        };
        let filter = Filter::Related(Box::new(related));
        block_on(reader.search(search(&instance::ENTITY, filter))).unwrap().rows
    };
    let both = |name, value| Filter::All(vec![is(variable::NAME, name), is(variable::VALUE, value)]);
    assert_eq!(with(both("b", "2"), true).iter().map(key).collect::<Vec<_>>(), [owner]);
    assert_eq!(with(both("a", "2"), true), Vec::<Row>::new());
    assert_eq!(with(Filter::everything(), false).len(), 119);
    let cut =
        Search { cut: Some((variable::VALUE, 3)), ..search(&variable::ENTITY, is(variable::NAME, "a")) };
    let found = block_on(reader.search(cut)).unwrap().rows;
    assert_eq!(found[0][variable::VALUE as usize], "\"ä1".into());
}

/// Texts too long for a cursor come page by page, too, whether they are shown cut or whole.
fn long_texts(store: &dyn Store) {
    let long = "z".repeat(100_000);
    let mut batch = Batch::default();
    for (key, value) in
        [(6000_u64, &*format!("{long}b")), (6001, "a"), (6002, &format!("{long}a")), (6003, &long)]
    {
        batch
            .insert(&variable::ENTITY, RowId::Key(key))
            .set(variable::NAME, "long")
            .set(variable::VALUE, value)
            .set(variable::INSTANCE_KEY, Value::from(1_u32));
    }
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    writer.write(&batch, position + 1).unwrap();
    let reader = store.reader();
    for (descending, wanted) in [(false, [6001, 6000, 6002, 6003]), (true, [6003, 6002, 6000, 6001])] {
        for cut in [None, Some((variable::VALUE, ORDER_CHARS as u32))] {
            let sort = vec![Sort { column: variable::VALUE, descending }];
            let all = search(&variable::ENTITY, is(variable::NAME, "long"));
            let mut page = Search { sort: sort.clone(), limit: 1, cut, ..all };
            let mut found = Vec::new();
            while found.len() < 9
                && let Some(row) = block_on(reader.search(page.clone())).unwrap().rows.pop()
            {
                found.push(key(&row));
                let cursor = encode_cursor(&variable::ENTITY, &sort, &row);
                let after = decode_cursor(&variable::ENTITY, &sort, &cursor).expect("a cursor of ours");
                page.position = Position::After(after);
            }
            assert_eq!(found, wanted, "{cut:?}");
        }
    }
}

/// The last version of each definition that counts.
fn latest(store: &dyn Store) {
    let mut batch = Batch::default();
    for (key, id, version, state) in
        [(1_u64, "a", 1_u32, "ACTIVE"), (2, "a", 2, "ACTIVE"), (3, "a", 3, "DELETED"), (4, "b", 1, "ACTIVE")]
    {
        batch
            .insert(&definition::ENTITY, RowId::Key(key))
            .set(definition::PROCESS_ID, id)
            .set(definition::TENANT, "t")
            .set(definition::VERSION, version)
            .set(definition::STATE, state);
    }
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    writer.write(&batch, position + 1).unwrap();
    let active = is(definition::STATE, "ACTIVE");
    let latest = Filter::Latest(Box::new(Latest {
        group: vec![definition::PROCESS_ID, definition::TENANT],
        by: definition::VERSION,
        among: active.clone(),
    }));
    let filter = Filter::All(vec![active, latest]);
    let found = block_on(store.reader().search(search(&definition::ENTITY, filter))).unwrap().rows;
    assert_eq!(found.iter().map(key).collect::<Vec<_>>(), [2, 4]);
}

/// The names of variables of a definition, each once and in order.
fn names_of_variables(store: &dyn Store) {
    let mut batch = Batch::default();
    for (key, name, definition) in [
        (8000_u64, "b", 71_u32),
        (8001, "a", 71),
        (8002, "a", 71),
        (8003, "c", 72),
        (8004, "A", 71),
        (8005, "ä", 71),
    ] {
        batch
            .insert(&variable::ENTITY, RowId::Key(key))
            .set(variable::NAME, name)
            .set(variable::VALUE, "1")
            .set(variable::INSTANCE_KEY, Value::from(key as u32))
            .set(variable::DEFINITION_KEY, Value::from(definition));
    }
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    writer.write(&batch, position + 1).unwrap();
    let reader = store.reader();
    let of =
        |definition: i64| Filter::Column(variable::DEFINITION_KEY, Test::Equal(Operand::Integer(definition)));
    let names = |filter: Filter, limit| {
        let asked = Statistics {
            entity: EntityRef(&variable::ENTITY),
            filter,
            group_by: vec![variable::NAME],
            aggregates: vec![Aggregate::Count(Filter::everything())],
            limit,
        };
        let found = block_on(reader.statistics(asked)).unwrap();
        found.iter().map(|row| row[0].text().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(of(71), 10), ["A", "a", "b", "ä"]);
    assert_eq!(names(of(71), 2), ["A", "a"]);
    assert_eq!(names(of(73), 10), Vec::<String>::new());
    let like = Filter::Column(variable::NAME, Test::Like("?".into()));
    assert_eq!(names(of(72).and(like), 10), ["c"]);
}

/// Numbers by group.
fn statistics(store: &dyn Store) {
    let mut batch = Batch::default();
    for (key, id, state, start) in [
        (1_u64, "a", "ACTIVE", 5_i64),
        (2, "a", "COMPLETED", 9),
        (3, "b", "ACTIVE", 7),
        (4, "a", "ACTIVE", 5),
    ] {
        batch
            .insert(&element::ENTITY, RowId::Key(key))
            .set(element::ELEMENT_ID, id)
            .set(element::STATE, state)
            .set(element::START, start);
    }
    let mut writer = store.writer();
    let position = writer.open().unwrap();
    writer.write(&batch, position + 1).unwrap();
    let active = is(element::STATE, "ACTIVE");
    let asked = Statistics {
        entity: EntityRef(&element::ENTITY),
        filter: Filter::everything(),
        group_by: vec![element::ELEMENT_ID],
        aggregates: vec![
            Aggregate::Count(active.clone()),
            Aggregate::Distinct(element::START, active),
            Aggregate::Sum(element::START),
            Aggregate::Max(element::START),
        ],
        limit: 10,
    };
    let reader = store.reader();
    let found = block_on(reader.statistics(asked.clone())).unwrap();
    let row = |id: &str, numbers: [i64; 4]| {
        let mut row = vec![Value::from(id)];
        row.extend(numbers.map(Value::Integer));
        row
    };
    assert_eq!(found, [row("a", [2, 1, 19, 9]), row("b", [1, 1, 7, 7])]);
    let whole = Statistics { group_by: Vec::new(), ..asked };
    assert_eq!(block_on(reader.statistics(whole)).unwrap(), [row("", [3, 2, 26, 9])[1..].to_vec()]);
}
