//! `POST /baton/v1/changes`: waits until one of the topics has changed. Hints, no data.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::Key;
use search::{Changes, Flush, Flushed, List, Progress, Touch};
use tokio::time::Instant;

use crate::rest::call::Call;
use crate::rest::list_ticks::ListTicks;
use crate::rest::problem::Failure;
use crate::rest::reply::Reply;
use crate::rest::visible::ReadAuthorization;
use crate::rest::writer::object;

/// Default time-out of a request.
const WAIT_MS: i64 = 25_000;
/// Time without announced changes after which everything may have changed.
const UNTOLD: Duration = Duration::from_secs(5);
/// Flushes are looked at together that came in such a time: a reader that waits costs nothing meanwhile, however many
/// there are.
const NARROW_PACE: Duration = Duration::from_millis(50);
/// Pace at which flushes are looked at together for a reader of any row, whose answer need not be immediate.
const BROAD_PACE: Duration = Duration::from_millis(500);
/// Time without a write of the store after which a request that waits for changes of an instance asks for one.
const HASTEN_PACE: Duration = Duration::from_millis(600);
/// The log of what was done: with anything.
const AUDIT_LOG: &str = "audit-log";

/// The subject of a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    Instance(Key),
    Definition(Key),
    Batch(Key),
    List(List),
    AuditLog,
}

impl Topic {
    fn parse(text: &str) -> Option<Self> {
        if text == AUDIT_LOG {
            return Some(Self::AuditLog);
        }
        if let Some(list) = List::ALL.into_iter().find(|list| list.name() == text) {
            return Some(Self::List(list));
        }
        let (kind, key) = text.split_once(':')?;
        let key = key.parse().ok().filter(|key| *key > 0)?;
        match kind {
            "process-instance" => Some(Self::Instance(key)),
            "process-definition" => Some(Self::Definition(key)),
            "batch-operation" => Some(Self::Batch(key)),
            _ => None,
        }
    }

    /// Touches of a flush that may be of it.
    fn among(self, flush: &Flush) -> &[Touch] {
        match self {
            Self::Instance(key) => flush.of_instance(key),
            _ => flush.broad(),
        }
    }

    fn is_of(self, touch: &Touch) -> bool {
        match self {
            Self::Instance(key) => touch.process_instance_key == key,
            Self::Definition(key) => touch.process_definition_key == key,
            Self::Batch(key) => touch.batch_operation_key == key,
            Self::List(list) => touch.list == Some(list),
            Self::AuditLog => true,
        }
    }

    /// Whether it changes with every second thing that happens.
    const fn is_broad(self) -> bool {
        matches!(self, Self::List(_) | Self::AuditLog | Self::Definition(_))
    }
}

/// Topics that have changed, by their place in the request.
struct Seen<'a> {
    topics: &'a [Topic],
    sight: Option<ReadAuthorization>,
    changed: BTreeSet<usize>,
}

impl Seen<'_> {
    fn add(&mut self, flushes: &[Flushed]) {
        for flush in flushes {
            let Some(flush) = flush else { return self.add_all() };
            for (at, topic) in self.topics.iter().enumerate() {
                let may_know = |touch: &Touch| self.sight.as_ref().is_none_or(|sight| sight.may_know(touch));
                let is_news = |touch: &Touch| topic.is_of(touch) && may_know(touch);
                if !self.changed.contains(&at) && topic.among(flush).iter().any(is_news) {
                    self.changed.insert(at);
                }
            }
        }
    }

    fn add_all(&mut self) {
        self.changed = (0..self.topics.len()).collect();
    }

    /// Whether there is something to be told at once.
    fn has_news(&self) -> bool {
        self.changed.iter().any(|at| !self.topics[*at].is_broad())
    }

    /// Whether all topics are broad, so that no change is told at once.
    fn is_broad(&self) -> bool {
        self.topics.iter().all(|topic| topic.is_broad())
    }

    /// Time for which flushes are gathered.
    fn pace(&self) -> Duration {
        if self.is_broad() { BROAD_PACE } else { NARROW_PACE }
    }
}

pub(super) async fn wait(call: &Call<'_>) -> Result<Reply, Failure> {
    let names = call.fields.names("topics");
    let read = |(at, name): (usize, &protocol::Name)| {
        Topic::parse(name).ok_or_else(|| Failure::invalid(format!("topics[{at}]: is no topic")))
    };
    let topics: Vec<Topic> = names.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let storage = call.storage()?.storage;
    let (progress, ticks) = (&storage.progress, &storage.list_ticks);
    let hasten = || storage.hasten(&*call.gateway.broker);
    let sight = ReadAuthorization::of(call).await?;
    let mut seen = Seen { topics: &topics, sight, changed: BTreeSet::new() };
    let after = match call.fields.text("after") {
        None => progress.changes.name_of(progress.changes.place()),
        Some(after) => {
            let wait_ms = call.fields.integer("timeoutMs").unwrap_or(WAIT_MS);
            let wait = Duration::from_millis(wait_ms.unsigned_abs());
            tokio::select! {
                after = gather(progress, ticks, &mut seen, &after, wait, hasten) => after,
                () = call.gateway.stop.cancelled() => after.into_owned(),
            }
        }
    };
    let mut out = Vec::with_capacity(128);
    let changed = seen.changed.iter().map(|at| &names[*at]).collect::<Vec<_>>();
    object(&mut out).with("after", after).with("changed", changed).end();
    Ok(Reply::json(out))
}

/// Gathers what has changed from a place on, by its name; gives that of the place behind it.
async fn gather(
    progress: &Progress,
    ticks: &ListTicks,
    seen: &mut Seen<'_>,
    after: &str,
    wait: Duration,
    hasten: impl Fn(),
) -> String {
    let changes: &Changes = &progress.changes;
    let began = Instant::now();
    let mut place = changes.place_of(after);
    let is_fed = changes.is_fed();
    let wait = if is_fed { wait } else { wait.min(UNTOLD) };
    let pace = seen.pace();
    let known = place.unwrap_or_default();
    loop {
        let Some((flushes, behind)) = place.and_then(|place| changes.since(place)) else {
            seen.add_all();
            return changes.name_of(changes.place());
        };
        seen.add(&flushes);
        place = Some(behind);
        let elapsed = began.elapsed();
        if seen.has_news() {
            return changes.name_of(behind);
        }
        let telling = (!seen.changed.is_empty()).then(|| ticks.tell(known, behind));
        if telling == Some(Ok(())) {
            return changes.name_of(behind);
        }
        if elapsed >= wait {
            if !is_fed && elapsed >= UNTOLD {
                seen.add_all();
            }
            return changes.name_of(behind);
        }
        let left = wait.saturating_sub(elapsed);
        let pause = telling.and_then(Result::err).unwrap_or(left).min(left);
        // Whether something came or did not, is seen next.
        if flushes.is_empty() {
            let pause = if seen.is_broad() { pause } else { pause.min(HASTEN_PACE) };
            let is_late = tokio::time::timeout(pause, changes.wait(behind)).await.is_err();
            if is_late && pause == HASTEN_PACE {
                hasten();
            }
        } else {
            tokio::time::sleep(pace.min(pause)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn topics_are_read_by_name_and_key() {
        assert_eq!(Topic::parse("process-instance:7"), Some(Topic::Instance(7)));
        assert_eq!(Topic::parse("incidents"), Some(Topic::List(List::Incidents)));
        for bad in
            ["", "x", "process-instance", "process-instance:", "process-instance:-1", "incidents:1", "job:1"]
        {
            assert_eq!(Topic::parse(bad), None, "{bad}");
        }
    }

    /// `api/operations.json` names the topics that clients follow with each read.
    #[test]
    fn topics_of_operations_are_topics() {
        let file: std::collections::BTreeMap<String, Vec<String>> =
            serde_json::from_str(include_str!("../../../api/operations.json")).unwrap();
        let mut names: Vec<String> = file
            .values()
            .filter_map(|told| told.get(1))
            .flat_map(|topics| topics.split([' ', '|']))
            .filter(|name| !name.is_empty() && *name != "instances")
            .map(|name| {
                name.split('{').next().unwrap_or_default().to_owned()
                    + if name.contains('{') { "7" } else { "" }
            })
            .collect();
        names.sort();
        names.dedup();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            assert!(Topic::parse(&name).is_some(), "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn instances_are_told_of_at_once_and_lists_after_a_while() {
        let (progress, ticks) = (Progress::default(), ListTicks::default());
        progress.feed();
        let topics = [Topic::Instance(1), Topic::List(List::Jobs), Topic::List(List::Incidents)];
        let touch = |key, list| Touch { process_instance_key: key, list: Some(list), ..Touch::default() };
        let after = progress.changes.name_of(progress.changes.place());
        let told = async |after: &str| {
            let mut seen = Seen { topics: &topics, sight: None, changed: BTreeSet::new() };
            let began = Instant::now();
            let after = gather(&progress, &ticks, &mut seen, after, Duration::from_secs(25), || ()).await;
            (seen.changed.into_iter().collect::<Vec<_>>(), began.elapsed().as_millis(), after)
        };
        progress.flushed(1, 5, Some(&[touch(2, List::Jobs)].into()));
        let (changed, waited_ms, after) = told(&after).await;
        assert_eq!((changed, waited_ms), (vec![1], 0), "after a quiet time");
        progress.flushed(1, 5, Some(&[touch(2, List::Jobs)].into()));
        let (changed, waited_ms, after) = told(&after).await;
        assert_eq!((changed, waited_ms), (vec![1], 2000));
        progress.flushed(1, 6, Some(&[touch(1, List::Jobs)].into()));
        let (changed, waited_ms, after) = told(&after).await;
        assert_eq!((changed, waited_ms), (vec![0, 1], 0));
        let (changed, waited_ms, after) = told(&after).await;
        assert_eq!((changed, waited_ms), (vec![], 25_000));
        // Changes that no reader of this kind sees are looked at together.
        let (after, (told_of, waited_ms, _)) = tokio::join!(
            async {
                for position in 7..57 {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    progress.flushed(1, position, Some(&[touch(2, List::Variables)].into()));
                }
                progress.flushed(1, 60, Some(&[touch(1, List::Variables)].into()));
                progress.changes.name_of(progress.changes.place())
            },
            told(&after)
        );
        assert_eq!(told_of, [0]);
        assert!((500..=550).contains(&waited_ms), "{waited_ms}");
        // Rows that another broker wrote may be any, once.
        progress.reached_elsewhere(protocol::FIRST_PARTITION, 60);
        progress.reached_elsewhere(protocol::FIRST_PARTITION, 69);
        let (changed, waited_ms, after) = told(&after).await;
        assert_eq!((changed, waited_ms), (vec![0, 1, 2], 0));
        assert_eq!(told(&after).await.0, Vec::<usize>::new());
        let (changed, waited_ms, _) = told("7-1").await;
        assert_eq!((changed, waited_ms), (vec![0, 1, 2], 0));
        // A broker without a store of its own.
        let untold = Progress::default();
        let mut seen = Seen { topics: &topics, sight: None, changed: BTreeSet::new() };
        let began = Instant::now();
        let after = untold.changes.name_of(untold.changes.place());
        gather(&untold, &ticks, &mut seen, &after, Duration::from_secs(25), || ()).await;
        assert_eq!((seen.changed.len(), began.elapsed().as_millis()), (3, 5000));
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_at_an_instance_asks_for_writes_that_do_not_come() {
        let (progress, ticks) = (Progress::default(), ListTicks::default());
        progress.feed();
        for (topic, asked) in [(Topic::Instance(1), 4), (Topic::Batch(1), 4), (Topic::List(List::Jobs), 0)] {
            let topics = [topic];
            let mut seen = Seen { topics: &topics, sight: None, changed: BTreeSet::new() };
            let hastened = Cell::new(0);
            let after = progress.changes.name_of(progress.changes.place());
            let hasten = || hastened.set(hastened.get() + 1);
            gather(&progress, &ticks, &mut seen, &after, Duration::from_millis(2500), hasten).await;
            assert_eq!(hastened.get(), asked, "{topic:?}");
        }
    }
}
