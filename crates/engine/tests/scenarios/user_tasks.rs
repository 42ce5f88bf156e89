//! User tasks completed through the API.

use expect_test::expect;

use crate::support::check;

const PLAIN: &str = "process p
    start s
    user t
    end e
    s -> t -> e";

#[test]
fn a_user_task_is_created_and_completed() {
    check(
        PLAIN,
        r#"create p
         finish t await=5 {"x": 1}"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              -- s_t
              t activating
              task t creating
              task t created
              t activated
              = created p v1
            > finish t await=5 {"x": 1}
              task t completing action=complete {"x":1}
              task t completed action=complete {"x":1}
              t completing
              p.x = 1 created
              t completed
              -- t_e
              e activating, activated, completing, completed
              p completing, completed
              late answer to request 5:
        "#]],
    );
}

#[test]
fn all_attributes_are_evaluated() {
    check(
        "process p
         start s
         user t assignee==who users=\"a, b\" groups==list due==date followup=2030-01-02T00:00:00Z priority==70+7 external==ref in:who==name header:k=v
         end e
         s -> t -> e",
        r#"hide variables flows
         create p {"name": "ann", "list": ["g1", "g2"], "date": "2030-01-01T00:00:00Z", "ref": "form-1"}"#,
        expect![[r#"
              = deployed p v1
            > create p {"name": "ann", "list": ["g1", "g2"], "date": "2030-01-01T00:00:00Z", "ref": "form-1"}
              p activating, activated
              s activating, activated, completing, completed
              t activating
              task t creating users=a,b groups=g1,g2 due=2030-01-01T00:00Z followup=2030-01-02T00:00:00Z external=form-1 priority=77
              task t created users=a,b groups=g1,g2 due=2030-01-01T00:00Z followup=2030-01-02T00:00:00Z external=form-1 priority=77
              task t assigning assignee=ann users=a,b groups=g1,g2 due=2030-01-01T00:00Z followup=2030-01-02T00:00:00Z external=form-1 changed=assignee priority=77
              task t assigned assignee=ann users=a,b groups=g1,g2 due=2030-01-01T00:00Z followup=2030-01-02T00:00:00Z external=form-1 changed=assignee priority=77
              t activated
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 5, user_tasks 1
        "#]],
    );
}

#[test]
fn attributes_of_the_wrong_kind_are_incidents() {
    check(
        r#"process p
         start s
         user t1 assignee==1
         user t2 users==[1]
         user t3 groups=="'a'"
         user t4 due=="'soon'"
         user t5 followup==5
         user t6 priority==101
         user t7 priority==null
         user t8 external==null
         user t9 form==1
         s -> t1
         s -> t2
         s -> t3
         s -> t4
         s -> t5
         s -> t6
         s -> t7
         s -> t8
         s -> t9"#,
        "show incidents
         create p
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              incident t9 EXTRACT_VALUE_ERROR created: Expected result of the expression '1' to be 'STRING', but was 'NUMBER'.
              incident t8 EXTRACT_VALUE_ERROR created: Expected result of the expression 'null' to be 'STRING', but was 'NULL'.
              incident t7 EXTRACT_VALUE_ERROR created: Expected result of the expression 'null' to be 'NUMBER', but was 'NULL'.
              incident t6 EXTRACT_VALUE_ERROR created: Expected the priority to be a number from 0 to 100, but was '101'.
              incident t5 EXTRACT_VALUE_ERROR created: Expected result of the expression '5' to be one of '[DATE_TIME, STRING]', but was 'NUMBER'.
              incident t4 EXTRACT_VALUE_ERROR created: Expected result of the expression '"soon"' to be a date, but 'soon' is not a date and time with an offset such as 2030-10-01T12:00:00Z: failed to parse four digit integer as year: invalid digit, expected 0-9 but got s
              incident t3 EXTRACT_VALUE_ERROR created: Expected result of the expression '"a"' to be a list of strings, but was 'STRING'.
              incident t2 EXTRACT_VALUE_ERROR created: Expected result of the expression '[1]' to be a list of strings, but was 'ARRAY'.
              incident t1 EXTRACT_VALUE_ERROR created: Expected result of the expression '1' to be 'STRING', but was 'NUMBER'.
              = created p v1
            > cancel #1
              incident t9 EXTRACT_VALUE_ERROR resolved
              incident t8 EXTRACT_VALUE_ERROR resolved
              incident t7 EXTRACT_VALUE_ERROR resolved
              incident t6 EXTRACT_VALUE_ERROR resolved
              incident t5 EXTRACT_VALUE_ERROR resolved
              incident t4 EXTRACT_VALUE_ERROR resolved
              incident t3 EXTRACT_VALUE_ERROR resolved
              incident t2 EXTRACT_VALUE_ERROR resolved
              incident t1 EXTRACT_VALUE_ERROR resolved
        "#]],
    );
}

#[test]
fn absent_values_are_left_open() {
    check(
        "process p
         start s
         user t assignee==null due==null followup==\"''\"
         end e
         s -> t -> e",
        "hide flows elements
         create p",
        expect![[r#"
              = deployed p v1
            > create p
              task t creating
              task t created
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, user_tasks 1
        "#]],
    );
}

#[test]
fn a_task_is_assigned_claimed_and_unassigned() {
    check(
        PLAIN,
        "show tasks
         create p
         assign t ann await=1
         assign t bob claim await=2
         assign t ann claim await=3
         assign t bob action=escalate await=4
         unassign t await=5
         assign t bob claim await=6",
        expect![[r#"
              = deployed p v1
            > create p
              task t creating
              task t created
              = created p v1
            > assign t ann await=1
              task t assigning assignee=ann action=assign changed=assignee
              task t assigned assignee=ann action=assign changed=assignee
              late answer to request 1:
            > assign t bob claim await=2
              = rejected INVALID_STATE: Expected to claim user task with key '<key>', but it is assigned already
            > assign t ann claim await=3
              task t claiming assignee=ann action=claim
              task t assigned assignee=ann action=claim
              late answer to request 3:
            > assign t bob action=escalate await=4
              task t assigning assignee=bob action=escalate changed=assignee
              task t assigned assignee=bob action=escalate changed=assignee
              late answer to request 4:
            > unassign t await=5
              task t assigning action=unassign changed=assignee
              task t assigned action=unassign changed=assignee
              late answer to request 5:
            > assign t bob claim await=6
              task t claiming assignee=bob action=claim changed=assignee
              task t assigned assignee=bob action=claim changed=assignee
              late answer to request 6:
            left: running_instances 1, instances 1, element_instances 2, children 1, user_tasks 1
        "#]],
    );
}

#[test]
fn a_task_is_changed() {
    check(
        PLAIN,
        "show tasks
         create p
         change t users=a,b groups=g due=2030-01-01T00:00:00Z followup=2029-01-01T00:00:00Z priority=80 await=1
         change t users= due= await=2
         change t priority=101
         change t due=soon
         change t action=touch await=3",
        expect![[r#"
              = deployed p v1
            > create p
              task t creating
              task t created
              = created p v1
            > change t users=a,b groups=g due=2030-01-01T00:00:00Z followup=2029-01-01T00:00:00Z priority=80 await=1
              task t updating users=a,b groups=g due=2030-01-01T00:00:00Z followup=2029-01-01T00:00:00Z action=update changed=candidateGroupsList,candidateUsersList,dueDate,followUpDate,priority priority=80
              task t updated users=a,b groups=g due=2030-01-01T00:00:00Z followup=2029-01-01T00:00:00Z action=update changed=candidateGroupsList,candidateUsersList,dueDate,followUpDate,priority priority=80
              late answer to request 1:
            > change t users= due= await=2
              task t updating groups=g followup=2029-01-01T00:00:00Z action=update changed=candidateUsersList,dueDate priority=80
              task t updated groups=g followup=2029-01-01T00:00:00Z action=update changed=candidateUsersList,dueDate priority=80
              late answer to request 2:
            > change t priority=101
              = rejected INVALID_ARGUMENT: Expected to update user task with key '<key>', but priority must be a number from 0 to 100, but is '101'
            > change t due=soon
              = rejected INVALID_ARGUMENT: Expected to update user task with key '<key>', but dueDate: 'soon' is not a date and time with an offset such as 2030-10-01T12:00:00Z: failed to parse four digit integer as year: invalid digit, expected 0-9 but got s
            > change t action=touch await=3
              task t updating groups=g followup=2029-01-01T00:00:00Z action=touch priority=80
              task t updated groups=g followup=2029-01-01T00:00:00Z action=touch priority=80
              late answer to request 3:
            left: running_instances 1, instances 1, element_instances 2, children 1, user_tasks 1
        "#]],
    );
}

#[test]
fn what_is_not_there_cannot_be_changed() {
    check(
        PLAIN,
        "show tasks
         create p
         finish t
         finish t
         assign t ann",
        expect![[r#"
              = deployed p v1
            > create p
              task t creating
              task t created
              = created p v1
            > finish t
              task t completing action=complete
              task t completed action=complete
            > finish t
              = rejected NOT_FOUND: Expected to complete user task with key '<key>', but no such user task was found
            > assign t ann
              = rejected NOT_FOUND: Expected to assign user task with key '<key>', but no such user task was found
        "#]],
    );
}

#[test]
fn a_terminated_task_is_canceled() {
    check(
        "process p
         start s
         user t assignee=ann
         boundary b on=t timer=PT1M
         end e
         s -> t -> e
         b -> e",
        "hide flows timers
         create p
         advance 1m
         create p
         cancel #2",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              task t creating
              task t created
              task t assigning assignee=ann changed=assignee
              task t assigned assignee=ann changed=assignee
              t activated
              = created p v1
            > advance 1m
              t terminating
              task t canceling assignee=ann action=cancel
              task t canceled assignee=ann action=cancel
              t terminated
              b activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating
              task #2.t creating
              task #2.t created
              task #2.t assigning assignee=ann changed=assignee
              task #2.t assigned assignee=ann changed=assignee
              #2.t activated
              = created p v1
            > cancel #2
              #2.p terminating
              #2.t terminating
              task #2.t canceling assignee=ann action=cancel
              task #2.t canceled assignee=ann action=cancel
              #2.t terminated
              #2.p terminated
        "#]],
    );
}

#[test]
fn variables_of_the_scope_of_a_task_are_an_update() {
    check(
        PLAIN,
        r#"hide flows
         create p
         set t local await=1 {"x": 1}
         set t {"y": 1}"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              task t creating
              task t created
              t activated
              = created p v1
            > set t local await=1 {"x": 1}
              task t updating action=update changed=variables {"x":1}
              task t updated action=update changed=variables {"x":1}
              t.x = 1 created
              late answer to request 1:
            > set t {"y": 1}
              p.y = 1 created
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 2, user_tasks 1
        "#]],
    );
}

#[test]
fn a_worker_is_told_about_its_user_task_in_headers() {
    check(
        "process p
         start s
         user t worker assignee==who users==list groups==[] due==date followup==date header:k=v
         user u worker assignee==null users=\"a, b\" groups==[who] due==null followup=2030-01-02T00:00:00Z formkey==raw
         end e
         s -> t -> u -> e",
        r#"show jobs
         create p {"who": "ann \"x\"", "list": ["u1", "u2"], "date": "2030-01-01T00:00:00Z"}
         activate io.camunda.zeebe:userTask
         complete t {"done": true}
         activate io.camunda.zeebe:userTask
         complete u"#,
        expect![[r#"
              = deployed p v1
            > create p {"who": "ann \"x\"", "list": ["u1", "u2"], "date": "2030-01-01T00:00:00Z"}
              job t created type io.camunda.zeebe:userTask retries 1
              = created p v1
            > activate io.camunda.zeebe:userTask
              job t activated
              < job t retries 1 deadline 600000 variables {"date":"2030-01-01T00:00:00Z","list":["u1", "u2"],"who":"ann \"x\""} headers {"k":"v","io.camunda.zeebe:assignee":"ann \"x\"","io.camunda.zeebe:candidateGroups":"[]","io.camunda.zeebe:candidateUsers":"[\"u1\",\"u2\"]","io.camunda.zeebe:dueDate":"2030-01-01T00:00Z","io.camunda.zeebe:followUpDate":"2030-01-01T00:00Z"}
            > complete t {"done": true}
              job t completed
              job u created type io.camunda.zeebe:userTask retries 1
            > activate io.camunda.zeebe:userTask
              job u activated
              < job u retries 1 deadline 600000 variables {"date":"2030-01-01T00:00:00Z","done":true,"list":["u1", "u2"],"who":"ann \"x\""} headers {"io.camunda.zeebe:formKey":"=raw","io.camunda.zeebe:candidateUsers":"[\"a\",\"b\"]","io.camunda.zeebe:followUpDate":"2030-01-02T00:00:00Z","io.camunda.zeebe:candidateGroups":"[\"ann \\\"x\\\"\"]"}
            > complete u
              job u completed
        "#]],
    );
}

#[test]
fn what_a_worker_cannot_be_told_is_an_incident() {
    check(
        r#"process p
         start s
         user t1 worker assignee==1
         user t2 worker users==[1]
         user t3 worker groups=="'a'"
         user t4 worker due=="'soon'"
         user t5 worker followup==5
         user t6 worker form==1
         user t7 worker form=none
         user t8 worker assignee==who groups==null
         s -> t1
         s -> t2
         s -> t3
         s -> t4
         s -> t5
         s -> t6
         s -> t7
         s -> t8"#,
        r#"show incidents jobs
         create p
         resolve t8
         cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p
              incident t8 EXTRACT_VALUE_ERROR created: Expected result of the expression 'null' to be a list of strings, but was 'NULL'.
              incident t7 FORM_NOT_FOUND created: Expected to find a form with id 'none', but no such form was found
              incident t6 EXTRACT_VALUE_ERROR created: Expected result of the expression '1' to be 'STRING', but was 'NUMBER'.
              incident t5 EXTRACT_VALUE_ERROR created: Expected result of the expression '5' to be one of '[DATE_TIME, STRING]', but was 'NUMBER'.
              incident t4 EXTRACT_VALUE_ERROR created: Expected result of the expression '"soon"' to be a date, but 'soon' is not a date and time with an offset such as 2030-10-01T12:00:00Z: failed to parse four digit integer as year: invalid digit, expected 0-9 but got s
              incident t3 EXTRACT_VALUE_ERROR created: Expected result of the expression '"a"' to be a list of strings, but was 'STRING'.
              incident t2 EXTRACT_VALUE_ERROR created: Expected result of the expression '[1]' to be a list of strings, but was 'ARRAY'.
              incident t1 EXTRACT_VALUE_ERROR created: Expected result of the expression '1' to be 'STRING', but was 'NUMBER'.
              = created p v1
            > resolve t8
              incident t8 EXTRACT_VALUE_ERROR resolved
              incident t8 EXTRACT_VALUE_ERROR created: Expected result of the expression 'null' to be a list of strings, but was 'NULL'.
            > cancel #1
              incident t8 EXTRACT_VALUE_ERROR resolved
              incident t7 FORM_NOT_FOUND resolved
              incident t6 EXTRACT_VALUE_ERROR resolved
              incident t5 EXTRACT_VALUE_ERROR resolved
              incident t4 EXTRACT_VALUE_ERROR resolved
              incident t3 EXTRACT_VALUE_ERROR resolved
              incident t2 EXTRACT_VALUE_ERROR resolved
              incident t1 EXTRACT_VALUE_ERROR resolved
        "#]],
    );
}

#[test]
fn variables_set_from_outside_are_told_as_a_document() {
    check(
        "process p
         start s
         user t task:updating=x
         end e
         s -> t -> e",
        r#"show documents variables tasks
         create p
         set #1 {"a": 1, "b": 2}
         set t {"a": 2, "c": 3}
         set t local await=1 {"d": 4}
         complete t deny=no
         set t local await=2 {"e": 5}
         complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              task t creating
              task t created
              = created p v1
            > set #1 {"a": 1, "b": 2}
              p.a = 1 created
              p.b = 2 created
              document of p updated PROPAGATE {"a":1,"b":2}
            > set t {"a": 2, "c": 3}
              p.a = 2 updated
              p.c = 3 created
              document of t updated PROPAGATE {"a":2,"c":3}
            > set t local await=1 {"d": 4}
              document of t updating LOCAL {"d":4}
              task t updating action=update changed=variables {"d":4}
            > complete t deny=no
              task t update denied action=update changed=variables denied=no {"d":4}
              document of t update denied LOCAL {"d":4}
              late answer to request 1:
              = rejected INVALID_STATE: Update of user task with key '<key>' was denied by a task listener: no
            > set t local await=2 {"e": 5}
              document of t updating LOCAL {"e":5}
              task t updating action=update changed=variables {"e":5}
            > complete t
              task t updated action=update changed=variables {"e":5}
              t.e = 5 created
              document of t updated LOCAL {"e":5}
              late answer to request 2:
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 4, user_tasks 1
        "#]],
    );
}
