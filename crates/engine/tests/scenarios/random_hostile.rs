//! Hostile models: invariants that hold although the models never end.
//!
//! No batch exceeds the bounds that follow from the limits (`models::Bounds`, checked in every scenario). A small
//! process beside them ends as soon as its turns allow. Each instance can be cancelled, within as many batches as it
//! has rows, and then nothing is left over. The log can be repeated.

use engine::{Effects, Engine, WorkLimits};
use models::OWNERS_MAX;
use protocol::{Command, CompleteJob, CreateInstance, DefinitionRef, DeleteResource, Document, Key, Name};

use crate::random_consistency::check_consistency;
use crate::random_process::{Run, number};
use crate::support::model::bpmn;

/// Actions on hostile instances.
pub const ACTIONS: u64 = 40;
/// Most batches that left-over steps may take after an action.
const PATIENCE: usize = 6;
/// Ticks after the clock has moved.
const TICKS: usize = 3;
/// Most rows that an action on each row takes.
const AT_ONCE: usize = 20;
/// Steps of the small process, and one more for each that may need a batch of its own.
const SMALL_STEPS: u64 = 20;
/// Steps for ending a row, and batches in any case.
const STEPS_TO_END: u64 = 10;
const BATCHES_TO_END: u64 = 100;
/// Rounds that complete the listeners of the tasks of one instance.
const LISTENERS_MAX: usize = 20;
/// The small process, which no other process starts.
const SMALL: &str = "process small\nstart s\nscript t expr=\"1 + 1\" result=n\nend e\ns -> t -> e";

/// Whether a seed is one of a hostile model.
pub fn is_meant(seed: u64) -> bool {
    let one_in = number("BATON_RANDOM_HOSTILE", 8);
    one_in > 0 && seed % one_in == one_in / 2
}

impl Run {
    pub fn all_hostile(&mut self, model: &str, decisions: Option<&str>, actions: u64) {
        // Each process has its own file, which evades the check of endless loops.
        let processes: Vec<String> =
            model.split("process ").skip(1).map(|text| format!("process {text}")).collect();
        let names: Vec<String> = (0..processes.len()).map(|number| format!("{number}.bpmn")).collect();
        let mut files: Vec<(&str, &str)> =
            names.iter().zip(&processes).map(|(name, text)| (name.as_str(), text.as_str())).collect();
        files.push(("dish.dmn", include_str!("models/dish.dmn")));
        files.push(("small.bpmn", SMALL));
        files.extend(decisions.map(|text| ("heavy.dmn", text)));
        self.harness.deploy(&files).unwrap_or_else(|rejection| panic!("{rejection}"));
        for action in 0..actions {
            if action % (ACTIONS / 2) == 0 {
                self.create(action / (ACTIONS / 2));
            }
            self.act();
            if self.random.percent(50) {
                self.settle();
            }
            if action % 10 == 5 {
                self.check_others_go_on();
            }
        }
        // A modification may have begun to end others.
        let others_last = !self.modifies;
        let roots = models::cancellable(self.harness.engine());
        if !roots.is_empty() {
            let root = roots[self.random.below(roots.len() as u64) as usize];
            models::check_cancellation(self, root, others_last);
        }
        self.end_everything();
    }

    /// Rows that an action on each row takes, up to the limit.
    pub fn at_once(&self) -> usize {
        if self.is_hostile { AT_ONCE } else { usize::MAX }
    }

    pub fn settle_for_a_while(&mut self) {
        for _ in 0..PATIENCE {
            if !self.go_on_once() {
                return check_consistency(&self.harness);
            }
        }
    }

    pub fn advance_for_a_while(&mut self, by_ms: i64) {
        self.harness.now_ms += by_ms;
        for _ in 0..TICKS {
            self.run(Command::Tick);
        }
    }

    /// Applies a batch that continues left-over steps. Returns whether there are more.
    fn go_on_once(&mut self) -> bool {
        let effects = self.harness.apply(vec![Command::GO_ON], vec![]);
        assert!(effects.banned.is_empty(), "the engine failed: {:?}", effects.banned);
        effects.has_pending_steps
    }

    /// A small process ends: each of its steps waits for one turn of all others.
    fn check_others_go_on(&mut self) {
        let before = self.harness.history().len();
        self.run(Command::CreateInstance(CreateInstance::of(DefinitionRef::Id {
            id: Name::from("small"),
            version: None,
        })));
        let key = protocol::compose_key(
            self.harness.engine().partition_id(),
            self.harness.engine().tables().meta.get(&0).unwrap().expect("the only row").key_counter,
        );
        let small = self.harness.engine().tables().instances.keys(..=key, usize::MAX).unwrap();
        let Some(&small) = small.iter().rev().find(|key| self.is_small(**key)) else { return };
        let mut owners = models::owners(self.harness.engine());
        while self.harness.engine().tables().instances.contains(&small).unwrap() {
            if owners > OWNERS_MAX {
                return;
            }
            let batches = (self.harness.history().len() - before) as u64;
            assert!(batches <= SMALL_STEPS * (owners + 1), "a small process waits among {owners} owners");
            self.go_on_once();
            owners = owners.max(models::owners(self.harness.engine()));
        }
    }

    fn is_small(&self, key: Key) -> bool {
        let tables = self.harness.engine().tables();
        let instance = tables.instances.get(&key).unwrap().expect("listed");
        let definition = tables.definitions.get(&instance.definition_key).unwrap().expect("of an instance");
        &*definition.process_id == "small"
    }

    /// Deletes the definitions, then cancels everything.
    fn end_everything(&mut self) {
        for resource_key in self.harness.engine().tables().definitions.keys(.., usize::MAX).unwrap() {
            self.run(Command::DeleteResource(DeleteResource {
                resource_key,
                operation_reference: None,
                delete_history: false,
            }));
        }
        for _ in 0..2 {
            for key in self.roots() {
                self.cancel(key);
            }
            self.end_cancelled();
        }
        // A worker completes the listeners of cancelled user tasks. Activated jobs time out.
        for _ in 0..LISTENERS_MAX {
            if self.roots().is_empty() {
                break;
            }
            self.advance(700_000);
            let demand = self.harness.demand("t", 1000);
            for job in self.harness.activate_with(demand) {
                let (job_key, variables) = (job.key, Document::empty());
                self.run(Command::CompleteJob(CompleteJob::of(job_key, variables)));
            }
            self.end_cancelled();
        }
        assert!(self.roots().is_empty(), "not cancelled: {:?}", self.harness.leftovers());
        // Messages expire, including new ones. The records of many exceed one tick.
        for _ in 0..2 {
            while self.go_on_once() {}
            self.advance(700_000);
            for _ in 0..=self.rows() {
                self.run(Command::Tick);
            }
        }
        while self.go_on_once() {}
        check_consistency(&self.harness);
        assert!(self.harness.is_empty(), "left over: {:?}", self.harness.leftovers());
    }

    /// Rows of running elements and of left-over steps.
    fn rows(&self) -> u64 {
        let counts = self.harness.leftovers().into_iter();
        counts.map(|(_, rows)| rows).sum()
    }

    fn end_cancelled(&mut self) {
        let most = BATCHES_TO_END + STEPS_TO_END * self.rows();
        let mut batches = 0;
        while self.go_on_once() {
            batches += 1;
            assert!(
                batches <= most,
                "{most} batches do not end the cancelled instance: {:?}",
                self.harness.leftovers()
            );
        }
    }
}

impl models::Subject for Run {
    fn engine(&self) -> &Engine {
        self.harness.engine()
    }

    fn command(&mut self, command: Command, seen: &mut dyn FnMut(&Effects)) {
        let effects = self.harness.apply(vec![command], vec![]);
        assert!(effects.banned.is_empty(), "the engine failed: {:?}", effects.banned);
        seen(effects);
    }
}

#[test]
fn one_seed_in_eight_is_hostile() {
    assert_eq!((0..80).filter(|seed| is_meant(*seed)).count(), 10);
}

#[test]
fn models_can_be_deployed() {
    let mut random = models::Random::new(1);
    let mut refused = 0;
    for _ in 0..200 {
        let (_, hostility) = models::limits(&mut random);
        let model = models::generate_hostile(&mut random, 30, hostility);
        for text in model.text.split("process ").skip(1) {
            let xml = bpmn(&format!("process {text}"));
            if let Err(problems) = bpmn::parse(xml.as_bytes(), &bpmn::Limits::default()) {
                panic!("{problems}\n{text}");
            }
        }
        if let Some(decisions) = &model.decisions
            && let Err(problems) = dmn::Parser::new(dmn::Limits::default()).parse(decisions.as_bytes())
        {
            println!("{problems}");
            refused += 1;
        }
    }
    assert_eq!(refused, 0, "decisions");
    let default = WorkLimits::default();
    let limits: Vec<_> = (0..200).map(|_| models::limits(&mut random).0).collect();
    assert!(limits.contains(&default), "sometimes the limits are those of users");
    assert!(
        limits.iter().filter(|work| work.max_fuel_per_step < 10_000).count() > 50,
        "often they are small"
    );
}
