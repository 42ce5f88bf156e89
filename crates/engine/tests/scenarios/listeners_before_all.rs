//! Listeners of a multi-instance activity that run once, before its list is read.

use expect_test::expect;

use crate::support::check;

#[test]
fn listeners_before_all_run_once_and_make_the_list() {
    check(
        r#"process p
           start s
           job t each=list as=item listen:beforeAll=a listen:beforeAll=b listen:start=c collect=all gives=item
           end e
           s -> t -> e"#,
        r#"show jobs variables elements
           create p
           complete t {"list":[]}
           complete t {"list":[1,2],"more":true}
           complete t@3
           complete t@4
           complete t@5
           complete t@6"#,
        expect![[r#"
              = deployed p v1
            > create p
              p activating, activated
              s activating, activated, completing, completed
              t* activating
              job t* created type a retries 3 execution listener before all
              = created p v1
            > complete t {"list":[]}
              job t* completed
              t*.list = [] created
              job t* created type b retries 3 execution listener before all
            > complete t {"list":[1,2],"more":true}
              job t* completed
              t*.list = [1,2] updated
              t*.more = true created
              t*.all = [null,null] created
              t* activated
              t activating
              t.item = 1 created
              t.loopCounter = 1 created
              t activating
              t.item = 2 created
              t.loopCounter = 2 created
              job t created type c retries 3 execution listener start
              job t created type c retries 3 execution listener start
            > complete t@3
              job t completed
              job t created type t retries 3
              t activated
            > complete t@4
              job t completed
              job t created type t retries 3
              t activated
            > complete t@5
              job t completed
              t completing
              t*.all = [1,null] updated
              t completed
            > complete t@6
              job t completed
              t completing
              t*.all = [1,2] updated
              t completed
              t* completing
              p.all = [1,2] created
              t* completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_failed_listener_before_all_runs_again() {
    check(
        r#"process p
           start s
           job t each=list as=item sequential listen:beforeAll=a listen:beforeAll="=missing"
           end e
           s -> t -> e"#,
        r#"show jobs incidents
           create p {"list":[1]}
           activate a
           fail t retries=0
           update t retries=1
           resolve t
           complete t@1
           set #1 {"missing":"b"}
           resolve t
           complete t
           complete t
           complete t"#,
        expect![[r#"
              = deployed p v1
            > create p {"list":[1]}
              job t* created type a retries 3 execution listener before all
              = created p v1
            > activate a
              job t* activated
              < job t* EXECUTION_LISTENER BEFORE_ALL retries 3 deadline 600000 variables {"list":[1]}
            > fail t retries=0
              job t* failed retries 0
              incident t* EXECUTION_LISTENER_NO_RETRIES created: No more retries left.
            > update t retries=1
              job t* retries updated retries 1
            > resolve t
              incident t* EXECUTION_LISTENER_NO_RETRIES resolved
            > complete t@1
              job t* completed
              incident t* EXTRACT_VALUE_ERROR created: Expected result of the expression 'missing' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'missing'
            > set #1 {"missing":"b"}
            > resolve t
              incident t* EXTRACT_VALUE_ERROR resolved
              job t* created type a retries 3 execution listener before all
            > complete t
              job t* completed
              job t* created type b retries 3 execution listener before all
            > complete t
              job t* completed
              job t created type t retries 3
            > complete t
              job t completed
        "#]],
    );
}
