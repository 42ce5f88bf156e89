//! Scopes, propagation and mappings.

use expect_test::expect;

use crate::support::check;

const TASK: &str = "process p
    start s
    job t
    end e
    s -> t -> e";

#[test]
fn a_result_goes_to_the_scope_that_has_the_variable_or_to_the_top() {
    check(
        r#"process p
           start s
           sub inner in:known="=1" {
           start s2
           job t
           end e2
           s2 -> t -> e2
           }
           job after
           end e
           s -> inner -> after -> e"#,
        r#"show variables jobs
           create p {"outer":0}
           complete t {"known":2,"outer":3,"new":{"a":[1,2]}}
           activate after
           complete after"#,
        expect![[r#"
              = deployed p v1
            > create p {"outer":0}
              p.outer = 0 created
              inner.known = 1 created
              job t created type t retries 3
              = created p v1
            > complete t {"known":2,"outer":3,"new":{"a":[1,2]}}
              job t completed
              inner.known = 2 updated
              p.outer = 3 updated
              p.new = {"a":[1,2]} created
              job after created type after retries 3
            > activate after
              job after activated
              < job after retries 3 deadline 600000 variables {"new":{"a":[1,2]},"outer":3}
            > complete after
              job after completed
        "#]],
    );
}

#[test]
fn the_same_value_again_is_no_update() {
    check(
        TASK,
        r#"show variables
           create p {"a":1,"b":"x"}
           complete t {"a":1,"b":"y"}"#,
        expect![[r#"
              = deployed p v1
            > create p {"a":1,"b":"x"}
              p.a = 1 created
              p.b = "x" created
              = created p v1
            > complete t {"a":1,"b":"y"}
              p.b = "y" updated
        "#]],
    );
}

#[test]
fn input_mappings_are_local_and_see_earlier_ones() {
    check(
        r#"process p
           start s
           job t in:first="=a + 1" in:second="=first + 1" in:text=12 in:deep.x.y="=second" in:deep.z="=a" in:none=
           end e
           s -> t -> e"#,
        r#"show variables jobs
           create p {"a":1,"deep":"hidden"}
           activate t
           complete t {"first":7,"other":8}"#,
        expect![[r#"
              = deployed p v1
            > create p {"a":1,"deep":"hidden"}
              p.a = 1 created
              p.deep = "hidden" created
              t.first = 2 created
              t.second = 3 created
              t.text = "12" created
              t.deep = {"x":{"y":3},"z":1} created
              t.none = null created
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"deep":{"x":{"y":3},"z":1},"first":2,"none":null,"second":3,"text":"12","a":1}
            > complete t {"first":7,"other":8}
              job t completed
              t.first = 7 updated
              p.other = 8 created
        "#]],
    );
}

#[test]
fn output_mappings_keep_all_else_inside() {
    check(
        r#"process p
           start s
           job t out:sum="=x + y" out:total="=sum * 2"
           job after
           end e
           s -> t -> after -> e"#,
        r#"show variables jobs
           create p {"y":1}
           complete t {"x":2}
           activate after
           complete after"#,
        expect![[r#"
              = deployed p v1
            > create p {"y":1}
              p.y = 1 created
              job t created type t retries 3
              = created p v1
            > complete t {"x":2}
              job t completed
              t.x = 2 created
              p.sum = 3 created
              p.total = 6 created
              job after created type after retries 3
            > activate after
              job after activated
              < job after retries 3 deadline 600000 variables {"sum":3,"total":6,"y":1}
            > complete after
              job after completed
        "#]],
    );
}

#[test]
fn a_nested_output_target_changes_only_its_leaf() {
    check(
        r#"process p
           start s
           job t out:order.price.net="=x" out:order.new.deep="=x"
           end e
           s -> t -> e"#,
        r#"show variables
           create p {"order":{"id":7,"price":{"net":1,"tax":2}}}
           complete t {"x":5}"#,
        expect![[r#"
              = deployed p v1
            > create p {"order":{"id":7,"price":{"net":1,"tax":2}}}
              p.order = {"id":7,"price":{"net":1,"tax":2}} created
              = created p v1
            > complete t {"x":5}
              t.x = 5 created
              p.order = {"id":7,"price":{"net":5,"tax":2},"new":{"deep":5}} updated
        "#]],
    );
}

#[test]
fn output_mappings_of_a_sub_process_see_its_locals() {
    check(
        r#"process p
           start s
           sub inner in:i="=1" out:seen="=i + 1" {
           start s2
           job t
           end e2
           s2 -> t -> e2
           }
           end e
           s -> inner -> e"#,
        r#"show variables
           create p
           complete t {"i":10}"#,
        expect![[r#"
              = deployed p v1
            > create p
              inner.i = 1 created
              = created p v1
            > complete t {"i":10}
              inner.i = 10 updated
              p.seen = 11 created
        "#]],
    );
}

#[test]
fn variables_set_from_outside_propagate_or_stay_local() {
    check(
        r#"process p
           start s
           sub inner in:mine="=1" {
           start s2
           job t
           end e2
           s2 -> t -> e2
           }
           end e
           s -> inner -> e"#,
        r#"show variables jobs
           create p {"outer":1}
           set t {"mine":2,"outer":2,"fresh":2}
           set t local {"mine":3,"outer":3}
           set inner local {"only":4}
           set #1 {"mine":5}
           activate t
           complete t {"mine":6,"outer":6,"only":6}"#,
        expect![[r#"
              = deployed p v1
            > create p {"outer":1}
              p.outer = 1 created
              inner.mine = 1 created
              job t created type t retries 3
              = created p v1
            > set t {"mine":2,"outer":2,"fresh":2}
              inner.mine = 2 updated
              p.outer = 2 updated
              p.fresh = 2 created
            > set t local {"mine":3,"outer":3}
              t.mine = 3 created
              t.outer = 3 created
            > set inner local {"only":4}
              inner.only = 4 created
            > set #1 {"mine":5}
              p.mine = 5 created
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"mine":3,"outer":3,"only":4,"fresh":2}
            > complete t {"mine":6,"outer":6,"only":6}
              job t completed
              t.mine = 6 updated
              t.outer = 6 updated
              inner.only = 6 updated
        "#]],
    );
}

#[test]
fn a_script_writes_its_result_where_the_variable_lives() {
    check(
        r#"process p
           start s
           script a expr="x + 1" result=x
           script b expr="x * 10" result=y out:z="=y + 1"
           job t
           end e
           s -> a -> b -> t -> e"#,
        r#"show variables jobs
           create p {"x":1}
           activate t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"x":1}
              p.x = 1 created
              p.x = 2 updated
              b.y = 20 created
              p.z = 21 created
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"x":2,"z":21}
            > complete t
              job t completed
        "#]],
    );
}

#[test]
fn numbers_and_text_keep_their_bytes_when_nobody_reads_them() {
    check(
        TASK,
        r#"show variables jobs
           create p {"big":12345678901234567890123,"float":1.50,"text":"a\u00e4\n","list":[ 1, {"b":null} ]}
           activate t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"big":12345678901234567890123,"float":1.50,"text":"a\u00e4\n","list":[ 1, {"b":null} ]}
              p.big = 12345678901234567890123 created
              p.float = 1.50 created
              p.text = "a\u00e4\n" created
              p.list = [ 1, {"b":null} ] created
              job t created type t retries 3
              = created p v1
            > activate t
              job t activated
              < job t retries 3 deadline 600000 variables {"big":12345678901234567890123,"float":1.50,"list":[ 1, {"b":null} ],"text":"a\u00e4\n"}
            > complete t
              job t completed
        "#]],
    );
}
