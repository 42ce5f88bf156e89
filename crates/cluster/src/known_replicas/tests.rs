use super::*;

/// A broker with its directory, which is started, copied and put back.
#[derive(Clone)]
struct Directory {
    path: std::sync::Arc<tempfile::TempDir>,
    replica: ReplicaNumber,
    position: Acknowledged,
}

fn at(term: u64, index: u64) -> Acknowledged {
    Acknowledged { term, node: 0, index }
}

/// Entries of the first partition.
fn first<T>(entry: T) -> BTreeMap<PartitionId, T> {
    BTreeMap::from([(FIRST_PARTITION, entry)])
}

impl Directory {
    fn new() -> Self {
        let path = std::sync::Arc::new(tempfile::tempdir().unwrap());
        Self { path, replica: ReplicaNumber::first(1), position: at(0, 0) }
    }

    fn copy(&self) -> Self {
        let path = tempfile::tempdir().unwrap();
        let file = self.path.path().join("broker.json");
        if file.exists() {
            std::fs::copy(file, path.path().join("broker.json")).unwrap();
        }
        Self { path: std::sync::Arc::new(path), ..self.clone() }
    }

    fn start(&self) -> Identity {
        let identity = Identity::next(self.path.path(), "c", 1).unwrap();
        identity.begin(self.path.path()).unwrap();
        identity
    }

    fn present(&self, to: &KnownReplicas) -> Verdict {
        self.present_with(to, &BTreeMap::new())
    }

    fn present_with(&self, to: &KnownReplicas, heard: &HeardHere) -> Verdict {
        self.present_ends(to, heard, first(self.position))
    }

    fn present_ends(
        &self,
        to: &KnownReplicas,
        heard: &HeardHere,
        ends: BTreeMap<PartitionId, Acknowledged>,
    ) -> Verdict {
        let presented = Presented::new(&self.start(), self.replica, ends);
        let presented = serde_json::to_vec(&presented).unwrap();
        let first = Verdict::of(&to.answer(1, &presented, heard).unwrap()).unwrap();
        let again = Verdict::of(&to.answer(1, &presented, heard).unwrap()).unwrap();
        assert_eq!(first, again, "it may ask twice");
        first
    }
}

/// A broker that remembers; it is opened again each time.
struct Other(tempfile::TempDir);

impl Other {
    fn open(&self) -> KnownReplicas {
        KnownReplicas::open(self.0.path()).unwrap()
    }
}

fn other() -> Other {
    Other(tempfile::tempdir().unwrap())
}

#[track_caller]
fn assert_went_back(verdict: &Verdict, reason: &str) {
    assert!(matches!(verdict, Verdict::WentBack(text) if text.contains(reason)), "{verdict:?}");
}

#[test]
fn a_replica_that_is_only_restarted_is_vouched_for() {
    let (mut directory, other) = (Directory::new(), other());
    for index in 0..5 {
        directory.position = at(3, index);
        assert_eq!(directory.present(&other.open()), Verdict::Vouched);
    }
    // Starts that this one has not seen.
    directory.start();
    directory.start();
    // Another leader has removed entries that were not committed.
    directory.position = at(4, 2);
    assert_eq!(directory.present(&other.open()), Verdict::Vouched);
}

#[test]
fn an_old_copy_is_found_by_its_life_though_nothing_was_written() {
    let (directory, other) = (Directory::new(), other());
    assert_eq!(directory.present(&other.open()), Verdict::Vouched);
    let copy = directory.copy();
    let same = directory.copy();
    assert_eq!(same.present(&other.open()), Verdict::Vouched, "a copy that is not old");
    assert_went_back(&copy.present(&other.open()), "started at least 2 times");
    // Nor does it help to start often where nobody sees it.
    let hidden = directory.copy();
    for _ in 0..10 {
        hidden.start();
    }
    assert_went_back(&hidden.present(&other.open()), "another start 2");
    assert_eq!(same.present(&other.open()), Verdict::Vouched, "the right one still may");
}

#[test]
fn an_old_copy_of_the_same_life_is_found_by_what_it_has_acknowledged() {
    let (mut directory, other) = (Directory::new(), other());
    directory.position = at(3, 10);
    assert_eq!(directory.present(&other.open()), Verdict::Vouched);
    let copy = directory.copy();
    let known = other.open();
    let acknowledged = first(BTreeMap::from([(1, at(3, 12))]));
    known.learn(std::iter::empty(), &acknowledged).unwrap();
    assert_went_back(
        &copy.present(&known),
        "it had log index 12 in term 3 of partition 1, and its log ends at 10 in term 3",
    );
    // The vote alone went back.
    let voted = first(BTreeMap::from([(1, at(4, 0))]));
    let known = other.open();
    let mut copy = directory.copy();
    copy.position = at(3, 20);
    assert_went_back(&copy.present_with(&known, &voted), "in term 4");
    // It says so itself.
    let known = other.open();
    let identity = Identity::next(directory.path.path(), "c", 1).unwrap();
    let told = KnownReplica::of(&identity, copy.replica, first(at(3, 15)));
    let life = told.life;
    known.learn([(1, told)].into_iter(), &BTreeMap::new()).unwrap();
    assert_went_back(&directory.copy().present(&known), &format!("at least {life} times"));
}

#[test]
fn a_replica_that_nobody_has_seen_start_has_promised_something_in_the_group() {
    let directory = Directory::new();
    let acknowledged = first(BTreeMap::from([(1, at(1, 5))]));
    assert_went_back(&directory.present_with(&other().open(), &acknowledged), "log index 5");
}

#[test]
fn an_old_log_of_any_partition_is_found() {
    let (directory, other) = (Directory::new(), other());
    let ends = |second| BTreeMap::from([(1, at(3, 9)), (2, at(second, 4))]);
    let none = HeardHere::new();
    assert_eq!(directory.present_ends(&other.open(), &none, ends(2)), Verdict::Vouched);
    assert_went_back(&directory.copy().present_ends(&other.open(), &none, ends(1)), "of partition 2");
    assert_went_back(&directory.copy().present(&other.open()), "of partition 1");
    assert_eq!(directory.present_ends(&other.open(), &none, ends(2)), Verdict::Vouched);
    let heard = HeardHere::from([(2, BTreeMap::from([(1, at(2, 5))]))]);
    assert_went_back(&directory.copy().present_ends(&other.open(), &heard, ends(2)), "log index 5");
}

#[test]
fn a_file_of_one_partition_has_the_form_of_earlier_builds() {
    let entries = LastEntries(first(at(3, 9)));
    let text = serde_json::to_string(&entries).unwrap();
    assert_eq!(text, r#"{"term":3,"node":0,"index":9}"#);
    assert_eq!(serde_json::from_str::<LastEntries>(&text).unwrap(), entries);
    let several = LastEntries(BTreeMap::from([(1, at(3, 9)), (2, at(1, 1)), (12, at(0, 7))]));
    let text = serde_json::to_string(&several).unwrap();
    assert_eq!(serde_json::from_str::<LastEntries>(&text).unwrap(), several);
}

#[test]
fn a_former_replica_of_a_broker_and_one_of_another_directory_are_found() {
    let (mut directory, other) = (Directory::new(), other());
    directory.position = at(3, 10);
    assert_eq!(directory.present(&other.open()), Verdict::Vouched);
    let former = directory.copy();
    directory.replica = directory.replica.next();
    directory.position = at(0, 0);
    assert_eq!(directory.present(&other.open()), Verdict::Vouched, "a new one has nothing");
    assert_went_back(&former.present(&other.open()), "has taken the place");
    let mut another = Directory::new();
    another.replica = directory.replica;
    another.position = at(9, 99);
    assert_went_back(&another.present(&other.open()), "directory is another one");
}

#[test]
fn lives_of_long_ago_are_not_held_against_a_replica() {
    let (directory, other) = (Directory::new(), other());
    assert_eq!(directory.present(&other.open()), Verdict::Vouched);
    for _ in 0..300 {
        directory.start();
    }
    assert_eq!(directory.present(&other.open()), Verdict::Vouched);
}

#[test]
fn what_is_no_presentation_has_no_verdict() {
    let (directory, other) = (Directory::new(), other());
    let identity = directory.start();
    let presented = Presented::new(&identity, ReplicaNumber::first(1), first(at(1, 1)));
    let bytes = serde_json::to_vec(&presented).unwrap();
    assert!(other.open().answer(2, &bytes, &BTreeMap::new()).is_err(), "of another broker");
    assert!(other.open().answer(1, b"{}", &BTreeMap::new()).is_err());
    let mut lifeless = presented;
    lifeless.lives.clear();
    let bytes = serde_json::to_vec(&lifeless).unwrap();
    assert!(other.open().answer(1, &bytes, &BTreeMap::new()).is_err());
    std::fs::write(other.0.path().join("known-replicas.json"), "{").unwrap();
    assert!(KnownReplicas::open(other.0.path()).unwrap_err().to_string().contains("known-replicas.json"));
}
