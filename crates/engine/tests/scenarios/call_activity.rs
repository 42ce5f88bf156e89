//! Call activities.

use engine::Options;
use expect_test::expect;

use crate::support::{check, check_with};

const CHILD: &str = "process child
    start cs
    job work
    end ce
    cs -> work -> ce";

fn parent(attributes: &str) -> String {
    format!(
        "process parent
         start s
         call c process=child {attributes}
         boundary oops on=c error=E1
         boundary late on=c timer=PT1M
         end e
         end caught
         end timeout
         s -> c -> e
         oops -> caught
         late -> timeout
         {CHILD}"
    )
}

#[test]
fn a_called_process_runs_and_its_variables_come_back() {
    check(
        &parent(""),
        r#"create parent {"a":1}
           activate work
           complete work {"b":2}"#,
        expect![[r#"
              = deployed parent v1 child v1
            > create parent {"a":1}
              parent activating
              parent.a = 1 created
              parent activated
              s activating, activated, completing, completed
              -- s_c
              c activating
              timer late created due 60000
              #2.child activating
              #2.child.a = 1 created
              #2.child activated
              c activated
              #2.cs activating, activated, completing, completed
              -- cs_work
              #2.work activating
              job #2.work created type work retries 3
              #2.work activated
              = created parent v1
            > activate work
              job #2.work activated
              < job #2.work retries 3 deadline 600000 variables {"a":1}
            > complete work {"b":2}
              job #2.work completed
              #2.work completing
              #2.child.b = 2 created
              #2.work completed
              -- work_ce
              #2.ce activating, activated, completing, completed
              #2.child completing, completed
              c completing
              parent.b = 2 created
              timer late canceled
              c completed
              -- c_e
              e activating, activated, completing, completed
              parent completing, completed
        "#]],
    );
}

#[test]
fn nothing_comes_back_if_the_model_says_so() {
    check(
        &parent("up=false"),
        r#"show variables elements
           create parent {"a":1}
           complete work {"a":2,"b":2}"#,
        expect![[r#"
              = deployed parent v1 child v1
            > create parent {"a":1}
              parent activating
              parent.a = 1 created
              parent activated
              s activating, activated, completing, completed
              c activating
              #2.child activating
              #2.child.a = 1 created
              #2.child activated
              c activated
              #2.cs activating, activated, completing, completed
              #2.work activating, activated
              = created parent v1
            > complete work {"a":2,"b":2}
              #2.work completing
              #2.child.a = 2 updated
              #2.child.b = 2 created
              #2.work completed
              #2.ce activating, activated, completing, completed
              #2.child completing, completed
              c completing
              c.a = 2 created
              c.b = 2 created
              c completed
              e activating, activated, completing, completed
              parent completing, completed
        "#]],
    );
}

#[test]
fn mappings_choose_what_goes_in_and_comes_out() {
    check(
        &parent(r#"down=false in:x="=a + 1" out:y="=b * 10""#),
        r#"show variables jobs
           create parent {"a":1}
           activate work
           complete work {"b":2,"c":3}"#,
        expect![[r#"
              = deployed parent v1 child v1
            > create parent {"a":1}
              parent.a = 1 created
              c.x = 2 created
              #2.child.x = 2 created
              job #2.work created type work retries 3
              = created parent v1
            > activate work
              job #2.work activated
              < job #2.work retries 3 deadline 600000 variables {"x":2}
            > complete work {"b":2,"c":3}
              job #2.work completed
              #2.child.b = 2 created
              #2.child.c = 3 created
              c.b = 2 created
              c.c = 3 created
              parent.y = 20 created
        "#]],
    );
}

#[test]
fn an_error_comes_up_from_the_called_process() {
    check(
        &parent(""),
        r#"show elements jobs variables
           create parent
           throw work E1 {"why":1}"#,
        expect![[r#"
              = deployed parent v1 child v1
            > create parent
              parent activating, activated
              s activating, activated, completing, completed
              c activating
              #2.child activating, activated
              c activated
              #2.cs activating, activated, completing, completed
              #2.work activating
              job #2.work created type work retries 3
              #2.work activated
              = created parent v1
            > throw work E1 {"why":1}
              job #2.work error thrown
              c terminating
              #2.child terminating
              #2.work terminating, terminated
              #2.child terminated
              c terminated
              oops activating
              oops.why = 1 created
              oops activated, completing, completed
              caught activating, activated, completing, completed
              parent completing, completed
        "#]],
    );
}

#[test]
fn a_boundary_event_ends_the_called_process() {
    check(
        &parent(""),
        "show elements jobs timers
         create parent
         advance 1m",
        expect![[r#"
              = deployed parent v1 child v1
            > create parent
              parent activating, activated
              s activating, activated, completing, completed
              c activating
              timer late created due 60000
              #2.child activating, activated
              c activated
              #2.cs activating, activated, completing, completed
              #2.work activating
              job #2.work created type work retries 3
              #2.work activated
              = created parent v1
            > advance 1m
              timer late triggered
              c terminating
              #2.child terminating
              #2.work terminating
              job #2.work canceled
              #2.work terminated
              #2.child terminated
              c terminated
              late activating, activated, completing, completed
              timeout activating, activated, completing, completed
              parent completing, completed
        "#]],
    );
}

#[test]
fn cancelling_goes_all_the_way_down() {
    check(
        &format!(
            "process top
             start ts
             call t process=parent
             ts -> t
             {}",
            parent("")
        ),
        "show elements jobs
         create top
         cancel #3
         cancel #2
         cancel #1",
        expect![[r#"
              = deployed top v1 parent v1 child v1
            > create top
              top activating, activated
              ts activating, activated, completing, completed
              t activating
              #2.parent activating, activated
              t activated
              #2.s activating, activated, completing, completed
              #2.c activating
              #3.child activating, activated
              #2.c activated
              #3.cs activating, activated, completing, completed
              #3.work activating
              job #3.work created type work retries 3
              #3.work activated
              = created top v1
            > cancel #3
              = rejected INVALID_STATE: Expected to cancel a process instance with key '<key>', but it is created by a parent process instance. Cancel the root process instance '<key>' instead.
            > cancel #2
              = rejected INVALID_STATE: Expected to cancel a process instance with key '<key>', but it is created by a parent process instance. Cancel the root process instance '<key>' instead.
            > cancel #1
              top terminating
              t terminating
              #2.parent terminating
              #2.c terminating
              #3.child terminating
              #3.work terminating
              job #3.work canceled
              #3.work terminated
              #3.child terminated
              #2.c terminated
              #2.parent terminated
              t terminated
              top terminated
        "#]],
    );
}

#[test]
fn a_missing_process_is_an_incident() {
    check_with(
        &[
            (
                "parent",
                "process parent
                        start s
                        call c process=child
                        end e
                        s -> c -> e",
            ),
            (
                "none",
                "process child
                      start s message=m
                      end e
                      s -> e",
            ),
            ("child", CHILD),
        ],
        Options::default(),
        "deploy parent
         show elements incidents jobs
         create parent
         deploy none
         resolve c
         deploy child
         resolve c
         complete work",
        expect![[r#"
              = deployed parent v1
            > create parent
              parent activating, activated
              s activating, activated, completing, completed
              c activating
              incident c CALLED_ELEMENT_ERROR created: Expected process with BPMN process id 'child' to be deployed, but not found.
              = created parent v1
            > deploy none
              = deployed child v1
            > resolve c
              incident c CALLED_ELEMENT_ERROR resolved
              incident c CALLED_ELEMENT_ERROR created: Expected process with BPMN process id 'child' to have a none start event, but not found.
            > deploy child
              = deployed child v2
            > resolve c
              incident c CALLED_ELEMENT_ERROR resolved
              #2.child activating, activated
              c activated
              #2.cs activating, activated, completing, completed
              #2.work activating
              job #2.work created type work retries 3
              #2.work activated
            > complete work
              job #2.work completed
              #2.work completing, completed
              #2.ce activating, activated, completing, completed
              #2.child completing, completed
              c completing, completed
              e activating, activated, completing, completed
              parent completing, completed
        "#]],
    );
}

#[test]
fn the_version_is_chosen_by_its_binding() {
    check_with(
        &[
            (
                "both",
                "process parent
                      start s
                      call latest process=child
                      call same process=child binding=deployment
                      call tagged process=child binding=versionTag tag=v1
                      end e
                      s -> latest -> same -> tagged -> e
                      process child tag=v1
                      start cs
                      job one
                      cs -> one",
            ),
            (
                "child",
                "process child
                       start s
                       job two
                       s -> two",
            ),
        ],
        Options::default(),
        "deploy both
         deploy child
         show jobs incidents
         create parent
         complete two
         complete one@1
         complete one@2
         delete child v=1
         create parent
         complete two
         cancel #5",
        expect![[r#"
              = deployed parent v1 child v1
            > deploy child
              = deployed child v2
            > create parent
              job #2.two created type two retries 3
              = created parent v1
            > complete two
              job #2.two completed
              job #3.one created type one retries 3
            > complete one@1
              job #3.one completed
              job #4.one created type one retries 3
            > complete one@2
              job #4.one completed
            > delete child v=1
            > create parent
              job #6.two created type two retries 3
              = created parent v1
            > complete two
              job #6.two completed
              incident #5.same CALLED_ELEMENT_ERROR created: Expected process with BPMN process id 'child' in the deployment of the process to be deployed, but not found.
            > cancel #5
              incident #5.same CALLED_ELEMENT_ERROR resolved
        "#]],
    );
}

#[test]
fn the_id_of_the_called_process_may_be_an_expression() {
    check(
        r#"process parent
           start s
           call c process="=which"
           end e
           s -> c -> e
           process child
           start cs
           end ce
           cs -> ce"#,
        r#"show elements incidents
           create parent {"which":7}
           set #1 {"which":"child"}
           resolve c"#,
        expect![[r#"
              = deployed parent v1 child v1
            > create parent {"which":7}
              parent activating, activated
              s activating, activated, completing, completed
              c activating
              incident c EXTRACT_VALUE_ERROR created: Expected result of the expression 'which' to be 'STRING', but was 'NUMBER'.
              = created parent v1
            > set #1 {"which":"child"}
            > resolve c
              incident c EXTRACT_VALUE_ERROR resolved
              #2.child activating, activated
              c activated
              #2.cs activating, activated, completing, completed
              #2.ce activating, activated, completing, completed
              #2.child completing, completed
              c completing, completed
              e activating, activated, completing, completed
              parent completing, completed
        "#]],
    );
}

#[test]
fn calls_without_end_stop_at_the_limit() {
    check_with(
        &[(
            "p",
            "process p
             start s
             job pause
             call again process=p
             boundary oops on=again error=NEVER
             end e
             s -> pause -> again -> e
             oops -> e",
        )],
        Options { max_call_depth: 3, ..Options::default() },
        "deploy p
         show incidents elements
         create p
         complete pause
         complete pause
         complete pause
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              pause activating, activated
              = created p v1
            > complete pause
              pause completing, completed
              again activating
              #2.p activating, activated
              again activated
              #2.s activating, activated, completing, completed
              #2.pause activating, activated
            > complete pause
              #2.pause completing, completed
              #2.again activating
              #3.p activating, activated
              #2.again activated
              #3.s activating, activated, completing, completed
              #3.pause activating, activated
            > complete pause
              #3.pause completing, completed
              #3.again activating
              incident #3.again CALLED_ELEMENT_ERROR created: The call hierarchy is deeper than 3 process instances.
            > cancel #1
              p terminating
              again terminating
              #2.p terminating
              #2.again terminating
              #3.p terminating
              #3.again terminating
              incident #3.again CALLED_ELEMENT_ERROR resolved
              #3.again terminated
              #3.p terminated
              #2.again terminated
              #2.p terminated
              again terminated
              p terminated
        "#]],
    );
}

#[test]
fn a_version_tag_falls_back_to_the_version_before() {
    let child = |task: &str| format!("process child tag=stable\n start s\n job {task}\n s -> {task}");
    let (first, second) = (child("one"), child("two"));
    check_with(
        &[
            ("child", &first),
            ("child@2", &second),
            (
                "parent",
                "process parent
                 start s
                 call c process=child binding=versionTag tag=stable
                 s -> c",
            ),
        ],
        Options::default(),
        "deploy child
         deploy child@2
         deploy parent
         show jobs incidents
         create parent
         delete child v=2
         create parent
         delete child v=1
         create parent
         cancel #1
         cancel #3
         cancel #5",
        expect![[r#"
              = deployed child v1
            > deploy child@2
              = deployed child v2
            > deploy parent
              = deployed parent v1
            > create parent
              job #2.two created type two retries 3
              = created parent v1
            > delete child v=2
            > create parent
              job #4.one created type one retries 3
              = created parent v1
            > delete child v=1
            > create parent
              incident #5.c CALLED_ELEMENT_ERROR created: Expected process with BPMN process id 'child' with version tag 'stable' to be deployed, but not found.
              = created parent v1
            > cancel #1
              job #2.two canceled
            > cancel #3
              job #4.one canceled
            > cancel #5
              incident #5.c CALLED_ELEMENT_ERROR resolved
        "#]],
    );
}

#[test]
fn an_id_that_is_no_text_is_an_incident() {
    check(
        "process parent
         start s
         call c process==which
         s -> c",
        r#"show elements incidents
           create parent {"which":1}
           cancel #1"#,
        expect![[r#"
              = deployed parent v1
            > create parent {"which":1}
              parent activating, activated
              s activating, activated, completing, completed
              c activating
              incident c EXTRACT_VALUE_ERROR created: Expected result of the expression 'which' to be 'STRING', but was 'NUMBER'.
              = created parent v1
            > cancel #1
              parent terminating
              c terminating
              incident c EXTRACT_VALUE_ERROR resolved
              c terminated
              parent terminated
        "#]],
    );
}
