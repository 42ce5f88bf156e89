//! Models that import others.

use crate::{HEAD, literal, model, output, variables};
use dmn::{DecisionRequirements, Limits, Parser};
use feel::Environment;
use std::fmt::Write;

/// A model of another namespace that imports some.
fn importing(namespace: &str, imports: &[(&str, &str)], body: &str) -> String {
    let mut text = HEAD.replace("namespace='ns'", &format!("namespace='{namespace}'"));
    for (namespace, name) in imports {
        let _ = write!(
            text,
            "<import namespace='{namespace}' name='{name}' importType='https://www.omg.org/spec/DMN/20191111/MODEL/'/>"
        );
    }
    text + body + "</definitions>"
}

fn parse(text: &str, available: &[&DecisionRequirements]) -> Result<DecisionRequirements, String> {
    let parser = Parser::new(Limits::default());
    let parser = available.iter().fold(parser, |parser, model| parser.with_import(model));
    parser.parse(text.as_bytes()).map_err(|problems| problems.to_string())
}

fn decision(requirement: &str, text: &str) -> String {
    format!(
        "<decision id='d' name='d'>{requirement}<literalExpression><text>{text}</text></literalExpression></decision>"
    )
}

#[test]
fn imports_and_services() {
    let base = model(
        "<decision id='rate' name='rate'><variable name='rate'/><literalExpression><text>x / 100</text></literalExpression></decision>",
    );
    let body = "<decision id='fee' name='fee'><variable name='fee'/><informationRequirement><requiredDecision href='ns#rate'/>\
         </informationRequirement><literalExpression><text>base.rate * 1000</text></literalExpression></decision>\
         <inputData id='x' name='x'/><decisionService id='s' name='service'><outputDecision href='#fee'/>\
         <inputData href='#x'/></decisionService>";
    let text = importing("other", &[("ns", "base")], body);
    let model = parse(&text, &[&base]).expect("a model");
    assert_eq!(output(&model, "fee", "{\"x\":5}"), "50");
    let service = model.services().next().expect("a service");
    assert_eq!((service.parameters.as_slice(), service.outputs.as_slice()), (&["x"][..], &["fee"][..]));
    let evaluation =
        model.evaluate_service("s", &variables("{\"x\":7}"), &Environment::default()).expect("a value");
    assert_eq!(evaluation.output.to_json_string(), "70");
}

#[test]
fn what_is_imported_must_be_there() {
    let requirement = "<informationRequirement><requiredDecision href='ns#low'/></informationRequirement>";
    let text = importing("other", &[("ns", "base")], &decision(requirement, "base.low"));
    let problems = parse(&text, &[]).expect_err("refused");
    assert!(problems.contains("no available model has the namespace 'ns'"), "{problems}");
    let base = model(&literal("other", "1"));
    let problems = parse(&text, &[&base]).expect_err("refused");
    assert!(
        problems.contains("requiredDecision of 'd': 'ns#low' is not an element of this model"),
        "{problems}"
    );
    // Other kinds of files may be imported; they are not used.
    let schema = text
        .replace("https://www.omg.org/spec/DMN/20191111/MODEL/'/>", "http://www.w3.org/2001/XMLSchema'/>");
    let problems = parse(&schema, &[&base]).expect_err("refused");
    assert!(!problems.contains("to import"), "{problems}");
}

#[test]
fn imports_go_on_through_other_models() {
    let low = model(&literal("low", "x + 1"));
    let requirement = "<informationRequirement><requiredDecision href='ns#low'/></informationRequirement>";
    let middle = decision(requirement, "base.low * 10").replace("'d'", "'mid'");
    let middle = parse(&importing("second", &[("ns", "base")], &middle), &[&low]).expect("a model");
    let requirement = "<informationRequirement><requiredDecision href='second#mid'/></informationRequirement>\
        <informationRequirement><requiredDecision href='ns#low'/></informationRequirement>";
    let top = importing("third", &[("second", "m"), ("ns", "")], &decision(requirement, "[m.mid, low]"));
    let top = parse(&top, &[&low, &middle]).expect("a model");
    let evaluation = top.evaluate("d", &variables("{\"x\":1}"), &Environment::default()).expect("a value");
    assert_eq!(evaluation.output.to_json_string(), "[20,2]");
    let order: Vec<&str> = evaluation.evaluated_decisions.iter().map(|decision| &*decision.id).collect();
    assert_eq!(order, ["low", "mid", "low", "d"]);
}

#[test]
fn an_imported_business_knowledge_model_is_called_and_invoked() {
    let base = model(&format!(
        "<businessKnowledgeModel id='k' name='twice'><encapsulatedLogic><formalParameter name='n'/><literalExpression>\
         <text>n * 2</text></literalExpression></encapsulatedLogic></businessKnowledgeModel>{}",
        literal("any", "1")
    ));
    let requirement = "<knowledgeRequirement><requiredKnowledge href='ns#k'/></knowledgeRequirement>";
    let invocation = |callee: &str| {
        format!(
            "<decision id='d' name='d'>{requirement}<invocation><literalExpression><text>{callee}</text></literalExpression>\
             <binding><parameter name='n'/><literalExpression><text>x</text></literalExpression></binding></invocation></decision>"
        )
    };
    for (name, body) in [
        ("base", decision(requirement, "base.twice(x)")),
        ("base", invocation("base.twice")),
        ("", decision(requirement, "twice(x)")),
        ("", invocation("twice")),
    ] {
        let model = parse(&importing("other", &[("ns", name)], &body), &[&base]).expect("a model");
        assert_eq!(output(&model, "d", "{\"x\":4}"), "8", "{body}");
    }
    let unknown = importing("other", &[("ns", "base")], &invocation("best.twice"));
    let problems = parse(&unknown, &[&base]).expect_err("refused");
    assert!(problems.contains("there is no business knowledge model 'best' to invoke"), "{problems}");
}

#[test]
fn types_are_imported() {
    let base = model(&format!(
        "<itemDefinition name='tGrade'><typeRef>string</typeRef><allowedValues><text>\"A\"</text></allowedValues>\
         </itemDefinition>{}",
        literal("any", "1")
    ));
    let body = "<decision id='d' name='d'><variable name='d' typeRef='base.tGrade'/><informationRequirement>\
        <requiredInput href='#x'/></informationRequirement><literalExpression><text>x</text></literalExpression></decision>\
        <inputData id='x' name='x'/>";
    let model = parse(&importing("other", &[("ns", "base")], body), &[&base]).expect("a model");
    for (json, expected) in [("{\"x\":\"A\"}", "\"A\""), ("{\"x\":\"B\"}", "null")] {
        let evaluation = model.evaluate("d", &variables(json), &crate::standard()).expect("a value");
        assert_eq!(evaluation.output.to_json_string(), expected);
    }
}
