//! Boxed expressions other than tables and invocations.

use crate::{model, output};
use dmn::DecisionRequirements;

fn boxed(text: &str) -> DecisionRequirements {
    model(&format!("<decision id='d' name='d'>{text}</decision>"))
}

fn one(text: &str) -> String {
    format!("<literalExpression><text>{text}</text></literalExpression>")
}

#[test]
fn a_literal_expression_is_an_expression() {
    assert_eq!(output(&boxed(&one("x + 1")), "d", "{\"x\":1}"), "2");
}

#[test]
fn entries_of_a_context_see_earlier_ones() {
    let context = format!(
        "<context><contextEntry><variable name='a'/>{}</contextEntry><contextEntry><variable name='b'/>{}</contextEntry></context>",
        one("x"),
        one("a + 1")
    );
    assert_eq!(output(&boxed(&context), "d", "{\"x\":1}"), r#"{"a":1,"b":2}"#);
    let result =
        context.replace("</context>", &format!("<contextEntry>{}</contextEntry></context>", one("a + b")));
    assert_eq!(output(&boxed(&result), "d", "{\"x\":1}"), "3");
}

#[test]
fn a_list_has_items() {
    let list = format!("<list>{}{}</list>", one("x"), one("2"));
    assert_eq!(output(&boxed(&list), "d", "{\"x\":1}"), "[1,2]");
}

#[test]
fn a_relation_is_a_list_of_contexts() {
    let relation =
        format!("<relation><column name='a'/><row>{}</row><row>{}</row></relation>", one("1"), one("x"));
    assert_eq!(output(&boxed(&relation), "d", "{\"x\":2}"), r#"[{"a":1},{"a":2}]"#);
}

#[test]
fn a_function_sees_what_is_around_it() {
    let function = format!(
        "<context><contextEntry><variable name='f'/><functionDefinition><formalParameter name='n'/>{}</functionDefinition>\
         </contextEntry><contextEntry>{}</contextEntry></context>",
        one("n + x"),
        one("f(2)")
    );
    assert_eq!(output(&boxed(&function), "d", "{\"x\":5}"), "7");
}

#[test]
fn a_conditional_chooses() {
    let conditional = format!(
        "<conditional><if>{}</if><then>{}</then><else>{}</else></conditional>",
        one("x"),
        one("1"),
        one("2")
    );
    assert_eq!(output(&boxed(&conditional), "d", "{\"x\":true}"), "1");
    assert_eq!(output(&boxed(&conditional), "d", "{\"x\":null}"), "2");
    assert_eq!(output(&boxed(&conditional), "d", "{\"x\":1}"), "the condition must be true or false");
}

#[test]
fn a_filter_keeps_what_matches() {
    let filter = format!("<filter><in>{}</in><match>{}</match></filter>", one("x"), one("item.n > 1"));
    assert_eq!(output(&boxed(&filter), "d", r#"{"x":[{"n":1},{"n":2}]}"#), r#"[{"n":2}]"#);
}

#[test]
fn an_iteration_sees_the_results_so_far() {
    let each = format!(
        "<for iteratorVariable='i'><in>{}</in><return>{}</return></for>",
        one("x"),
        one("i * i + count(partial)")
    );
    assert_eq!(output(&boxed(&each), "d", "{\"x\":[1,2,3]}"), "[1,5,11]");
}

#[test]
fn a_quantified_expression_looks_at_all_items() {
    let every = format!(
        "<every iteratorVariable='i'><in>{}</in><satisfies>{}</satisfies></every>",
        one("x"),
        one("i > 1")
    );
    assert_eq!(output(&boxed(&every), "d", "{\"x\":[2,3]}"), "true");
    assert_eq!(output(&boxed(&every), "d", "{\"x\":[2,1]}"), "false");
    let some = every.replace("every", "some");
    assert_eq!(output(&boxed(&some), "d", "{\"x\":[0,1]}"), "false");
    assert_eq!(output(&boxed(&some), "d", "{\"x\":[0,2]}"), "true");
}

#[test]
fn an_evaluation_tells_the_kind_of_logic() {
    let function = format!("<functionDefinition>{}</functionDefinition>", one("1"));
    for (logic, kind) in [
        (one("1"), "LITERAL_EXPRESSION"),
        ("<decisionTable><output id='o' name='o'/></decisionTable>".to_owned(), "DECISION_TABLE"),
        (format!("<context><contextEntry>{}</contextEntry></context>", one("1")), "CONTEXT"),
        (format!("<list>{}</list>", one("1")), "LIST"),
        ("<relation><column name='a'/></relation>".to_owned(), "RELATION"),
        (format!("<invocation>{}</invocation>", one("function() 1")), "INVOCATION"),
        (function, "UNKNOWN"),
    ] {
        let evaluation = crate::evaluate(&boxed(&logic), "d", "{}").expect("a value");
        assert_eq!(evaluation.evaluated_decisions[0].kind.name(), kind);
    }
}
