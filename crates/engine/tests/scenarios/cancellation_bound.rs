//! Self-test: the check of cancellations in the random processes and in the fuzzer finds violations.

use engine::{Effects, Engine, Options};
use models::{Subject, cancellable, check_cancellation};
use protocol::{Command, CreateInstance, DefinitionRef, Key, Name};

use crate::support::Harness;

const MODEL: &str = "process p\nstart s\nand fork\njob a\njob b\njob c\nend e\n\
    s -> fork -> a -> e\nfork -> b -> e\nfork -> c -> e";

/// An engine that ends instances in its own way.
struct Run {
    harness: Harness,
    /// Whether left-over steps never continue.
    is_lazy: bool,
    /// Cancelled together with the other.
    victim: Option<Key>,
}

fn create() -> Command {
    let definition = DefinitionRef::Id { id: Name::from("p"), version: None };
    Command::CreateInstance(CreateInstance::of(definition))
}

impl Run {
    /// Two instances with three jobs each.
    fn new() -> Self {
        let options = Options { max_steps_per_command: 1, max_children_per_step: 2, ..Options::default() };
        let mut harness = Harness::with_options(options);
        harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
        for _ in 0..2 {
            harness.command(create()).unwrap().unwrap();
        }
        Self { harness, is_lazy: false, victim: None }
    }

    fn cancel_first(&mut self) {
        let root = cancellable(self.engine())[0];
        check_cancellation(self, root, true);
    }
}

impl Subject for Run {
    fn engine(&self) -> &Engine {
        self.harness.engine()
    }

    fn command(&mut self, command: Command, seen: &mut dyn FnMut(&Effects)) {
        if self.is_lazy && command == Command::GO_ON {
            return;
        }
        let victim = self.victim.take();
        let cancel = |process_instance_key| Command::CancelInstance {
            process_instance_key,
            operation_reference: None,
        };
        let commands = [command].into_iter().chain(victim.map(cancel)).collect();
        seen(self.harness.apply(commands, vec![]));
    }
}

#[test]
fn an_instance_is_gone_within_its_bound() {
    let mut run = Run::new();
    run.cancel_first();
    assert_eq!(cancellable(run.engine()).len(), 1);
    run.harness.verify_replay(1);
}

#[test]
#[should_panic(expected = "is not gone after")]
fn an_instance_that_stays_is_found() {
    let mut run = Run::new();
    run.is_lazy = true;
    run.cancel_first();
}

#[test]
#[should_panic(expected = "ended another")]
fn another_that_ends_is_found() {
    let mut run = Run::new();
    run.victim = cancellable(run.engine()).last().copied();
    run.cancel_first();
}

/// Recursive calls create no further instances while the cancellation descends.
#[test]
fn endless_calls_end_as_soon_as_their_root_is_cancelled() {
    let mut run = Run::new();
    let calls = "process p\nstart s\nand fork\ncall one process=\"='p'\"\ncall two process=\"='p'\"\nend e\n\
        s -> fork -> one -> e\nfork -> two -> e";
    run.harness.deploy(&[("p.bpmn", calls)]).unwrap();
    run.harness.apply(vec![create()], vec![]);
    for _ in 0..60 {
        run.harness.apply(vec![Command::GO_ON], vec![]);
    }
    let root = cancellable(run.engine())[2];
    check_cancellation(&mut run, root, true);
    assert_eq!(run.engine().tables().instances.keys(.., 9).unwrap().len(), 2);
    run.harness.verify_replay(1);
}
