//! Cancelling process instances.

use engine::Options;
use expect_test::expect;

use crate::support::{check, check_with};

#[test]
fn everything_an_instance_has_goes_with_it() {
    check(
        "process p
         start s
         job t
         boundary note on=t message=m key=id interrupting=false
         sub inner {
         start s2
         catch wait timer=PT1H
         s2 -> wait
         }
         receive get message=m2 key=id
         end e
         s -> t -> e
         s -> inner -> e
         s -> get -> e
         note -> e",
        r#"create p {"id":"a"}
           activate t
           cancel #1
           complete t
           advance 1h
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating
              p.id = "a" created
              p activated
              s activating, activated, completing, completed
              -- s_get
              -- s_inner
              -- s_t
              get activating
              subscription get/get m2/a created
              get activated
              inner activating, activated
              t activating
              subscription t/note m/a created
              job t created type t retries 3
              t activated
              s2 activating, activated, completing, completed
              -- s2_wait
              wait activating
              timer wait created due 3600000
              wait activated
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"id":"a"}
            > cancel #1
              p terminating
              get terminating
              subscription get/get m2/a deleted
              get terminated
              inner terminating
              t terminating
              job t canceled
              subscription t/note m/a deleted
              t terminated
              wait terminating
              timer wait canceled
              wait terminated
              inner terminated
              p terminated
            > complete t
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
            > advance 1h
            > cancel #1
              = rejected NOT_FOUND: Expected to cancel a process instance with key '<key>', but no such process was found
        "#]],
    );
}

#[test]
fn an_incident_goes_with_its_instance() {
    check(
        "process p
         start s
         job t
         s -> t",
        "show elements incidents
         create p
         activate t
         fail t retries=0
         cancel #1
         resolve t",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating, activated
              = created p v1
            > activate t
              < job t retries 3 deadline 600000 variables {}
            > fail t retries=0
              incident t JOB_NO_RETRIES created: No more retries left.
            > cancel #1
              p terminating
              t terminating
              incident t JOB_NO_RETRIES resolved
              t terminated
              p terminated
            > resolve t
              = rejected NOT_FOUND: Expected to resolve incident with key '<key>', but no such incident was found
        "#]],
    );
}

#[test]
fn many_children_are_terminated_slice_by_slice() {
    let mut model = "process p\nstart s\nand fork\ns -> fork\n".to_owned();
    for n in 0..10 {
        model.push_str(&format!("job t{n}\nfork -> t{n}\n"));
    }
    check_with(
        &[("p", &model)],
        Options { max_children_per_step: 3, ..Options::default() },
        "deploy p
         show elements
         create p
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              fork activating, activated, completing, completed
              t9 activating, activated
              t8 activating, activated
              t7 activating, activated
              t6 activating, activated
              t5 activating, activated
              t4 activating, activated
              t3 activating, activated
              t2 activating, activated
              t1 activating, activated
              t0 activating, activated
              = created p v1
            > cancel #1
              p terminating
              t9 terminating, terminated
              t8 terminating, terminated
              t7 terminating, terminated
              t6 terminating, terminated
              t5 terminating, terminated
              t4 terminating, terminated
              t3 terminating, terminated
              t2 terminating, terminated
              t1 terminating, terminated
              t0 terminating, terminated
              p terminated
        "#]],
    );
}
