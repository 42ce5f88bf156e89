//! Business IDs: inherited by called instances, and unique if the creation asks for it. Tags beside them.

use engine::Options;
use expect_test::expect;
use protocol::{Command, CreateInstance, DefinitionRef, Name, RecordValue};

use crate::support::{Harness, check};

const TASK: &str = "process p
    start s
    job a type=t
    end e
    s -> a -> e";

#[test]
fn a_business_id_is_taken_until_its_instance_ends() {
    check(
        TASK,
        "show
         create p unique=order-1
         create p unique=order-1
         create p unique=order-2
         create p business=order-1
         create p
         complete a@1
         create p unique=order-1
         cancel #5
         create p unique=order-1
         modify #6 -a
         create p unique=order-1",
        expect![[r#"
              = deployed p v1
            > create p unique=order-1
              = created p v1
            > create p unique=order-1
              = rejected ALREADY_EXISTS: Expected to create instance of process 'p' with business ID 'order-1', but process instance '<key>' of this process runs with the same business ID
            > create p unique=order-2
              = created p v1
            > create p business=order-1
              = created p v1
            > create p
              = created p v1
            > complete a@1
            > create p unique=order-1
              = created p v1
            > cancel #5
            > create p unique=order-1
              = created p v1
            > modify #6 -a
            > create p unique=order-1
              = created p v1
            left: running_instances 1, instances 4, element_instances 8, children 4, jobs 4, job_queue 4, business_ids 2
        "#]],
    );
}

#[test]
fn instances_that_never_claimed_their_business_id_do_not_count() {
    check(
        TASK,
        "show
         create p business=b
         create p business=b
         create p unique=b
         create p business=b
         complete a@1
         create p unique=b
         complete a@3
         create p unique=b",
        expect![[r#"
              = deployed p v1
            > create p business=b
              = created p v1
            > create p business=b
              = created p v1
            > create p unique=b
              = created p v1
            > create p business=b
              = created p v1
            > complete a@1
            > create p unique=b
              = rejected ALREADY_EXISTS: Expected to create instance of process 'p' with business ID 'b', but process instance '<key>' of this process runs with the same business ID
            > complete a@3
            > create p unique=b
              = created p v1
            left: running_instances 1, instances 3, element_instances 6, children 3, jobs 3, job_queue 3, business_ids 1
        "#]],
    );
}

#[test]
fn each_process_has_business_ids_of_its_own_and_called_ones_need_none() {
    check(
        "process p
         start s
         call call process=c
         end e
         s -> call -> e
         process c
         start s2
         job a type=t
         end e2
         s2 -> a -> e2",
        "show
         create p unique=b
         create c unique=b
         create p unique=b
         create c unique=b
         complete a@1
         complete a@2",
        expect![[r#"
              = deployed p v1 c v1
            > create p unique=b
              = created p v1
            > create c unique=b
              = created c v1
            > create p unique=b
              = rejected ALREADY_EXISTS: Expected to create instance of process 'p' with business ID 'b', but process instance '<key>' of this process runs with the same business ID
            > create c unique=b
              = rejected ALREADY_EXISTS: Expected to create instance of process 'c' with business ID 'b', but process instance '<key>' of this process runs with the same business ID
            > complete a@1
            > complete a@2
        "#]],
    );
}

#[test]
fn an_instance_takes_its_business_id_to_its_new_process() {
    check(
        "process p
         start s
         job a type=t
         end e
         s -> a -> e
         process q
         start s2
         job a2 type=t
         end e2
         s2 -> a2 -> e2",
        "show
         create p unique=b
         migrate #1 q v=1 a:a2
         create p unique=b
         create q unique=b
         migrate #2 q v=1 a:a2
         create p unique=b
         create q unique=b
         cancel #1
         create q unique=b
         cancel #2
         cancel #3
         cancel #4",
        expect![[r#"
              = deployed p v1 q v1
            > create p unique=b
              = created p v1
            > migrate #1 q v=1 a:a2
            > create p unique=b
              = created p v1
            > create q unique=b
              = rejected ALREADY_EXISTS: Expected to create instance of process 'q' with business ID 'b', but process instance '<key>' of this process runs with the same business ID
            > migrate #2 q v=1 a:a2
            > create p unique=b
              = created p v1
            > create q unique=b
              = rejected ALREADY_EXISTS: Expected to create instance of process 'q' with business ID 'b', but process instance '<key>' of this process runs with the same business ID
            > cancel #1
            > create q unique=b
              = created q v1
            > cancel #2
            > cancel #3
            > cancel #4
        "#]],
    );
}

#[test]
fn tags_and_business_id_stand_in_records_and_jobs_of_the_whole_hierarchy() {
    let mut harness = Harness::with_options(Options::default());
    let model = "process p
        start s
        call call process=c
        end e
        s -> call -> e
        process c
        start s2
        job a type=t
        end e2
        s2 -> a -> e2";
    harness.deploy(&[("p.bpmn", model)]).unwrap();
    let tags = || vec![Name::from("vip"), Name::from("eu:1")];
    let create = CreateInstance {
        tags: tags(),
        business_id: Some(Name::from("b")),
        operation_reference: Some(5),
        ..CreateInstance::of(DefinitionRef::Id { id: Name::from("p"), version: None })
    };
    harness.command(Command::CreateInstance(create)).unwrap().unwrap();
    assert_eq!(harness.activate("t", 1)[0].tags, tags());
    let mut seen = 0;
    for record in harness.records() {
        match &record.value {
            RecordValue::ProcessInstance(value) if &*value.bpmn_element_type != "SEQUENCE_FLOW" => {
                assert_eq!(
                    (&value.instance.tags, value.instance.business_id.as_deref()),
                    (&tags(), Some("b")),
                    "{record:?}"
                );
                assert_eq!(record.operation_reference, Some(5), "{record:?}");
                seen += 1;
            }
            RecordValue::Job(job) => assert_eq!(job.instance.tags, tags()),
            _ => {}
        }
    }
    assert!(seen > 10, "{seen}");
}
