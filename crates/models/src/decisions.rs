//! Heavy decisions: wide or deep graphs and ladders; tables with many rules; recursive business knowledge models.

use std::fmt::Write as _;

use crate::Random;
use crate::expressions::{large, long};
use crate::text::escape;

/// A file with a decision `heavy`.
pub(crate) fn heavy(random: &mut Random, size: u64) -> String {
    let count = random.magnitude(60);
    let mut text = String::new();
    let knowledge = knowledge(random, &mut text);
    for number in 0..count {
        let name = format!("d{number}");
        decision(random, &mut text, &name, number, size, knowledge);
    }
    decision(random, &mut text, "heavy", count, size, knowledge);
    format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="hostile" name="hostile" namespace="hostile">{text}</definitions>"#
    )
}

/// Sometimes a chain of business knowledge models, each of which calls its predecessor twice. Returns their number.
fn knowledge(random: &mut Random, text: &mut String) -> u64 {
    let count = if random.percent(50) { 0 } else { random.magnitude(30) };
    for number in 0..count {
        let (required, body) = match number {
            0 => (String::new(), "n + 1".to_owned()),
            _ => (
                format!(
                    r##"<knowledgeRequirement><requiredKnowledge href="#k{}"/></knowledgeRequirement>"##,
                    number - 1
                ),
                format!("k{before}(n) + k{before}(n)", before = number - 1),
            ),
        };
        let _ = write!(
            text,
            r#"<businessKnowledgeModel id="k{number}" name="k{number}"><variable name="k{number}"/><encapsulatedLogic><formalParameter name="n"/><literalExpression><text>{body}</text></literalExpression></encapsulatedLogic>{required}</businessKnowledgeModel>"#
        );
    }
    count
}

/// A decision that may require those before it.
fn decision(random: &mut Random, text: &mut String, name: &str, before: u64, size: u64, knowledge: u64) {
    let required: Vec<u64> = match random.below(4) {
        _ if before == 0 => vec![],
        // A chain, a ladder, or all of them.
        0 => vec![before - 1],
        1 => (before.saturating_sub(2)..before).collect(),
        2 => (0..before).collect(),
        _ => vec![random.below(before)],
    };
    let _ = write!(text, r#"<decision id="{name}" name="{name}"><variable name="{name}"/>"#);
    for number in &required {
        let _ = write!(
            text,
            r##"<informationRequirement><requiredDecision href="#d{number}"/></informationRequirement>"##
        );
    }
    if knowledge > 0 {
        let last = knowledge - 1;
        let _ = write!(
            text,
            r##"<knowledgeRequirement><requiredKnowledge href="#k{last}"/></knowledgeRequirement>"##
        );
    }
    let above = required.last().map(|number| format!("d{number}"));
    match random.below(5) {
        0 => table(random, text, above.as_deref().unwrap_or("r"), size),
        1 if knowledge > 0 => literal(text, &format!("k{}(1)", knowledge - 1)),
        2 => match &above {
            Some(above) => literal(text, &format!("[{above}, {above}]")),
            None => literal(text, &large(random, size)),
        },
        3 => literal(text, &large(random, size)),
        _ => literal(text, &long(random, size)),
    }
    text.push_str("</decision>");
}

fn literal(text: &mut String, expression: &str) {
    let _ = write!(text, "<literalExpression><text>{}</text></literalExpression>", escape(expression));
}

/// A table with many rules, many of which may match.
fn table(random: &mut Random, text: &mut String, input: &str, size: u64) {
    let policy = random.pick(&["FIRST", "COLLECT", "RULE ORDER", "COLLECT\" aggregation=\"SUM"]);
    let _ = write!(
        text,
        r#"<decisionTable hitPolicy="{policy}"><input id="i"><inputExpression><text>{input}</text></inputExpression></input><output id="o" name="o"/>"#
    );
    let output = escape(&large(random, size.min(1000)));
    let test = escape(random.pick(&["-", "not(1, 2)", "> 5", "? != null", "string(?) != 'x'"]));
    for number in 0..random.magnitude(400) {
        let _ = write!(
            text,
            r#"<rule id="r{number}"><inputEntry><text>{test}</text></inputEntry><outputEntry><text>{output}</text></outputEntry></rule>"#
        );
    }
    text.push_str("</decisionTable>");
}
