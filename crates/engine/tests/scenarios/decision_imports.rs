//! Decision models that import others: of the same deployment, or deployed before.

use engine::Options;
use expect_test::expect;

use crate::support::check_with;

/// A model of one decision of the same name. It imports models by name, namespace and `locationURI`, and requires the
/// decisions that are named `namespace#id`.
fn model(id: &str, imports: &[(&str, &str, &str)], requires: &[&str], expression: &str) -> String {
    let import = |(name, namespace, rest): &(&str, &str, &str)| {
        format!(
            "<import name='{name}' namespace='{namespace}' importType='https://www.omg.org/spec/DMN/20191111/MODEL/' {rest}/>"
        )
    };
    let requirement = |decision: &&str| {
        format!("<informationRequirement><requiredDecision href='{decision}'/></informationRequirement>")
    };
    format!(
        "<definitions xmlns='https://www.omg.org/spec/DMN/20191111/MODEL/' id='{id}' name='{id}' namespace='n:{id}'>{}\
         <decision id='{id}' name='{id}'><variable name='{id}'/>{}<literalExpression><text>{expression}</text></literalExpression>\
         </decision></definitions>",
        imports.iter().map(import).collect::<String>(),
        requires.iter().map(requirement).collect::<String>()
    )
}

#[test]
fn a_model_imports_one_of_its_deployment_wherever_it_stands() {
    let base = model("base", &[], &[], "x + 1");
    let middle = model("middle", &[("b", "n:base", "")], &["n:base#base"], "b.base * 10");
    let top = model(
        "top",
        &[("m", "n:middle", ""), ("b", "n:base", "")],
        &["n:middle#middle", "n:base#base"],
        "[m.middle, b.base]",
    );
    check_with(
        &[("top.dmn", &top), ("middle.dmn", &middle), ("base.dmn", &base)],
        Options::default(),
        r#"show definitions decisions
         deploy top.dmn middle.dmn base.dmn
         evaluate top {"x": 1}
         deploy top.dmn middle.dmn base.dmn"#,
        expect![[r#"
            > deploy top.dmn middle.dmn base.dmn
              decisions base v1 created
              decision base v1 created
              decisions middle v1 created
              decision middle v1 created
              decisions top v1 created
              decision top v1 created
              = deployed decisions:base v1 decisions:middle v1 decisions:top v1 decision:base v1 decision:middle v1 decision:top v1
            > evaluate top {"x": 1}
              evaluated top v1 -> [20,2] with {"x":1}|  base v1 -> 2|  middle v1 -> 20|  base v1 -> 2|  top v1 -> [20,2]
              = top v1 -> [20,2] with {"x":1}|  base v1 -> 2|  middle v1 -> 20|  base v1 -> 2|  top v1 -> [20,2]
            > deploy top.dmn middle.dmn base.dmn
              = deployed decisions:base v1 decisions:middle v1 decisions:top v1 decision:base v1 decision:middle v1 decision:top v1
        "#]],
    );
}

#[test]
fn a_model_keeps_what_it_imported_until_it_is_deployed_again() {
    let first = model("base", &[], &[], "1");
    let second = model("base", &[], &[], "2");
    let top = model("top", &[("b", "n:base", "")], &["n:base#base"], "b.base * 10");
    check_with(
        &[("base.dmn", &first), ("base@2.dmn", &second), ("top.dmn", &top)],
        Options::default(),
        "show decisions
         deploy base.dmn
         deploy top.dmn
         evaluate top
         deploy base@2.dmn
         evaluate top
         deploy top.dmn
         evaluate top
         deploy top.dmn
         delete decisions:base v=2
         evaluate top
         deploy top.dmn
         evaluate top",
        expect![[r#"
              = deployed decisions:base v1 decision:base v1
            > deploy top.dmn
              = deployed decisions:top v1 decision:top v1
            > evaluate top
              evaluated top v1 -> 10|  base v1 -> 1|  top v1 -> 10
              = top v1 -> 10|  base v1 -> 1|  top v1 -> 10
            > deploy base@2.dmn
              = deployed decisions:base v2 decision:base v2
            > evaluate top
              evaluated top v1 -> 10|  base v1 -> 1|  top v1 -> 10
              = top v1 -> 10|  base v1 -> 1|  top v1 -> 10
            > deploy top.dmn
              = deployed decisions:top v2 decision:top v2
            > evaluate top
              evaluated top v2 -> 20|  base v2 -> 2|  top v2 -> 20
              = top v2 -> 20|  base v2 -> 2|  top v2 -> 20
            > deploy top.dmn
              = deployed decisions:top v2 decision:top v2
            > delete decisions:base v=2
            > evaluate top
              evaluated top v2 -> 20|  base v0 -> 2|  top v2 -> 20
              = top v2 -> 20|  base v0 -> 2|  top v2 -> 20
            > deploy top.dmn
              = deployed decisions:top v3 decision:top v3
            > evaluate top
              evaluated top v3 -> 10|  base v1 -> 1|  top v3 -> 10
              = top v3 -> 10|  base v1 -> 1|  top v3 -> 10
        "#]],
    );
}

#[test]
fn what_cannot_be_imported_is_told() {
    let base = model("base", &[], &[], "1");
    let broken = model("broken", &[], &[], "1 +");
    let missing = model("missing", &[("o", "n:other", "")], &[], "1");
    let own = model("own", &[("o", "n:own", "")], &[], "1");
    let here = model("here", &[("t", "n:there", "")], &[], "1");
    let there = model("there", &[("h", "n:here", "")], &[], "1");
    let upon = model("upon", &[("b", "n:broken", "")], &[], "1");
    let twin = base.replace("id='base'", "id='twin'");
    let which = model("which", &[("b", "n:base", "")], &[], "1");
    let told = model("told", &[("b", "n:base", "locationURI='twin.dmn'")], &["n:base#twin"], "b.base");
    check_with(
        &[
            ("base.dmn", &base),
            ("twin.dmn", &twin),
            ("which.dmn", &which),
            ("told.dmn", &told),
            ("missing.dmn", &missing),
            ("own.dmn", &own),
            ("here.dmn", &here),
            ("there.dmn", &there),
            ("broken.dmn", &broken),
            ("upon.dmn", &upon),
        ],
        Options::default(),
        "show decisions
         deploy missing.dmn own.dmn here.dmn there.dmn broken.dmn upon.dmn
         deploy base.dmn twin.dmn which.dmn
         deploy base.dmn twin.dmn told.dmn
         evaluate told",
        expect![[r#"
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'missing.dmn': import of 'missing': no available model has the namespace 'n:other'|'own.dmn': import: the file imports its own namespace 'n:own'|'there.dmn': import: 'here.dmn' has problems of its own, or imports this file in its turn|'here.dmn': import: 'there.dmn' has problems of its own, or imports this file in its turn|'broken.dmn': literalExpression of 'broken': failed to parse expression '1 +': expected an expression, but the expression ends (line 1, column 4)|'upon.dmn': import: 'broken.dmn' has problems of its own, or imports this file in its turn
            > deploy base.dmn twin.dmn which.dmn
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'which.dmn': import: several files of the deployment have the namespace 'n:base', and none of them the name that 'locationURI' says
            > deploy base.dmn twin.dmn told.dmn
              = deployed decisions:base v1 decisions:twin v1 decisions:told v1 decision:base v1 decision:twin v1 decision:told v1
            > evaluate told
              evaluated told v1 -> 1|  twin v1 -> 1|  told v1 -> 1
              = told v1 -> 1|  twin v1 -> 1|  told v1 -> 1
        "#]],
    );
}
