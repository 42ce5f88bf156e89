//! Decision tables: rules, hit policies, the reported trail.

use crate::{ONE, TWO, evaluate, model, output, table};
use feel::{Environment, Value, Variables};
use std::cell::Cell;

/// 20 matches one rule, 7 two that give the same, 3 three that differ, 100 one that gives nothing and another.
const RULES: &[(&str, &[&str])] =
    &[("&lt; 10", &["2"]), ("&lt; 5", &["1"]), ("-", &["2"]), ("100", &["null"])];

/// Results of a table with these rules for values of `x`.
#[track_caller]
fn check(attributes: &str, cases: &[(&str, &str)]) {
    let model = model(&table(attributes, ONE, RULES));
    for (x, expected) in cases {
        assert_eq!(output(&model, "d", &format!("{{\"x\":{x}}}")), *expected, "{attributes} {x}");
    }
}

#[test]
fn unique_allows_one_match() {
    for attributes in ["", "hitPolicy='UNIQUE'"] {
        check(
            attributes,
            &[("20", "2"), ("7", "multiple values aren't allowed for UNIQUE hit policy. found: '[2, 2]'")],
        );
    }
}

#[test]
fn first_takes_the_first_match() {
    check("hitPolicy='FIRST'", &[("3", "2"), ("20", "2")]);
}

#[test]
fn first_looks_at_all_rules_nevertheless() {
    let evaluation = evaluate(&model(&table("hitPolicy='FIRST'", ONE, RULES)), "d", "{\"x\":7}");
    let rules = evaluation.expect("a value").evaluated_decisions.remove(0).matched_rules;
    assert_eq!(
        rules.iter().map(|rule| rule.index).collect::<Vec<_>>(),
        [1],
        "the first one alone is reported"
    );
    // A failure of a later rule counts, too.
    let failing = table("hitPolicy='FIRST'", ONE, &[("-", &["1"]), ("-", &["assert(x, false)"])]);
    let failure = evaluate(&model(&failing), "d", "{\"x\":7}").expect_err("a failure");
    assert_eq!(failure.failed_rule.expect("a rule").index, 2);
}

#[test]
fn any_wants_matches_to_agree() {
    check(
        "hitPolicy='ANY'",
        &[("7", "2"), ("3", "different values aren't allowed for ANY hit policy. found: '[2, 1, 2]'")],
    );
}

#[test]
fn rule_order_lists_all_matches() {
    check("hitPolicy='RULE ORDER'", &[("3", "[2,1,2]"), ("20", "[2]")]);
}

#[test]
fn collect_lists_all_matches() {
    check("hitPolicy='COLLECT'", &[("3", "[2,1,2]"), ("20", "[2]"), ("100", "[2,null]")]);
}

#[test]
fn collect_sum() {
    check(
        "hitPolicy='COLLECT' aggregation='SUM'",
        &[("3", "5"), ("100", "expected number but found 'null'")],
    );
}

#[test]
fn a_message_shows_the_beginning_of_a_large_value() {
    let large: &[(&str, &[&str])] = &[("-", &["for i in 1..10000 return i"]), ("-", &["1"])];
    for attributes in ["hitPolicy='COLLECT' aggregation='SUM'", "hitPolicy='UNIQUE'", "hitPolicy='ANY'"] {
        let failure =
            evaluate(&model(&table(attributes, ONE, large)), "d", "{\"x\":1}").expect_err("a failure");
        assert!(failure.reason.contains("[1, 2, 3, 4"), "{attributes}: {failure}");
        assert!(failure.reason.len() < 1_200, "{attributes}: {} bytes", failure.reason.len());
    }
}

#[test]
fn collect_min() {
    check(
        "hitPolicy='COLLECT' aggregation='MIN'",
        &[("3", "1"), ("100", "expected number but found 'null'")],
    );
}

#[test]
fn collect_max() {
    check(
        "hitPolicy='COLLECT' aggregation='MAX'",
        &[("3", "2"), ("100", "expected number but found 'null'")],
    );
}

#[test]
fn collect_count_counts_rules() {
    check("hitPolicy='COLLECT' aggregation='COUNT'", &[("3", "3"), ("100", "2")]);
}

const LISTED: &[&str] =
    &["<output id='o' name='o'><outputValues><text>\"high\", \"low\"</text></outputValues></output>"];
const UNSORTED: &[(&str, &[&str])] = &[("-", &["\"low\""]), ("-", &["\"other\""]), ("-", &["\"high\""])];

#[test]
fn priority_takes_the_best_of_the_listed_values() {
    let model = model(&table("hitPolicy='PRIORITY'", LISTED, UNSORTED));
    assert_eq!(output(&model, "d", "{}"), "\"high\"");
}

#[test]
fn output_order_sorts_by_the_listed_values() {
    let model = model(&table("hitPolicy='OUTPUT ORDER'", LISTED, UNSORTED));
    assert_eq!(output(&model, "d", "{}"), r#"["high","low","other"]"#);
}

#[test]
fn listed_values_are_not_checked() {
    let allowed = table("", LISTED, &[("-", &["\"other\""])])
        .replace("</inputExpression>", "</inputExpression><inputValues><text>1, 2</text></inputValues>");
    assert_eq!(output(&model(&allowed), "d", "{\"x\":7}"), "\"other\"");
}

#[test]
fn without_a_match_defaults_or_null() {
    let rules: &[(&str, &[&str])] = &[("1", &["1"])];
    for policy in
        ["", "hitPolicy='COLLECT'", "hitPolicy='COLLECT' aggregation='COUNT'", "hitPolicy='OUTPUT ORDER'"]
    {
        assert_eq!(output(&model(&table(policy, ONE, rules)), "d", "{\"x\":2}"), "null", "{policy}");
    }
    let default =
        &["<output id='o' name='o'><defaultOutputEntry><text>x + 1</text></defaultOutputEntry></output>"];
    assert_eq!(output(&model(&table("", default, rules)), "d", "{\"x\":2}"), "3");
    let defaults = &[
        "<output id='o' name='a'><defaultOutputEntry><text>1</text></defaultOutputEntry></output>",
        "<output id='o' name='b'><defaultOutputEntry><text>2</text></defaultOutputEntry></output>",
    ];
    let rules: &[(&str, &[&str])] = &[("1", &["1", "2"])];
    assert_eq!(output(&model(&table("", defaults, rules)), "d", "{\"x\":2}"), r#"{"a":1,"b":2}"#);
}

#[test]
fn several_outputs_are_a_context() {
    let rules: &[(&str, &[&str])] = &[("&lt; 10", &["1", "\"x\""]), ("-", &["2", "\"y\""])];
    assert_eq!(
        output(&model(&table("hitPolicy='FIRST'", TWO, rules)), "d", "{\"x\":2}"),
        r#"{"a":1,"b":"x"}"#
    );
    assert_eq!(
        output(&model(&table("hitPolicy='COLLECT'", TWO, rules)), "d", "{\"x\":2}"),
        r#"[{"a":1,"b":"x"},{"a":2,"b":"y"}]"#
    );
    assert_eq!(
        output(&model(&table("hitPolicy='ANY'", TWO, rules)), "d", "{\"x\":20}"),
        r#"{"a":2,"b":"y"}"#
    );
}

#[test]
fn an_evaluation_tells_inputs_and_rules() {
    let rules: &[(&str, &[&str])] =
        &[("&lt; 3", &["1"]), ("cellInput &gt; 3", &["? + 0"]), ("5", &["x * 2"])];
    let model = model(&table("hitPolicy='COLLECT'", ONE, rules));
    let evaluation = evaluate(&model, "d", "{\"x\":5}");
    // A `?` outside of a condition fails.
    let failure = evaluation.expect_err("a failure");
    let rule = failure.failed_rule.clone().expect("a rule");
    assert_eq!((rule.id.as_str(), rule.index), ("rule2", 2));
    assert_eq!(failure.failed_decision_id, "d");
    assert!(
        failure
            .to_string()
            .starts_with("Expected to evaluate decision 'd', but failed to evaluate expression '? + 0'")
    );
    assert!(failure.reason.ends_with("(rule 2, 'rule2')"), "{}", failure.reason);
    assert_eq!(failure.evaluated_decisions.len(), 1);
    assert_eq!(failure.evaluated_decisions[0].inputs[0].value.to_json_string(), "5");
    assert!(failure.evaluated_decisions[0].output.is_null());

    let evaluation = evaluate(&model, "d", "{\"x\":1}").expect("a value");
    let decision = &evaluation.evaluated_decisions[0];
    assert_eq!((&*decision.id, &*decision.name, decision.kind.name()), ("d", "D", "DECISION_TABLE"));
    assert_eq!((&*decision.inputs[0].id, &*decision.inputs[0].name), ("in", "X"));
    let rule = &decision.matched_rules[0];
    assert_eq!((&*rule.id, rule.index), ("rule1", 1));
    assert_eq!((&*rule.outputs[0].id, &*rule.outputs[0].name), ("out", "Out"));
    assert_eq!(rule.outputs[0].value.to_json_string(), "1");
    assert_eq!(decision.output.to_json_string(), "[1]");
}

#[test]
fn a_failure_names_decision_and_rule() {
    for (condition, result) in
        [("x &lt; 0", "assert(x, false, \"no\")"), ("assert(? &gt; 9, false, \"no\")", "1")]
    {
        let body = [
            table("hitPolicy='FIRST'", ONE, &[("1", &["1"]), (condition, &[result])]),
            "<decision id='top' name='top'><informationRequirement><requiredDecision href='#d'/></informationRequirement>\
             <literalExpression><text>d</text></literalExpression></decision>"
                .to_owned(),
        ];
        let failure = evaluate(&model(&body.concat()), "top", "{\"x\":-1}").expect_err("a failure");
        assert_eq!((failure.decision_id.as_str(), failure.failed_decision_id.as_str()), ("top", "d"));
        let rule = failure.failed_rule.clone().expect("a rule");
        assert_eq!((rule.id.as_str(), rule.index), ("rule2", 2));
        let text = failure.to_string();
        assert!(text.starts_with("Expected to evaluate decision 'top', but Assertion failure"), "{text}");
        assert!(text.ends_with("no (rule 2, 'rule2')"), "{text}");
        // The requested decision never began.
        let evaluated: Vec<&str> = failure.evaluated_decisions.iter().map(|decision| &*decision.id).collect();
        assert_eq!(evaluated, ["d"]);
    }
}

#[test]
fn an_input_entry_that_is_neither_true_nor_false_does_not_match() {
    let rules: &[(&str, &[&str])] = &[
        ("? + 1", &["1"]),
        ("\"five\"", &["2"]),
        ("[7]", &["3"]),
        ("null", &["4"]),
        ("cellInput", &["5"]),
        ("-", &["6"]),
        ("", &["7"]),
    ];
    let model = model(&table("hitPolicy='COLLECT'", ONE, rules));
    assert_eq!(output(&model, "d", "{\"x\":5}"), "[6,7]");
    assert_eq!(output(&model, "d", "{\"x\":true}"), "[5,6,7]");
}

#[test]
fn entries_are_tested_until_one_does_not_match() {
    let table = |second: &str| {
        model(&format!(
            "<decision id='d' name='d'><decisionTable><input id='a'><inputExpression><text>x</text></inputExpression></input>\
             <input id='b'><inputExpression><text>x</text></inputExpression></input><output id='o' name='o'/>\
             <rule id='r'><inputEntry><text>1</text></inputEntry><inputEntry><text>{second}</text></inputEntry>\
             <outputEntry><text>x</text></outputEntry></rule></decisionTable></decision>"
        ))
    };
    let failing = table("assert(?, false)");
    assert_eq!(output(&failing, "d", "{\"x\":2}"), "null");
    assert!(output(&failing, "d", "{\"x\":1}").starts_with("Assertion failure"));
    assert_eq!(output(&table("&lt; 2"), "d", "{\"x\":1}"), "1");
}

/// Counts how often it is read.
struct Counting(Cell<usize>);

impl Variables for Counting {
    fn get(&self, _: &str) -> Option<Value> {
        self.0.set(self.0.get() + 1);
        Some(Value::from(3))
    }
}

#[test]
fn inputs_are_evaluated_once() {
    let reads = Counting(Cell::new(0));
    let model = model(&table("hitPolicy='COLLECT'", ONE, &[("1", &["1"]), ("2", &["2"]), ("3", &["3"])]));
    let evaluation = model.evaluate("d", &reads, &Environment::default()).expect("a value");
    assert_eq!((evaluation.output.to_json_string().as_str(), reads.0.get()), ("[3]", 1));
}
