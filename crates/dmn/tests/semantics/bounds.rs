//! Limits of an evaluation.

use crate::{literal, model, output, parse, standard};
use dmn::Limits;
use feel::{Dialect, Environment};
use std::fmt::Write;

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
    assert_eq!(output(&model, "d39", "{}"), "more than 1000 decisions would be evaluated");
    let evaluation = model.evaluate("d39", &(), &standard()).expect("each is evaluated once");
    assert_eq!(evaluation.evaluated_decisions.len(), 40);
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
