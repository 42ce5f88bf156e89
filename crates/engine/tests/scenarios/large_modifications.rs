//! Modifications of scopes with thousands of element instances: selected instances are found by an index, not by a
//! scan.

use engine::Options;
use protocol::{
    ActivationInstruction, AncestorScope, BroadcastSignal, Command, CreateInstance, DefinitionRef, Document,
    ElementMapping, ElementSource, Key, MigrateInstance, MigrationPlan, ModifyInstance, MoveElement, Name,
    Response,
};

use crate::support::Harness;

/// Each signal brings one more instance of `beside`, and every hundredth one of `rare`.
const MODEL: &str = "process p
    start s
    job held
    boundary more on=held signal=more interrupting=false
    boundary odd on=held signal=odd interrupting=false
    job beside
    sub rare {
    start i
    job inside
    end j
    i -> inside -> j
    }
    end e
    s -> held -> e
    more -> beside
    odd -> rare";

fn broadcast(harness: &mut Harness, name: &str) {
    let signal = BroadcastSignal {
        name: Name::from(name),
        variables: Document::empty(),
        tenant_id: Name::default_tenant(),
    };
    harness.command(Command::BroadcastSignal(signal)).unwrap().unwrap();
}

/// An instance with this number of children in its scope.
fn instance(children: usize) -> (Harness, Key) {
    let options = Options { max_steps_per_command: 100, ..Options::default() };
    let mut harness = Harness::with_options(options);
    harness.deploy(&[("p.bpmn", MODEL)]).unwrap();
    let create = CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None });
    let created = harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    let Response::InstanceCreated(created) = created else { panic!("an instance") };
    for at in 0..children {
        broadcast(&mut harness, "more");
        if at == children / 2 {
            broadcast(&mut harness, "odd");
        }
    }
    (harness, created.process_instance_key)
}

fn id(text: &str) -> ElementSource {
    ElementSource::Id(Name::from(text))
}

/// Runs a command. Returns the number of rows that it read to find element instances.
fn rows_of(harness: &mut Harness, command: Command) -> u64 {
    let before = harness.engine().counters().child_rows;
    let effects = harness.apply(vec![command], vec![]);
    assert!(matches!(effects.responses[0], Some(Ok(_))), "{:?}", effects.responses);
    let rows = harness.engine().counters().child_rows - before;
    harness.go_on();
    rows
}

fn living(harness: &Harness, element_id: &str) -> usize {
    let mut living = std::collections::BTreeSet::new();
    for record in harness.records() {
        if let protocol::RecordValue::ProcessInstance(value) = &record.value
            && *value.element_id == *element_id
        {
            match record.intent {
                protocol::Intent::ElementActivated => living.insert(record.key),
                protocol::Intent::ElementTerminated => living.remove(&record.key),
                _ => false,
            };
        }
    }
    living.len()
}

#[test]
fn one_of_thousands_is_found_at_once() {
    let rows = |children: usize| {
        let (mut harness, key) = instance(children);
        let mut rows = Vec::new();
        // Into the one sub-process that there is.
        let activate =
            ActivationInstruction { element_id: Name::from("inside"), ancestor_key: None, variables: vec![] };
        let command = ModifyInstance { activate: vec![activate], ..ModifyInstance::of(key) };
        rows.push(rows_of(&mut harness, Command::ModifyInstance(command)));
        assert_eq!(living(&harness, "inside"), 2);
        // One that there is once.
        let step = MoveElement {
            source: id("held"),
            target_id: Name::from("inside"),
            ancestor: AncestorScope::Only,
            variables: vec![],
        };
        let command = ModifyInstance { moves: vec![step], ..ModifyInstance::of(key) };
        rows.push(rows_of(&mut harness, Command::ModifyInstance(command)));
        assert_eq!((living(&harness, "held"), living(&harness, "inside")), (0, 3));
        // Through a sub-process to what is inside it.
        let command = ModifyInstance { terminate: vec![id("inside")], ..ModifyInstance::of(key) };
        rows.push(rows_of(&mut harness, Command::ModifyInstance(command)));
        assert_eq!((living(&harness, "inside"), living(&harness, "rare")), (0, 0));
        // All of the many.
        assert_eq!(living(&harness, "beside"), children);
        let command = ModifyInstance { terminate: vec![id("beside")], ..ModifyInstance::of(key) };
        rows_of(&mut harness, Command::ModifyInstance(command));
        assert!(harness.is_empty(), "{:?}", harness.leftovers());
        harness.verify_replay(1);
        rows
    };
    let (few, many) = (rows(100), rows(2_000));
    assert_eq!(few, many, "the number of other children does not matter");
    assert!(many.iter().sum::<u64>() < 20, "{many:?}");
}

#[test]
fn many_are_found_after_a_migration_to_other_elements() {
    let (mut harness, key) = instance(300);
    let renamed = MODEL.replace("beside", "elsewhere");
    harness.deploy(&[("p.bpmn", &renamed)]).unwrap();
    let target_definition_key =
        *harness.engine().tables().definitions.keys(.., usize::MAX).unwrap().last().unwrap();
    let map = |from: &str, to: &str| ElementMapping {
        source_element_id: Name::from(from),
        target_element_id: Name::from(to),
    };
    let mappings = vec![
        map("beside", "elsewhere"),
        map("held", "held"),
        map("rare", "rare"),
        map("inside", "inside"),
        map("more", "more"),
        map("odd", "odd"),
    ];
    let migrate = MigrateInstance {
        process_instance_key: key,
        plan: MigrationPlan { target_definition_key, mappings },
        operation_reference: None,
    };
    harness.command(Command::MigrateInstance(migrate)).unwrap().unwrap();
    broadcast(&mut harness, "more");
    let gone = |element: &str| {
        Command::ModifyInstance(ModifyInstance { terminate: vec![id(element)], ..ModifyInstance::of(key) })
    };
    assert!(rows_of(&mut harness, gone("elsewhere")) >= 301);
    assert_eq!(rows_of(&mut harness, gone("held")), 1);
    harness.command(gone("rare")).unwrap().unwrap();
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(2);
}
