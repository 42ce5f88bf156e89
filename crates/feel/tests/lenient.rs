//! Arguments that the reference takes beyond the standard.

use feel::{Dialect, Environment, Expression, Value};

fn evaluate(call: &str, dialect: Dialect) -> Option<String> {
    let environment = Environment { dialect, ..Environment::default() };
    let expression = Expression::parse(call).unwrap_or_else(|error| panic!("{call}: {error}"));
    let value = expression.evaluate(&(), &environment).map(|evaluation| evaluation.value);
    let value = value.unwrap_or_else(|error| panic!("{call}: {}", error.message));
    (value != Value::Null).then(|| value.to_json_string())
}

#[track_caller]
fn check(call: &str, lenient: &str, strict: Option<&str>) {
    assert_eq!(evaluate(call, Dialect::Camunda).as_deref(), Some(lenient), "{call}");
    assert_eq!(evaluate(call, Dialect::Standard).as_deref(), strict, "{call}");
}

#[test]
fn positions_beyond_the_end_are_taken() {
    check("insert before([1, 2], 4, 3)", "[1,2,3]", None);
    check("insert before([], 9, 3)", "[3]", None);
    check("insert before([1, 2], 3, 3)", "[1,2,3]", Some("[1,2,3]"));
    check("remove([1, 2], 3)", "[1,2]", None);
    check("remove([], 1)", "[]", None);
    check("remove([1, 2], -1)", "[1]", Some("[1]"));
    for beyond in
        ["insert before([1], 0, 2)", "insert before([1], -3, 2)", "remove([1], 0)", "remove([1], -2)"]
    {
        assert_eq!(evaluate(beyond, Dialect::Camunda), None, "{beyond}");
    }
}

#[test]
fn items_count_as_lists_of_one() {
    check("concatenate([1], 2)", "[1,2]", None);
    check("concatenate(\"a\", \"b\")", r#"["a","b"]"#, None);
    check("concatenate([1], [2], {a: 3})", r#"[1,2,{"a":3}]"#, None);
    check("concatenate([1], [2, 3])", "[1,2,3]", Some("[1,2,3]"));
}

#[test]
fn unknown_flags_of_patterns_are_passed_over() {
    check("matches(\"Foo\", \"foo\", \"iq\")", "true", None);
    check("matches(\"Foo\", \"foo\", \"q\")", "false", None);
    check("matches(\"Foo\", \"foo\", \"i\")", "true", Some("true"));
}
