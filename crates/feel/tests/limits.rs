//! Nothing that a user writes may exhaust the stack, the memory, or the patience of a replica.
//! Every case runs on a thread with a small stack, smaller than that of the runtime's threads.

use feel::{Environment, EvaluationError, Expression, Limits, Value};

/// Half of what threads usually get; debug builds use several times the stack of release builds.
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
    assert_eq!(text.to_json_within(1002).map(|json| json.len()), Some(1002));
}

#[test]
fn dropping_large_values_does_not_recurse_deeply() {
    check("count(for i in 1..400 return if i = 1 then [] else [partial[-1]])".to_owned(), "400");
}
