//! Types of results, parameters and item definitions.

use crate::{model, output, standard, variables};

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
fn every_type_of_feel_is_checked_under_its_name() {
    let typed = |kind: &str, text: &str| {
        model(&format!(
            "<decision id='d' name='d'><variable name='d' typeRef='{kind}'/><literalExpression><text>{text}</text></literalExpression></decision>"
        ))
    };
    for (kind, fitting) in [
        ("string", "\"a\""),
        ("number", "1"),
        ("boolean", "true"),
        ("date", "date(\"2026-01-01\")"),
        ("time", "time(\"10:00:00\")"),
        ("dateTime", "date and time(\"2026-01-01T10:00:00\")"),
        ("dayTimeDuration", "duration(\"PT1H\")"),
        ("yearMonthDuration", "duration(\"P1Y\")"),
    ] {
        for name in [kind.to_owned(), format!("feel:{kind}")] {
            let fits = output(&typed(&name, fitting), "d", "{}");
            assert!(!fits.starts_with("expected") && fits != "null", "{name}: {fits}");
            assert_eq!(output(&typed(&name, "[1]"), "d", "{}"), format!("expected '{kind}' but found '[1]'"));
            assert_eq!(output(&typed(&name, "null"), "d", "{}"), "null");
        }
    }
    // Other names say nothing, even where the standard has them.
    for name in ["Any", "context", "date and time", "days and time duration", "years and months duration"] {
        let model = typed(name, "[1]");
        assert_eq!(output(&model, "d", "{}"), "[1]", "{name}");
        let evaluation = model.evaluate("d", &(), &standard()).expect("a value");
        let expected = if name == "Any" { "[1]" } else { "null" };
        assert_eq!(evaluation.output.to_json_string(), expected, "{name}");
    }
}

#[test]
fn item_definitions_bound_nothing_otherwise() {
    let model = model(
        "<itemDefinition name='tGrade'><typeRef>string</typeRef><allowedValues><text>\"A\"</text></allowedValues></itemDefinition>\
         <decision id='d' name='d'><variable name='d' typeRef='tGrade'/><literalExpression typeRef='number'><text>x</text>\
         </literalExpression></decision>",
    );
    assert_eq!(output(&model, "d", "{\"x\":\"C\"}"), "\"C\"");
    assert_eq!(output(&model, "d", "{\"x\":1}"), "1");
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
            model.evaluate("d", &variables(&format!("{{\"x\":{json}}}")), &standard()).expect("a value");
        assert_eq!(evaluation.output.to_json_string(), expected, "{kind} {json}");
    }
}
