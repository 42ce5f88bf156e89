//! Time of a decision: a table of five rules and two inputs (target: 3 µs), the same table with one
//! hundred rules, and a chain of three decisions, all from raw JSON.

use criterion::{Criterion, criterion_group, criterion_main};
use feel::{Environment, Value, Variables};
use std::fmt::Write;
use std::hint::black_box;

/// Variables as a process instance stores them.
struct Document(Value);

impl Variables for Document {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.as_context()?.get(name)
    }
}

fn table(rules: usize) -> String {
    let mut text = String::new();
    for rule in 0..rules {
        let (low, high) = (rule * 10, rule * 10 + 10);
        let _ = write!(
            text,
            "<rule id='r{rule}'><inputEntry><text>[{low}..{high})</text></inputEntry>\
             <inputEntry><text>\"gold\", \"silver\"</text></inputEntry>\
             <outputEntry><text>{rule} / 100</text></outputEntry></rule>"
        );
    }
    format!(
        "<decisionTable hitPolicy='FIRST'><input id='i1' label='Amount'><inputExpression><text>order.amount</text>\
         </inputExpression></input><input id='i2' label='Tier'><inputExpression><text>customer.tier</text>\
         </inputExpression></input><output id='o1' name='discount'/>{text}</decisionTable>"
    )
}

fn model(decisions: &str) -> dmn::DecisionRequirements {
    let text = format!(
        "<definitions xmlns='https://www.omg.org/spec/DMN/20191111/MODEL/' id='g' name='g' namespace='g'>{decisions}</definitions>"
    );
    dmn::parse(text.as_bytes(), &dmn::Limits::default()).expect("a model")
}

fn variables(amount: usize) -> Document {
    let json = format!(
        r#"{{"order":{{"id":"o-1","amount":{amount},"items":[1,2,3]}},"customer":{{"name":"Ann","tier":"silver"}}}}"#
    );
    Document(Value::from_json(json.into()).expect("JSON"))
}

fn tables(criterion: &mut Criterion) {
    let environment = Environment::default();
    for rules in [5, 100] {
        let model = model(&format!("<decision id='d' name='d'>{}</decision>", table(rules)));
        let variables = variables(rules * 10 - 1);
        criterion.bench_function(&format!("table of {rules} rules"), |bencher| {
            bencher.iter(|| model.evaluate(black_box("d"), &variables, &environment).expect("a value"));
        });
    }
    let chain = model(&format!(
        "<decision id='a' name='a'><variable name='a'/>{}</decision>\
         <decision id='b' name='b'><variable name='b'/><informationRequirement><requiredDecision href='#a'/>\
         </informationRequirement><literalExpression><text>a * order.amount</text></literalExpression></decision>\
         <decision id='c' name='c'><informationRequirement><requiredDecision href='#b'/></informationRequirement>\
         <literalExpression><text>if b > 1 then \"review\" else \"go\"</text></literalExpression></decision>",
        table(5)
    ));
    let variables = variables(49);
    criterion.bench_function("chain of three decisions", |bencher| {
        bencher.iter(|| chain.evaluate(black_box("c"), &variables, &environment).expect("a value"));
    });
}

criterion_group!(benches, tables);
criterion_main!(benches);
