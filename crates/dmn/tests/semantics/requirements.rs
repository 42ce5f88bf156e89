//! Requirements of decisions: other decisions, business knowledge models, decision services.

use crate::{evaluate, literal, model, output, standard, variables};
use dmn::DecisionKind;
use feel::{Environment, Value};
use std::fmt::Write;

#[test]
fn a_decision_required_twice_is_evaluated_twice() {
    let requires = |id: &str, others: &[&str], text: &str| {
        let mut required = String::new();
        for other in others {
            let _ = write!(
                required,
                "<informationRequirement><requiredDecision href='#{other}'/></informationRequirement>"
            );
        }
        format!(
            "<decision id='{id}' name='the {id}'>{required}<literalExpression><text>{text}</text></literalExpression></decision>"
        )
    };
    let body = [
        requires("top", &["left", "right"], "left + right"),
        requires("left", &["base"], "base + 1"),
        requires("right", &["base"], "base + 2"),
        requires("base", &[], "x"),
    ]
    .concat();
    let model = model(&body);
    let evaluation = evaluate(&model, "top", "{\"x\":1}").expect("a value");
    assert_eq!(evaluation.output.to_json_string(), "5");
    let order: Vec<&str> = evaluation.evaluated_decisions.iter().map(|decision| &*decision.id).collect();
    assert_eq!(order, ["base", "left", "base", "right", "top"]);
    let names: Vec<_> =
        model.decisions().map(|decision| (decision.id, decision.required_decisions)).collect();
    assert_eq!(names[0], ("top", vec!["left", "right"]));
}

#[test]
fn requirements_are_evaluated_first_in_the_order_of_the_file() {
    let body = format!(
        "<decision id='top' name='top'><informationRequirement><requiredDecision href='#c'/></informationRequirement>\
         <informationRequirement><requiredDecision href='#a'/></informationRequirement>\
         <informationRequirement><requiredDecision href='#b'/></informationRequirement>\
         <literalExpression><text>[a, b, c]</text></literalExpression></decision>{}{}{}",
        literal("a", "1"),
        literal("b", "2"),
        literal("c", "3")
    );
    let evaluation = evaluate(&model(&body), "top", "{}").expect("a value");
    let order: Vec<&str> = evaluation.evaluated_decisions.iter().map(|decision| &*decision.id).collect();
    assert_eq!(order, ["c", "a", "b", "top"]);
    assert_eq!(evaluation.output.to_json_string(), "[1,2,3]");
}

#[test]
fn a_result_is_known_by_its_variable_or_else_by_its_id() {
    for (variable, by_camunda, by_the_standard) in [
        ("<variable name='v'/>", "[1,8,9]", "[1,null,null]"),
        ("<variable name=''/>", "[7,1,9]", "[null,null,1]"),
        ("", "[7,1,9]", "[null,null,1]"),
    ] {
        let model = model(&format!(
            "<decision id='low' name='Low'>{variable}<literalExpression><text>1</text></literalExpression></decision>\
             <decision id='top' name='top'><informationRequirement><requiredDecision href='#low'/></informationRequirement>\
             <literalExpression><text>[v, low, Low]</text></literalExpression></decision>"
        ));
        // It hides a variable of the same name.
        let json = r#"{"v":7,"low":8,"Low":9}"#;
        assert_eq!(output(&model, "top", json), by_camunda, "{variable}");
        let evaluation = model.evaluate("top", &variables(json), &standard()).expect("a value");
        assert_eq!(evaluation.output.to_json_string(), by_the_standard, "{variable}");
    }
}

#[test]
fn a_failing_requirement_is_named() {
    let body = format!(
        "{}<decision id='top' name='top'><informationRequirement><requiredDecision href='#low'/></informationRequirement>\
         <literalExpression><text>low</text></literalExpression></decision>",
        literal("low", "assert(x, x &gt; 1)")
    );
    let failure = evaluate(&model(&body), "top", "{\"x\":1}").expect_err("a failure");
    assert_eq!((failure.decision_id.as_str(), failure.failed_decision_id.as_str()), ("top", "low"));
    assert_eq!(failure.evaluated_decisions.len(), 1);
    let unknown = evaluate(&model(&body), "other", "{}").expect_err("a failure");
    assert_eq!(unknown.failed_decision_id, "other");
}

#[test]
fn knowledge_and_invocations() {
    let body = "<businessKnowledgeModel id='k' name='twice'><encapsulatedLogic><formalParameter name='n' typeRef='number'/>\
         <literalExpression><text>n * 2</text></literalExpression></encapsulatedLogic></businessKnowledgeModel>\
         <decision id='call' name='call'><knowledgeRequirement><requiredKnowledge href='#k'/></knowledgeRequirement>\
         <literalExpression><text>twice(x)</text></literalExpression></decision>\
         <decision id='invoke' name='invoke'><knowledgeRequirement><requiredKnowledge href='#k'/></knowledgeRequirement>\
         <invocation><literalExpression><text>twice</text></literalExpression><binding><parameter name='n'/>\
         <literalExpression><text>x + 1</text></literalExpression></binding></invocation></decision>\
         <decision id='missing' name='missing'><knowledgeRequirement><requiredKnowledge href='#k'/></knowledgeRequirement>\
         <invocation><literalExpression><text>twice</text></literalExpression></invocation></decision>";
    let model = model(body);
    assert_eq!(output(&model, "call", "{\"x\":4}"), "8");
    assert_eq!(output(&model, "call", "{\"x\":\"a\"}"), "null");
    assert_eq!(output(&model, "invoke", "{\"x\":4}"), "10");
    assert_eq!(output(&model, "invoke", "{\"x\":\"a\"}"), "null");
    assert_eq!(output(&model, "missing", "{}"), "no parameter found with name 'n'");
    let kinds: Vec<DecisionKind> = model.decisions().map(|decision| decision.kind).collect();
    assert_eq!(kinds, [DecisionKind::LiteralExpression, DecisionKind::Invocation, DecisionKind::Invocation]);
    let direct = model.evaluate_knowledge("k", &[Value::from(21)], &Environment::default()).expect("a value");
    assert_eq!(direct.output.to_json_string(), "42");
}

const TWICE: &str = "<businessKnowledgeModel id='k' name='twice it'><encapsulatedLogic>\
    <formalParameter name='n' typeRef='number'/><literalExpression><text>n * 2</text></literalExpression>\
    </encapsulatedLogic></businessKnowledgeModel>";

fn invoke(callee: &str, argument: &str) -> String {
    format!(
        "<invocation><literalExpression><text>{callee}</text></literalExpression><binding><parameter name='n'/>\
         <literalExpression><text>{argument}</text></literalExpression></binding></invocation>"
    )
}

#[test]
fn an_invocation_finds_its_business_knowledge_model_by_name() {
    let model = model(&format!("{TWICE}<decision id='d' name='d'>{}</decision>", invoke("twice it", "x")));
    assert_eq!(output(&model, "d", "{\"x\":4}"), "8");
    assert_eq!(output(&model, "d", "{\"x\":\"a\"}"), "expected 'number' but found 'a'");
}

#[test]
fn an_invocation_may_call_any_function_in_sight() {
    let body = format!(
        "<decision id='d' name='d'><context><contextEntry><variable name='f'/><functionDefinition>\
         <formalParameter name='n'/><literalExpression><text>n + 1</text></literalExpression></functionDefinition>\
         </contextEntry><contextEntry>{}</contextEntry></context></decision>",
        invoke("f", "x")
    );
    assert_eq!(output(&model(&body), "d", "{\"x\":4}"), "5");
}

#[test]
fn a_business_knowledge_model_may_hold_any_logic() {
    let logics = [
        ("<literalExpression><text>n</text></literalExpression>", "4"),
        (
            "<context><contextEntry><variable name='m'/><literalExpression><text>n</text></literalExpression></contextEntry></context>",
            r#"{"m":4}"#,
        ),
        ("<list><literalExpression><text>n</text></literalExpression></list>", "[4]"),
        (
            "<relation><column name='m'/><row><literalExpression><text>n</text></literalExpression></row></relation>",
            r#"[{"m":4}]"#,
        ),
        (
            "<decisionTable><input id='i'><inputExpression><text>n</text></inputExpression></input><output id='o' name='o'/>\
             <rule id='r'><inputEntry><text>&gt; 3</text></inputEntry><outputEntry><text>\"big\"</text></outputEntry></rule></decisionTable>",
            "\"big\"",
        ),
    ];
    for (logic, expected) in logics {
        let model = model(&format!(
            "<businessKnowledgeModel id='k' name='k'><encapsulatedLogic><formalParameter name='n'/>{logic}</encapsulatedLogic>\
             </businessKnowledgeModel><decision id='d' name='d'><knowledgeRequirement><requiredKnowledge href='#k'/>\
             </knowledgeRequirement><literalExpression><text>k(x)</text></literalExpression></decision>"
        ));
        assert_eq!(output(&model, "d", "{\"x\":4}"), expected, "{logic}");
    }
}

#[test]
fn a_business_knowledge_model_requires_another() {
    let body = format!(
        "{TWICE}<businessKnowledgeModel id='q' name='four times'><encapsulatedLogic><formalParameter name='n'/>\
         <literalExpression><text>twice it(twice it(n))</text></literalExpression></encapsulatedLogic><knowledgeRequirement>\
         <requiredKnowledge href='#k'/></knowledgeRequirement></businessKnowledgeModel><decision id='d' name='d'>{}</decision>",
        invoke("four times", "x")
    );
    assert_eq!(output(&model(&body), "d", "{\"x\":4}"), "16");
}

#[test]
fn a_decision_service_is_a_function_of_its_inputs() {
    let body = "<inputData id='x' name='x'/><decision id='rate' name='rate'><variable name='rate'/>\
         <literalExpression><text>99</text></literalExpression></decision>\
         <decision id='fee' name='fee'><variable name='fee'/><informationRequirement><requiredDecision href='#rate'/>\
         </informationRequirement><informationRequirement><requiredInput href='#x'/></informationRequirement>\
         <literalExpression><text>rate * x</text></literalExpression></decision>\
         <decisionService id='s' name='service'><outputDecision href='#fee'/><inputDecision href='#rate'/>\
         <inputData href='#x'/></decisionService>\
         <decision id='d' name='d'><knowledgeRequirement><requiredKnowledge href='#s'/></knowledgeRequirement>\
         <literalExpression><text>service(x, 2)</text></literalExpression></decision>";
    let model = model(body);
    let service = model.services().next().expect("a service");
    assert_eq!(
        (service.parameters.as_slice(), service.outputs.as_slice()),
        (&["x", "rate"][..], &["fee"][..])
    );
    // A given value replaces the input decision.
    assert_eq!(output(&model, "d", "{\"x\":5}"), "10");
    assert_eq!(output(&model, "fee", "{\"x\":5}"), "495");
    let given = variables(r#"{"x":5,"rate":3}"#);
    let evaluation = model.evaluate_service("s", &given, &Environment::default()).expect("a value");
    assert_eq!(evaluation.output.to_json_string(), "15");
}

#[test]
fn names_with_spaces_and_version_tags() {
    let body = "<decision id='d' name='D'><extensionElements><zeebe:versionTag value='v2'/></extensionElements>\
        <informationRequirement><requiredInput href='#i'/></informationRequirement>\
        <literalExpression><text>guest count + 1</text></literalExpression></decision>\
        <inputData id='i' name='guest count'/>";
    let model = model(body);
    assert_eq!(output(&model, "d", "{\"guest count\":4}"), "5");
    let decision = model.decisions().next().expect("a decision");
    assert_eq!((decision.version_tag, model.id(), model.name()), (Some("v2"), "graph", "Graph"));
    assert_eq!(model.inputs().next().map(|input| input.name), Some("guest count"));
}
