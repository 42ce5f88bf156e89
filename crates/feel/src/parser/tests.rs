use super::*;

fn outcome(text: &str) -> String {
    match parse(text, &[], false) {
        Ok(parsed) => parsed.variables.join(","),
        Err(error) => format!("{}:{} {}", error.line, error.column, error.message),
    }
}

#[test]
fn root_variables_leave_out_what_is_bound() {
    assert_eq!(outcome("a + b.c * a"), "a,b");
    assert_eq!(outcome("for x in xs return x + y"), "xs,y");
    assert_eq!(outcome("{a: 1, b: a + c}.b"), "c");
    assert_eq!(outcome("xs[item.price > limit]"), "xs,limit");
    assert_eq!(outcome("(function(n) n + m)(k)"), "m,k");
    assert_eq!(outcome("some x in xs satisfies count(ys) > x"), "xs,ys");
}

#[test]
fn errors_say_where() {
    assert_eq!(outcome("1 +\n  )"), "2:3 expected an expression, but found ')'");
    assert_eq!(outcome("\"abc"), "1:1 a string, name or comment is not closed");
    assert_eq!(outcome("if a then b"), "1:12 expected 'else', but the expression ends");
    assert_eq!(outcome("a b"), "1:3 expected an operator or the end, but found 'b'");
    assert_eq!(outcome(""), "1:1 expected an expression, but the expression ends");
}

#[test]
fn long_texts_parse_or_fail_without_overflow() {
    let many = 300_000;
    assert_eq!(outcome(&format!("1{}", "+1".repeat(many))), "");
    assert_eq!(outcome(&format!("a{}", ".a".repeat(many))), "a");
    assert_eq!(outcome(&format!("a{}", " and a".repeat(many))), "a");
    assert_eq!(outcome(&format!("{}1", "if a then 1 else ".repeat(many / 10))), "a");
    for deep in ["(", "[", "{a:", "-", "not(", "if ", "f(", "a[", "function() ", "x in ", "1 < "] {
        let text = format!("{}1", deep.repeat(many));
        assert!(outcome(&text).contains("too deeply"), "{deep}: {}", outcome(&text));
    }
}
