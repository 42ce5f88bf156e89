//! Scopes with thousands of instances inside, and thousands of scopes inside each other: no recursion, no delay of
//! other instances, no left-over rows.

use engine::Options;
use protocol::{Command, CompleteJob, CreateInstance, DefinitionRef, Document, Key, Name, Response};

use crate::support::{Harness, document};

/// Instances of each activity. The benchmark `large_scopes` has 100,000.
const ITEMS: usize = 3_000;
/// Most steps of one batch.
const STEPS: u64 = 100;
/// Most outputs collected in one batch.
const OUTPUTS: u64 = 2_000;

const TASK: &str = "process other
    start s
    job o
    end e
    s -> o -> e";

fn create(process_id: &str, variables: Document) -> Command {
    let definition = DefinitionRef::Id { id: Name::from(process_id), version: None };
    Command::CreateInstance(CreateInstance { variables, ..CreateInstance::of(definition) })
}

fn items() -> Document {
    let items: Vec<String> = (0..ITEMS).map(|item| item.to_string()).collect();
    document(&format!(r#"{{"items":[{}]}}"#, items.join(",")))
}

fn created(harness: &Harness) -> Key {
    let responses = harness.history().iter().flat_map(|effects| effects.responses.iter().flatten());
    let mut keys = responses.filter_map(|response| match response {
        Ok(Response::InstanceCreated(created)) => Some(created.process_instance_key),
        _ => None,
    });
    keys.next().expect("an instance")
}

fn rows(harness: &Harness, table: &str) -> u64 {
    let counts = harness.engine().tables().row_counts();
    counts.iter().find(|(name, _)| *name == table).map_or(0, |(_, rows)| *rows)
}

/// Continues until no steps are left over; another instance starts and ends with each batch.
fn go_on_beside(harness: &mut Harness) {
    for _ in 0..20_000 {
        let before = harness.engine().counters().steps;
        let outputs = rows(harness, "loop_outputs");
        let demand = harness.demand("o", 1);
        let commands = vec![Command::GO_ON, create("other", Document::empty())];
        let effects = harness.apply(commands, vec![demand]);
        let pending = effects.has_pending_steps;
        let job_key = effects.deliveries[0].jobs[0].key;
        assert!(harness.engine().counters().steps - before <= 2 * STEPS, "the slice is too large");
        assert!(rows(harness, "loop_outputs") + OUTPUTS >= outputs, "too much is put together at once");
        let complete = CompleteJob::of(job_key, Document::empty());
        let effects = harness.apply(vec![Command::CompleteJob(complete)], vec![]);
        assert!(!effects.ended_instances.is_empty(), "the other instance does not wait");
        if !pending {
            return;
        }
    }
    panic!("steps without end");
}

fn harness(model: &str) -> Harness {
    let options = Options { max_steps_per_command: STEPS as usize, ..Options::default() };
    let mut harness = Harness::with_options(options);
    harness.deploy(&[("p.bpmn", model), ("other.bpmn", TASK)]).unwrap();
    harness
}

#[test]
fn thousands_of_instances_begin_and_end_in_slices() {
    for how in ["", "sequential"] {
        let mut harness = harness(&format!(
            r#"process p
               start s
               script t {how} expr="item * 2" result=r each=items as=item collect=results gives=r
               job check
               end e
               s -> t -> check -> e"#
        ));
        harness.apply(vec![create("p", items())], vec![]);
        go_on_beside(&mut harness);
        let jobs = harness.activate("check", 1);
        let results: Vec<String> = (0..ITEMS).map(|item| (item * 2).to_string()).collect();
        assert_eq!(jobs[0].variables.get("results").unwrap().as_str(), format!("[{}]", results.join(",")));
        let complete = CompleteJob::of(jobs[0].key, Document::empty());
        harness.command(Command::CompleteJob(complete));
        assert!(harness.is_empty(), "{:?}", harness.leftovers());
        harness.verify_replay(1);
    }
}

#[test]
fn thousands_of_activations_in_an_ad_hoc_sub_process_are_collected_in_slices() {
    let mut harness = harness(
        r#"process p
           start s
           adhoc pick elements=wanted collect=results gives=r {
           script a expr=1 result=r
           script b expr=22 result=r
           script c expr=333 result=r
           }
           job check
           end e
           s -> pick -> check -> e"#,
    );
    let wanted: Vec<&str> = (0..ITEMS).map(|item| [r#""a""#, r#""b""#, r#""c""#][item % 3]).collect();
    harness.apply(vec![create("p", document(&format!(r#"{{"wanted":[{}]}}"#, wanted.join(","))))], vec![]);
    go_on_beside(&mut harness);
    let jobs = harness.activate("check", 1);
    let results: Vec<&str> = (0..ITEMS).map(|item| ["1", "22", "333"][item % 3]).collect();
    assert_eq!(jobs[0].variables.get("results").unwrap().as_str(), format!("[{}]", results.join(",")));
    let complete = CompleteJob::of(jobs[0].key, Document::empty());
    harness.command(Command::CompleteJob(complete));
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(1);
}

#[test]
fn thousands_of_jobs_are_cancelled_in_slices() {
    let model = r#"process p
        start s
        sub inner each=items as=item collect=results gives=r {
        start i
        job t
        end j
        i -> t -> j
        }
        end e
        s -> inner -> e"#;
    for wait in [true, false] {
        let mut harness = harness(model);
        harness.apply(vec![create("p", items())], vec![]);
        let key = created(&harness);
        if wait {
            go_on_beside(&mut harness);
            for job in harness.activate("t", 500) {
                let complete = CompleteJob::of(job.key, Document::empty());
                harness.command(Command::CompleteJob(complete));
            }
        }
        // Otherwise most of them are not created yet.
        let cancel = Command::CancelInstance { process_instance_key: key, operation_reference: None };
        harness.apply(vec![cancel], vec![]);
        go_on_beside(&mut harness);
        assert!(harness.is_empty(), "{:?}", harness.leftovers());
        harness.verify_replay(2);
    }
}

#[test]
fn a_condition_that_is_true_ends_thousands_in_slices() {
    let mut harness = harness(
        r#"process p
           start s
           job t each=items as=item collect=results gives=item until="numberOfCompletedInstances = 2"
           end e
           s -> t -> e"#,
    );
    harness.apply(vec![create("p", items())], vec![]);
    // While most are not created yet.
    for job in harness.activate("t", 2) {
        let complete = CompleteJob::of(job.key, Document::empty());
        harness.apply(vec![Command::CompleteJob(complete)], vec![]);
    }
    go_on_beside(&mut harness);
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(3);
}

#[test]
fn ten_thousand_scopes_inside_each_other_are_cancelled() {
    // Ten levels in each of the calls, up to the depth limit.
    let mut model = "process p\n".to_owned();
    for level in 0..9 {
        model.push_str(&format!("start s{level}\nend e{level}\nsub sub{level} {{\n"));
    }
    model.push_str("start s\ncall deeper process=\"='p'\"\nend e\ns -> deeper -> e\n");
    for level in (0..9).rev() {
        model.push_str(&format!("}}\ns{level} -> sub{level} -> e{level}\n"));
    }
    let mut harness = harness(&model);
    harness.apply(vec![create("p", Document::empty())], vec![]);
    go_on_beside(&mut harness);
    assert!(rows(&harness, "element_instances") > 9_000, "{:?}", harness.engine().tables().row_counts());
    assert_eq!(rows(&harness, "incidents"), 1, "the last call is one too many");
    let cancel =
        Command::CancelInstance { process_instance_key: created(&harness), operation_reference: None };
    harness.apply(vec![cancel], vec![]);
    go_on_beside(&mut harness);
    assert!(harness.is_empty(), "{:?}", harness.leftovers());
    harness.verify_replay(4);
}

#[test]
fn a_join_does_not_look_at_each_child_of_its_scope() {
    let model = r#"process p
        start s
        or fork
        job held
        boundary more on=held signal=more interrupting=false
        job beside
        task other
        or join
        end e
        s -> fork
        fork -> held if true
        fork -> other if true
        held -> join
        other -> join -> e
        more -> beside"#;
    let rows_looked_at = |children: usize| {
        let mut harness = harness(model);
        harness.apply(vec![create("p", Document::empty())], vec![]);
        for _ in 0..children {
            let more = protocol::BroadcastSignal {
                name: Name::from("more"),
                tenant_id: Name::from("<default>"),
                variables: Document::empty(),
            };
            harness.command(Command::BroadcastSignal(more));
            harness.go_on();
        }
        for job in harness.activate("beside", children as u32) {
            harness.command(Command::CompleteJob(CompleteJob::of(job.key, Document::empty())));
        }
        for job in harness.activate("held", 1) {
            harness.command(Command::CompleteJob(CompleteJob::of(job.key, Document::empty())));
        }
        assert!(harness.is_empty(), "{:?}", harness.leftovers());
        harness.verify_replay(5);
        harness.engine().counters().join_rows
    };
    let (few, many) = (rows_looked_at(100), rows_looked_at(1_000));
    assert!(few > 100, "the join is looked at: {few}");
    assert!(many <= few * 11, "{few} rows for 100 children, {many} for 1,000");
}
