//! Values that reports of users have found lost: parts of targets, results of called and ad-hoc activities, what events
//! take, and digits.

use expect_test::expect;

use crate::support::check;

#[test]
fn parts_of_a_target_do_not_hide_the_rest_of_the_variable() {
    check(
        r#"process p
           start s
           job t in:foo.bar="=foo.bar" in:foo.baz="=foo.baz" in:copy="=foo" in:foo.deep.a="=foo.deep.a" in:x="=foo.deep.b" in:foo.deep.b="=foo.deep.b + 1" in:y="=foo.deep" out:foo.bar="=foo.bar + 10" out:foo.baz="=foo.baz + 10"
           end e
           s -> t -> e"#,
        r#"show variables
           create p {"foo":{"bar":1,"baz":2,"not":3,"deep":{"a":1,"b":2,"c":3}}}
           complete t {"foo":{"bar":5,"baz":6}}"#,
        expect![[r#"
              = deployed p v1
            > create p {"foo":{"bar":1,"baz":2,"not":3,"deep":{"a":1,"b":2,"c":3}}}
              p.foo = {"bar":1,"baz":2,"not":3,"deep":{"a":1,"b":2,"c":3}} created
              t.foo = {"bar":1,"baz":2,"deep":{"a":1,"b":3}} created
              t.copy = {"bar":1,"baz":2,"not":3,"deep":{"a":1,"b":2,"c":3}} created
              t.x = 2 created
              t.y = {"a":1,"b":3,"c":3} created
              = created p v1
            > complete t {"foo":{"bar":5,"baz":6}}
              t.foo = {"bar":5,"baz":6} updated
              p.foo = {"bar":15,"baz":16,"not":3,"deep":{"a":1,"b":2,"c":3}} updated
        "#]],
    );
}

#[test]
fn a_target_that_is_set_whole_hides_the_variable() {
    check(
        r#"process p
           start s
           job t in:foo="={a: 1}" in:foo.b="=foo.b" in:nothing="=null" in:nothing.a="=1" in:nothing.b="=nothing.c"
           end e
           s -> t -> e"#,
        r#"show variables
           create p {"foo":{"b":2},"nothing":{"c":3}}"#,
        expect![[r#"
              = deployed p v1
            > create p {"foo":{"b":2},"nothing":{"c":3}}
              p.foo = {"b":2} created
              p.nothing = {"c":3} created
              t.foo = {"a":1,"b":null} created
              t.nothing = {"a":1,"b":null} created
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 4, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn what_cannot_have_parts_is_seen_until_all_parts_are_made() {
    check(
        r#"process p
           start s
           job t in:list.first="=list[1]" in:list.last="=list[-1]" in:size="=list.first + list.last" in:o.l.first="=o.l[1]" in:o.l.last="=o.l[-1]" in:n="=o.n" in:text.length="=string length(text)" in:text.upper="=upper case(text)" in:none.a="=none.b"
           end e
           s -> t -> e"#,
        r#"show variables
           create p {"list":[10,20,30],"o":{"l":[1,2],"n":7},"text":"abc","none":null}"#,
        expect![[r#"
              = deployed p v1
            > create p {"list":[10,20,30],"o":{"l":[1,2],"n":7},"text":"abc","none":null}
              p.list = [10,20,30] created
              p.o = {"l":[1,2],"n":7} created
              p.text = "abc" created
              p.none = null created
              t.list = {"first":10,"last":30} created
              t.size = 40 created
              t.o = {"l":{"first":1,"last":2}} created
              t.n = 7 created
              t.text = {"length":3,"upper":"ABC"} created
              t.none = {"a":null} created
              = created p v1
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 10, jobs 1, job_queue 1
        "#]],
    );
}

#[test]
fn parts_are_made_of_items_and_of_what_a_child_brought() {
    check(
        r#"process p
           start s
           job t each=items as=item collect=all gives=item in:item.a="=item.a" in:item.b="=item.b + loopCounter" sequential
           call c process=child out:foo.bar="=foo.bar" out:foo.baz="=foo.baz"
           end e
           s -> t -> c -> e

           process child
           start s2
           script make expr="{bar: 1, baz: 2}" result=foo
           end e2
           s2 -> make -> e2"#,
        r#"show variables
           create p {"items":[{"a":1,"b":2,"c":3}],"foo":{"old":true}}
           complete t"#,
        expect![[r#"
              = deployed p v1 child v1
            > create p {"items":[{"a":1,"b":2,"c":3}],"foo":{"old":true}}
              p.items = [{"a":1,"b":2,"c":3}] created
              p.foo = {"old":true} created
              t*.all = [null] created
              t.item = {"a":1,"b":2,"c":3} created
              t.loopCounter = 1 created
              t.item = {"a":1,"b":3} updated
              = created p v1
            > complete t
              t*.all = [{"a":1,"b":3}] updated
              p.all = [{"a":1,"b":3}] created
              #2.child.all = [{"a":1,"b":3}] created
              #2.child.foo = {"old":true} created
              #2.child.items = [{"a":1,"b":2,"c":3}] created
              #2.child.foo = {"bar":1,"baz":2} updated
              c.all = [{"a":1,"b":3}] created
              c.foo = {"bar":1,"baz":2} created
              c.items = [{"a":1,"b":2,"c":3}] created
              p.foo = {"old":true,"bar":1,"baz":2} updated
        "#]],
    );
}

#[test]
fn a_call_activity_has_what_its_instance_brought_although_nothing_is_propagated() {
    check(
        r#"process p
           start s
           call c process=child up=false listen:end=audit each=[1,2] collect=all gives=foo sequential
           job t
           end e
           s -> c -> t -> e

           process child
           start s2
           script make expr=loopCounter*10 result=foo
           end e2
           s2 -> make -> e2"#,
        r#"show variables
           create p
           activate audit
           complete c
           complete c
           activate t"#,
        expect![[r#"
              = deployed p v1 child v1
            > create p
              c*.all = [null,null] created
              c.foo = null created
              c.loopCounter = 1 created
              #2.child.foo = null created
              #2.child.loopCounter = 1 created
              #2.child.foo = 10 updated
              c.foo = 10 updated
              = created p v1
            > activate audit
              < job c EXECUTION_LISTENER END retries 3 deadline 600000 variables {"foo":10,"loopCounter":1,"all":[null,null]}
            > complete c
              c*.all = [10,null] updated
              c.foo = null created
              c.loopCounter = 2 created
              #3.child.foo = null created
              #3.child.loopCounter = 2 created
              #3.child.foo = 20 updated
              c.foo = 20 updated
            > complete c
              c*.all = [10,20] updated
              p.all = [10,20] created
            > activate t
              < job t retries 3 deadline 600000 variables {"all":[10,20]}
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, jobs 1, job_due 1
        "#]],
    );
}

#[test]
fn events_keep_what_they_take_only_where_somebody_looks_for_it() {
    check(
        r#"process p
           start s message=begin
           catch waits message=m1 key=k
           events g
           catch behind message=m2 key=k
           catch other timer=PT1H
           catch mapped message=m3 key=k out:mine="=x"
           job t
           boundary b on=t message=m4 key=k interrupting=false
           on happened {
           start c message=m5 key=k interrupting=false
           end ce
           c -> ce
           }
           end e
           end be
           s -> waits -> g
           g -> behind -> mapped -> t -> e
           g -> other -> e
           b -> be"#,
        r#"show variables
           publish begin - {"k":"1","s":1}
           publish m1 1 {"a":1}
           publish m2 1 {"b":1}
           publish m3 1 {"x":1}
           publish m4 1 {"c":1}
           publish m5 1 {"d":1}"#,
        expect![[r#"
              start subscription p/s begin created
              = deployed p v1
            > publish begin - {"k":"1","s":1}
              p.k = "1" created
              p.s = 1 created
              s.k = "1" created
              s.s = 1 created
            > publish m1 1 {"a":1}
              p.a = 1 created
            > publish m2 1 {"b":1}
              behind.b = 1 created
              p.b = 1 created
            > publish m3 1 {"x":1}
              mapped.x = 1 created
              p.mine = 1 created
            > publish m4 1 {"c":1}
              b.c = 1 created
              p.c = 1 created
            > publish m5 1 {"d":1}
              p.d = 1 created
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 7, jobs 1, job_queue 1, subscriptions 2, subscription_by_name 2, subscription_by_owner 2
        "#]],
    );
}

#[test]
fn results_inside_an_ad_hoc_sub_process_leave_it() {
    check(
        r#"process p
           start s
           adhoc pick elements=wanted done="total > 2" {
           job a
           job b
           }
           end e
           s -> pick -> e"#,
        r#"show elements jobs variables
           create p {"total":1,"wanted":["a","b"]}
           complete a {"total":2,"new":1}
           complete b {"total":3}"#,
        expect![[r#"
              = deployed p v1
            > create p {"total":1,"wanted":["a","b"]}
              p activating
              p.total = 1 created
              p.wanted = ["a","b"] created
              p activated
              s activating, activated, completing, completed
              pick activating
              pick.adHocSubProcessElements = [{"elementId":"a"},{"elementId":"b"}] created
              pick activated
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              a activating
              job a created type a retries 3
              a activated
              b activating
              job b created type b retries 3
              b activated
              = created p v1
            > complete a {"total":2,"new":1}
              job a completed
              a completing
              p.total = 2 updated
              p.new = 1 created
              a completed
              pick#innerInstance completing, completed
            > complete b {"total":3}
              job b completed
              b completing
              p.total = 3 updated
              b completed
              pick#innerInstance completing, completed
              pick completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn the_completion_condition_sees_results_and_ends_what_still_runs() {
    check(
        r#"process p
           start s
           adhoc pick elements=wanted done="total > 2" {
           job a
           job b
           }
           end e
           s -> pick -> e"#,
        r#"show elements
           create p {"total":1,"wanted":["a","b"]}
           complete a {"total":3}"#,
        expect![[r#"
              = deployed p v1
            > create p {"total":1,"wanted":["a","b"]}
              p activating, activated
              s activating, activated, completing, completed
              pick activating, activated
              pick#innerInstance activating, activated
              pick#innerInstance activating, activated
              a activating, activated
              b activating, activated
              = created p v1
            > complete a {"total":3}
              a completing, completed
              pick#innerInstance completing, completed
              pick#innerInstance terminating
              b terminating, terminated
              pick#innerInstance terminated
              pick completing, completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn numbers_of_any_length_are_keys_by_their_digits() {
    check(
        r#"process p
           start s
           catch c message=m key=id
           end e
           s -> c -> e"#,
        r#"show elements incidents
           hide s
           create p {"id":89014103211118510720}
           create p {"id":89014103211118510721}
           publish m 89014103211118510721
           create p {"id":12345678901234567890123456789012345}
           create p {"id":1e40}
           create p {"id":1e20}
           publish m 100000000000000000000"#,
        expect![[r#"
              = deployed p v1
            > create p {"id":89014103211118510720}
              p activating, activated
              s activating, activated, completing, completed
              c activating, activated
              = created p v1
            > create p {"id":89014103211118510721}
              #2.p activating, activated
              #2.s activating, activated, completing, completed
              #2.c activating, activated
              = created p v1
            > publish m 89014103211118510721
              #2.c completing, completed
              #2.e activating, activated, completing, completed
              #2.p completing, completed
            > create p {"id":12345678901234567890123456789012345}
              #3.p activating, activated
              #3.s activating, activated, completing, completed
              #3.c activating
              incident #3.c EXTRACT_VALUE_ERROR created: Failed to extract the correlation key for 'id': The number has more than 34 digits. Use a string.
              = created p v1
            > create p {"id":1e40}
              #4.p activating, activated
              #4.s activating, activated, completing, completed
              #4.c activating
              incident #4.c EXTRACT_VALUE_ERROR created: Failed to extract the correlation key for 'id': The number has more than 34 digits. Use a string.
              = created p v1
            > create p {"id":1e20}
              #5.p activating, activated
              #5.s activating, activated, completing, completed
              #5.c activating, activated
              = created p v1
            > publish m 100000000000000000000
              #5.c completing, completed
              #5.e activating, activated, completing, completed
              #5.p completing, completed
            left: running_instances 1, instances 3, element_instances 6, children 3, variables 3, subscriptions 1, subscription_by_name 1, subscription_by_owner 1, incidents 2, incident_by_owner 2, incident_counts 4, instances_with_incidents 1
        "#]],
    );
}

#[test]
fn numbers_beyond_64_bits_are_told_and_not_cut() {
    check(
        r#"process p
           start s
           job t retries="=n"
           end e
           s -> t -> e

           process q
           start s2
           catch c timer="=d"
           end e2
           s2 -> c -> e2"#,
        r#"show incidents
           create p {"n":100000000000000000000}
           create p {"n":1.5}
           create q {"d":"P20000Y"}
           create q {"d":"PT9000000000000S"}"#,
        expect![[r#"
              = deployed p v1 q v1
            > create p {"n":100000000000000000000}
              incident t EXTRACT_VALUE_ERROR created: Expected result of the expression 'n' to be an integer of 64 bits, but it is larger.
              = created p v1
            > create p {"n":1.5}
              incident #2.t EXTRACT_VALUE_ERROR created: Expected result of the expression 'n' to be an integer, but was a decimal.
              = created p v1
            > create q {"d":"P20000Y"}
              incident #3.c EXTRACT_VALUE_ERROR created: Invalid timer 'P20000Y': it is due after the year 9999
              = created q v1
            > create q {"d":"PT9000000000000S"}
              incident #4.c EXTRACT_VALUE_ERROR created: Invalid timer 'PT9000000000000S': it is due after the year 9999
              = created q v1
            left: running_instances 2, instances 4, element_instances 8, children 4, variables 4, incidents 4, incident_by_owner 4, incident_counts 8, instances_with_incidents 2
        "#]],
    );
}

#[test]
fn the_same_value_in_another_spelling_is_no_update() {
    check(
        r#"process p
           start s
           job t
           end e
           s -> t -> e"#,
        r#"show variables
           create p {"a":1.50,"b":"\u00e4","c":{"x":1,"y":[]}}
           complete t {"a":1.5,"b":"ä","c":{"y":[ ],"x":1.0}}"#,
        expect![[r#"
              = deployed p v1
            > create p {"a":1.50,"b":"\u00e4","c":{"x":1,"y":[]}}
              p.a = 1.50 created
              p.b = "\u00e4" created
              p.c = {"x":1,"y":[]} created
              = created p v1
            > complete t {"a":1.5,"b":"ä","c":{"y":[ ],"x":1.0}}
        "#]],
    );
}

#[test]
fn a_worker_that_was_too_slow_can_still_fail_its_job() {
    check(
        r#"process p
           start s
           job t retries=2
           end e
           s -> t -> e"#,
        r#"show jobs incidents
           create p
           fail t retries=1 message=early
           activate t timeout=5s
           advance 6s
           fail t retries=1 backoff=2s message=slow
           fail t retries=1
           advance 2s
           activate t timeout=5s
           advance 6s
           fail t retries=0 message=broken {"why":1}
           activate t"#,
        expect![[r#"
              = deployed p v1
            > create p
              job t created type t retries 2
              = created p v1
            > fail t retries=1 message=early
              job t failed retries 1
            > activate t timeout=5s
              job t activated
              < job t retries 1 deadline 5000 variables {}
            > advance 6s
              job t timed out
            > fail t retries=1 backoff=2s message=slow
              job t failed retries 1 again at 8000
            > fail t retries=1
              = rejected INVALID_STATE: Expected to fail job with key '<key>', but it is in state 'FAILED' and waits for its backoff to end
            > advance 2s
              job t recurred after backoff
            > activate t timeout=5s
              job t activated
              < job t retries 1 deadline 13000 variables {}
            > advance 6s
              job t timed out
            > fail t retries=0 message=broken {"why":1}
              job t failed retries 0
              incident t JOB_NO_RETRIES created: broken
            > activate t
              < no job
            left: running_instances 1, instances 1, element_instances 2, children 1, variables 1, jobs 1, incidents 1, incident_by_owner 1, incident_counts 2, instances_with_incidents 1
        "#]],
    );
}
