//! Elements that publish a message without a job worker, and receive tasks that start a process.

use expect_test::expect;

use crate::support::check;

const STARTED: &str = r#"process p
    receive r message=m out:seen="=x"
    job t
    end e
    r -> t -> e"#;

#[test]
fn a_message_starts_an_instance_at_a_receive_task() {
    check(
        &STARTED.replace("message=m", "message=m starts"),
        r#"show elements variables messages subscriptions
           create p {}
           publish m - {"x":1}
           publish m a {"x":2}
           publish m a ttl=1m {"x":3}
           complete t@2
           complete t@1
           complete t@3"#,
        expect![[r#"
              start subscription p/r m created
              = deployed p v1
            > create p {}
              = rejected INVALID_STATE: Expected to create instance of process with none start event, but there is no such event in process 'p'
            > publish m - {"x":1}
              message m/ published
              start subscription p/r m correlated
              p activating, activated
              message m/ expired
              r activating, activated, completing
              r.x = 1 created
              p.seen = 1 created
              r completed
              t activating, activated
            > publish m a {"x":2}
              message m/a published
              start subscription p/r m correlated
              #2.p activating, activated
              message m/a expired
              #2.r activating, activated, completing
              #2.r.x = 2 created
              #2.p.seen = 2 created
              #2.r completed
              #2.t activating, activated
            > publish m a ttl=1m {"x":3}
              message m/a published
            > complete t@2
              #2.t completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
              start subscription p/r m correlated
              #3.p activating, activated
              #3.r activating, activated, completing
              #3.r.x = 3 created
              #3.p.seen = 3 created
              #3.r completed
              #3.t activating, activated
            > complete t@1
              t completing, completed
              e activating, activated, completing, completed
              p completing, completed
            > complete t@3
              #3.t completing, completed
              #3.e activating, activated, completing, completed
              #3.p completing, completed
            left: messages 1, message_by_name 1, message_due 1, message_correlations 1
        "#]],
    );
}

#[test]
fn a_receive_task_that_starts_stands_beside_other_starts() {
    check(
        r#"process p
            start s
            receive r message="='a' + 'b'" starts listen:start=before in:y="=1"
            boundary undo on=r compensation=back
            job back handler
            throw c compensate=r
            end e
            s -> c
            r -> c -> e"#,
        r#"show elements variables messages subscriptions
           create p {}
           publish ab - {"x":1}
           complete r
           complete back"#,
        expect![[r#"
              start subscription p/r ab created
              = deployed p v1
            > create p {}
              p activating, activated
              s activating, activated, completing, completed
              c activating, activated, completing, completed
              e activating, activated, completing, completed
              p completing, completed
              = created p v1
            > publish ab - {"x":1}
              message ab/ published
              start subscription p/r ab correlated
              #2.p activating, activated
              message ab/ expired
              #2.r activating
              #2.r.y = 1 created
            > complete r
              #2.r activated, completing
              #2.r.x = 1 created
              #2.p.x = 1 created
              #2.r completed
              compensation r/back created
              #2.c activating, activated
              compensation r/back triggered by c
              #2.undo activating, activated, completing, completed
              #2.back activating, activated
            > complete back
              #2.back completing, completed
              compensation r/back completed by c
              #2.c completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
        "#]],
    );
}

#[test]
fn messages_are_published_with_local_variables() {
    check(
        r#"process p
            start s
            throw a message=m to="=id" in:x="=id + 1"
            send b message="='m' + '2'" to=k in:y="=1" out:z="=y"
            end e message=m ttl=PT1M dedupe="=string(id)" to="=id"
            s -> a -> b -> e
            process q
            start began message=m out:got="=x"
            job t
            began -> t"#,
        r#"show elements variables messages jobs
           create p {"id":7}
           create p {"id":7}
           complete t@1
           create p {"id":8}"#,
        expect![[r#"
              start subscription q/began m created
              = deployed p v1 q v1
            > create p {"id":7}
              p activating
              p.id = 7 created
              p activated
              s activating, activated, completing, completed
              a activating
              a.x = 8 created
              a activated, completing, completed
              message m/7 published
              #2.q activating, activated
              message m/7 expired
              b activating
              b.y = 1 created
              b activated, completing
              p.z = 1 created
              b completed
              #2.began activating, activated, completing
              #2.began.x = 8 created
              #2.q.got = 8 created
              #2.began completed
              message m2/k published
              message m2/k expired
              e activating, activated, completing, completed
              #2.t activating
              job #2.t created type t retries 3
              #2.t activated
              message m/7 published
              p completing, completed
              = created p v1
            > create p {"id":7}
              #3.p activating
              #3.p.id = 7 created
              #3.p activated
              #3.s activating, activated, completing, completed
              #3.a activating
              #3.a.x = 8 created
              #3.a activated, completing, completed
              message m/7 published
              message m/7 expired
              #3.b activating
              #3.b.y = 1 created
              #3.b activated, completing
              #3.p.z = 1 created
              #3.b completed
              message m2/k published
              message m2/k expired
              #3.e activating, activated, completing, completed
              #3.p completing, completed
              = created p v1
            > complete t@1
              job #2.t completed
              #2.t completing, completed
              #2.q completing, completed
              #4.q activating, activated
              #4.began activating, activated, completing
              #4.q.got = null created
              #4.began completed
              #4.t activating
              job #4.t created type t retries 3
              #4.t activated
            > create p {"id":8}
              #5.p activating
              #5.p.id = 8 created
              #5.p activated
              #5.s activating, activated, completing, completed
              #5.a activating
              #5.a.x = 9 created
              #5.a activated, completing, completed
              message m/8 published
              #6.q activating, activated
              message m/8 expired
              #5.b activating
              #5.b.y = 1 created
              #5.b activated, completing
              #5.p.z = 1 created
              #5.b completed
              #6.began activating, activated, completing
              #6.began.x = 9 created
              #6.q.got = 9 created
              #6.began completed
              message m2/k published
              message m2/k expired
              #5.e activating, activated, completing, completed
              #6.t activating
              job #6.t created type t retries 3
              #6.t activated
              message m/8 published
              #5.p completing, completed
              = created p v1
            left: running_instances 1, instances 2, element_instances 4, children 2, variables 2, jobs 2, job_queue 2, messages 2, message_by_name 2, message_by_id 2, message_due 2, message_correlations 1, start_locks 2
        "#]],
    );
}

#[test]
fn a_message_reaches_its_sender() {
    check(
        r#"process p
            start s
            and f
            catch c message=m key=id
            send t message=m to="=id" ttl="=duration('PT1M')"
            and j
            catch again message=m key=id
            end e
            s -> f
            f -> c -> j
            f -> t -> j
            j -> again -> e"#,
        r#"show elements messages subscriptions
           create p {"id":"a"}
           publish m a {}"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a"}
              p activating, activated
              s activating, activated, completing, completed
              f activating, activated, completing, completed
              t activating, activated, completing, completed
              c activating
              subscription c/c m/a created
              c activated
              message m/a published
              subscription c/c m/a correlated
              c completing, completed
              j activating, activated, completing, completed
              again activating
              subscription again/again m/a created
              again activated
              = created p v1
            > publish m a {}
              message m/a published
              subscription again/again m/a correlated
              message m/a expired
              again completing, completed
              e activating, activated, completing, completed
              p completing, completed
            left: messages 1, message_by_name 1, message_due 1, message_correlations 1
        "#]],
    );
}

#[test]
fn what_cannot_be_published_is_an_incident() {
    check(
        r#"process p
            start s
            send t message="=name" to="=id" ttl="=time" dedupe="=unique"
            end e
            s -> t -> e"#,
        r#"show elements incidents messages
           create p {"id":"a", "time":1, "unique":"u"}
           set #1 {"name":"n", "id":null}
           resolve t
           set #1 {"id":true}
           resolve t
           set #1 {"id":1, "time":"soon"}
           resolve t
           set #1 {"time":-1}
           resolve t
           set #1 {"time":true}
           resolve t
           set #1 {"time":"PT1S", "unique":1}
           resolve t
           set #1 {"unique":"u"}
           resolve t"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":"a", "time":1, "unique":"u"}
              p activating, activated
              s activating, activated, completing, completed
              t activating
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'name' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'name'
              = created p v1
            > set #1 {"name":"n", "id":null}
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              incident t EXTRACT_VALUE_ERROR created: Failed to extract the correlation key for 'id': The value must be either a string or a number, but was 'NULL'.
            > set #1 {"id":true}
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              incident t EXTRACT_VALUE_ERROR created: Failed to extract the correlation key for 'id': The value must be either a string or a number, but was 'BOOLEAN'.
            > set #1 {"id":1, "time":"soon"}
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              incident t EXTRACT_VALUE_ERROR created: Invalid time to live 'soon': 'soon' is not a duration such as PT1H30M or P1DT12H: it must start with P
            > set #1 {"time":-1}
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              incident t EXTRACT_VALUE_ERROR created: Invalid time to live '-1': it must not be negative
            > set #1 {"time":true}
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'time' to be one of '[DURATION, PERIOD, DATE_TIME, STRING]', but was 'BOOLEAN'.
            > set #1 {"time":"PT1S", "unique":1}
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'unique' to be 'STRING', but was 'NUMBER'.
            > set #1 {"unique":"u"}
            > resolve t
              incident t EXTRACT_VALUE_ERROR resolved
              t activated, completing, completed
              message n/1 published
              e activating, activated, completing, completed
              p completing, completed
            left: messages 1, message_by_name 1, message_by_id 1, message_due 1
        "#]],
    );
}
