//! What evaluations give and how they fail, in Camunda's dialect unless said otherwise.

use dmn::{DecisionKind, DecisionRequirements, Failure, Limits, Parser};
use feel::{Dialect, Environment, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

const HEAD: &str = "<definitions xmlns='https://www.omg.org/spec/DMN/20191111/MODEL/' \
    xmlns:zeebe='http://camunda.org/schema/zeebe/1.0' id='graph' name='Graph' namespace='ns'>";

fn parse(body: &str) -> Result<DecisionRequirements, dmn::Problems> {
    dmn::parse(format!("{HEAD}{body}</definitions>").as_bytes(), &Limits::default())
}

fn model(body: &str) -> DecisionRequirements {
    parse(body).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The problems of a model that must not pass.
fn problems(body: &str) -> String {
    parse(body).expect_err("a model with problems").to_string()
}

fn variables(json: &str) -> BTreeMap<String, Value> {
    let value = Value::from_json(json.to_owned().into()).expect("JSON");
    value
        .as_context()
        .expect("an object")
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect()
}

fn evaluate(model: &DecisionRequirements, id: &str, json: &str) -> Result<dmn::Evaluation, Box<Failure>> {
    model.evaluate(id, &variables(json), &Environment::default())
}

/// The JSON of a result, or the reason of a failure.
fn output(model: &DecisionRequirements, id: &str, json: &str) -> String {
    match evaluate(model, id, json) {
        Ok(evaluation) => evaluation.output.to_json_string(),
        Err(failure) => failure.reason,
    }
}

fn literal(id: &str, text: &str) -> String {
    format!(
        "<decision id='{id}' name='{id}'><literalExpression><text>{text}</text></literalExpression></decision>"
    )
}

/// A table with the input `x`; each rule is a condition and its outputs.
fn table(attributes: &str, outputs: &[&str], rules: &[(&str, &[&str])]) -> String {
    let mut text = format!(
        "<decisionTable {attributes}><input id='in' label='X'><inputExpression><text>x</text></inputExpression></input>"
    );
    for output in outputs {
        text.push_str(output);
    }
    for (index, (condition, results)) in rules.iter().enumerate() {
        let _ =
            write!(text, "<rule id='rule{}'><inputEntry><text>{condition}</text></inputEntry>", index + 1);
        for result in *results {
            let _ = write!(text, "<outputEntry><text>{result}</text></outputEntry>");
        }
        text.push_str("</rule>");
    }
    format!("<decision id='d' name='D'>{text}</decisionTable></decision>")
}

const ONE: &[&str] = &["<output id='out' name='o' label='Out'/>"];
const TWO: &[&str] = &["<output id='o1' name='a'/>", "<output id='o2' name='b'/>"];

#[test]
fn hit_policies() {
    let rules: &[(&str, &[&str])] =
        &[("&lt; 10", &["2"]), ("&lt; 5", &["1"]), ("-", &["2"]), ("100", &["null"])];
    for (attributes, x, expected) in [
        ("", "20", "2"),
        ("", "7", "multiple values aren't allowed for UNIQUE hit policy. found: '[2, 2]'"),
        ("hitPolicy='UNIQUE'", "20", "2"),
        ("hitPolicy='FIRST'", "3", "2"),
        ("hitPolicy='ANY'", "7", "2"),
        ("hitPolicy='ANY'", "3", "different values aren't allowed for ANY hit policy. found: '[2, 1, 2]'"),
        ("hitPolicy='RULE ORDER'", "3", "[2,1,2]"),
        ("hitPolicy='COLLECT'", "3", "[2,1,2]"),
        ("hitPolicy='COLLECT'", "20", "[2]"),
        ("hitPolicy='COLLECT' aggregation='SUM'", "3", "5"),
        ("hitPolicy='COLLECT' aggregation='MIN'", "3", "1"),
        ("hitPolicy='COLLECT' aggregation='MAX'", "3", "2"),
        ("hitPolicy='COLLECT' aggregation='COUNT'", "3", "3"),
        ("hitPolicy='COLLECT' aggregation='SUM'", "100", "expected number but found 'null'"),
    ] {
        let model = model(&table(attributes, ONE, rules));
        assert_eq!(output(&model, "d", &format!("{{\"x\":{x}}}")), expected, "{attributes} {x}");
    }
}

#[test]
fn priorities_follow_the_listed_values() {
    let listed =
        &["<output id='o' name='o'><outputValues><text>\"high\", \"low\"</text></outputValues></output>"];
    let rules: &[(&str, &[&str])] = &[("-", &["\"low\""]), ("-", &["\"other\""]), ("-", &["\"high\""])];
    let priority = model(&table("hitPolicy='PRIORITY'", listed, rules));
    assert_eq!(output(&priority, "d", "{}"), "\"high\"");
    let order = model(&table("hitPolicy='OUTPUT ORDER'", listed, rules));
    assert_eq!(output(&order, "d", "{}"), r#"["high","low","other"]"#);
}

#[test]
fn without_a_match_defaults_or_null() {
    let rules: &[(&str, &[&str])] = &[("1", &["1"])];
    for policy in ["", "hitPolicy='COLLECT'", "hitPolicy='COLLECT' aggregation='COUNT'"] {
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
fn results_are_checked_against_types_of_feel() {
    let typed = |kind: &str| {
        model(&format!(
            "<decision id='d' name='d'><variable name='d' typeRef='{kind}'/><literalExpression><text>x</text></literalExpression></decision>"
        ))
    };
    assert_eq!(output(&typed("number"), "d", "{\"x\":1}"), "1");
    assert_eq!(output(&typed("number"), "d", "{\"x\":null}"), "null");
    assert_eq!(output(&typed("number"), "d", "{\"x\":\"a\"}"), "expected 'number' but found 'a'");
    assert_eq!(output(&typed("tOther"), "d", "{\"x\":\"a\"}"), "\"a\"");
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
    assert_eq!(output(&model, "missing", "{}"), "no parameter found with name 'n'");
    let kinds: Vec<DecisionKind> = model.decisions().map(|decision| decision.kind).collect();
    assert_eq!(kinds, [DecisionKind::LiteralExpression, DecisionKind::Invocation, DecisionKind::Invocation]);
    let direct = model.evaluate_knowledge("k", &[Value::from(21)], &Environment::default()).expect("a value");
    assert_eq!(direct.output.to_json_string(), "42");
}

#[test]
fn recursion_ends_with_the_depth() {
    // A function that is handed itself may recurse without a cycle of requirements.
    let body = "<businessKnowledgeModel id='k' name='again'><encapsulatedLogic><formalParameter name='f'/>\
         <literalExpression><text>f(f)</text></literalExpression></encapsulatedLogic></businessKnowledgeModel>\
         <decision id='d' name='d'><knowledgeRequirement><requiredKnowledge href='#k'/></knowledgeRequirement>\
         <literalExpression><text>again(again)</text></literalExpression></decision>";
    for dialect in [Dialect::Camunda, Dialect::Standard] {
        let model = model(body);
        let environment = Environment { dialect, ..Environment::default() };
        // As deep as it may go, on the stack of a small thread.
        let run =
            move || model.evaluate("d", &(), &environment).map(|evaluation| evaluation.output.is_null());
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread");
        let _ = thread.join().expect("no panic");
    }
}

#[test]
fn the_number_of_evaluated_decisions_is_bounded() {
    let mut body = literal("d0", "1");
    for step in 1..40 {
        let below = step - 1;
        let twice =
            format!("<informationRequirement><requiredDecision href='#d{below}'/></informationRequirement>");
        let _ = write!(
            body,
            "<decision id='d{step}' name='d{step}'>{twice}{twice}<literalExpression><text>d{below}</text></literalExpression></decision>"
        );
    }
    let model = model(&body);
    assert_eq!(output(&model, "d39", "{}"), "more than 1000 decisions are to be evaluated");
    let standard = Environment { dialect: Dialect::Standard, ..Environment::default() };
    let evaluation = model.evaluate("d39", &(), &standard).expect("each is evaluated once");
    assert_eq!(evaluation.evaluated_decisions.len(), 40);
}

#[test]
fn all_problems_are_reported() {
    let body = format!(
        "{}{}{}<decision id='a' name='a'/>",
        literal("a", "1 +"),
        literal("b", ""),
        table("hitPolicy='COLLECT' aggregation='SUM'", TWO, &[("[", &["1", "2"])]),
    );
    let text = problems(&body);
    for part in [
        "'a': the ID is there more than once",
        "literalExpression of 'a': failed to parse expression '1 +'",
        "literalExpression of 'b': the expression is empty",
        "inputEntry of 'd': failed to parse expression '['",
        "hit policy 'COLLECT' with an aggregation is not defined for several outputs",
        "decision of 'a': there is no decision logic of a supported kind",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
}

#[test]
fn models_that_are_refused() {
    let cycle = "<decision id='a' name='a'><informationRequirement><requiredDecision href='#b'/></informationRequirement>\
        <literalExpression><text>1</text></literalExpression></decision>\
        <decision id='b' name='b'><informationRequirement><requiredDecision href='#a'/></informationRequirement>\
        <literalExpression><text>1</text></literalExpression></decision>";
    assert!(problems(cycle).contains("decisions require each other in a cycle"));
    let unknown = "<decision id='a' name='a'><knowledgeRequirement><requiredKnowledge href='#no'/></knowledgeRequirement>\
        <literalExpression><text>1</text></literalExpression></decision>";
    assert!(problems(unknown).contains("'#no' is not an element of this model"));
    let language = "<decision id='a' name='a'><literalExpression expressionLanguage='juel'><text>1</text></literalExpression></decision>";
    assert!(problems(language).contains("expression language 'juel' is not supported"));
    let relation = "<decision id='a' name='a'><relation><column name='x'/><row/></relation></decision>";
    assert!(problems(relation).contains("row 1 has 0 cells where there are 1 columns"));
    let nameless = table("", &["<output id='o'/>", "<output id='p' name='p'/>"], &[]);
    assert!(problems(&nameless).contains("no output name defined"));
    let uneven = table("", ONE, &[("1", &[])]);
    assert!(problems(&uneven).contains("rule 1 has 1 input and 0 output entries"));
    assert!(problems("").contains("there is no decision"));
    let mut chain = literal("d0", "1");
    for step in 1..100 {
        let _ = write!(
            chain,
            "<decision id='d{step}' name='d{step}'><informationRequirement><requiredDecision href='#d{}'/>\
             </informationRequirement><literalExpression><text>1</text></literalExpression></decision>",
            step - 1
        );
    }
    assert!(problems(&chain).contains("a chain of requirements is longer than 64"));
    let dtd = dmn::parse(b"<!DOCTYPE d [<!ENTITY a 'b'>]><d/>", &Limits::default()).expect_err("refused");
    assert!(dtd.to_string().contains("a document type declaration is not allowed"));
    assert!(dmn::parse(b"<process/>", &Limits::default()).is_err());
    let deep = format!("<decision id='a' name='a'>{}", "<context><contextEntry>".repeat(100));
    assert!(problems(&deep).contains("elements are nested deeper than 128"));
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

#[test]
fn broken_expressions_fail_when_they_are_evaluated() {
    let text = format!("{HEAD}{}{}</definitions>", literal("a", "1 +"), literal("b", "2"));
    let model = Parser::new(Limits::default()).tolerant().parse(text.as_bytes()).expect("a tolerant parser");
    assert_eq!(output(&model, "b", "{}"), "2");
    assert!(output(&model, "a", "{}").starts_with("failed to parse expression '1 +'"));
}

#[test]
fn item_definitions_bound_values_in_the_standard_dialect() {
    let body = "<itemDefinition name='tGrade'><typeRef>string</typeRef><allowedValues><text>\"A\", \"B\"</text></allowedValues>\
        </itemDefinition><itemDefinition name='tGrades' isCollection='true'><typeRef>tGrade</typeRef>\
        <typeConstraint><text>count(?) &lt; 3</text></typeConstraint></itemDefinition>\
        <itemDefinition name='tNode'><itemComponent name='value'><typeRef>tGrade</typeRef></itemComponent>\
        <itemComponent name='next'><typeRef>tNode</typeRef></itemComponent></itemDefinition>\
        <itemDefinition name='tSelf'><typeRef>tSelf</typeRef></itemDefinition>";
    let text = |kind: &str| {
        format!(
            "{body}<decision id='d' name='d'><variable name='d' typeRef='{kind}'/><informationRequirement>\
             <requiredInput href='#x'/></informationRequirement><literalExpression><text>x</text></literalExpression>\
             </decision><inputData id='x' name='x'/>"
        )
    };
    let standard = Environment { dialect: Dialect::Standard, ..Environment::default() };
    for (kind, json, expected) in [
        ("tGrade", "\"A\"", "\"A\""),
        ("tGrade", "\"C\"", "null"),
        ("tGrade", "[\"B\"]", "\"B\""),
        ("tGrades", "[\"A\",\"B\"]", "[\"A\",\"B\"]"),
        ("tGrades", "[\"A\",\"B\",\"A\"]", "null"),
        ("tGrades", "[\"A\",1]", "null"),
        ("tNode", r#"{"value":"A","next":null}"#, r#"{"value":"A","next":null}"#),
        (
            "tNode",
            r#"{"value":"A","next":{"value":"B","next":null}}"#,
            r#"{"value":"A","next":{"value":"B","next":null}}"#,
        ),
        ("tNode", r#"{"value":"A","next":{"value":"C","next":null}}"#, "null"),
        ("tNode", r#"{"value":"A"}"#, "null"),
        ("tSelf", "1", "null"),
    ] {
        let model = model(&text(kind));
        let evaluation =
            model.evaluate("d", &variables(&format!("{{\"x\":{json}}}")), &standard).expect("a value");
        assert_eq!(evaluation.output.to_json_string(), expected, "{kind} {json}");
    }
}

#[test]
fn boxed_expressions() {
    let boxed = |text: &str| model(&format!("<decision id='d' name='d'>{text}</decision>"));
    let one = |text: &str| format!("<literalExpression><text>{text}</text></literalExpression>");
    let context = format!(
        "<context><contextEntry><variable name='a'/>{}</contextEntry><contextEntry><variable name='b'/>{}</contextEntry></context>",
        one("x"),
        one("a + 1")
    );
    assert_eq!(output(&boxed(&context), "d", "{\"x\":1}"), r#"{"a":1,"b":2}"#);
    let result =
        context.replace("</context>", &format!("<contextEntry>{}</contextEntry></context>", one("a + b")));
    assert_eq!(output(&boxed(&result), "d", "{\"x\":1}"), "3");
    let list = format!("<list>{}{}</list>", one("x"), one("2"));
    assert_eq!(output(&boxed(&list), "d", "{\"x\":1}"), "[1,2]");
    let relation =
        format!("<relation><column name='a'/><row>{}</row><row>{}</row></relation>", one("1"), one("x"));
    assert_eq!(output(&boxed(&relation), "d", "{\"x\":2}"), r#"[{"a":1},{"a":2}]"#);
    let each = format!(
        "<for iteratorVariable='i'><in>{}</in><return>{}</return></for>",
        one("x"),
        one("i * i + count(partial)")
    );
    assert_eq!(output(&boxed(&each), "d", "{\"x\":[1,2,3]}"), "[1,5,11]");
    let filter = format!("<filter><in>{}</in><match>{}</match></filter>", one("x"), one("item.n > 1"));
    assert_eq!(output(&boxed(&filter), "d", r#"{"x":[{"n":1},{"n":2}]}"#), r#"[{"n":2}]"#);
    let every = format!(
        "<every iteratorVariable='i'><in>{}</in><satisfies>{}</satisfies></every>",
        one("x"),
        one("i > 1")
    );
    assert_eq!(output(&boxed(&every), "d", "{\"x\":[2,3]}"), "true");
    assert_eq!(output(&boxed(&every.replace("every", "some")), "d", "{\"x\":[0,1]}"), "false");
    let function = format!(
        "<context><contextEntry><variable name='f'/><functionDefinition><formalParameter name='n'/>{}</functionDefinition>\
         </contextEntry><contextEntry>{}</contextEntry></context>",
        one("n + x"),
        one("f(2)")
    );
    assert_eq!(output(&boxed(&function), "d", "{\"x\":5}"), "7");
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
fn imports_and_services() {
    let base = model(
        "<decision id='rate' name='rate'><variable name='rate'/><literalExpression><text>x / 100</text></literalExpression></decision>",
    );
    let text = format!(
        "{}<import namespace='ns' name='base' importType='https://www.omg.org/spec/DMN/20191111/MODEL/'/>\
         <decision id='fee' name='fee'><variable name='fee'/><informationRequirement><requiredDecision href='ns#rate'/>\
         </informationRequirement><literalExpression><text>base.rate * 1000</text></literalExpression></decision>\
         <inputData id='x' name='x'/><decisionService id='s' name='service'><outputDecision href='#fee'/>\
         <inputData href='#x'/></decisionService></definitions>",
        HEAD.replace("namespace='ns'", "namespace='other'")
    );
    assert!(dmn::parse(text.as_bytes(), &Limits::default()).is_err());
    let model = Parser::new(Limits::default()).with_import(&base).parse(text.as_bytes()).expect("a model");
    assert_eq!(output(&model, "fee", "{\"x\":5}"), "50");
    let service = model.services().next().expect("a service");
    assert_eq!((service.parameters.as_slice(), service.outputs.as_slice()), (&["x"][..], &["fee"][..]));
    let evaluation =
        model.evaluate_service("s", &variables("{\"x\":7}"), &Environment::default()).expect("a value");
    assert_eq!(evaluation.output.to_json_string(), "70");
}

#[test]
fn the_longest_chain_is_evaluated() {
    let mut chain = literal("d1", "1");
    for step in 2..=Limits::default().max_requirement_depth {
        let below = step - 1;
        let _ = write!(
            chain,
            "<decision id='d{step}' name='d{step}'><informationRequirement><requiredDecision href='#d{below}'/>\
             </informationRequirement><context><contextEntry><literalExpression><text>d{below} + 1</text>\
             </literalExpression></contextEntry></context></decision>"
        );
    }
    let model = model(&chain);
    for dialect in [Dialect::Camunda, Dialect::Standard] {
        let model = model.clone();
        let environment = Environment { dialect, ..Environment::default() };
        let run =
            move || model.evaluate("d64", &(), &environment).map(|evaluation| evaluation.output.as_i64());
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread");
        assert_eq!(thread.join().expect("no panic").expect("a value"), Some(64));
    }
}

#[test]
fn tests_of_allowed_values_share_the_fuel() {
    let body = "<itemDefinition name='tSlow' isCollection='true'><typeRef>number</typeRef><allowedValues>\
        <text>count(for i in 1..10000 return i) &gt; ?</text></allowedValues></itemDefinition>\
        <decision id='d' name='d'><variable name='d' typeRef='tSlow'/><literalExpression>\
        <text>for i in 1..5000 return i</text></literalExpression></decision>";
    let limits = feel::Limits { fuel: 200_000, ..feel::Limits::default() };
    let environment = Environment { dialect: Dialect::Standard, limits, ..Environment::default() };
    let failure = model(body).evaluate("d", &(), &environment).expect_err("no fuel");
    assert!(failure.reason.contains("takes more than 200000 steps"), "{}", failure.reason);
}

#[test]
fn the_deepest_nesting_ends_on_a_small_stack() {
    let one = "<literalExpression><text>[1]</text></literalExpression>";
    let wraps: [(&str, String); 4] = [
        ("<context><contextEntry>", "</contextEntry></context>".to_owned()),
        ("<for iteratorVariable='i'><in>", format!("</in><return>{one}</return></for>")),
        ("<list>", "</list>".to_owned()),
        ("<relation><column name='a'/><row>", "</row></relation>".to_owned()),
    ];
    for (open, close) in &wraps {
        let levels = 120 / open.matches('<').count().min(2);
        for depth in [levels, levels / 2] {
            // A function that calls itself with what it was handed, at the bottom of the nesting.
            let nested = format!(
                "<businessKnowledgeModel id='k' name='again'><encapsulatedLogic><formalParameter name='f'/>{}\
                 <literalExpression><text>[f(f)]</text></literalExpression>{}</encapsulatedLogic></businessKnowledgeModel>\
                 <decision id='d' name='d'><knowledgeRequirement><requiredKnowledge href='#k'/></knowledgeRequirement>\
                 <literalExpression><text>again(again)</text></literalExpression></decision>",
                open.repeat(depth),
                close.repeat(depth)
            );
            let run = move || {
                let Ok(model) = parse(&nested) else { return false };
                for dialect in [Dialect::Camunda, Dialect::Standard] {
                    let environment = Environment { dialect, ..Environment::default() };
                    let _ = model.evaluate("d", &(), &environment);
                }
                true
            };
            let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread");
            let parsed = thread.join().expect("no panic");
            assert!(parsed || depth == levels, "{open}");
        }
    }
}

#[test]
fn models_may_have_other_encodings() {
    let text = format!("{HEAD}{}</definitions>", literal("d", "&quot;größe&quot;"));
    let utf16 = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
    };
    let latin = format!("<?xml version='1.0' encoding='ISO-8859-1'?>{text}");
    let latin: Vec<u8> = latin.chars().map(|letter| letter as u8).collect();
    for file in [utf16([0xFE, 0xFF], u16::to_be_bytes), utf16([0xFF, 0xFE], u16::to_le_bytes), latin] {
        let model = dmn::parse(&file, &Limits::default()).expect("a model");
        assert_eq!(output(&model, "d", "{}"), "\"größe\"");
    }
    let problems = dmn::parse(b"<?xml version='1.0' encoding='EBCDIC'?><a/>", &Limits::default());
    let problems = problems.expect_err("refused").to_string();
    assert_eq!(problems, "the encoding 'ebcdic' is not supported, use UTF-8");
    let problems = dmn::parse(b"<a>\xFF</a>", &Limits::default()).expect_err("refused").to_string();
    assert_eq!(problems, "the file is not valid UTF-8 at byte 3");
    let small = Limits { max_bytes: 3, ..Limits::default() };
    let problems = dmn::parse(b"<a/>", &small).expect_err("refused").to_string();
    assert_eq!(problems, "the file has 4 bytes, more than 3");
}
