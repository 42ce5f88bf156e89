//! Output collections of multi-instance bodies that still run: readers see the values that are there.

use engine::Options;
use expect_test::expect;
use protocol::{Command, CompleteJob, CreateInstance, DefinitionRef, Document, Intent, Name, RecordValue};

use crate::migration::migrate;
use crate::support::{Harness, check, document};

#[test]
fn the_list_is_there_from_the_beginning_and_seen_by_jobs_mappings_and_conditions() {
    check(
        r#"process p
           start s
           job t each=items as=item collect=results gives="item * 10" in:seen="=results" until="results[3] != null"
           end e
           s -> t -> e"#,
        r#"create p {"items": [1, 2, 3]}
           complete t@2
           activate t
           complete t@3"#,
        expect![[r#"
              = deployed p v1
            > create p {"items": [1, 2, 3]}
              p activating
              p.items = [1, 2, 3] created
              p activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.results = [null,null,null] created
              t* activated
              t activating
              t.item = 1 created
              t.loopCounter = 1 created
              t.seen = [null,null,null] created
              job t created type t retries 3
              t activated
              t activating
              t.item = 2 created
              t.loopCounter = 2 created
              t.seen = [null,null,null] created
              job t created type t retries 3
              t activated
              t activating
              t.item = 3 created
              t.loopCounter = 3 created
              t.seen = [null,null,null] created
              job t created type t retries 3
              t activated
              = created p v1
            > complete t@2
              job t completed
              t completing
              t*.results = [null,20,null] updated
              t completed
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"item":1,"loopCounter":1,"seen":[null,null,null],"results":[null,20,null],"items":[1, 2, 3]}
            > complete t@3
              job t completed
              t completing
              t*.results = [null,20,30] updated
              t completed
              t terminating
              job t canceled
              t terminated
              t* completing
              p.results = [null,20,30] created
              t* completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_sequence_fills_the_list_and_nested_scopes_see_it() {
    check(
        r#"process p
           start s
           sub t sequential each=[1,2] as=item collect=results gives=sum {
           start i
           script add expr="item + (if results[1] = null then 0 else results[1])" result=sum
           end j
           i -> add -> j
           }
           end e
           s -> t -> e"#,
        "create p {}",
        expect![[r#"
              = deployed p v1
            > create p {}
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.results = [null,null] created
              t* activated
              t activating
              t.sum = null created
              t.item = 1 created
              t.loopCounter = 1 created
              t activated
              i activating, activated, completing, completed
              -- i_add
              add activating, activated, completing
              t.sum = 1 updated
              add completed
              -- add_j
              j activating, activated, completing, completed
              t completing
              t*.results = [1,null] updated
              t completed
              t activating
              t.sum = null created
              t.item = 2 created
              t.loopCounter = 2 created
              t activated
              i activating, activated, completing, completed
              -- i_add
              add activating, activated, completing
              t.sum = 3 updated
              add completed
              -- add_j
              j activating, activated, completing, completed
              t completing
              t*.results = [1,3] updated
              t completed
              t* completing
              p.results = [1,3] created
              t* completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
              = created p v1
        "#]],
    );
}

#[test]
fn values_take_their_places_in_what_the_list_is_set_to() {
    check(
        r#"process p
           start s
           job t each=[1,2,3] as=item collect=results gives=item
           boundary b on=t condition="count(results) > 3" interrupting=false
           job seen
           end e
           s -> t -> e
           b -> seen"#,
        r#"create p {}
           complete t@1
           set t* local {"results":["a","b","c","d"]}
           complete t@2
           set t* local {"results":"none"}
           complete t@3
           set t* local {"results":["x"]}
           resolve t
           set t* local {"results":["x", {"y": [1, 2]}, "z"]}
           resolve t
           complete seen"#,
        expect![[r#"
              = deployed p v1
            > create p {}
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              condition t*/b count(results) > 3 created
              t*.results = [null,null,null] created
              t* activated
              t activating
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              t activating
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
              t activating
              t.item = 3 created
              t.loopCounter = 3 created
              job t created type t retries 3
              t activated
              = created p v1
            > complete t@1
              job t completed
              t completing
              t*.results = [1,null,null] updated
              t completed
            > set t* local {"results":["a","b","c","d"]}
              t*.results = ["a","b","c","d"] updated
              condition t*/b count(results) > 3 triggered
              b activating, activated, completing, completed
              -- b_seen
              seen activating
              job seen created type seen retries 3
              seen activated
            > complete t@2
              job t completed
              t completing
              t*.results = ["a",2,"c","d"] updated
              t completed
              condition t*/b count(results) > 3 triggered
              b activating, activated, completing, completed
              -- b_seen
              seen activating
              job seen created type seen retries 3
              seen activated
            > set t* local {"results":"none"}
              t*.results = "none" updated
            > complete t@3
              job t completed
              t completing
              incident t EXTRACT_VALUE_ERROR created: The output collection 'results' has the wrong type. Expected ARRAY but was STRING.
            > set t* local {"results":["x"]}
              t*.results = ["x"] updated
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              incident t EXTRACT_VALUE_ERROR created: Expected to put a value at place 3 of the output collection 'results', but its size is 1. Another element has set the variable.
            > set t* local {"results":["x", {"y": [1, 2]}, "z"]}
              t*.results = ["x", {"y": [1, 2]}, "z"] updated
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              t*.results = ["x",{"y": [1, 2]},3] updated
              t completed
              t* completing
              p.results = ["x",{"y": [1, 2]},3] created
              condition t*/b count(results) > 3 deleted
              t* completed
              -- t_e
              e activating, activated, completing, completed
            > complete seen
              job seen completed
              seen completing, completed
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn called_processes_bring_no_list_back() {
    check(
        r#"process p
           start s
           call t process=c each=[1,2] as=item collect=results gives=item
           end e
           s -> t -> e
           process c
           start i
           job j
           end k
           i -> j -> k"#,
        r#"create p {"results": ["of before"]}
           activate j max=2
           complete j@1
           complete j@2"#,
        expect![[r#"
              = deployed p v1 c v1
            > create p {"results": ["of before"]}
              p activating
              p.results = ["of before"] created
              p activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.results = [null,null] created
              t* activated
              t activating
              t.item = 1 created
              t.loopCounter = 1 created
              #2.c activating
              #2.c.item = 1 created
              #2.c.loopCounter = 1 created
              #2.c activated
              t activated
              t activating
              t.item = 2 created
              t.loopCounter = 2 created
              #3.c activating
              #3.c.item = 2 created
              #3.c.loopCounter = 2 created
              #3.c activated
              t activated
              #2.i activating, activated, completing, completed
              -- i_j
              #3.i activating, activated, completing, completed
              -- i_j
              #2.j activating
              job #2.j created type j retries 3
              #2.j activated
              #3.j activating
              job #3.j created type j retries 3
              #3.j activated
              = created p v1
            > activate j max=2
              job #2.j activated
              job #3.j activated
              < job #2.j retries 3 deadline 600000 variables {"item":1,"loopCounter":1}
              < job #3.j retries 3 deadline 600000 variables {"item":2,"loopCounter":2}
            > complete j@1
              job #2.j completed
              #2.j completing, completed
              -- j_k
              #2.k activating, activated, completing, completed
              #2.c completing, completed
              t completing
              t*.results = [1,null] updated
              t completed
            > complete j@2
              job #3.j completed
              #3.j completing, completed
              -- j_k
              #3.k activating, activated, completing, completed
              #3.c completing, completed
              t completing
              t*.results = [1,2] updated
              t completed
              t* completing
              p.results = [1,2] updated
              t* completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_list_without_items_and_one_that_ends_early() {
    check(
        r#"process p
           start s
           job t each=[] as=item collect=none gives=item
           job u each=[1,2,3] as=item collect=some gives=item
           boundary b on=u signal=stop
           job after
           end e
           s -> t -> u -> e
           b -> after"#,
        r#"create p {}
           complete u@2
           broadcast stop"#,
        expect![[r#"
              = deployed p v1
            > create p {}
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.none = [] created
              t* activated, completing
              p.none = [] created
              t* completed
              -- t_u
              u* activating
              signal subscription u*/b stop created
              u*.some = [null,null,null] created
              u* activated
              u activating
              u.item = 1 created
              u.loopCounter = 1 created
              job u created type u retries 3
              u activated
              u activating
              u.item = 2 created
              u.loopCounter = 2 created
              job u created type u retries 3
              u activated
              u activating
              u.item = 3 created
              u.loopCounter = 3 created
              job u created type u retries 3
              u activated
              = created p v1
            > complete u@2
              job u completed
              u completing
              u*.some = [null,2,null] updated
              u completed
            > broadcast stop
              signal stop broadcasted {}
              signal subscription u*/b stop deleted
              u* terminating
              u terminating
              job u canceled
              u terminated
              u terminating
              job u canceled
              u terminated
              u* terminated
              b activating, activated, completing, completed
              -- b_after
              after activating
              job after created type after retries 3
              after activated
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, jobs 1, job_queue 1
        "#]],
    );
}

const LIST: &str = r#"process order
    start s
    job t each=[1,2,3] as=item collect=first gives=item
    end e
    s -> t -> e"#;

#[test]
fn the_list_goes_on_under_another_name() {
    migrate(
        LIST,
        &LIST.replace("collect=first", "collect=second"),
        r#"create order v=1 {}
           complete t@1
           migrate #1 order v=2 t
           complete t@2
           activate t
           complete t@3"#,
        expect![[r#"
              = deployed order v1
            > deploy order@2
              = deployed order v2
            > create order v=1 {}
              order activating, activated
              s activating, activated, completing, completed
              -- s_t
              t* activating
              t*.first = [null,null,null] created
              t* activated
              t activating
              t.item = 1 created
              t.loopCounter = 1 created
              job t created type t retries 3
              t activated
              t activating
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type t retries 3
              t activated
              t activating
              t.item = 3 created
              t.loopCounter = 3 created
              job t created type t retries 3
              t activated
              = created order v1
            > complete t@1
              job t completed
              t completing
              t*.first = [1,null,null] updated
              t completed
            > migrate #1 order v=2 t
              order migrated
              t* migrated
              t*.first = [1,null,null] migrated
              t*.second = [1,null,null] created
              t migrated
              job t migrated
              t.item = 2 migrated
              t.loopCounter = 2 migrated
              t migrated
              job t migrated
              t.item = 3 migrated
              t.loopCounter = 3 migrated
              #1 migrated
            > complete t@2
              job t completed
              t completing
              t*.second = [1,2,null] updated
              t completed
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"item":3,"loopCounter":3,"first":[1,null,null],"second":[1,2,null]}
            > complete t@3
              job t completed
              t completing
              t*.second = [1,2,3] updated
              t completed
              t* completing
              order.second = [1,2,3] created
              t* completed
              -- t_e
              e activating, activated, completing, completed
              order completing, completed
        "#]],
    );
}

/// An instance with a body of so many items, each done by a job.
fn body(items: usize) -> Harness {
    let options = Options { max_steps_per_command: 100_000, ..Options::default() };
    let mut harness = Harness::with_options(options);
    let model = r#"process p
        start s
        job t each=items as=item collect=results gives=item
        end e
        s -> t -> e"#;
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    let items: Vec<String> = (1..=items).map(|item| item.to_string()).collect();
    let variables = document(&format!(r#"{{"items":[{}]}}"#, items.join(",")));
    let definition = DefinitionRef::Id { id: Name::from("p"), version: None };
    let create = CreateInstance { variables, ..CreateInstance::of(definition) };
    harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    harness
}

/// Completes all jobs of a body. Tells how many of them were given the list.
fn complete_all(harness: &mut Harness, items: usize) -> usize {
    let (mut jobs, mut with_list) = (0, 0);
    while jobs < items {
        let mut demand = harness.demand("t", 100);
        demand.fetch_variables = vec![Name::from("results"), Name::from("item")];
        let activated = harness.activate_with(demand);
        assert!(!activated.is_empty(), "{jobs} of {items} jobs");
        for job in activated {
            jobs += 1;
            with_list += usize::from(job.variables.get("results").is_some());
            let complete = CompleteJob::of(job.key, Document::empty());
            harness.command(Command::CompleteJob(complete)).unwrap().unwrap();
        }
    }
    with_list
}

/// Intents and lengths of the records of the list in the body, and of that handed on.
fn recorded(harness: &Harness) -> Vec<(Intent, usize)> {
    let variables = harness.records().filter_map(|record| match &record.value {
        RecordValue::Variable(variable) if &*variable.name.0 == "results" => {
            Some((record.intent, variable.value.as_str().split(',').count()))
        }
        _ => None,
    });
    variables.collect()
}

#[test]
fn a_short_list_is_recorded_with_each_value_and_a_long_one_twice() {
    let mut harness = body(100);
    assert_eq!(complete_all(&mut harness, 100), 100, "every job is given the list");
    let records = recorded(&harness);
    // Made, filled value by value, and handed on.
    assert_eq!(records.len(), 1 + 100 + 1);
    harness.verify_replay(1);

    let mut harness = body(101);
    assert_eq!(complete_all(&mut harness, 101), 101);
    let expected = [Intent::Created, Intent::Updated, Intent::Created].map(|intent| (intent, 101));
    assert_eq!(recorded(&harness), expected);
    assert!(harness.is_empty());
    harness.verify_replay(2);
}

#[test]
fn jobs_are_given_lists_of_a_thousand_entries_and_no_longer_ones() {
    let mut harness = body(1000);
    assert_eq!(complete_all(&mut harness, 1000), 1000);
    let mut harness = body(1001);
    assert_eq!(complete_all(&mut harness, 1001), 0);
    let values = harness.records().filter_map(|record| match &record.value {
        RecordValue::Variable(variable) if &*variable.name.0 == "results" => Some(variable.value.clone()),
        _ => None,
    });
    let list: Vec<String> = (1..=1001).map(|item| item.to_string()).collect();
    assert_eq!(values.last().unwrap().as_str(), format!("[{}]", list.join(",")));
}
