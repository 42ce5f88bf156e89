//! Questions and answers as brokers send them to each other: JSON. A broker answers those of its own model only,
//! because columns go by number.

use std::sync::LazyLock;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::model::ENTITIES;
use crate::query::{Found, Question, Row};
use crate::reader::{Reader, StoreError};

/// Bytes of an answer at most: a message between brokers holds them.
const ANSWER_BYTES_MAX: usize = 63 * 1024 * 1024;

/// Changes with each change of an entity or a column.
static MODEL: LazyLock<u64> = LazyLock::new(|| {
    let names = ENTITIES
        .iter()
        .flat_map(|entity| [entity.name].into_iter().chain(entity.columns.iter().map(|column| column.name)));
    // FNV-1a: equal on all brokers, whatever built them.
    names
        .flat_map(|name| name.bytes().chain([0]))
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
});

#[derive(Serialize, Deserialize)]
struct Asked<Q> {
    model: u64,
    question: Q,
}

/// An answer that another broker would not give differently.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Told {
    Found(Found),
    Rows(Vec<Row>),
    TooSlow(String),
    Query(String),
    PageTooLarge(usize),
}

/// A question as it is sent.
pub fn encode(question: &Question) -> Result<Vec<u8>, StoreError> {
    let asked = Asked { model: *MODEL, question };
    serde_json::to_vec(&asked).map_err(|error| StoreError::Query(error.to_string()))
}

/// Answers a question of another broker. An error is the reason why this one cannot, and others may.
pub async fn answer(reader: &dyn Reader, asked: &[u8]) -> Result<Vec<u8>, String> {
    let of_any_model: Asked<IgnoredAny> = serde_json::from_slice(asked).map_err(|error| error.to_string())?;
    if of_any_model.model != *MODEL {
        return Err("it is of another release, whose history has other columns".to_owned());
    }
    let asked: Asked<Question> = serde_json::from_slice(asked).map_err(|error| error.to_string())?;
    let answered = match asked.question {
        Question::Search(search) => reader.search(search).await.map(Told::Found),
        Question::Statistics(statistics) => reader.statistics(statistics).await.map(Told::Rows),
    };
    let answer = match answered {
        Ok(answer) => answer,
        Err(StoreError::TooSlow(reason)) => Told::TooSlow(reason),
        Err(StoreError::Query(reason)) => Told::Query(reason),
        Err(StoreError::PageTooLarge(limit)) => Told::PageTooLarge(limit),
        Err(error) => return Err(error.to_string()),
    };
    let mut bytes = serde_json::to_vec(&answer).map_err(|error| error.to_string())?;
    if bytes.len() > ANSWER_BYTES_MAX {
        let answer = Told::PageTooLarge(ANSWER_BYTES_MAX);
        bytes = serde_json::to_vec(&answer).map_err(|error| error.to_string())?;
    }
    Ok(bytes)
}

fn decode(bytes: &[u8]) -> Result<Told, StoreError> {
    let strange =
        |error: serde_json::Error| StoreError::NoCopy(format!("an answer of another form: {error}"));
    match serde_json::from_slice(bytes).map_err(strange)? {
        Told::TooSlow(reason) => Err(StoreError::TooSlow(reason)),
        Told::Query(reason) => Err(StoreError::Query(reason)),
        Told::PageTooLarge(limit) => Err(StoreError::PageTooLarge(limit)),
        answer => Ok(answer),
    }
}

/// The rows that another broker has found.
pub fn found(bytes: &[u8]) -> Result<Found, StoreError> {
    match decode(bytes)? {
        Told::Found(found) => Ok(found),
        other => Err(StoreError::NoCopy(format!("an answer to another question: {other:?}"))),
    }
}

/// The numbers that another broker has computed.
pub fn rows(bytes: &[u8]) -> Result<Vec<Row>, StoreError> {
    match decode(bytes)? {
        Told::Rows(rows) => Ok(rows),
        other => Err(StoreError::NoCopy(format!("an answer to another question: {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use futures::future::BoxFuture;
    use parking_lot::Mutex;
    use protocol::PartitionId;

    use super::*;
    use crate::model::{incident, process_instance as instance};
    use crate::query::{Aggregate, EntityRef, Filter, Latest, Position, Related, Search, Sort, Statistics};
    use crate::{Operand, Test, Value};

    /// Keeps what it is asked, and answers the same each time.
    struct Fixed {
        asked: Mutex<Option<Question>>,
        fails_with: fn() -> Result<(), StoreError>,
    }

    fn result() -> Vec<Row> {
        vec![vec![Value::Null, Value::Integer(i64::MIN), Value::Integer(i64::MAX), "a\"\u{0}ü".into()]]
    }

    impl Reader for Fixed {
        fn search(&self, search: Search) -> BoxFuture<'_, Result<Found, StoreError>> {
            *self.asked.lock() = Some(Question::Search(search));
            async { (self.fails_with)().map(|()| Found { rows: result(), total: 7, has_more: true }) }.boxed()
        }

        fn statistics(&self, statistics: Statistics) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
            *self.asked.lock() = Some(Question::Statistics(statistics));
            async { (self.fails_with)().map(|()| result()) }.boxed()
        }

        fn position(&self, _: PartitionId) -> BoxFuture<'_, Result<u64, StoreError>> {
            async { Ok(0) }.boxed()
        }
    }

    fn fixed(fails_with: fn() -> Result<(), StoreError>) -> Fixed {
        Fixed { asked: Mutex::default(), fails_with }
    }

    fn search() -> Search {
        let text = |text: &str| Operand::Text(text.into());
        let related = Related {
            column: instance::KEY,
            entity: EntityRef(&incident::ENTITY),
            other: incident::INSTANCE_KEY,
            filter: Filter::Column(incident::STATE, Test::NotIn(vec![text("A"), Operand::Integer(3)])),
            exists: false,
        };
        let latest = Latest { group: vec![1, 2], by: 3, among: Filter::everything() };
        let all = [
            Test::Equal(text("x")),
            Test::NotEqual(Operand::Integer(-1)),
            Test::Exists(true),
            Test::In(vec![text("")]),
            Test::Like("a*".into()),
            Test::Greater(Operand::Integer(i64::MAX)),
            Test::LessOrEqual(text("z")),
        ];
        let tests = all.into_iter().map(|test| Filter::Column(instance::STATE, test)).collect();
        Search {
            entity: EntityRef(&instance::ENTITY),
            filter: Filter::Any(vec![
                Filter::All(tests),
                Filter::Related(Box::new(related)),
                Filter::Latest(Box::new(latest)),
            ]),
            sort: vec![Sort { column: instance::START, descending: true }],
            position: Position::Before(vec![Value::Null, Value::Integer(1), "b".into()]),
            limit: 3,
            count_up_to: 10_000,
            columns: u64::MAX,
            cut: Some((2, 8191)),
        }
    }

    #[tokio::test]
    async fn questions_and_answers_come_through_as_they_are() {
        let store = fixed(|| Ok(()));
        let asked = encode(&Question::Search(search())).unwrap();
        let answered = answer(&store, &asked).await.unwrap();
        assert!(matches!(store.asked.lock().take(), Some(Question::Search(asked)) if asked == search()));
        assert_eq!(found(&answered).unwrap(), Found { rows: result(), total: 7, has_more: true });
        assert!(rows(&answered).is_err(), "it is the answer to another question");

        let statistics = Statistics {
            entity: EntityRef(&incident::ENTITY),
            filter: search().filter,
            group_by: vec![4],
            aggregates: vec![
                Aggregate::Count(Filter::nothing()),
                Aggregate::Distinct(1, Filter::everything()),
                Aggregate::Sum(2),
                Aggregate::Max(3),
            ],
            limit: 9,
        };
        let asked = encode(&Question::Statistics(statistics.clone())).unwrap();
        let answered = answer(&store, &asked).await.unwrap();
        assert!(
            matches!(store.asked.lock().take(), Some(Question::Statistics(asked)) if asked == statistics)
        );
        assert_eq!(rows(&answered).unwrap(), result());
    }

    #[tokio::test]
    async fn errors_of_the_question_come_through_and_those_of_a_broker_let_others_answer() {
        let asked = encode(&Question::Search(search())).unwrap();
        let told = |fails_with| {
            let asked = asked.clone();
            async move { answer(&fixed(fails_with), &asked).await }
        };
        let slow = told(|| Err(StoreError::TooSlow("slow".to_owned()))).await.unwrap();
        assert!(matches!(found(&slow), Err(StoreError::TooSlow(reason)) if reason == "slow"));
        let query = told(|| Err(StoreError::Query("deep".to_owned()))).await.unwrap();
        assert!(matches!(found(&query), Err(StoreError::Query(reason)) if reason == "deep"));
        let large = told(|| Err(StoreError::PageTooLarge(5))).await.unwrap();
        assert!(matches!(found(&large), Err(StoreError::PageTooLarge(5))));
        let away = told(|| Err(StoreError::Unavailable("no disk".to_owned()))).await;
        assert_eq!(away.unwrap_err(), "no disk");
        let of_another_model = serde_json::to_vec(&Asked { model: 1, question: "?" }).unwrap();
        let refused = answer(&fixed(|| Ok(())), &of_another_model).await.unwrap_err();
        assert!(refused.contains("another release"), "{refused}");
    }
}
