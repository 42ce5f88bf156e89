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
              evaluated dish v1 -> "Stew"|  season v1 -> "winter"|  dish v1 Season="winter" Guests=4 rule 1 (Dish="Stew") -> "Stew"
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
              evaluated dish v1 -> "Salad for 4"|  season v1 -> "summer"|  dish v1 Season="summer" Guests=4 rule 2 (Dish="Salad for 4") -> "Salad for 4"
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
              evaluated dish v1 -> null|  season v1 -> "winter"|  dish v1 Season="winter" Guests=20 -> null
              #3.d activated, completing
              #3.p.dinner = null created
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
