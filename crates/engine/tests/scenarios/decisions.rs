//! Decisions: deployed, called by business rule tasks, evaluated alone, deleted.

use engine::Options;
use expect_test::expect;

use crate::support::check_with;

/// A decision table that requires a literal expression.
const DISH: &str = include_str!("models/dish.dmn");

/// One decision of a literal expression, with a version tag.
fn single(graph: &str, id: &str, tag: &str, expression: &str) -> String {
    format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="{graph}" name="{graph}" namespace="n"><decision id="{id}" name="{id}"><extensionElements><zeebe:versionTag value="{tag}"/></extensionElements><variable name="{id}"/><literalExpression><text>{expression}</text></literalExpression></decision></definitions>"#
    )
}

#[test]
fn a_business_rule_task_evaluates_a_decision() {
    check_with(
        &[
            ("dish.dmn", DISH),
            (
                "p",
                "process p
                 start s
                 decide d decision=dish result=dinner
                 job t
                 s -> d -> t",
            ),
        ],
        Options::default(),
        r#"show definitions
         deploy dish.dmn p
         show elements variables decisions
         create p {"month": 12, "guests": 4}
         create p {"month": 6, "guests": 4}
         create p {"month": 12, "guests": 20}
         cancel #1
         cancel #2
         cancel #3"#,
        expect![[r#"
            > deploy dish.dmn p
              decisions dinner v1 created
              decision season v1 created
              decision dish v1 created
              process p v1 created
              = deployed p v1 decisions:dinner v1 decision:season v1 decision:dish v1
            > create p {"month": 12, "guests": 4}
              p activating
              p.month = 12 created
              p.guests = 4 created
              p activated
              s activating, activated, completing, completed
              d activating
              evaluated dish v1 -> "Stew" with {"guests":4,"month":12}|  season v1 -> "winter"|  dish v1 Season="winter" Guests=4 rule 1 (Dish="Stew") -> "Stew"
              d activated, completing
              p.dinner = "Stew" created
              d completed
              t activating, activated
              = created p v1
            > create p {"month": 6, "guests": 4}
              #2.p activating
              #2.p.month = 6 created
              #2.p.guests = 4 created
              #2.p activated
              #2.s activating, activated, completing, completed
              #2.d activating
              evaluated dish v1 -> "Salad for 4" with {"guests":4,"month":6}|  season v1 -> "summer"|  dish v1 Season="summer" Guests=4 rule 2 (Dish="Salad for 4") -> "Salad for 4"
              #2.d activated, completing
              #2.p.dinner = "Salad for 4" created
              #2.d completed
              #2.t activating, activated
              = created p v1
            > create p {"month": 12, "guests": 20}
              #3.p activating
              #3.p.month = 12 created
              #3.p.guests = 20 created
              #3.p activated
              #3.s activating, activated, completing, completed
              #3.d activating
              evaluated dish v1 -> 20 with {"guests":20,"month":12}|  season v1 -> "winter"|  dish v1 Season="winter" Guests=20 rule 3 (Dish=20) -> 20
              #3.d activated, completing
              #3.p.dinner = 20 created
              #3.d completed
              #3.t activating, activated
              = created p v1
            > cancel #1
              p terminating
              t terminating, terminated
              p terminated
            > cancel #2
              #2.p terminating
              #2.t terminating, terminated
              #2.p terminated
            > cancel #3
              #3.p terminating
              #3.t terminating, terminated
              #3.p terminated
        "#]],
    );
}

#[test]
fn the_version_of_a_decision_is_chosen_by_its_binding() {
    let first = single("graph", "answer", "stable", "1");
    let second = single("graph", "answer", "stable", "2");
    let third = single("graph", "answer", "latest", "3");
    check_with(
        &[
            ("graph.dmn", &first),
            ("graph@2.dmn", &second),
            ("graph@3.dmn", &third),
            (
                "p",
                "process p
                 start s
                 decide newest decision==which
                 decide same decision=answer binding=deployment result=same
                 decide tagged decision=answer binding=versionTag tag=stable result=tagged
                 end e
                 s -> newest -> same -> tagged -> e",
            ),
        ],
        Options::default(),
        r#"deploy graph.dmn
         deploy graph@2.dmn p
         deploy graph@3.dmn
         show variables decisions incidents
         create p {"which": "answer"}
         create p {"which": "no-such"}
         create p {"which": 5}
         delete decisions:graph v=2
         create p {"which": "answer"}
         delete decisions:graph v=1
         delete decisions:graph v=3
         resolve newest
         cancel #2
         cancel #3
         cancel #4"#,
        expect![[r#"
              = deployed decisions:graph v1 decision:answer v1
            > deploy graph@2.dmn p
              = deployed p v1 decisions:graph v2 decision:answer v2
            > deploy graph@3.dmn
              = deployed decisions:graph v3 decision:answer v3
            > create p {"which": "answer"}
              p.which = "answer" created
              evaluated answer v3 -> 3 with {"which":"answer"}|  answer v3 -> 3
              p.result = 3 created
              evaluated answer v2 -> 2 with {"result":3,"which":"answer"}|  answer v2 -> 2
              p.same = 2 created
              evaluated answer v2 -> 2 with {"result":3,"same":2,"which":"answer"}|  answer v2 -> 2
              p.tagged = 2 created
              = created p v1
            > create p {"which": "no-such"}
              #2.p.which = "no-such" created
              incident #2.newest CALLED_DECISION_ERROR created: Expected to evaluate decision 'no-such', but no decision found for id 'no-such'.
              = created p v1
            > create p {"which": 5}
              #3.p.which = 5 created
              incident #3.newest EXTRACT_VALUE_ERROR created: Expected result of the expression 'which' to be 'STRING', but was 'NUMBER'.
              = created p v1
            > delete decisions:graph v=2
            > create p {"which": "answer"}
              #4.p.which = "answer" created
              evaluated answer v3 -> 3 with {"which":"answer"}|  answer v3 -> 3
              #4.p.result = 3 created
              incident #4.same CALLED_DECISION_ERROR created: Expected to evaluate decision 'answer', but no decision found for id 'answer' in the deployment of the process.
              = created p v1
            > delete decisions:graph v=1
            > delete decisions:graph v=3
            > resolve newest
              incident #3.newest EXTRACT_VALUE_ERROR resolved
              incident #3.newest EXTRACT_VALUE_ERROR created: Expected result of the expression 'which' to be 'STRING', but was 'NUMBER'.
            > cancel #2
              incident #2.newest CALLED_DECISION_ERROR resolved
            > cancel #3
              incident #3.newest EXTRACT_VALUE_ERROR resolved
            > cancel #4
              incident #4.same CALLED_DECISION_ERROR resolved
        "#]],
    );
}

#[test]
fn a_decision_sees_what_its_task_sees() {
    let sum = single("g", "sum", "t", "[a, b, c]");
    check_with(
        &[
            ("g.dmn", &sum),
            (
                "p",
                "process p
                 start s
                 sub scope in:b==20 {
                   start inner
                   decide d decision=sum in:c==30 result=total
                   decide nothing decision==which in:which=\"='sum'\" result=again out:all==again
                   end e
                   inner -> d -> nothing -> e
                 }
                 job t
                 s -> scope -> t",
            ),
        ],
        Options::default(),
        r#"deploy g.dmn p
         show variables decisions incidents
         create p {"a": 1, "b": 2}
         cancel #1"#,
        expect![[r#"
              = deployed p v1 decisions:g v1 decision:sum v1
            > create p {"a": 1, "b": 2}
              p.a = 1 created
              p.b = 2 created
              scope.b = 20 created
              d.c = 30 created
              evaluated sum v1 -> [1,20,30] with {"c":30,"b":20,"a":1}|  sum v1 -> [1,20,30]
              p.total = [1,20,30] created
              nothing.which = "sum" created
              evaluated sum v1 -> [1,20,null] with {"which":"sum","b":20,"a":1,"total":[1,20,30]}|  sum v1 -> [1,20,null]
              nothing.again = [1,20,null] created
              p.all = [1,20,null] created
              = created p v1
            > cancel #1
        "#]],
    );
}

#[test]
fn a_missing_version_tag_is_an_incident_and_null_a_result() {
    let nothing = single("g", "answer", "stable", "unknown");
    check_with(
        &[
            ("g.dmn", &nothing),
            (
                "p",
                "process p
                 start s
                 decide d decision=answer result=r
                 decide tagged decision=answer binding=versionTag tag=other result=r
                 s -> d -> tagged",
            ),
        ],
        Options::default(),
        r#"deploy g.dmn p
         show variables decisions incidents
         create p
         resolve tagged
         cancel #1"#,
        expect![[r#"
              = deployed p v1 decisions:g v1 decision:answer v1
            > create p
              evaluated answer v1 -> null|  answer v1 -> null
              p.r = null created
              incident tagged CALLED_DECISION_ERROR created: Expected to evaluate decision 'answer', but no decision found for id 'answer' with version tag 'other'.
              = created p v1
            > resolve tagged
              incident tagged CALLED_DECISION_ERROR resolved
              incident tagged CALLED_DECISION_ERROR created: Expected to evaluate decision 'answer', but no decision found for id 'answer' with version tag 'other'.
            > cancel #1
              incident tagged CALLED_DECISION_ERROR resolved
        "#]],
    );
}

#[test]
fn a_failed_evaluation_is_an_incident_and_tried_again() {
    check_with(
        &[
            ("dish.dmn", DISH),
            (
                "p",
                "process p
                 start s
                 decide d decision=dish result=dinner out:meal==dinner
                 end e
                 s -> d -> e",
            ),
        ],
        Options::default(),
        r#"deploy dish.dmn p
         show elements variables decisions incidents
         create p {"month": 12, "guests": 13}
         resolve d
         set #1 {"guests": 2}
         resolve d"#,
        expect![[r#"
              = deployed p v1 decisions:dinner v1 decision:season v1 decision:dish v1
            > create p {"month": 12, "guests": 13}
              p activating
              p.month = 12 created
              p.guests = 13 created
              p activated
              s activating, activated, completing, completed
              d activating
              failed dish v1 -> null failed in dish: Expected to evaluate decision 'dish', but Assertion failure on evaluate the expression 'assert(guests, guests != 13, "no dinner for thirteen")': no dinner for thirteen (rule 3, 'r3') with {"guests":13,"month":12}|  season v1 -> "winter"|  dish v1 Season="winter" Guests=13 -> null
              incident d DECISION_EVALUATION_ERROR created: Expected to evaluate decision 'dish', but Assertion failure on evaluate the expression 'assert(guests, guests != 13, "no dinner for thirteen")': no dinner for thirteen (rule 3, 'r3')
              = created p v1
            > resolve d
              incident d DECISION_EVALUATION_ERROR resolved
              failed dish v1 -> null failed in dish: Expected to evaluate decision 'dish', but Assertion failure on evaluate the expression 'assert(guests, guests != 13, "no dinner for thirteen")': no dinner for thirteen (rule 3, 'r3') with {"guests":13,"month":12}|  season v1 -> "winter"|  dish v1 Season="winter" Guests=13 -> null
              incident d DECISION_EVALUATION_ERROR created: Expected to evaluate decision 'dish', but Assertion failure on evaluate the expression 'assert(guests, guests != 13, "no dinner for thirteen")': no dinner for thirteen (rule 3, 'r3')
            > set #1 {"guests": 2}
              p.guests = 2 updated
            > resolve d
              incident d DECISION_EVALUATION_ERROR resolved
              evaluated dish v1 -> "Stew" with {"guests":2,"month":12}|  season v1 -> "winter"|  dish v1 Season="winter" Guests=2 rule 1 (Dish="Stew") -> "Stew"
              d activated, completing
              d.dinner = "Stew" created
              p.meal = "Stew" created
              d completed
              e activating, activated, completing, completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_decision_is_evaluated_alone() {
    check_with(
        &[("dish.dmn", DISH)],
        Options::default(),
        r#"deploy dish.dmn
         show decisions
         evaluate dish {"month": 12, "guests": 4}
         evaluate dish v=1 {"month": 6, "guests": 4}
         evaluate season {"month": 1}
         evaluate season
         evaluate dish {"month": 12, "guests": 13}
         evaluate no-such
         evaluate dish v=7
         reopen
         evaluate season {"month": 11}
         delete decisions:dinner v=1
         evaluate season {"month": 11}"#,
        expect![[r#"
              = deployed decisions:dinner v1 decision:season v1 decision:dish v1
            > evaluate dish {"month": 12, "guests": 4}
              evaluated dish v1 -> "Stew" with {"month":12,"guests":4}|  season v1 -> "winter"|  dish v1 Season="winter" Guests=4 rule 1 (Dish="Stew") -> "Stew"
              = dish v1 -> "Stew" with {"month":12,"guests":4}|  season v1 -> "winter"|  dish v1 Season="winter" Guests=4 rule 1 (Dish="Stew") -> "Stew"
            > evaluate dish v=1 {"month": 6, "guests": 4}
              evaluated dish v1 -> "Salad for 4" with {"month":6,"guests":4}|  season v1 -> "summer"|  dish v1 Season="summer" Guests=4 rule 2 (Dish="Salad for 4") -> "Salad for 4"
              = dish v1 -> "Salad for 4" with {"month":6,"guests":4}|  season v1 -> "summer"|  dish v1 Season="summer" Guests=4 rule 2 (Dish="Salad for 4") -> "Salad for 4"
            > evaluate season {"month": 1}
              evaluated season v1 -> "summer" with {"month":1}|  season v1 -> "summer"
              = season v1 -> "summer" with {"month":1}|  season v1 -> "summer"
            > evaluate season
              evaluated season v1 -> "summer"|  season v1 -> "summer"
              = season v1 -> "summer"|  season v1 -> "summer"
            > evaluate dish {"month": 12, "guests": 13}
              failed dish v1 -> null failed in dish: Expected to evaluate decision 'dish', but Assertion failure on evaluate the expression 'assert(guests, guests != 13, "no dinner for thirteen")': no dinner for thirteen (rule 3, 'r3') with {"month":12,"guests":13}|  season v1 -> "winter"|  dish v1 Season="winter" Guests=13 -> null
              = dish v1 -> null failed in dish: Expected to evaluate decision 'dish', but Assertion failure on evaluate the expression 'assert(guests, guests != 13, "no dinner for thirteen")': no dinner for thirteen (rule 3, 'r3') with {"month":12,"guests":13}|  season v1 -> "winter"|  dish v1 Season="winter" Guests=13 -> null
            > evaluate no-such
              = rejected NOT_FOUND: Expected to evaluate decision with id 'no-such', but no such decision found
            > evaluate dish v=7
              = rejected NOT_FOUND: Expected to evaluate decision with key '1', but no such decision found
            > reopen
            > evaluate season {"month": 11}
              evaluated season v1 -> "winter" with {"month":11}|  season v1 -> "winter"
              = season v1 -> "winter" with {"month":11}|  season v1 -> "winter"
            > delete decisions:dinner v=1
            > evaluate season {"month": 11}
              = rejected NOT_FOUND: Expected to evaluate decision with id 'season', but no such decision found
        "#]],
    );
}

#[test]
fn decisions_have_versions_and_fall_back() {
    let (first, second) = (single("g", "d", "a", "1"), single("g", "d", "a", "2"));
    // The same decision in another graph.
    let other = single("other", "d", "a", "3");
    check_with(
        &[("g.dmn", &first), ("g@2.dmn", &second), ("other.dmn", &other), ("again.dmn", &first)],
        Options::default(),
        "show definitions decisions
         deploy g.dmn
         deploy g.dmn
         deploy again.dmn
         deploy g@2.dmn
         deploy other.dmn
         deploy g@2.dmn
         evaluate d
         delete decisions:g v=4
         evaluate d
         delete decisions:other v=1
         evaluate d
         delete decisions:g v=3
         delete decisions:g v=2
         delete decisions:g v=1
         delete decision:d v=1
         evaluate d
         deploy g.dmn",
        expect![[r#"
            > deploy g.dmn
              decisions g v1 created
              decision d v1 created
              = deployed decisions:g v1 decision:d v1
            > deploy g.dmn
              = deployed decisions:g v1 decision:d v1
            > deploy again.dmn
              decisions g v2 created
              decision d v2 created
              = deployed decisions:g v2 decision:d v2
            > deploy g@2.dmn
              decisions g v3 created
              decision d v3 created
              = deployed decisions:g v3 decision:d v3
            > deploy other.dmn
              decisions other v1 created
              decision d v4 created
              = deployed decisions:other v1 decision:d v4
            > deploy g@2.dmn
              decisions g v4 created
              decision d v5 created
              = deployed decisions:g v4 decision:d v5
            > evaluate d
              evaluated d v5 -> 2|  d v5 -> 2
              = d v5 -> 2|  d v5 -> 2
            > delete decisions:g v=4
              resource deleting
              decision d v5 deleted
              decisions g v4 deleted
              resource deleted
            > evaluate d
              evaluated d v4 -> 3|  d v4 -> 3
              = d v4 -> 3|  d v4 -> 3
            > delete decisions:other v=1
              resource deleting
              decision d v4 deleted
              decisions other v1 deleted
              resource deleted
            > evaluate d
              evaluated d v3 -> 2|  d v3 -> 2
              = d v3 -> 2|  d v3 -> 2
            > delete decisions:g v=3
              resource deleting
              decision d v3 deleted
              decisions g v3 deleted
              resource deleted
            > delete decisions:g v=2
              resource deleting
              decision d v2 deleted
              decisions g v2 deleted
              resource deleted
            > delete decisions:g v=1
              resource deleting
              decision d v1 deleted
              decisions g v1 deleted
              resource deleted
            > delete decision:d v=1
              = rejected NOT_FOUND: Expected to delete resource but no resource found with key `<key>`
            > evaluate d
              = rejected NOT_FOUND: Expected to evaluate decision with id 'd', but no such decision found
            > deploy g.dmn
              decisions g v5 created
              decision d v6 created
              = deployed decisions:g v5 decision:d v6
        "#]],
    );
}
