//! Files: their problems, and variants of the XML.

use crate::{HEAD, ONE, TWO, literal, model, output, problems, table};
use dmn::{Limits, Parser};
use std::fmt::Write;

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
        "'a': the ID is used more than once",
        "literalExpression of 'a': failed to parse expression '1 +'",
        "literalExpression of 'b': the expression is empty",
        "inputEntry of 'd': failed to parse expression '['",
        "hit policy 'COLLECT' with an aggregation is not defined for several outputs",
        "decision of 'a': the decision has no logic of a supported kind",
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
    let cycle = "<businessKnowledgeModel id='k' name='k'><encapsulatedLogic><literalExpression><text>l()</text></literalExpression>\
        </encapsulatedLogic><knowledgeRequirement><requiredKnowledge href='#l'/></knowledgeRequirement></businessKnowledgeModel>\
        <businessKnowledgeModel id='l' name='l'><encapsulatedLogic><literalExpression><text>k()</text></literalExpression>\
        </encapsulatedLogic><knowledgeRequirement><requiredKnowledge href='#k'/></knowledgeRequirement></businessKnowledgeModel>\
        <decision id='a' name='a'><literalExpression><text>1</text></literalExpression></decision>";
    assert!(problems(cycle).contains("'k': business knowledge models require each other in a cycle"));
    // An invocation is a requirement.
    let cycle = "<businessKnowledgeModel id='k' name='k'><encapsulatedLogic><invocation><literalExpression><text>k</text>\
        </literalExpression></invocation></encapsulatedLogic></businessKnowledgeModel>\
        <decision id='a' name='a'><literalExpression><text>1</text></literalExpression></decision>";
    assert!(problems(cycle).contains("'k': business knowledge models require each other in a cycle"));
    let unknown = "<decision id='a' name='a'><invocation><literalExpression><text>no</text></literalExpression></invocation></decision>";
    assert!(
        problems(unknown).contains("invocation of 'a': there is no business knowledge model 'no' to invoke")
    );
    let nothing = "<decision id='a' name='a'><invocation/></decision>";
    assert!(problems(nothing).contains("invocation of 'a': the called function is missing"));
    let unknown = "<decision id='a' name='a'><knowledgeRequirement><requiredKnowledge href='#no'/></knowledgeRequirement>\
        <literalExpression><text>1</text></literalExpression></decision>";
    assert!(problems(unknown).contains("'#no' is not an element of this model"));
    let language = "<decision id='a' name='a'><literalExpression expressionLanguage='juel'><text>1</text></literalExpression></decision>";
    assert!(problems(language).contains("expression language 'juel' is not supported"));
    let relation = "<decision id='a' name='a'><relation><column name='x'/><row/></relation></decision>";
    assert!(problems(relation).contains("row 1 has 0 cells, but the relation has 1 columns"));
    let nameless = table("", &["<output id='o'/>", "<output id='p' name='p'/>"], &[]);
    assert!(problems(&nameless).contains("no output name defined"));
    let empty = table("", ONE, &[("1", &[""])]);
    assert!(problems(&empty).contains("outputEntry of 'd': the expression is empty"));
    let empty = table("", ONE, &[("1", &["1"])]).replace("<text>x</text>", "<text> </text>");
    assert!(problems(&empty).contains("inputExpression of 'd': the expression is empty"));
    let uneven = table("", ONE, &[("1", &[])]);
    assert!(problems(&uneven).contains("rule 1 has 1 input and 0 output entries"));
    assert!(problems("").contains("the file has no decision"));
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
fn broken_expressions_fail_when_they_are_evaluated() {
    let text = format!("{HEAD}{}{}</definitions>", literal("a", "1 +"), literal("b", "2"));
    let model = Parser::new(Limits::default()).tolerant().parse(text.as_bytes()).expect("a tolerant parser");
    assert_eq!(output(&model, "b", "{}"), "2");
    assert!(output(&model, "a", "{}").starts_with("failed to parse expression '1 +'"));
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

#[test]
fn an_aggregation_is_of_one_output() {
    for aggregation in ["SUM", "MIN", "MAX", "COUNT"] {
        let attributes = format!("hitPolicy='COLLECT' aggregation='{aggregation}'");
        let text = problems(&table(&attributes, TWO, &[]));
        assert!(
            text.contains("hit policy 'COLLECT' with an aggregation is not defined for several outputs"),
            "{text}"
        );
    }
    for attributes in ["hitPolicy='LAST'", "hitPolicy='COLLECT' aggregation='MEAN'"] {
        assert!(problems(&table(attributes, ONE, &[])).contains("is not known"), "{attributes}");
    }
}

#[test]
fn expressions_are_feel_by_any_of_its_names() {
    let text = |language: &str| {
        literal("a", "1")
            .replace("<literalExpression>", &format!("<literalExpression expressionLanguage='{language}'>"))
    };
    for language in [
        "",
        "feel",
        "FEEL",
        "https://www.omg.org/spec/DMN/20191111/FEEL/",
        "http://www.omg.org/spec/FEEL/20140401",
    ] {
        assert_eq!(output(&model(&text(language)), "a", "{}"), "1", "{language}");
    }
    for language in ["juel", "javascript", "http://www.w3.org/1999/XPath"] {
        let expected = format!("literalExpression of 'a': expression language '{language}' is not supported");
        assert!(problems(&text(language)).contains(&expected), "{language}");
    }
}

#[test]
fn every_version_of_dmn_is_read() {
    const LATEST: &str = "https://www.omg.org/spec/DMN/20191111/MODEL/";
    let text = format!("{HEAD}{}</definitions>", literal("a", "1"));
    for namespace in [
        "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
        "http://www.omg.org/spec/DMN/20151101/dmn11.xsd",
        "http://www.omg.org/spec/DMN/20180521/MODEL/",
        "http://www.omg.org/spec/DMN/20191111/MODEL/",
        LATEST,
        "https://www.omg.org/spec/DMN/20211108/MODEL/",
        "https://www.omg.org/spec/DMN/20230324/MODEL/",
    ] {
        let model = dmn::parse(text.replace(LATEST, namespace).as_bytes(), &Limits::default());
        assert_eq!(output(&model.expect("a model"), "a", "{}"), "1", "{namespace}");
    }
    let other = text.replace(LATEST, "https://www.omg.org/spec/DMN/19700101/MODEL/");
    let problems = dmn::parse(other.as_bytes(), &Limits::default()).expect_err("refused").to_string();
    assert_eq!(problems, "the root element is not 'definitions' of DMN 1.1 to 1.5");
}

#[test]
fn what_does_not_bear_on_results_is_read_over() {
    let body = "<knowledgeSource id='law' name='law'/><decision id='a' name='a'><description>why</description>\
        <question>?</question><authorityRequirement><requiredAuthority href='#law'/></authorityRequirement>\
        <literalExpression><text>1</text></literalExpression></decision><textAnnotation id='t'><text>(</text></textAnnotation>\
        <dmndi:DMNDI xmlns:dmndi='https://www.omg.org/spec/DMN/20191111/DMNDI/'><dmndi:DMNDiagram/></dmndi:DMNDI>";
    assert_eq!(output(&model(body), "a", "{}"), "1");
}
