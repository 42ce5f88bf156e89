//! Listeners of user tasks: of the model and of all tasks.

use expect_test::expect;

use crate::support::check;

const ALL: &str = "process p
    start s
    user t assignee=ann task:creating=c1 task:creating=c2/1 task:assigning=a task:updating=u task:completing=f task:canceling=x
    end e
    s -> t -> e";

#[test]
fn listeners_run_one_after_the_other_before_each_operation() {
    check(
        ALL,
        r#"hide flows
         create p
         activate c1
         complete t
         complete t
         activate a
         complete t
         change t priority=60 await=1
         assign t bob await=2
         activate u
         complete t
         assign t bob await=3
         complete t
         finish t await=4 {"x": 1}
         activate f
         complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              task t creating
              t activated
              job t created type c1 retries 3 task listener creating
              = created p v1
            > activate c1
              job t activated
              < job t TASK_LISTENER CREATING retries 3 deadline 600000 variables {} headers {"io.camunda.zeebe:userTaskKey":"2251799813685256","io.camunda.zeebe:assignee":"ann","io.camunda.zeebe:priority":"50"} task [- of 'ann', priority 50]
            > complete t
              job t completed
              job t created type c2 retries 1 task listener creating
            > complete t
              job t completed
              task t created
              task t assigning assignee=ann changed=assignee
              job t created type a retries 3 task listener assigning
            > activate a
              job t activated
              < job t TASK_LISTENER ASSIGNING retries 3 deadline 600000 variables {} headers {"io.camunda.zeebe:userTaskKey":"2251799813685256","io.camunda.zeebe:assignee":"ann","io.camunda.zeebe:changedAttributes":"[\"assignee\"]","io.camunda.zeebe:priority":"50"} task [- of 'ann', priority 50 assignee]
            > complete t
              job t completed
              task t assigned assignee=ann changed=assignee
            > change t priority=60 await=1
              task t updating assignee=ann action=update changed=priority priority=60
              job t created type u retries 3 task listener updating
            > assign t bob await=2
              = rejected INVALID_STATE: Expected to assign user task with key '<key>', but it is in state 'UPDATING'
            > activate u
              job t activated
              < job t TASK_LISTENER UPDATING retries 3 deadline 600000 variables {} headers {"io.camunda.zeebe:userTaskKey":"2251799813685256","io.camunda.zeebe:action":"update","io.camunda.zeebe:assignee":"ann","io.camunda.zeebe:changedAttributes":"[\"priority\"]","io.camunda.zeebe:priority":"60"} task [update of 'ann', priority 60 priority]
            > complete t
              job t completed
              task t updated assignee=ann action=update changed=priority priority=60
              late answer to request 1:
            > assign t bob await=3
              task t assigning assignee=bob action=assign changed=assignee priority=60
              job t created type a retries 3 task listener assigning
            > complete t
              job t completed
              task t assigned assignee=bob action=assign changed=assignee priority=60
              late answer to request 3:
            > finish t await=4 {"x": 1}
              task t completing assignee=bob action=complete priority=60 {"x":1}
              job t created type f retries 3 task listener completing
            > activate f
              job t activated
              < job t TASK_LISTENER COMPLETING retries 3 deadline 600000 variables {"x":1} headers {"io.camunda.zeebe:userTaskKey":"2251799813685256","io.camunda.zeebe:action":"complete","io.camunda.zeebe:assignee":"bob","io.camunda.zeebe:priority":"60"} task [complete of 'bob', priority 60]
            > complete t
              job t completed
              task t completed assignee=bob action=complete priority=60 {"x":1}
              t completing
              p.x = 1 created
              t completed
              e activating, activated, completing, completed
              p completing, completed
              late answer to request 4:
        "#]],
    );
}

#[test]
fn canceling_listeners_run_before_a_task_goes() {
    check(
        "process p
         start s
         user t task:canceling=x
         boundary b on=t timer=PT1M
         end e
         s -> t -> e
         b -> e",
        "hide flows timers
         create p
         advance 1m
         cancel #1
         activate x
         complete t
         create p
         cancel #2
         complete t",
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
            > advance 1m
              t terminating
              task t canceling action=cancel
              job t created type x retries 3 task listener canceling
            > cancel #1
              p terminating
            > activate x
              job t activated
              < job t TASK_LISTENER CANCELING retries 3 deadline 660000 variables {} headers {"io.camunda.zeebe:userTaskKey":"2251799813685257","io.camunda.zeebe:action":"cancel","io.camunda.zeebe:priority":"50"} task [cancel of '', priority 50]
            > complete t
              job t completed
              task t canceled action=cancel
              t terminated
              p terminated
            > create p
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.t activating
              task #2.t creating
              task #2.t created
              #2.t activated
              = created p v1
            > cancel #2
              #2.p terminating
              #2.t terminating
              task #2.t canceling action=cancel
              job #2.t created type x retries 3 task listener canceling
            > complete t
              job #2.t completed
              task #2.t canceled action=cancel
              #2.t terminated
              #2.p terminated
        "#]],
    );
}

#[test]
fn a_task_that_goes_takes_its_operation_along() {
    check(
        "process p
         start s
         user t task:completing=f
         end e
         s -> t -> e",
        "hide flows
         given create p
         finish t await=1
         cancel #1",
        expect![[r#"
              = deployed p v1
            > finish t await=1
              task t completing action=complete
              job t created type f retries 3 task listener completing
            > cancel #1
              p terminating
              t terminating
              job t canceled
              task t canceling action=cancel
              task t canceled action=cancel
              t terminated
              p terminated
              late answer to request 1:
              = rejected INVALID_STATE: User task with key '<key>' was canceled before the operation was done
        "#]],
    );
}

#[test]
fn a_listener_denies() {
    check(
        ALL,
        r#"show tasks variables
         create p
         complete t
         complete t
         complete t
         assign t bob await=1
         complete t deny=not_him
         change t priority=60 await=2
         complete t deny=too_much
         set t local await=3 {"x": 1}
         complete t deny=no
         finish t await=4
         complete t deny=unfinished
         finish t await=5
         complete t"#,
        expect![[r#"
              = deployed p v1
            > create p
              task t creating
              = created p v1
            > complete t
            > complete t
              task t created
              task t assigning assignee=ann changed=assignee
            > complete t
              task t assigned assignee=ann changed=assignee
            > assign t bob await=1
              task t assigning assignee=bob action=assign changed=assignee
            > complete t deny=not_him
              task t assignment denied assignee=bob action=assign changed=assignee denied=not him
              late answer to request 1:
              = rejected INVALID_STATE: Assignment of user task with key '<key>' was denied by a task listener: not him
            > change t priority=60 await=2
              task t updating assignee=ann action=update changed=priority priority=60
            > complete t deny=too_much
              task t update denied assignee=ann action=update changed=priority denied=too much priority=60
              late answer to request 2:
              = rejected INVALID_STATE: Update of user task with key '<key>' was denied by a task listener: too much
            > set t local await=3 {"x": 1}
              task t updating assignee=ann action=update changed=variables {"x":1}
            > complete t deny=no
              task t update denied assignee=ann action=update changed=variables denied=no {"x":1}
              late answer to request 3:
              = rejected INVALID_STATE: Update of user task with key '<key>' was denied by a task listener: no
            > finish t await=4
              task t completing assignee=ann action=complete
            > complete t deny=unfinished
              task t completion denied assignee=ann action=complete denied=unfinished
              late answer to request 4:
              = rejected INVALID_STATE: Completion of user task with key '<key>' was denied by a task listener: unfinished
            > finish t await=5
              task t completing assignee=ann action=complete
            > complete t
              task t completed assignee=ann action=complete
              late answer to request 5:
        "#]],
    );
}

#[test]
fn listeners_correct_and_later_ones_see_it() {
    check(
        "process p
         start s
         user t task:creating=c1 task:creating=c2 task:assigning=a task:completing=f
         end e
         s -> t -> e",
        "show tasks
         create p
         complete t assignee=bob due=2030-01-01T00:00:00Z users=x,y groups=g priority=70
         activate c2
         complete t due= users= priority=70
         activate a
         complete t assignee=eve
         finish t
         complete t priority=1",
        expect![[r#"
              = deployed p v1
            > create p
              task t creating
              = created p v1
            > complete t assignee=bob due=2030-01-01T00:00:00Z users=x,y groups=g priority=70
              task t corrected assignee=bob users=x,y groups=g due=2030-01-01T00:00:00Z changed=assignee,candidateGroupsList,candidateUsersList,dueDate,priority priority=70
            > activate c2
              < job t TASK_LISTENER CREATING retries 3 deadline 600000 variables {} headers {"io.camunda.zeebe:userTaskKey":"2251799813685256","io.camunda.zeebe:assignee":"bob","io.camunda.zeebe:candidateGroups":"[\"g\"]","io.camunda.zeebe:candidateUsers":"[\"x\",\"y\"]","io.camunda.zeebe:changedAttributes":"[\"assignee\",\"candidateGroupsList\",\"candidateUsersList\",\"dueDate\",\"priority\"]","io.camunda.zeebe:dueDate":"2030-01-01T00:00:00Z","io.camunda.zeebe:priority":"70"} task [- of 'bob', priority 70 assignee candidateGroupsList candidateUsersList dueDate priority]
            > complete t due= users= priority=70
              task t corrected assignee=bob groups=g changed=assignee,candidateGroupsList,candidateUsersList,dueDate,priority priority=70
              task t created groups=g changed=assignee,candidateGroupsList,candidateUsersList,dueDate,priority priority=70
              task t assigning assignee=bob groups=g changed=assignee priority=70
            > activate a
              < job t TASK_LISTENER ASSIGNING retries 3 deadline 600000 variables {} headers {"io.camunda.zeebe:userTaskKey":"2251799813685256","io.camunda.zeebe:assignee":"bob","io.camunda.zeebe:candidateGroups":"[\"g\"]","io.camunda.zeebe:changedAttributes":"[\"assignee\"]","io.camunda.zeebe:priority":"70"} task [- of 'bob', priority 70 assignee]
            > complete t assignee=eve
              task t corrected assignee=eve groups=g changed=assignee priority=70
              task t assigned assignee=eve groups=g changed=assignee priority=70
            > finish t
              task t completing assignee=eve groups=g action=complete priority=70
            > complete t priority=1
              task t corrected assignee=eve groups=g action=complete changed=priority priority=1
              task t completed assignee=eve groups=g action=complete changed=priority priority=1
        "#]],
    );
}

#[test]
fn what_a_listener_cannot_say() {
    check(
        ALL,
        r#"show tasks jobs
         create p
         complete t {"x": 1}
         complete t deny=no
         complete t assignee=bob
         complete t priority=101
         complete t due=soon
         throw t oops
         complete t
         complete t
         complete t deny=no priority=5"#,
        expect![[r#"
              = deployed p v1
            > create p
              task t creating
              job t created type c1 retries 3 task listener creating
              = created p v1
            > complete t {"x": 1}
              = rejected INVALID_ARGUMENT: Expected to complete job with key '<key>', but the job of a task listener cannot set variables
            > complete t deny=no
              = rejected INVALID_ARGUMENT: Expected to complete job with key '<key>', but a listener of event type 'creating' cannot deny
            > complete t assignee=bob
              = rejected INVALID_ARGUMENT: Expected to complete job with key '<key>', but the assignee cannot be corrected while the task is created, since the model has one
            > complete t priority=101
              = rejected INVALID_ARGUMENT: Expected to complete job with key '<key>', but its corrections: priority must be a number from 0 to 100, but is '101'
            > complete t due=soon
              = rejected INVALID_ARGUMENT: Expected to complete job with key '<key>', but its corrections: dueDate: 'soon' is not a date and time with an offset such as 2030-10-01T12:00:00Z: failed to parse four digit integer as year: invalid digit, expected 0-9 but got s
            > throw t oops
              = rejected INVALID_STATE: Expected to throw an error for job with key '<key>', but a job of kind 'TASK_LISTENER' cannot throw errors
            > complete t
              job t completed
              job t created type c2 retries 1 task listener creating
            > complete t
              job t completed
              task t created
              task t assigning assignee=ann changed=assignee
              job t created type a retries 3 task listener assigning
            > complete t deny=no priority=5
              = rejected INVALID_ARGUMENT: Expected to complete job with key '<key>', but its result both denies the operation and corrects the task
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, job_queue 1, user_tasks 1
        "#]],
    );
}

#[test]
fn a_result_is_for_listeners_only() {
    check(
        "process p
         start s
         job t listen:start=a
         end e
         s -> t -> e",
        "show jobs
         create p
         complete t deny=no
         complete t
         complete t priority=5",
        expect![[r#"
              = deployed p v1
            > create p
              job t created type a retries 3 execution listener start
              = created p v1
            > complete t deny=no
              = rejected INVALID_ARGUMENT: Expected to complete job with key '<key>', but a job of kind 'EXECUTION_LISTENER' cannot have such a result
            > complete t
              job t completed
              job t created type t retries 3
            > complete t priority=5
              = rejected INVALID_ARGUMENT: Expected to complete job with key '<key>', but a job of kind 'BPMN_ELEMENT' cannot have such a result
            left: running_instances 1, instances 1, element_instances 2, children 1, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn without_retries_the_failed_listener_runs_again() {
    check(
        "process p
         start s
         user t task:creating=a task:creating=b
         end e
         s -> t -> e",
        "hide flows
         create p
         complete t
         activate b
         fail t retries=0
         update t retries=1
         resolve t
         activate b
         complete t",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t activating
              task t creating
              t activated
              job t created type a retries 3 task listener creating
              = created p v1
            > complete t
              job t completed
              job t created type b retries 3 task listener creating
            > activate b
              job t activated
              < job t TASK_LISTENER CREATING retries 3 deadline 600000 variables {} headers {"io.camunda.zeebe:userTaskKey":"2251799813685256","io.camunda.zeebe:priority":"50"} task [- of '', priority 50]
            > fail t retries=0
              job t failed retries 0
              incident t TASK_LISTENER_NO_RETRIES created: No more retries left.
            > update t retries=1
              job t retries updated retries 1
            > resolve t
              incident t TASK_LISTENER_NO_RETRIES resolved
            > activate b
              job t activated
              < job t TASK_LISTENER CREATING retries 1 deadline 600000 variables {} headers {"io.camunda.zeebe:userTaskKey":"2251799813685256","io.camunda.zeebe:priority":"50"} task [- of '', priority 50]
            > complete t
              job t completed
              task t created
            left: running_instances 1, instances 1, element_instances 2, children 1, user_tasks 1
        "#]],
    );
}

#[test]
fn a_listener_that_cannot_be_evaluated_makes_the_operation_run_again() {
    check(
        "process p
         start s
         user t task:completing=a task:completing==kind
         end e
         s -> t -> e",
        r#"hide flows
         given create p
         finish t await=1 {"x": 1}
         complete t
         set #1 {"kind": "b"}
         resolve t
         complete t
         complete t"#,
        expect![[r#"
              = deployed p v1
            > finish t await=1 {"x": 1}
              task t completing action=complete {"x":1}
              job t created type a retries 3 task listener completing
            > complete t
              job t completed
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'kind' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'kind'
            > set #1 {"kind": "b"}
              p.kind = "b" created
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              job t created type a retries 3 task listener completing
            > complete t
              job t completed
              job t created type b retries 3 task listener completing
            > complete t
              job t completed
              task t completed action=complete {"x":1}
              t completing
              p.x = 1 created
              t completed
              e activating, activated, completing, completed
              p completing, completed
              late answer to request 1:
        "#]],
    );
}

#[test]
fn completing_listeners_see_what_the_task_brings() {
    check(
        "process p
         start s
         user t task:completing=a
         end e
         s -> t -> e",
        r#"show jobs
         create p {"x": 1, "z": 3}
         finish t {"x": 2, "y": 4}
         activate a"#,
        expect![[r#"
              = deployed p v1
            > create p {"x": 1, "z": 3}
              = created p v1
            > finish t {"x": 2, "y": 4}
              job t created type a retries 3 task listener completing
            > activate a
              job t activated
              < job t TASK_LISTENER COMPLETING retries 3 deadline 600000 variables {"x":2,"z":3,"y":4} headers {"io.camunda.zeebe:userTaskKey":"2251799813685258","io.camunda.zeebe:action":"complete","io.camunda.zeebe:priority":"50"} task [complete of '', priority 50]
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 2, jobs 1, job_due 1, user_tasks 1
        "#]],
    );
}

#[test]
fn listeners_of_all_tasks_come_around_those_of_the_model() {
    check(
        "process p
         start s
         user t task:creating=model
         end e
         s -> t -> e",
        "show tasks jobs
         listener low type=low events=creating priority=1
         listener late type=late after
         listener high type=high events=creating,completing priority=90 retries=1
         listener other type=other events=canceling
         listener low type=again
         listener low type=lower events=creating priority=1 update
         listener none type=none update
         create p
         unlisten high
         unlisten high
         complete t
         complete t
         complete t
         complete t
         finish t
         complete t",
        expect![[r#"
              = deployed p v1
            > listener low type=low events=creating priority=1
              listener low created
              = listener low
            > listener late type=late after
              listener late created
              = listener late
            > listener high type=high events=creating,completing priority=90 retries=1
              listener high created
              = listener high
            > listener other type=other events=canceling
              listener other created
              = listener other
            > listener low type=again
              = rejected ALREADY_EXISTS: Expected to create a global listener with id 'low', but there is one already
            > listener low type=lower events=creating priority=1 update
              listener low updated
              = listener low
            > listener none type=none update
              = rejected NOT_FOUND: Expected to update the global listener with id 'none', but there is no such listener
            > create p
              task t creating
              job t created type high retries 1 task listener creating
              = created p v1
            > unlisten high
              listener high deleted
            > unlisten high
              = rejected NOT_FOUND: Expected to delete the global listener with id 'high', but there is no such listener
            > complete t
              job t completed
              job t created type lower retries 3 task listener creating
            > complete t
              job t completed
              job t created type model retries 3 task listener creating
            > complete t
              job t completed
              job t created type late retries 3 task listener creating
            > complete t
              job t completed
              task t created
            > finish t
              task t completing action=complete
              job t created type late retries 3 task listener completing
            > complete t
              job t completed
              task t completed action=complete
        "#]],
    );
}

#[test]
fn listeners_of_the_configuration_are_replaced_as_a_whole_and_win_when_it_is_read() {
    check(
        "process p
         start s
         user t
         end e
         s -> t -> e",
        "show tasks jobs
         listener b type=api
         configure all listeners=a,b
         listener a type=x
         listener a type=x update
         unlisten b
         configure all listeners=b,c
         create p
         complete t
         configure all
         complete t",
        expect![[r#"
              = deployed p v1
            > listener b type=api
              listener b created
              = listener b
            > configure all listeners=a,b
              listener a created
              listener b updated
            > listener a type=x
              = rejected ALREADY_EXISTS: Expected to create a global listener with id 'a', but there is one already
            > listener a type=x update
              listener a updated
              = listener a
            > unlisten b
              listener b deleted
            > configure all listeners=b,c
              listener a deleted
              listener b created
              listener c created
            > create p
              task t creating
              job t created type b retries 3 task listener creating
              = created p v1
            > complete t
              job t completed
              job t created type c retries 3 task listener creating
            > configure all
              listener b deleted
              listener c deleted
            > complete t
              job t completed
              task t created
            left: running_instances 1, instances 1, element_instances 2, children 1, user_tasks 1
        "#]],
    );
}
