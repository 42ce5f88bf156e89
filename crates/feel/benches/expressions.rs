//! The most frequent expressions of the engine. Targets: a simple condition within 100 ns, two paths into raw JSON
//! within 400 ns, a sum of products over ten items within 5 µs.

use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use feel::{Environment, Expression, Value, Variables};
use std::hint::black_box;

/// Variables as the engine keeps them: raw JSON, read when asked for.
struct Raw(Vec<(&'static str, Bytes)>);

impl Variables for Raw {
    fn get(&self, name: &str) -> Option<Value> {
        let (_, bytes) = self.0.iter().find(|(candidate, _)| *candidate == name)?;
        Some(Value::from_json_lazy(bytes.clone()))
    }
}

fn variables() -> Raw {
    let items: Vec<String> = (1..=10)
        .map(|index| format!(r#"{{"sku":"item-{index}","price":{index}.50,"quantity":{index}}}"#))
        .collect();
    let order = format!(r#"{{"id":"o-1","total":250.75,"items":[{}]}}"#, items.join(","));
    let items = format!("[{}]", items.join(","));
    Raw(vec![
        ("x", Bytes::from_static(b"12")),
        ("order", Bytes::from(order)),
        ("customer", Bytes::from_static(br#"{"name":"Ada","vip":true,"since":2019}"#)),
        ("items", Bytes::from(items)),
    ])
}

fn expressions(criterion: &mut Criterion) {
    let variables = variables();
    let environment = Environment::default();
    for (name, text) in [
        ("condition", "x > 10"),
        ("paths", "order.total > 100 and customer.vip"),
        ("sum", "sum(for i in items return i.price * i.quantity)"),
        ("filter", "count(order.items[price > 5])"),
        ("decimals", "1 / 3 * 7.25 + 12.5"),
        ("dates", r#"date("2024-05-06") + duration("P1M") < today()"#),
    ] {
        let expression = Expression::parse(text).expect("an expression");
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| expression.evaluate(black_box(&variables), &environment));
        });
    }
    criterion.bench_function("parse", |bencher| {
        bencher.iter(|| Expression::parse(black_box("order.total > 100 and customer.vip")));
    });
}

criterion_group!(benches, expressions);
criterion_main!(benches);
