//! Modification of the bodies of multi-instance activities and loops.

use expect_test::expect;
use protocol::{
    Command, CompleteJob, CreateInstance, DefinitionRef, Document, ElementSource, ModifyInstance, Name,
    Response,
};

use crate::support::{Harness, check, document};

const EACH: &str = "process p
    start s
    job t each=items as=item collect=out gives=r
    boundary late on=t timer=PT1H
    job last
    end e
    s -> t -> last -> e
    late -> e";

#[test]
fn a_body_is_activated_moved_and_terminated_as_a_whole() {
    check(
        EACH,
        r#"show elements jobs timers
           create p {"items":[1,2]}
           modify #1 +t
           modify #1 t>last
           modify #1 last>t
           modify #1 -t"#,
        expect![[r#"
              = deployed p v1
            > create p {"items":[1,2]}
              p activating, activated
              s activating, activated, completing, completed
              t* activating
              timer late created due 3600000
              t* activated
              t activating
              job t created type t retries 3
              t activated
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > modify #1 +t
              t* activating
              #1 modified
              timer late created due 3600000
              t* activated
              t activating
              job t created type t retries 3
              t activated
              t activating
              job t created type t retries 3
              t activated
            > modify #1 t>last
              last activating
              last activating
              #1 modified
              job last created type last retries 3
              last activated
              job last created type last retries 3
              last activated
              t* terminating
              timer late canceled
              t* terminating
              timer late canceled
              t terminating
              job t canceled
              t terminated
              t terminating
              job t canceled
              t terminated
              t terminating
              job t canceled
              t terminated
              t terminating
              job t canceled
              t terminated
              t* terminated
              t* terminated
            > modify #1 last>t
              t* activating
              t* activating
              #1 modified
              timer late created due 3600000
              t* activated
              timer late created due 3600000
              t* activated
              last terminating
              job last canceled
              last terminated
              last terminating
              job last canceled
              last terminated
              t activating
              job t created type t retries 3
              t activated
              t activating
              job t created type t retries 3
              t activated
              t activating
              job t created type t retries 3
              t activated
              t activating
              job t created type t retries 3
              t activated
            > modify #1 -t
              #1 modified
              t* terminating
              timer late canceled
              t* terminating
              timer late canceled
              t terminating
              job t canceled
              t terminated
              t terminating
              job t canceled
              t terminated
              t terminating
              job t canceled
              t terminated
              t terminating
              job t canceled
              t terminated
              t* terminated
              t* terminated
              p terminating, terminated
        "#]],
    );
}

#[test]
fn one_instance_of_a_list_is_taken_away() {
    check(
        EACH,
        r#"show elements jobs variables
           create p {"items":[1,2,3]}
           modify #1 -key:t@2
           complete t@1 {"r":1}
           complete t@3 {"r":3}
           complete last"#,
        expect![[r#"
              = deployed p v1
            > create p {"items":[1,2,3]}
              p activating
              p.items = [1,2,3] created
              p activated
              s activating, activated, completing, completed
              t* activating
              t*.out = [null,null,null] created
              t* activated
              t activating
              t.r = null created
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              t activating
              t.r = null created
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
              t activating
              t.r = null created
              t.item = 3 created
              t.loopCounter = 3 created
              job t created type t retries 3
              t activated
              = created p v1
            > modify #1 -key:t@2
              #1 modified
              t terminating
              job t canceled
              t terminated
            > complete t@1 {"r":1}
              job t completed
              t completing
              t.r = 1 updated
              t*.out = [1,null,null] updated
              t completed
            > complete t@3 {"r":3}
              job t completed
              t completing
              t.r = 3 updated
              t*.out = [1,null,3] updated
              t completed
              t* completing
              p.out = [1,null,3] created
              t* completed
              last activating
              job last created type last retries 3
              last activated
            > complete last
              job last completed
              last completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
    check(
        EACH.replace("job t", "job t sequential").as_str(),
        r#"show elements jobs variables
           create p {"items":[1,2,3]}
           complete t@1 {"r":1}
           modify #1 -key:t@2"#,
        expect![[r#"
              = deployed p v1
            > create p {"items":[1,2,3]}
              p activating
              p.items = [1,2,3] created
              p activated
              s activating, activated, completing, completed
              t* activating
              t*.out = [null,null,null] created
              t* activated
              t activating
              t.r = null created
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              = created p v1
            > complete t@1 {"r":1}
              job t completed
              t completing
              t.r = 1 updated
              t*.out = [1,null,null] updated
              t completed
              t activating
              t.r = null created
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
            > modify #1 -key:t@2
              #1 modified
              t terminating
              job t canceled
              t terminated
              t* terminating, terminated
              p terminating, terminated
        "#]],
    );
}

#[test]
fn the_rest_of_a_list_moves_to_another_element() {
    check(
        EACH,
        r#"show elements jobs
           create p {"items":[1,2]}
           modify #1 key:t@1>last^inferred
           modify #1 key:t@2>last^parent
           complete last@1
           complete last@2"#,
        expect![[r#"
              = deployed p v1
            > create p {"items":[1,2]}
              p activating, activated
              s activating, activated, completing, completed
              t* activating, activated
              t activating
              job t created type t retries 3
              t activated
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > modify #1 key:t@1>last^inferred
              last activating
              #1 modified
              job last created type last retries 3
              last activated
              t terminating
              job t canceled
              t terminated
            > modify #1 key:t@2>last^parent
              last activating
              #1 modified
              job last created type last retries 3
              last activated
              t terminating
              job t canceled
              t terminated
              t* terminating, terminated
            > complete last@1
              job last completed
              last completing, completed
              e activating, activated, completing, completed
            > complete last@2
              job last completed
              last completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_round_of_a_loop_is_taken_away() {
    check(
        "process p\nstart s\njob t while=true most=3\njob last\nend e\ns -> t -> last -> e",
        r#"show elements jobs
           create p
           complete t
           modify #1 t>last
           modify #1 last>t
           complete t
           modify #1 -key:t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t* activating, activated
              t activating
              job t created type t retries 3
              t activated
              = created p v1
            > complete t
              job t completed
              t completing, completed
              t activating
              job t created type t retries 3
              t activated
            > modify #1 t>last
              last activating
              #1 modified
              job last created type last retries 3
              last activated
              t* terminating
              t terminating
              job t canceled
              t terminated
              t* terminated
            > modify #1 last>t
              t* activating
              #1 modified
              t* activated
              last terminating
              job last canceled
              last terminated
              t activating
              job t created type t retries 3
              t activated
            > complete t
              job t completed
              t completing, completed
              t activating
              job t created type t retries 3
              t activated
            > modify #1 -key:t
              #1 modified
              t terminating
              job t canceled
              t terminated
              t* terminating, terminated
              p terminating, terminated
        "#]],
    );
}

/// No list is built for an expression that does not read it, however long it is.
#[test]
fn the_last_item_ends_a_list_of_any_length() {
    for items in [3, 400] {
        let mut harness = Harness::new();
        harness.deploy(&[("p.bpmn", EACH)]).unwrap();
        let list: Vec<String> = (0..items).map(|item| item.to_string()).collect();
        let create = CreateInstance {
            variables: document(&format!(r#"{{"items":[{}]}}"#, list.join(","))),
            ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
        };
        let created = harness.command(Command::CreateInstance(create)).unwrap().unwrap();
        let Response::InstanceCreated(created) = created else { panic!("an instance") };
        let jobs = harness.activate("t", items);
        let (last, others) = jobs.split_last().unwrap();
        for job in others {
            let complete = CompleteJob::of(job.key, Document::empty());
            harness.command(Command::CompleteJob(complete)).unwrap().unwrap();
        }
        let modify = ModifyInstance {
            terminate: vec![ElementSource::Key(last.element_instance_key)],
            ..ModifyInstance::of(created.process_instance_key)
        };
        harness.command(Command::ModifyInstance(modify)).unwrap().unwrap();
        // Neither the body nor the process ends by itself.
        assert!(harness.is_empty(), "{items}: {:?}", harness.leftovers());
        let is_ended =
            |effects: &engine::Effects| effects.ended_instances.iter().any(|(_, completed)| !completed);
        assert!(harness.history().iter().any(is_ended), "{items}");
        harness.verify_replay(1);
    }
}
