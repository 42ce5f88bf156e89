//! Modification of ad-hoc sub-processes and of what runs inside.

use expect_test::expect;

use crate::support::check;

const LISTED: &str = "process p
    start s
    adhoc pick elements=wanted collect=results gives=r {
    job a
    job b
    task after
    a -> after
    }
    job last
    end e
    s -> pick -> last -> e";

#[test]
fn each_activation_has_a_scope_of_its_own() {
    check(
        LISTED,
        r#"show elements variables
           create p {"wanted":["a"]}
           modify #1 +b {"b":{"r":7}}
           modify #1 +b +b
           complete b@1
           modify #1 b>a
           modify #1 b>a^parent
           complete b@2
           complete a"#,
        expect![[r#"
              = deployed p v1
            > create p {"wanted":["a"]}
              p activating
              p.wanted = ["a"] created
              p activated
              s activating, activated, completing, completed
              pick activating
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick.results = [] created
              pick activated
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              a activating, activated
              = created p v1
            > modify #1 +b {"b":{"r":7}}
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              b activating
              b.r = 7 created
              #1 modified
              b activated
            > modify #1 +b +b
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              b activating
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              b activating
              #1 modified
              b activated
              b activated
            > complete b@1
              b completing, completed
              pick#innerInstance completing, completed
            > modify #1 b>a
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but scope 'pick#innerInstance' has several active instances; name one of them as the ancestor
            > modify #1 b>a^parent
              a activating
              a activating
              #1 modified
              a activated
              a activated
              b terminating, terminated
              b terminating, terminated
            > complete b@2
              = rejected NOT_FOUND: Expected to complete job with key '<key>', but no such job was found
            > complete a
              a completing, completed
              after activating, activated, completing, completed
              pick#innerInstance completing, completed
            left: running_instances 1, instances 1, element_instances 6, children 5, variables 5, jobs 2, job_queue 2, loops 1, loop_outputs 2
        "#]],
    );
}

#[test]
fn an_activation_from_outside_makes_the_sub_process() {
    check(
        LISTED,
        r#"show elements variables
           create p {"wanted":["x"]}
           modify #1 +b
           modify #1 -pick
           modify #1 +b
           complete b {"r":3}"#,
        expect![[r#"
              = deployed p v1
            > create p {"wanted":["x"]}
              p activating
              p.wanted = ["x"] created
              p activated
              s activating, activated, completing, completed
              pick activating
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick.results = [] created
              = created p v1
            > modify #1 +b
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but scope 'pick' is not active yet, or no longer
            > modify #1 -pick
              #1 modified
              pick terminating, terminated
              p terminating, terminated
            > modify #1 +b
              = rejected NOT_FOUND: Expected to modify process instance with key '<key>', but no such process instance was found
            > complete b {"r":3}
              = rejected NOT_FOUND: Expected to complete job with key '1', but no such job was found
        "#]],
    );
    check(
        LISTED,
        r#"show elements
           create p before=last
           modify #1 last>b
           modify #1 b>last^inferred
           modify #1 +a +b
           complete a
           complete b
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p before=last
              p activating, activated
              last activating, activated
              = created p v1
            > modify #1 last>b
              pick activating, activated
              pick#innerInstance activating, activated
              b activating
              #1 modified
              b activated
              last terminating, terminated
            > modify #1 b>last^inferred
              last activating
              #1 modified
              last activated
              b terminating, terminated
              pick#innerInstance terminating, terminated
              pick terminating, terminated
            > modify #1 +a +b
              pick activating, activated
              pick#innerInstance activating, activated
              a activating
              pick#innerInstance activating, activated
              b activating
              #1 modified
              a activated
              b activated
            > complete a
              a completing, completed
              after activating, activated, completing, completed
              pick#innerInstance completing, completed
            > complete b
              b completing, completed
              pick#innerInstance completing, completed
              pick completing, completed
              last activating, activated
            > cancel #1
              p terminating
              last terminating, terminated
              last terminating, terminated
              p terminated
        "#]],
    );
    check(
        LISTED,
        r#"show elements variables
           create p before=a,b
           complete a {"r":1}
           complete b {"r":2}
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p before=a,b
              p activating, activated
              pick activating
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick.results = [] created
              pick activated
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              a activating
              pick#innerInstance activating
              pick#innerInstance.r = null created
              pick#innerInstance activated
              b activating
              a activated
              b activated
              = created p v1
            > complete a {"r":1}
              a completing
              pick#innerInstance.r = 1 updated
              a completed
              after activating, activated, completing, completed
              pick#innerInstance completing, completed
            > complete b {"r":2}
              b completing
              pick#innerInstance.r = 2 updated
              b completed
              pick#innerInstance completing, completed
              pick completing
              pick.results = [1,2] updated
              p.results = [1,2] created
              pick completed
              last activating, activated
            > cancel #1
              p terminating
              last terminating, terminated
              p terminated
        "#]],
    );
}

#[test]
fn it_ends_with_the_last_that_is_taken_away() {
    check(
        LISTED,
        r#"show elements jobs
           create p {"wanted":["a","b","b"]}
           modify #1 -key:b@1
           modify #1 -a
           modify #1 -key:pick#innerInstance@3
           create p {"wanted":["a","b"]}
           modify #2 -pick +last
           complete last"#,
        expect![[r#"
              = deployed p v1
            > create p {"wanted":["a","b","b"]}
              p activating, activated
              s activating, activated, completing, completed
              pick activating, activated
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
              b activating
              job b created type b retries 3
              b activated
              b activating
              job b created type b retries 3
              b activated
              = created p v1
            > modify #1 -key:b@1
              #1 modified
              b terminating
              job b canceled
              b terminated
              pick#innerInstance terminating, terminated
            > modify #1 -a
              #1 modified
              a terminating
              job a canceled
              a terminated
              pick#innerInstance terminating, terminated
            > modify #1 -key:pick#innerInstance@3
              #1 modified
              pick#innerInstance terminating
              b terminating
              job b canceled
              b terminated
              pick#innerInstance terminated
              pick terminating, terminated
              p terminating, terminated
            > create p {"wanted":["a","b"]}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.pick activating, activated
              #2.pick#innerInstance activating, activated
              #2.pick#innerInstance activating, activated
              #2.a activating
              job #2.a created type a retries 3
              #2.a activated
              #2.b activating
              job #2.b created type b retries 3
              #2.b activated
              = created p v1
            > modify #2 -pick +last
              #2.last activating
              #2 modified
              job #2.last created type last retries 3
              #2.last activated
              #2.pick terminating
              #2.pick#innerInstance terminating
              #2.pick#innerInstance terminating
              #2.a terminating
              job #2.a canceled
              #2.a terminated
              #2.b terminating
              job #2.b canceled
              #2.b terminated
              #2.pick#innerInstance terminated
              #2.pick#innerInstance terminated
              #2.pick terminated
            > complete last
              job #2.last completed
              #2.last completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn a_variable_outside_is_not_taken_for_an_output() {
    check(
        LISTED,
        r#"show variables
           create p before=last {"r":1}
           modify #1 +a
           modify #1 +b {"pick#innerInstance":{"r":5}}
           complete a
           complete b
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p before=last {"r":1}
              p.r = 1 created
              = created p v1
            > modify #1 +a
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick.results = [] created
              pick#innerInstance.r = null created
            > modify #1 +b {"pick#innerInstance":{"r":5}}
              pick#innerInstance.r = 5 created
            > complete a
            > complete b
              pick.results = [null,5] updated
              p.results = [null,5] created
            > cancel #1
        "#]],
    );
}

const DECIDED: &str = "process p
    start s
    adhoc pick job=decide {
    job a
    job b
    }
    end e
    s -> pick -> e";

#[test]
fn a_worker_that_decides_keeps_it_alive() {
    check(
        DECIDED,
        r#"show elements jobs
           create p
           complete pick activate=a
           complete a
           modify #1 +b
           modify #1 -b
           modify #1 +b
           complete b
           complete pick fulfilled=true"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              pick activating
              job pick created type decide retries 1 ad hoc sub process unspecified
              pick activated
              = created p v1
            > complete pick activate=a
              job pick completed
              pick#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
            > complete a
              job a completed
              a completing, completed
              pick#innerInstance completing, completed
              job pick created type decide retries 1 ad hoc sub process unspecified
            > modify #1 +b
              pick#innerInstance activating, activated
              b activating
              #1 modified
              job b created type b retries 3
              b activated
            > modify #1 -b
              #1 modified
              b terminating
              job b canceled
              b terminated
              pick#innerInstance terminating, terminated
            > modify #1 +b
              pick#innerInstance activating, activated
              b activating
              #1 modified
              job b created type b retries 3
              b activated
            > complete b
              job b completed
              b completing, completed
              pick#innerInstance completing, completed
              job pick canceled
              job pick created type decide retries 1 ad hoc sub process unspecified
            > complete pick fulfilled=true
              job pick completed
              pick completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn without_a_job_nobody_could_go_on() {
    check(
        DECIDED,
        r#"show elements jobs
           create p
           complete pick activate=a
           modify #1 a>b^parent
           modify #1 -b
           create p before=a
           complete a
           complete pick fulfilled=true"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              pick activating
              job pick created type decide retries 1 ad hoc sub process unspecified
              pick activated
              = created p v1
            > complete pick activate=a
              job pick completed
              pick#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
            > modify #1 a>b^parent
              b activating
              #1 modified
              job b created type b retries 3
              b activated
              a terminating
              job a canceled
              a terminated
            > modify #1 -b
              #1 modified
              b terminating
              job b canceled
              b terminated
              pick#innerInstance terminating, terminated
              pick terminating, terminated
              p terminating, terminated
            > create p before=a
              #2.p activating, activated
              #2.pick activating, activated
              #2.pick#innerInstance activating, activated
              #2.a activating
              job #2.a created type a retries 3
              #2.a activated
              = created p v1
            > complete a
              job #2.a completed
              #2.a completing, completed
              #2.pick#innerInstance completing, completed
              job #2.pick created type decide retries 1 ad hoc sub process unspecified
            > complete pick fulfilled=true
              job #2.pick completed
              #2.pick completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn a_called_one_whose_worker_decides_would_not_end() {
    check(
        "process outer
         start s
         call c process=p
         end e
         s -> c -> e
         process p
         start s2
         adhoc pick job=decide {
         job a
         }
         end e2
         s2 -> pick -> e2",
        r#"show elements jobs
           create outer
           activate decide
           complete pick activate=a
           modify #2 -a
           create outer
           activate decide
           modify #4 +a
           modify #4 -a
           modify #4 -pick
           cancel #1
           cancel #3"#,
        expect![[r#"
              = deployed outer v1 p v1
            > create outer
              outer activating, activated
              s activating, activated, completing, completed
              c activating
              #2.p activating, activated
              c activated
              #2.s2 activating, activated, completing, completed
              #2.pick activating
              job #2.pick created type decide retries 1 ad hoc sub process unspecified
              #2.pick activated
              = created outer v1
            > activate decide
              job #2.pick activated
              < job #2.pick AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"}]}
            > complete pick activate=a
              job #2.pick completed
              #2.pick#innerInstance activating, activated
              #2.a activating
              job #2.a created type a retries 3
              #2.a activated
            > modify #2 -a
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it would end, and it was created by a call activity: terminate the call activity in the parent process instance instead
            > create outer
              #3.outer activating, activated
              #3.s activating, activated, completing, completed
              #3.c activating
              #4.p activating, activated
              #3.c activated
              #4.s2 activating, activated, completing, completed
              #4.pick activating
              job #4.pick created type decide retries 1 ad hoc sub process unspecified
              #4.pick activated
              = created outer v1
            > activate decide
              job #4.pick activated
              < job #4.pick AD_HOC_SUB_PROCESS UNSPECIFIED retries 1 deadline 600000 variables {"adHocSubProcessElements":[{"elementId":"a"}]}
            > modify #4 +a
              #4.pick#innerInstance activating, activated
              #4.a activating
              #4 modified
              job #4.a created type a retries 3
              #4.a activated
            > modify #4 -a
              #4 modified
              #4.a terminating
              job #4.a canceled
              #4.a terminated
              #4.pick#innerInstance terminating, terminated
            > modify #4 -pick
              = rejected INVALID_ARGUMENT: Expected to modify process instance with key '<key>', but it would end, and it was created by a call activity: terminate the call activity in the parent process instance instead
            > cancel #1
              outer terminating
              c terminating
              #2.p terminating
              #2.pick terminating
              #2.pick#innerInstance terminating
              #2.a terminating
              job #2.a canceled
              #2.a terminated
              #2.pick#innerInstance terminated
              #2.pick terminated
              #2.p terminated
              c terminated
              outer terminated
            > cancel #3
              #3.outer terminating
              #3.c terminating
              #4.p terminating
              #4.pick terminating
              job #4.pick canceled
              #4.pick terminated
              #4.p terminated
              #3.c terminated
              #3.outer terminated
        "#]],
    );
}
