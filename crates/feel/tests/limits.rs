//! No user input may exhaust the stack, the memory, or the time of a replica. Every case runs on a thread with a
//! small stack, smaller than that of the runtime's threads.

use feel::{Budget, Environment, EvaluationError, Expression, Limits, Value};
use std::collections::BTreeMap;

/// Half of the usual stack of a thread; debug builds use several times the stack of release builds.
const STACK_BYTES: usize = 1 << 20;

fn on_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(run)
        .expect("a thread")
        .join()
        .expect("neither panic nor overflow")
}

fn evaluate(text: &str) -> Result<Value, String> {
    let expression = Expression::parse(text).map_err(|error| error.message)?;
    match expression.evaluate(&(), &Environment::default()) {
        Ok(evaluation) => Ok(evaluation.value),
        Err(EvaluationError { message, .. }) => Err(message),
    }
}

#[track_caller]
fn check(text: String, expected: &str) {
    let outcome = on_small_stack(move || match evaluate(&text) {
        Ok(value) => value.to_json_string(),
        Err(message) => message,
    });
    assert!(outcome.contains(expected), "{}", &outcome[..outcome.len().min(300)]);
}

#[test]
fn deep_nesting_is_refused() {
    for open in
        ["(", "[", "{a:", "-", "not(", "if ", "count(", "a[", "function() ", "1 in ", "1 < ", "some x in "]
    {
        check(format!("{}1", open.repeat(200_000)), "nested too deeply");
    }
}

#[test]
fn nesting_up_to_the_bound_is_evaluated() {
    check(format!("{}1{}", "(".repeat(148), ")".repeat(148)), "1");
    check(format!("{}1{}", "[".repeat(148), "][1]".repeat(148)), "1");
    check(format!("{}1{}", "{a:".repeat(148), "}.a".repeat(148)), "1");
    check(format!("{}1{}", "abs(".repeat(148), ")".repeat(148)), "1");
    check(format!("{}1{}", "if true then (".repeat(49), ") else 2".repeat(49)), "1");
    check(format!("{}x", "for x in [1] return ".repeat(74)), "[[[");
    check(format!("1{}", " = 1".repeat(250)), "null");
}

#[test]
fn the_deepest_document_is_compared_searched_and_written() {
    let document = format!("{}1{}", "[{\\\"a\\\":".repeat(250), "}]".repeat(250));
    let read = format!("from json(\"{document}\")");
    check(format!("{read} = {read}"), "true");
    check(format!("count(distinct values([{read}, {read}]))"), "1");
    check(format!("list contains([{read}], {read})"), "true");
    check(format!("string length(to json({read})) > 1500"), "true");
    check(format!("string length(string({read})) > 1500"), "true");
    check(format!("count(flatten({read}))"), "1");
    check(read, "[{\"a\":[{");
    let too_deep = format!("from json(\"[{document}]\")");
    check(too_deep, "null");
}

#[test]
fn long_chains_are_evaluated() {
    check(format!("1{}", "+1".repeat(500_000)), "500001");
    check(format!("true{}", " and true".repeat(100_000)), "true");
    check(format!("a{}", ".a".repeat(500_000)), "null");
    check(format!("[1]{}", "[true]".repeat(100_000)), "[1]");
    check(format!("{}2", "if false then 1 else ".repeat(50_000)), "2");
    check(format!("[{}1][1]", "1,".repeat(500_000)), "1");
    check(format!("count([{}1])", "{a:1},".repeat(100_000)), "100001");
}

#[test]
fn recursion_ends() {
    check("{f: function(n) f(n + 1), r: f(0)}.r".to_owned(), "nested deeper than");
    check("{f: function(n) if n < 2 then n else f(n - 1) + f(n - 2), r: f(10)}.r".to_owned(), "55");
}

#[test]
fn values_cannot_grow_without_bound() {
    check("for i in 1..100000 return [partial]".to_owned(), "nested too deeply");
    check("for i in 1..100000 return function() partial".to_owned(), "nested");
    check("for i in 1..300 return if i = 1 then 1 else [partial[-1], partial[-1]]".to_owned(), "too large");
    check(
        "for i in 1..300 return if i = 1 then 1 else {a: partial[-1], b: partial[-1]}".to_owned(),
        "too large",
    );
    check("string(for i in 1..300 return if i = 1 then \"x\" else partial[-1] + partial[-1])".to_owned(), "");
    check("count(for i in 1..1000000 return i)".to_owned(), "1000000");
    check("count(for i in 1..100000000 return i)".to_owned(), "steps");
    check("(for i in 1..64 return if i = 1 then \"x\" else partial[-1] + partial[-1])[-1]".to_owned(), "");
    check(
        "count(for i in 1..40 return if i = 1 then [1] else concatenate(partial[-1], partial[-1]))"
            .to_owned(),
        "steps",
    );
    check("for i in 1..100000 return matches(\"a\", \"(a{50}){\" + string(i) + \"}\")".to_owned(), "steps");
    check(
        "for i in 1..100000 return matches(\"aaaaaaaaaaaaaaaaaaaaaaaa!\", \"^(a|aa)+(?=b)\")".to_owned(),
        "steps",
    );
    check("10 ** 1000000000".to_owned(), "null");
    check("matches(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\", \"^(a+)+(?=b)$\")".to_owned(), "");
}

#[test]
fn limits_are_those_given() {
    let expression = Expression::parse("count(for i in 1..1000 return i)").expect("an expression");
    let environment =
        Environment { limits: Limits { fuel: 100, ..Limits::default() }, ..Environment::default() };
    let error = expression.evaluate(&(), &environment).expect_err("too little fuel");
    assert!(error.message.contains("more than 100 steps"), "{}", error.message);
    let expression = Expression::parse("for i in 1..1000 return missing").expect("an expression");
    let evaluation = expression.evaluate(&(), &Environment::default()).expect("a value");
    assert_eq!(evaluation.warnings.len(), Limits::default().warnings);
}

#[test]
fn what_is_written_out_is_bounded() {
    let doubled = Expression::parse(
        "for i in 1..12 return if i = 1 then [1, \"text\", {a: 2.5}] else [partial[-1], partial[-1]]",
    );
    let value =
        doubled.expect("an expression").evaluate(&(), &Environment::default()).expect("a value").value;
    let whole = value.to_json_string();
    assert_eq!(value.to_json_within(whole.len()).as_deref(), Some(whole.as_bytes()));
    for bytes in [0, 1, 2, 10, 100, whole.len() - 1] {
        assert_eq!(value.to_json_within(bytes), None, "{bytes}");
    }
    let text = Value::string(&"x".repeat(1000));
    assert_eq!(text.to_json_within(1001), None);
    let json = text.to_json_within(1002).unwrap();
    assert_eq!((json.len(), json.capacity()), (1002, 1002), "no spare capacity");
}

#[test]
fn dropping_large_values_does_not_recurse_deeply() {
    check("count(for i in 1..400 return if i = 1 then [] else [partial[-1]])".to_owned(), "400");
}

/// Bytes that an evaluation takes, or nothing if they are not enough.
fn bytes_taken(text: &str, bytes: u64) -> Option<u64> {
    let environment = Environment { limits: Limits { bytes, ..Limits::default() }, ..Environment::default() };
    let mut budget = Budget::new(&environment);
    let expression = Expression::parse(text).expect("an expression");
    let list = format!("[{}1]", "\"abcdefgh\",{\"a\":[1]},2,".repeat(1_000));
    let entries: Vec<String> = (0..1_000).map(|n| format!("\"k{n}\":{n}")).collect();
    let object = format!("{{{},\"b\":1}}", entries.join(","));
    let variables: BTreeMap<String, Value> = [("list", list), ("object", object)]
        .map(|(name, json)| (name.to_owned(), Value::from_json(json.into()).expect("JSON")))
        .into();
    match expression.evaluate_within(None, &variables, &environment, &mut budget) {
        // The last read may take more than is left: then the next operation fails.
        Ok(_) => (budget.bytes > 0).then_some(bytes - budget.bytes),
        Err(error) => {
            assert_eq!(budget.bytes, 0, "{text}: {}", error.message);
            assert!(error.message.contains(&format!("more than {bytes} bytes")), "{}", error.message);
            None
        }
    }
}

const ITEM: u64 = size_of::<Value>() as u64;

#[test]
fn every_created_value_takes_bytes() {
    for (text, least) in [
        ("for i in 1..1000 return 1", 1_000 * ITEM),
        ("for i in 1..1000 return [i]", 1_000 * (ITEM + 128 + ITEM)),
        ("for i in 1..1000 return {a: i}", 1_000 * (ITEM + 192 + 40)),
        ("for i in 1..1000 return \"12345678\" + string(i)", 1_000 * (ITEM + 40)),
        ("for i in 1..1000 return function() i", 1_000 * (ITEM + 192)),
        ("for i in 1..1000 return [1..i]", 1_000 * (ITEM + 32)),
        (
            "for i in 1..1000 return date and time(\"2026-01-01T00:00:00Z\") + duration(\"PT1H\")",
            1_000 * (ITEM + 32),
        ),
        ("for i in 1..6 return partial", 6 * 128 + 15 * ITEM),
        ("list", 128),
        ("count(list)", 3_001 * ITEM + 1_000 * (32 + 8 + 192)),
        ("list[item = 2]", 1_000 * ITEM),
        ("object.b + object.k5", 40_000),
        ("get entries(object)", 1_000 * (192 + 40)),
        ("context put(object, \"x\", 1)", 40_000),
        ("context merge([object, object])", 80_000),
        ("split(string join(for i in 1..1000 return \"a b\", \" \"), \" \")", 2_000 * (ITEM + 32)),
        ("flatten(for i in 1..10 return list)", 10 * 3_001 * ITEM),
        ("concatenate(list, list)", 2 * 3_001 * ITEM),
        ("append(list, 1)", 3_002 * ITEM),
        ("sort(list, function(a, b) false)", 3_001 * ITEM),
        ("from json(to json(for i in 1..1000 return 1))", 2 * 2_000),
        ("replace(string join(for i in 1..1000 return \"a\"), \"a\", \"12345678\")", 8_000),
    ] {
        let taken = bytes_taken(text, 1 << 30).expect("enough");
        assert!((least..8 * least + 1_000_000).contains(&taken), "{text}: {taken} of {least}");
        assert_eq!(bytes_taken(text, taken - 1), None, "{text}");
        assert_eq!(bytes_taken(text, taken + 1), Some(taken), "{text}");
    }
}

#[test]
fn what_is_handed_on_takes_no_bytes_again() {
    let once = bytes_taken("count(list)", 1 << 30).unwrap();
    let often = bytes_taken("count(for i in 1..1000 return count(list))", 1 << 30).unwrap();
    assert!(often < once + 1_000 * 40 + 1_000, "{once} {often}");
    let text =
        "{t: string join(for i in 1..1000 return \"abcdefgh\"), n: count(for i in 1..1000 return [t][1])}.n";
    let taken = bytes_taken(text, 1 << 30).unwrap();
    assert!(taken < 300_000, "{taken}");
}

/// A value that is cheap to create and immense as JSON: nothing of it is written.
#[test]
fn what_is_too_long_is_not_written() {
    let mut value = Value::string(&"x".repeat(1_000));
    for _ in 0..60 {
        value = Value::list(vec![value.clone(), value]);
    }
    let began = std::time::Instant::now();
    for _ in 0..1_000 {
        assert_eq!(value.to_json_within(16 << 20), None);
    }
    assert!(began.elapsed().as_secs() < 1, "{:?}", began.elapsed());
    let twice = Value::context([
        ("a", Value::from(1)),
        ("a", Value::string(&"x".repeat(100))),
        ("a", Value::from(2)),
    ]);
    assert_eq!(
        twice.to_json_within(7).as_deref(),
        Some(&b"{\"a\":2}"[..]),
        "an overwritten entry is not counted"
    );
}
