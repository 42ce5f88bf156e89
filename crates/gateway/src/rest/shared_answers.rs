//! Answers of secondary storage that reads behind hints share: all open pages are told at once and ask the same.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use search::{Found, Question, StoreError};
use tokio::sync::OnceCell;

/// Answers that are kept.
const KEPT_MAX: usize = 64;
/// Rows of an answer that is kept: longer ones are for programs, which do not ask the same again.
const ROWS_MAX: usize = 200;
/// Bytes of an answer that is kept.
const BYTES_MAX: usize = 64 * 1024;
/// How long an answer is given again: what the sweeper removes is no change that is told.
const SHARED_FOR: Duration = Duration::from_secs(2);

/// Answers of the last moments, the oldest first.
#[derive(Debug, Default)]
pub(super) struct SharedAnswers(Mutex<Vec<Arc<Answer>>>);

#[derive(Debug)]
struct Answer {
    question: Question,
    /// The place in the changes up to which it shows them, at the least.
    place: u64,
    asked: Instant,
    found: OnceCell<Found>,
}

impl SharedAnswers {
    /// The answer to a question that shows all changes up to the place where they are now: nobody sees less than what
    /// was shown before. One that is wanted by several at once is asked for once.
    pub(super) async fn find(
        &self,
        question: Question,
        place: u64,
        ask: impl AsyncFnOnce(Question) -> Result<Found, StoreError>,
    ) -> Result<Found, StoreError> {
        let answer = self.answer(&question, place);
        let found = answer.found.get_or_try_init(|| ask(question)).await?;
        if !is_short(found) {
            self.0.lock().retain(|kept| !Arc::ptr_eq(kept, &answer));
        }
        Ok(found.clone())
    }

    fn answer(&self, question: &Question, place: u64) -> Arc<Answer> {
        let mut kept = self.0.lock();
        kept.retain(|answer| answer.place >= place && answer.asked.elapsed() < SHARED_FOR);
        let known = kept.iter().find(|answer| answer.question == *question);
        if let Some(answer) = known {
            return Arc::clone(answer);
        }
        if kept.len() == KEPT_MAX {
            kept.remove(0);
        }
        let answer =
            Answer { question: question.clone(), place, asked: Instant::now(), found: OnceCell::new() };
        let answer = Arc::new(answer);
        kept.push(Arc::clone(&answer));
        answer
    }
}

fn is_short(found: &Found) -> bool {
    found.rows.len() <= ROWS_MAX
        && found.rows.iter().map(|row| search::row_bytes(row)).sum::<usize>() <= BYTES_MAX
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use search::model::process_instance as instance;
    use search::{Operand, Search, Value};

    use super::*;

    fn question(key: i64) -> Question {
        Question::Search(Search::one(&instance::ENTITY, Operand::Integer(key), u64::MAX))
    }

    fn found(rows: usize) -> Found {
        Found { rows: vec![vec![Value::Integer(7)]; rows], ..Found::default() }
    }

    #[tokio::test]
    async fn an_answer_is_shared_until_something_changes() {
        let answers = SharedAnswers::default();
        let asked = AtomicU32::new(0);
        let ask = async |key: i64, place: u64| {
            let once = async |_| {
                asked.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Ok(found(1))
            };
            answers.find(question(key), place, once).await.expect("an answer");
            asked.load(Ordering::Relaxed)
        };
        let both = tokio::join!(ask(1, 5), ask(1, 5));
        assert_eq!(both, (1, 1), "several at once");
        assert_eq!(ask(1, 5).await, 1);
        assert_eq!(ask(2, 5).await, 2, "another question");
        assert_eq!(ask(1, 6).await, 3, "after a change");
        assert_eq!(ask(1, 6).await, 3);
    }

    #[tokio::test]
    async fn long_answers_and_failures_are_not_kept_and_few_are() {
        let answers = SharedAnswers::default();
        answers.find(question(1), 1, async |_| Ok(found(ROWS_MAX + 1))).await.expect("an answer");
        let text = Value::Text("x".repeat(BYTES_MAX).into());
        let wide = Found { rows: vec![vec![text]], ..Found::default() };
        answers.find(question(1), 1, async |_| Ok(wide)).await.expect("an answer");
        assert!(answers.0.lock().is_empty());
        let away = async |_| Err(StoreError::Unavailable("away".to_owned()));
        answers.find(question(1), 1, away).await.expect_err("the store is away");
        let after = answers.find(question(1), 1, async |_| Ok(found(2))).await.expect("an answer");
        assert_eq!(after, found(2));
        for key in 0..=KEPT_MAX as i64 {
            answers.find(question(key), 1, async |_| Ok(found(1))).await.expect("an answer");
        }
        assert_eq!(answers.0.lock().len(), KEPT_MAX);
    }
}
