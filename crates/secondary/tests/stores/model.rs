//! Rows in memory, and searches in them: what a store must agree with.

use search::model::{Kind, process_instance as instance};
use search::{Filter, Row, Search, Value};
use search::{Operand, Test};

/// When a process instance ended.
pub const END: usize = instance::END as usize;

/// A small generator of numbers; the same seed gives the same ones.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// The last ones begin alike for longer than the bounds of a pack are.
const BUSINESS_IDS: [&str; 12] = [
    "a",
    "A",
    "ab",
    "b*",
    "ä",
    "a[b",
    "100%",
    "_",
    "",
    "an order with a very long beginning",
    "an order with a very long beginning, too",
    "an order with a very long beginä",
];

/// Process instances with few different values, so that many are equal, and some missing.
pub fn rows(count: u64, seed: u64) -> Vec<Row> {
    let mut dice = Dice::new(seed);
    (0..count)
        .map(|number| {
            let mut row = vec![Value::Null; instance::ENTITY.columns.len()];
            row[0] = Value::from(1000 + number * 7 % count);
            row[instance::STATE as usize] =
                ["ACTIVE", "COMPLETED", "TERMINATED"][dice.below(3) as usize].into();
            row[instance::START as usize] = Value::Integer(dice.below(10).cast_signed());
            if dice.below(3) > 0 {
                row[instance::END as usize] = Value::Integer(dice.below(5).cast_signed());
            }
            if dice.below(2) > 0 {
                row[instance::BUSINESS_ID as usize] =
                    BUSINESS_IDS[dice.below(BUSINESS_IDS.len() as u64) as usize].into();
            }
            row[instance::TAGS as usize] = ["[]", r#"["x"]"#, r#"["x","y"]"#][dice.below(3) as usize].into();
            row[instance::HAS_INCIDENT as usize] = Value::Integer(dice.below(2).cast_signed());
            row
        })
        .collect()
}

fn operand(value: &Value) -> Option<Operand> {
    match value {
        Value::Null => None,
        Value::Integer(number) => Some(Operand::Integer(*number)),
        Value::Text(text) => Some(Operand::Text(text.clone())),
    }
}

fn passes_test(value: &Value, kind: Kind, test: &Test) -> bool {
    if kind != Kind::List {
        return test.is_met_by(operand(value).as_ref());
    }
    let Value::Text(list) = value else { return false };
    let list: Vec<String> = serde_json::from_str(list).unwrap();
    let any =
        |test: &Test| list.iter().any(|text| test.is_met_by(Some(&Operand::Text(text.as_str().into()))));
    match test {
        Test::NotEqual(unwanted) => !any(&Test::Equal(unwanted.clone())),
        Test::NotIn(unwanted) => !any(&Test::In(unwanted.clone())),
        test => any(test),
    }
}

/// Whether a row passes a filter that looks at nothing else.
pub fn passes(row: &Row, filter: &Filter) -> bool {
    match filter {
        Filter::All(filters) => filters.iter().all(|filter| passes(row, filter)),
        Filter::Any(filters) => filters.iter().any(|filter| passes(row, filter)),
        Filter::Column(column, test) => {
            let at = *column as usize;
            passes_test(&row[at], instance::ENTITY.columns[at].kind, test)
        }
        Filter::Related(_) | Filter::Latest(_) => unreachable!("these have tests of their own"),
    }
}

/// All rows that a search finds, in its order.
pub fn found(rows: &[Row], search: &Search) -> Vec<Row> {
    let mut found: Vec<Row> = rows.iter().filter(|row| passes(row, &search.filter)).cloned().collect();
    // Nothing comes after everything else.
    let key = |value: &Value| match value {
        Value::Null => (1, 0, String::new()),
        Value::Integer(number) => (0, *number, String::new()),
        Value::Text(text) => (0, 0, text.to_string()),
    };
    found.sort_by(|one, other| {
        let orders = search.order().into_iter().map(|sort| {
            let at = sort.column as usize;
            let order = key(&one[at]).cmp(&key(&other[at]));
            if sort.descending { order.reverse() } else { order }
        });
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    found
}
