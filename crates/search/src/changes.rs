//! Changes of the store in the last moments, for those who show it: hints, no data.
//!
//! The exporter tells the subjects of the records of each flush, as long as there are readers. The last flushes are
//! kept, so that a reader that comes back a moment later has missed nothing.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use protocol::{Key, Name, PartitionId};
use tokio::sync::watch;

/// Changes are not kept any more when no reader has asked for so long.
const WANTED_FOR: Duration = Duration::from_secs(60);
/// Flushes that are kept.
const KEPT_MAX: usize = 1024;
/// Touches that are kept of one flush; with more, everything has changed.
const TOUCHES_MAX: usize = 4096;

/// A list that people look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum List {
    /// Process instances.
    ProcessInstances,
    /// Incidents.
    Incidents,
    /// Jobs.
    Jobs,
    /// User tasks.
    UserTasks,
    /// Variables.
    Variables,
    /// Decisions that were evaluated.
    DecisionInstances,
    /// Subscriptions, and messages that reached them.
    Messages,
    /// Process definitions.
    ProcessDefinitions,
    /// Decision definitions.
    DecisionDefinitions,
    /// Batch operations.
    BatchOperations,
    /// Users.
    Users,
    /// Groups, with their members.
    Groups,
    /// Roles, with their members.
    Roles,
    /// Tenants, with their members.
    Tenants,
    /// Mapping rules.
    MappingRules,
    /// Authorizations.
    Authorizations,
    /// Cluster variables, of the cluster and of tenants.
    ClusterVariables,
    /// Global task listeners.
    GlobalTaskListeners,
}

impl List {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::ProcessInstances,
        Self::Incidents,
        Self::Jobs,
        Self::UserTasks,
        Self::Variables,
        Self::DecisionInstances,
        Self::Messages,
        Self::ProcessDefinitions,
        Self::DecisionDefinitions,
        Self::BatchOperations,
        Self::Users,
        Self::Groups,
        Self::Roles,
        Self::Tenants,
        Self::MappingRules,
        Self::Authorizations,
        Self::ClusterVariables,
        Self::GlobalTaskListeners,
    ];

    /// Its name among topics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProcessInstances => "process-instances",
            Self::Incidents => "incidents",
            Self::Jobs => "jobs",
            Self::UserTasks => "user-tasks",
            Self::Variables => "variables",
            Self::DecisionInstances => "decision-instances",
            Self::Messages => "messages",
            Self::ProcessDefinitions => "process-definitions",
            Self::DecisionDefinitions => "decision-definitions",
            Self::BatchOperations => "batch-operations",
            Self::Users => "users",
            Self::Groups => "groups",
            Self::Roles => "roles",
            Self::Tenants => "tenants",
            Self::MappingRules => "mapping-rules",
            Self::Authorizations => "authorizations",
            Self::ClusterVariables => "cluster-variables",
            Self::GlobalTaskListeners => "global-task-listeners",
        }
    }
}

/// The subject of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Touch {
    /// The list that shows it, if any does.
    pub list: Option<List>,
    /// The process instance, or 0.
    pub process_instance_key: Key,
    /// The definition, or 0.
    pub process_definition_key: Key,
    /// The batch operation, or 0.
    pub batch_operation_key: Key,
    /// ID of the process, or of the decision.
    pub definition_id: Name,
    /// The tenant, or nothing.
    pub tenant_id: Name,
}

/// The changes of one flush. `None`: it may be anything.
pub type Flushed = Option<Arc<Flush>>;

/// The touches of one flush, once for readers of one instance and once for readers of anything else: of those there are
/// few, however many instances were touched.
#[derive(Debug, PartialEq, Eq)]
pub struct Flush {
    /// Touches of instances, in the order of their keys.
    of_instances: Box<[Touch]>,
    /// All of them without the keys of instances, each once.
    broad: Box<[Touch]>,
}

impl Flush {
    /// Sorts touches.
    pub fn new(touches: &HashSet<Touch>) -> Self {
        let mut of_instances: Vec<_> =
            touches.iter().filter(|touch| touch.process_instance_key != 0).cloned().collect();
        of_instances.sort_unstable_by_key(|touch| touch.process_instance_key);
        let broad: BTreeSet<_> =
            touches.iter().map(|touch| Touch { process_instance_key: 0, ..touch.clone() }).collect();
        Self { of_instances: of_instances.into(), broad: broad.into_iter().collect() }
    }

    /// The touches of an instance.
    pub fn of_instance(&self, key: Key) -> &[Touch] {
        let first = self.of_instances.partition_point(|touch| touch.process_instance_key < key);
        let count = self.of_instances[first..].partition_point(|touch| touch.process_instance_key == key);
        &self.of_instances[first..first + count]
    }

    /// The other things that were touched: lists, definitions, batch operations. None of them tells an instance.
    pub fn broad(&self) -> &[Touch] {
        &self.broad
    }
}

#[derive(Debug)]
struct LastChanges {
    kept: VecDeque<Flushed>,
    /// Number of the flush behind the last that is kept.
    next: u64,
    /// The position of each partition that was told of.
    covered: BTreeMap<PartitionId, u64>,
    asked: Option<Instant>,
    is_fed: bool,
}

/// The last changes of a store.
#[derive(Debug)]
pub struct Changes {
    state: Mutex<LastChanges>,
    news: watch::Sender<u64>,
    /// Tells the numbers of this program from those of another.
    epoch: u64,
}

impl Default for Changes {
    fn default() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let state = LastChanges {
            kept: VecDeque::new(),
            next: 0,
            covered: BTreeMap::new(),
            asked: None,
            is_fed: false,
        };
        Self { state: Mutex::new(state), news: watch::Sender::new(0), epoch: since.as_nanos() as u64 }
    }
}

impl Changes {
    /// Whether a reader has asked lately.
    pub fn is_wanted(&self) -> bool {
        self.state.lock().asked.is_some_and(|asked| asked.elapsed() < WANTED_FOR)
    }

    /// An exporter of this program has begun to tell.
    pub fn feed(&self) {
        self.state.lock().is_fed = true;
    }

    /// Whether an exporter tells of changes here. Otherwise none are known.
    pub fn is_fed(&self) -> bool {
        self.state.lock().is_fed
    }

    /// A flush brought the store to a position. `touches` is `None` if they were not gathered.
    pub fn flushed(&self, partition: PartitionId, position: u64, touches: Option<&HashSet<Touch>>) {
        let touches = touches.filter(|touches| touches.len() <= TOUCHES_MAX);
        self.push(partition, position, touches.map(|touches| Arc::new(Flush::new(touches))));
    }

    fn push(&self, partition: PartitionId, position: u64, touches: Flushed) {
        let mut state = self.state.lock();
        let covered = state.covered.entry(partition).or_default();
        *covered = position.max(*covered);
        if touches.as_ref().is_some_and(|flush| flush.broad.is_empty()) {
            return;
        }
        if state.kept.len() == KEPT_MAX {
            state.kept.pop_front();
        }
        state.kept.push_back(touches);
        state.next += 1;
        self.news.send_replace(state.next);
    }

    /// Another broker has written the store up to a position, whose subjects may not be known here.
    pub fn catch_up(&self, partition: PartitionId, position: u64) {
        let covered = self.state.lock().covered.get(&partition).copied().unwrap_or(0);
        if covered < position {
            self.push(partition, position, None);
        }
    }

    /// The place from which on to wait. There is a reader from now on.
    pub fn place(&self) -> u64 {
        let mut state = self.state.lock();
        state.asked = Some(Instant::now());
        state.next
    }

    /// A place as readers are told of it.
    pub fn name_of(&self, place: u64) -> String {
        format!("{:x}-{place}", self.epoch)
    }

    /// The place of a name, if that is of this program.
    pub fn place_of(&self, name: &str) -> Option<u64> {
        let (epoch, place) = name.split_once('-')?;
        (u64::from_str_radix(epoch, 16).ok()? == self.epoch).then(|| place.parse().ok())?
    }

    /// Whether this program has told readers of a place by this name.
    pub fn has_told(&self, name: &str) -> bool {
        self.place_of(name).is_some_and(|place| place <= self.state.lock().next)
    }

    /// The flushes from a place on, and the place behind them. `None`: the place is unknown here, so everything may
    /// have changed.
    pub fn since(&self, place: u64) -> Option<(Vec<Flushed>, u64)> {
        let mut state = self.state.lock();
        state.asked = Some(Instant::now());
        let first = state.next - state.kept.len() as u64;
        if place > state.next || place < first {
            return None;
        }
        let flushes = state.kept.range((place - first) as usize..).cloned().collect();
        Some((flushes, state.next))
    }

    /// Waits until there is something behind a place.
    pub async fn wait(&self, place: u64) {
        let mut news = self.news.subscribe();
        // The sender lives as long as this.
        drop(news.wait_for(|next| *next > place).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touches(key: Key) -> HashSet<Touch> {
        HashSet::from([Touch { process_instance_key: key, ..Touch::default() }])
    }

    fn keys(flushes: &[Flushed]) -> Vec<Option<Key>> {
        flushes.iter().map(|flush| flush.as_ref().map(|it| it.of_instances[0].process_instance_key)).collect()
    }

    #[test]
    fn whoever_comes_back_has_missed_nothing() {
        let changes = Changes::default();
        assert!(!changes.is_wanted());
        let place = changes.place();
        assert!(changes.is_wanted());
        changes.flushed(1, 5, Some(&touches(1)));
        changes.flushed(1, 6, Some(&HashSet::new()));
        changes.flushed(1, 9, None);
        let (flushes, place) = changes.since(place).unwrap();
        assert_eq!(keys(&flushes), [Some(1), None]);
        assert_eq!(changes.since(place).unwrap().0.len(), 0);
        changes.catch_up(1, 9);
        assert_eq!(changes.since(place).unwrap().0.len(), 0, "it was told of");
        changes.catch_up(2, 9);
        assert_eq!(keys(&changes.since(place).unwrap().0), [None], "of another partition");
        let (_, place) = changes.since(place).unwrap();
        changes.catch_up(1, 10);
        assert_eq!(keys(&changes.since(place).unwrap().0), [None]);
    }

    #[test]
    fn places_that_are_unknown_or_too_old_are_told_apart() {
        let changes = Changes::default();
        let place = changes.place();
        let name = changes.name_of(place);
        assert_eq!(changes.place_of(&name), Some(place));
        let other = Changes { epoch: 7, ..Changes::default() };
        assert_eq!(other.place_of(&name), None);
        for bad in ["", "x", "-", "1-2-3", "zz-1", &name.replace('-', "-x")] {
            assert_eq!(changes.place_of(bad), None, "{bad}");
        }
        assert!(changes.since(place + 1).is_none());
        for position in 0..=KEPT_MAX as u64 {
            changes.flushed(1, position, Some(&touches(1)));
        }
        assert!(changes.since(place).is_none());
    }

    #[test]
    fn what_many_instances_have_in_common_is_told_once() {
        let touch = |key: Key, list: List, definition_id: &str| Touch {
            list: Some(list),
            process_instance_key: key,
            process_definition_key: 9,
            definition_id: Name::from(definition_id),
            ..Touch::default()
        };
        let mut touches: HashSet<_> = (1..=500).map(|key| touch(key, List::ProcessInstances, "p")).collect();
        touches.extend((1..=500).map(|key| touch(key, List::Jobs, "p")));
        touches.insert(touch(7, List::Incidents, "q"));
        touches.insert(Touch { batch_operation_key: 3, ..Touch::default() });
        let flush = Flush::new(&touches);
        assert_eq!(flush.broad().len(), 4);
        assert!(flush.broad().iter().all(|touch| touch.process_instance_key == 0));
        let lists =
            |key| flush.of_instance(key).iter().filter_map(|touch| touch.list).collect::<BTreeSet<_>>();
        assert_eq!(lists(7), [List::ProcessInstances, List::Jobs, List::Incidents].into());
        assert_eq!((lists(1).len(), lists(500).len()), (2, 2));
        assert_eq!((lists(0).len(), lists(501).len()), (0, 0));
    }

    #[tokio::test]
    async fn who_waits_is_woken() {
        let changes = Changes::default();
        let place = changes.place();
        let flush = async {
            tokio::task::yield_now().await;
            changes.flushed(1, 1, Some(&touches(3)));
        };
        tokio::join!(changes.wait(place), flush);
        assert_eq!(keys(&changes.since(place).unwrap().0), [Some(3)]);
    }
}
