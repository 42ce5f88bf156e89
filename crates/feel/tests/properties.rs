//! Laws that hold for all inputs, and that no input makes the crate panic.

use fastnum::decimal::Context as DecimalContext;
use fastnum::{D512, decimal::RoundingMode};
use feel::{Environment, Expression, Limits, Number, Value};
use proptest::prelude::*;

fn environment() -> Environment {
    // Soup may loop; it need not loop long.
    Environment { limits: Limits { fuel: 20_000, ..Limits::default() }, ..Environment::default() }
}

/// Numbers of all sizes that the precision holds exactly.
fn number() -> impl Strategy<Value = Number> {
    let coefficient = prop_oneof![
        -1_000i128..1_000,
        any::<i64>().prop_map(i128::from),
        -9_999_999_999_999_999_999_999_999_999_999_999i128..=9_999_999_999_999_999_999_999_999_999_999_999,
    ];
    (coefficient, prop_oneof![Just(0), 0..6, -40..60])
        .prop_map(|(coefficient, scale)| Number::from_parts(coefficient, scale).expect("within the range"))
}

/// A number with far more digits of precision than any of our operations need.
fn exact(number: Number) -> D512 {
    let context = DecimalContext::default().with_rounding_mode(RoundingMode::HalfEven);
    D512::from_str(&number.to_string(), context).expect("a number")
}

/// The exact result rounded once to 34 digits.
fn rounded(value: D512) -> Number {
    Number::parse(&value.to_string()).expect("a number")
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        (-1.0e15..1.0e15).prop_map(serde_json::Value::from),
        ".*".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..20)
                .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// A copy of a value that was built, not read: nothing in it is raw JSON.
fn rebuilt(value: &Value) -> Value {
    match value {
        Value::List(list) => Value::list(list.iter().map(rebuilt).collect()),
        Value::Context(context) => {
            Value::context(context.iter().map(|(key, value)| (key.clone(), rebuilt(value))))
        }
        other => other.clone(),
    }
}

fn soup() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "1",
        "2.5",
        ".5",
        "x",
        "y.z",
        "\"a\"",
        "\"",
        "@\"2024-01-01\"",
        "@\"PT1H\"",
        "null",
        "true",
        "false",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "a:",
        ",",
        ".",
        "..",
        "+",
        "-",
        "*",
        "/",
        "**",
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "if",
        "then",
        "else",
        "for",
        "in",
        "return",
        "some",
        "every",
        "satisfies",
        "and",
        "or",
        "not",
        "between",
        "instance of",
        "number",
        "function(x)",
        "?",
        "item",
        "partial",
        "count(",
        "sort(",
        "date(",
        "date and time(",
        "string(",
        "substring(",
        "replace(",
        "matches(",
        "split(",
        "get value(",
        "context put(",
        "modulo(",
        "decimal(",
        "sublist(",
        "insert before(",
        "flatten(",
        "`a b`",
        "/*",
        "*/",
        "//",
        "\n",
        "€",
        "😀",
        "1..3",
        "cellInput",
        "time offset",
        "round up(",
        "duration(",
        "overlaps(",
        "list replace(",
        "\\",
        "0",
        "-1",
        "99999999999999999999",
        "x[",
        "1)",
    ];
    prop::collection::vec(prop::sample::select(WORDS), 0..24).prop_map(|words| words.join(" "))
}

fn run(text: &str) {
    let variables = Value::from_json(r#"{"x":[1,{"a":2}],"y":{"z":"text"}}"#.into()).expect("JSON");
    let variables = variables.as_context().expect("an object");
    if let Ok(expression) = Expression::parse(text)
        && let Ok(evaluation) = expression.evaluate(variables, &environment())
    {
        let again = expression.evaluate(variables, &environment()).expect("the same as before");
        assert_eq!(evaluation.value.to_json_string(), again.value.to_json_string());
        let written = evaluation.value.to_json_string();
        Value::from_json(written.clone().into()).unwrap_or_else(|error| panic!("{text}: {written}: {error}"));
    }
    if let Ok(tests) = Expression::parse_unary_tests(text)
        && let Ok(evaluation) = tests.evaluate_unary(&Value::from(3i64), variables, &environment())
    {
        assert!(matches!(evaluation.value, Value::Bool(_) | Value::Null), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn arithmetic_is_exact_and_rounded_once(left in number(), right in number()) {
        let (a, b) = (exact(left), exact(right));
        prop_assert_eq!(left.plus(right).expect("in range"), rounded(a + b));
        prop_assert_eq!(left.minus(right).expect("in range"), rounded(a - b));
        prop_assert_eq!(left.times(right).expect("in range"), rounded(a * b));
        if right.is_zero() {
            prop_assert!(left.divided_by(right).is_none());
        } else {
            prop_assert_eq!(left.divided_by(right).expect("in range"), rounded(a / b));
        }
        prop_assert_eq!(left.cmp(&right), a.partial_cmp(&b).expect("numbers"));
    }

    #[test]
    fn arithmetic_obeys_its_laws(left in number(), right in number()) {
        prop_assert_eq!(left.plus(right), right.plus(left));
        prop_assert_eq!(left.times(right), right.times(left));
        prop_assert_eq!(left.minus(right).map(Number::negated), right.minus(left));
        prop_assert_eq!(left.plus(Number::ZERO), Some(left));
        prop_assert_eq!(left.times(Number::ONE), Some(left));
        prop_assert_eq!(left.negated().negated(), left);
        if let Some(remainder) = left.modulo(right) {
            prop_assert!(remainder.is_zero() || remainder.is_negative() == right.is_negative());
        }
    }

    #[test]
    fn numbers_survive_their_text(number in number()) {
        let text = number.to_string();
        prop_assert_eq!(Number::parse(&text), Some(number), "{}", text);
        let expression = Expression::parse(&text).expect("a literal");
        let value = expression.evaluate(&(), &Environment::default()).expect("a value").value;
        prop_assert_eq!(value.as_number(), Some(number));
    }

    #[test]
    fn doubles_survive(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
        let number = Number::from_f64(value).expect("finite");
        prop_assert_eq!(number.to_f64().to_bits(), (value + 0.0).to_bits());
    }

    #[test]
    fn json_survives(document in json()) {
        let text = document.to_string();
        let value = Value::from_json(text.clone().into()).expect("JSON");
        // Scalars are read at once, the others are kept as they are.
        if document.is_array() || document.is_object() {
            prop_assert_eq!(value.to_json_string(), text);
        }
        let copy = rebuilt(&value);
        let written = copy.to_json_string();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&written).is_ok());
        let read = Value::from_json(written.clone().into()).expect("JSON");
        prop_assert_eq!(rebuilt(&read).to_json_string(), written);
        prop_assert_eq!(copy, value);
    }

    #[test]
    fn strings_survive_quoting(text in ".*") {
        let quoted = Value::from(text.as_str()).to_json_string();
        let value = Value::from_json(quoted.into()).expect("JSON");
        prop_assert_eq!(value.as_str(), Some(text.as_str()));
    }

    #[test]
    fn days_run_on(days in -400_000_000i64..400_000_000, months in -5_000i64..5_000) {
        let date = feel::Date::from_epoch_days(days).expect("in range");
        prop_assert_eq!(date.epoch_days(), days);
        prop_assert_eq!(feel::Date::parse(&date.to_string()), Some(date));
        let moved = date.plus_months(months).expect("in range");
        let distance = i64::from(moved.year() - date.year()) * 12 + i64::from(moved.month()) - i64::from(date.month());
        prop_assert_eq!(distance, months);
    }

    #[test]
    fn token_soup_never_panics(text in soup()) {
        run(&text);
    }

    #[test]
    fn any_text_never_panics(text in ".{0,60}") {
        run(&text);
    }

    #[test]
    fn broken_json_never_panics(text in "[\\[\\]{}:,\"\\\\a-e0-9 .-]{0,40}") {
        let value = Value::from_json_lazy(text.into());
        let _ = rebuilt(&value).to_json_string();
    }
}

proptest! {
    /// Tests against literals are short-cut in larger computations; the way must not matter.
    #[test]
    fn tests_of_literals_are_the_same_either_way(
        input in -5i64..15,
        as_text in any::<bool>(),
        test in prop::sample::select(vec![
            "5", "< 5", "<= 5", "> 5", ">= 5", "[1..5]", "(1..5)", "[5..1]", "1, 5, 9", "not(1, 5)", "not([2..4])",
            "not(> 5)", "\"5\"", "< \"5\"", "[\"1\"..\"5\"]", "not(\"1\", \"3\")", "1, \"5\"", "[1..\"5\"]", "-1", "null",
        ]),
    ) {
        let input = if as_text { Value::from(input.to_string()) } else { Value::from(input) };
        let tests = Expression::parse_unary_tests(test).expect("unary tests");
        let environment = Environment::default();
        let mut budget = feel::Budget::new(&environment);
        let short = tests.evaluate_within(Some(&input), &(), &environment, &mut budget).map(|found| found.value);
        let long = tests.evaluate_unary(&input, &(), &environment).map(|found| found.value);
        prop_assert_eq!(short, long);
    }
}
