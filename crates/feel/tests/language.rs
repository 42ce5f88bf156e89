//! Behaviour beyond the published cases: JSON of values, dialects, names, host functions and types, and reads of the
//! environment.

use feel::{
    Caller, Date, Dialect, Environment, Expression, Function, NativeFunction, Types, Value, Variables,
    WarningKind,
};
use std::cell::RefCell;
use std::sync::Arc;

fn evaluate_in(dialect: Dialect, text: &str, variables: &str) -> String {
    let expression = match Expression::parse(text) {
        Ok(expression) => expression,
        Err(error) => return error.to_string(),
    };
    let variables = Value::from_json(variables.to_owned().into()).expect("JSON");
    let variables = variables.as_context().expect("an object");
    let environment = Environment { dialect, now_ms: 1_700_000_000_123, ..Environment::default() };
    match expression.evaluate(variables, &environment) {
        Ok(evaluation) => evaluation.value.to_json_string(),
        Err(error) => error.message,
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(
        evaluate_in(Dialect::Camunda, text, r#"{"a":{"b":[1,2]},"d":2.50,"e":1e2}"#),
        expected,
        "{text}"
    );
}

#[track_caller]
fn check_dialects(text: &str, camunda: &str, standard: &str) {
    assert_eq!(evaluate_in(Dialect::Camunda, text, "{}"), camunda, "{text} as Camunda reads it");
    assert_eq!(evaluate_in(Dialect::Standard, text, "{}"), standard, "{text} by the standard");
}

#[test]
fn values_leave_in_the_forms_that_clients_know() {
    check("duration(\"PT36H\")", r#""P1DT12H""#);
    check("duration(\"P14M\")", r#""P1Y2M""#);
    check("duration(\"PT0.5S\")", r#""PT0.5S""#);
    check("date and time(\"2030-01-01T00:00:00Z\")", r#""2030-01-01T00:00:00Z""#);
    check("date and time(\"2024-02-29T10:00\")", r#""2024-02-29T10:00:00""#);
    check("[date and time(\"2024-02-29T10:00:00.5\")]", r#"["2024-02-29T10:00:00.5"]"#);
    check(
        "date and time(\"2030-07-01T10:00:05@Europe/Berlin\")",
        r#""2030-07-01T10:00:05+02:00[Europe/Berlin]""#,
    );
    check("time(\"10:30:00\")", r#""10:30""#);
    check("[time(\"10:11\"), time(\"10:30:01\")]", r#"["10:11","10:30:01"]"#);
    check("string(time(\"10:11\"))", r#""10:11:00""#);
    check("time(\"10:30:00+01:00\")", r#""10:30:00+01:00""#);
    check("[1..2]", "null");
    check("function(x) x", "null");
    check("9223372036854775807 + 1", "9223372036854775808");
    check("[1.50, 2 / 4, 10 / 5, 1 / 3]", "[1.5,0.5,2,0.3333333333333333]");
    check("{b: \"\\\"\\n\", a: null}", r#"{"b":"\"\n","a":null}"#);
    check("[a, a.b, d]", r#"[{"b":[1,2]},[1,2],2.5]"#);
}

#[test]
fn variables_of_times_have_no_zero_seconds() {
    let times = r#"{d: date and time("2024-02-29T10:00:00"), z: [date and time("2024-02-29T10:00:00Z")],
                    t: time("10:00:00"), s: time("10:00:01")}"#;
    let expression = Expression::parse(times).unwrap();
    let value = expression.evaluate(&(), &Environment::default()).unwrap().value;
    for (dialect, time) in [(Dialect::Camunda, "10:00"), (Dialect::Standard, "10:00:00")] {
        let found = value.to_json_in(dialect, usize::MAX).unwrap();
        let expected = format!(
            r#"{{"d":"2024-02-29T10:00:00","z":["2024-02-29T10:00:00Z"],"t":"{time}","s":"10:00:01"}}"#
        );
        assert_eq!(String::from_utf8(found).unwrap(), expected);
    }
}

#[test]
fn numbers_keep_their_digits_on_the_way_through() {
    let through = |dialect: Dialect, number: &str| {
        let variables = Value::from_json(format!(r#"{{"v":{number}}}"#).into()).unwrap();
        let environment = Environment { dialect, ..Environment::default() };
        let evaluated =
            Expression::parse("[v]").unwrap().evaluate(variables.as_context().unwrap(), &environment);
        String::from_utf8(evaluated.unwrap().value.to_json_in(dialect, usize::MAX).unwrap()).unwrap()
    };
    for (number, expected) in [
        ("12345678901234567.89", "[12345678901234567.89]"),
        ("0.1234567890123456789", "[0.1234567890123456789]"),
        ("-98765432109876543210.123456789", "[-98765432109876543210.123456789]"),
        ("1.10", "[1.1]"),
        ("1.0", "[1]"),
        ("1e2", "[100]"),
        ("-0.0", "[0]"),
        ("89014103211118510721", "[89014103211118510721]"),
        ("1e50", "[1e50]"),
        ("0.000000000000000000000000000001", "[0.000000000000000000000000000001]"),
    ] {
        assert_eq!(through(Dialect::Camunda, number), expected, "{number}");
    }
    check("[1 / 3, 2 / 3, 10 / 3]", "[0.3333333333333333,0.6666666666666666,3.3333333333333335]");
}

#[test]
fn numbers_beyond_64_bits_are_never_cut_to_them() {
    check("duration(\"P1M\") * 10 ** 30", "null");
    check("for i in 10 ** 19 .. 10 ** 19 + 2 return i", "null");
    check("cycle(10 ** 20, duration(\"PT1S\"))", r#""R100000000000000000000/PT1S""#);
    check("cycle(2.9, duration(\"PT1S\"))", r#""R2/PT1S""#);
}

#[test]
fn texts_keep_the_digits_that_decimals_have() {
    check("string(decimal(10, 2))", r#""10.00""#);
    check("string(d)", r#""2.5""#);
    check("string(e)", r#""100.0""#);
    check("string(1.10 + 2)", r#""3.10""#);
    check("string([1, \"a\", null, {k: \"v\"}])", r#""[1, \"a\", null, {k:\"v\"}]""#);
    check("string(10 ** 20)", r#""100000000000000000000""#);
}

#[test]
fn oddities_of_the_reference() {
    check_dialects("-duration(\"PT1H\")", "null", r#""-PT1H""#);
    check_dialects("string length(\"😀\")", "2", "1");
    check_dialects("5[1]", "null", "5");
    check_dialects("for i in 7 return i", "null", "[7]");
    check_dialects("upper case([\"a\"])", "null", r#""A""#);
    check_dialects("duration(\"P1Y\") / duration(\"P5M\")", "2", "2.4");
    check_dialects("duration(\"PT1H\") * 2.5", r#""PT2H""#, r#""PT2H30M""#);
    check_dialects("{a: 1, a: 2}", r#"{"a":2}"#, "null");
    check_dialects("@\"2020-01-01T00:00:00Z\" = @\"2020-01-01T01:00:00+01:00\"", "false", "true");
    check_dialects(
        "substring(\"abc\", 9)",
        "failed to evaluate expression 'substring(\"abc\", 9)': position 9 is outside of a text of 3 characters",
        "null",
    );
    check_dialects(
        "[1] < [2]",
        "failed to evaluate expression '[1] < [2]': Can't compare '[1]' with '[2]'",
        "null",
    );
    check("3 in not(1, 2)", "false");
    check("split(\"abc\", \"\")", r#"["a","b","c",""]"#);
    check("null between 1 and 2", "null");
}

#[test]
fn timer_functions_of_processes() {
    check("cycle(duration(\"PT1H\"))", r#""R/PT1H""#);
    check("cycle(3, duration(\"PT1H\"))", r#""R3/PT1H""#);
    check("cycle(null, duration(\"P1M\"))", r#""R/P1M""#);
    check("now()", r#""2023-11-14T22:13:20.123Z""#);
    check("today()", r#""2023-11-14""#);
}

#[test]
fn scopes_of_names() {
    check("{f: function(n) if n < 2 then 1 else n * f(n - 1), r: f(10)}.r", "3628800");
    check("(function(x) function(y) x + y)(1)(2)", "3");
    check("{k: 3, r: (for x in [1, 2] return (function(y) x * y + k)(10))}.r", "[13,23]");
    check("for x in [[1, 2], [3]], y in x return y", "[1,2,3]");
    check("[{x: 1}, {x: 5}][x > 3 and item.x = 5][1].x", "5");
    check("sort([3, 1, 2], function(l, r) l > r)", "[3,2,1]");
    check("{item: 7, r: [1, 2][item > 1]}.r", "[2]");
    check("if 1 > 2 then \"a\" else if 2 > 1 then \"b\" else \"c\"", r#""b""#);
    check("sum(n: 1)", "null");
}

#[test]
fn names_that_the_caller_knows_need_no_back_ticks() {
    let names = ["Applicant Name", "Loan-To-Value", "Applicant"];
    let text = "Applicant Name + \"/\" + string(loan.Loan-To-Value - 1)";
    let expression = Expression::parse_with_names(text, &names).expect("an expression");
    let variables =
        Value::from_json(r#"{"Applicant Name":"Ada","loan":{"Loan-To-Value":3}}"#.into()).expect("JSON");
    let evaluation = expression
        .evaluate(variables.as_context().expect("an object"), &Environment::default())
        .expect("a value");
    assert_eq!(evaluation.value.as_str(), Some("Ada/2"));
    assert_eq!(evaluation.warnings, []);
}

/// Records the requested names.
struct Noting(RefCell<Vec<String>>);

impl Variables for Noting {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.borrow_mut().push(name.to_owned());
        Some(Value::from(1))
    }
}

#[test]
fn variables_are_asked_for_once_and_only_when_read() {
    let variables = Noting(RefCell::default());
    let expression =
        Expression::parse("if a = 1 then (for i in 1..3 return a + b) else c").expect("an expression");
    expression.evaluate(&variables, &Environment::default()).expect("a value");
    assert_eq!(*variables.0.borrow(), ["a", "b"]);
    let names: Vec<&str> = expression.variables().iter().map(|name| &**name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn the_variables_of_an_expression_come_from_outside() {
    for (text, expected) in [
        ("{a: x, b: a + y.z}.b", &["x", "y"][..]),
        ("(function(p) p + q)(1)", &["q"]),
        ("sum(for i in l, j in 1..n return i * j * k)", &["l", "n", "k"]),
        ("some s in m satisfies s = t", &["m", "t"]),
        ("a.b + a.c + `d e`", &["a", "d e"]),
    ] {
        let expression = Expression::parse(text).expect("an expression");
        let names: Vec<&str> = expression.variables().iter().map(|name| &**name).collect();
        assert_eq!(names, expected, "{text}");
    }
}

#[test]
fn chance_comes_from_the_seed() {
    let expression = Expression::parse("[uuid(), random number(), random number()]").expect("an expression");
    let run = |seed| {
        let environment = Environment { seed, now_ms: 1_700_000_000_000, ..Environment::default() };
        expression.evaluate(&(), &environment).expect("a value").value
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let drawn = run(1);
    let items = drawn.as_list().expect("a list").items();
    let uuid = items[0].as_str().expect("a text");
    assert_eq!((&uuid[..14], uuid.len()), ("018bcfe5-6800-", 36));
    assert_eq!(&uuid[14..15], "7");
    assert_ne!(items[1], items[2]);
}

struct Twice;

impl NativeFunction for Twice {
    fn call(&self, arguments: &[Value], _: Caller<'_>) -> Result<Value, String> {
        let number = arguments[0].as_number().ok_or("twice of what?")?;
        number.plus(number).map(Value::from).ok_or_else(|| "too large".to_owned())
    }
}

#[test]
fn functions_of_the_host() {
    let twice = Value::Function(Function::native(vec![Arc::from("n")], Box::new(Twice)));
    let variables = Value::context([("twice it", twice)]);
    let run = |text: &str| {
        let expression = Expression::parse(text).expect("an expression");
        expression
            .evaluate(variables.as_context().expect("a context"), &Environment::default())
            .expect("a value")
    };
    assert_eq!(run("twice it(4)").value.as_i64(), Some(8));
    assert_eq!(run("twice it(n: 4.5)").value.as_i64(), Some(9));
    let refused = run("twice it(\"x\")");
    assert!(refused.value.is_null());
    assert_eq!(refused.warnings[0].kind, WarningKind::FunctionInvocationFailure);
}

#[derive(Debug)]
struct Short;

impl Types for Short {
    fn is_instance(&self, type_name: &str, value: &Value) -> bool {
        type_name == "short" && value.as_str().is_some_and(|text| text.len() < 3)
    }
}

#[test]
fn types_of_the_host() {
    let environment = Environment { types: Some(Arc::new(Short)), ..Environment::default() };
    let run = |text: &str| {
        let expression = Expression::parse(text).expect("an expression");
        expression.evaluate(&(), &environment).expect("a value").value.as_bool()
    };
    assert_eq!(run("\"ab\" instance of short"), Some(true));
    assert_eq!(run("\"abc\" instance of short"), Some(false));
    assert_eq!(run("[\"ab\"] instance of list<short>"), Some(true));
    assert_eq!(run("1 instance of long"), Some(false));
}

#[test]
fn accessors_give_what_the_host_works_with() {
    let value = |text: &str| {
        Expression::parse(text)
            .expect("an expression")
            .evaluate(&(), &Environment::default())
            .expect("a value")
            .value
    };
    assert_eq!(value("@\"PT90S\"").as_duration(), Some(jiff::SignedDuration::from_secs(90)));
    assert_eq!(
        value("@\"P14M\"").as_period().map(|span| (span.get_years(), span.get_months())),
        Some((1, 2))
    );
    assert_eq!(
        value("@\"1970-01-01T01:00:01+01:00\"").as_timestamp().map(jiff::Timestamp::as_second),
        Some(1)
    );
    assert!(value("@\"1970-01-01T01:00:01\"").as_timestamp().is_none());
    assert_eq!(value("@\"2024-02-29\"").as_date(), Date::parse("2024-02-29").and_then(Date::to_civil));
    assert_eq!(value("7.0").as_i64(), Some(7));
    assert_eq!(value("7.5").as_i64(), None);
}
