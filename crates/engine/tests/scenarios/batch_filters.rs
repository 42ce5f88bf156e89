//! Filters of batch operations.

use expect_test::expect;

use crate::support::check;

#[test]
fn instances_are_found_by_the_hash_of_an_error() {
    check(
        "process p\nstart s\njob a\nend e\ns -> a -> e",
        "hide elements flows jobs
         create p
         create p
         create p
         activate a max=2
         fail a@1 message=no_money
         fail a@2 message=no_time
         hide incidents
         batch cancel hash=no_honey
         batch cancel hash=no_money
         items B2
         batch cancel hash=!no_money
         items B3
         batch cancel id=p",
        expect![[r#"
              = deployed p v1
            > create p
              = created p v1
            > create p
              = created p v1
            > create p
              = created p v1
            > activate a max=2
              < job a retries 3 deadline 600000 variables {}
              < job #2.a retries 3 deadline 600000 variables {}
            > fail a@1 message=no_money
              incident a JOB_NO_RETRIES created: no money
            > fail a@2 message=no_time
              incident #2.a JOB_NO_RETRIES created: no time
            > batch cancel hash=no_honey
              B1 completed
              = B1 CANCEL_PROCESS_INSTANCE
            > batch cancel hash=no_money
              B2 finds 1
              B2 item completed
              B2 completed
              = B2 CANCEL_PROCESS_INSTANCE
            > items B2
              B2 COMPLETED: 1 of 1 done, 0 failed
              - #1 COMPLETED
            > batch cancel hash=!no_money
              B3 finds 2
              B3 item completed
              B3 item completed
              B3 completed
              = B3 CANCEL_PROCESS_INSTANCE
            > items B3
              B3 COMPLETED: 2 of 2 done, 0 failed
              - #2 COMPLETED
              - #3 COMPLETED
            > batch cancel id=p
              B4 completed
              = B4 CANCEL_PROCESS_INSTANCE
        "#]],
    );
}
