use super::*;

fn number(text: &str) -> Number {
    Number::parse(text).unwrap_or_else(|| panic!("{text}"))
}

#[track_caller]
fn check(result: Option<Number>, expected: &str) {
    assert_eq!(result.map(|value| value.to_string()).as_deref().unwrap_or("none"), expected);
}

#[test]
fn a_number_is_small() {
    assert_eq!(size_of::<Number>(), 24);
}

#[test]
fn arithmetic_keeps_the_scale_like_big_decimal() {
    check(number("1.10").plus(number("2")), "3.10");
    check(number("0.1").plus(number("0.2")), "0.3");
    check(number("1.5").times(number("2.0")), "3.00");
    check(number("10").divided_by(number("4")), "2.5");
    check(number("1").divided_by(number("3")), "0.3333333333333333333333333333333333");
    check(number("2").divided_by(number("3")), "0.6666666666666666666666666666666667");
    check(number("1").divided_by(number("0")), "none");
    check(number("9223372036854775807").plus(number("1")), "9223372036854775808");
    check(Some(number("-9223372036854775808").negated()), "9223372036854775808");
    check(number("-9223372036854775808").divided_by(number("-1")), "9223372036854775808");
}

#[test]
fn sums_of_very_different_size_round_once() {
    check(
        number("1e40").plus(number("1")).map(Number::without_trailing_zeros),
        &format!("1{}", "0".repeat(40)),
    );
    let nines = "9".repeat(34);
    // Half a unit and a hair above: must round up, not to even.
    check(number("1e33").plus(number("0.5")), &format!("1{}", "0".repeat(33)));
    check(
        number("1e33").plus(number("0.50000000000000000000000000000001")),
        &format!("1{}1", "0".repeat(32)),
    );
    check(
        number("1e33").plus(number("0.5")).and_then(|sum| sum.plus(number("1e-60"))),
        &format!("1{}", "0".repeat(33)),
    );
    check(number(&nines).plus(number("1")), &format!("1{}", "0".repeat(34)));
    check(number("1e100").minus(number("1e-100")), &format!("1{}", "0".repeat(100)));
}

#[test]
fn text_rounds_half_even_at_the_precision() {
    let long = format!("1{}5", "0".repeat(33));
    check(Some(number(&long)), &format!("1{}0", "0".repeat(33)));
    check(Some(number(&format!("{long}.0001"))), &format!("1{}10", "0".repeat(32)));
    assert!(Number::parse("1.").is_none());
    assert!(Number::parse("").is_none());
    assert!(Number::parse("-").is_none());
    assert!(Number::parse("1e999999999").is_none());
    assert!(Number::parse("1e-999999999").is_none());
    check(Number::parse(".5"), "0.5");
    check(Number::parse("02.40"), "2.40");
}

#[test]
fn order_is_by_value() {
    assert_eq!(number("1"), number("1.000"));
    assert!(number("-1.5") < number("-1.4"));
    assert!(number("1e30") > number("1e-30"));
    assert!(number("0.0") == number("-0"));
    assert!(number("123456789012345678901234567890.1") > number("123456789012345678901234567890"));
}

#[test]
fn powers_and_modulo() {
    check(number("2").power(number("3")), "8");
    check(number("2").power(number("-2")), "0.25");
    check(number("2").power(number("3.1")), "8.574187700290345");
    check(number("10").power(number("1000000")), "none");
    check(number("10.1").modulo(number("-4.5")), "-3.4");
    check(number("-12").modulo(number("5")), "3");
}

#[test]
fn json_form() {
    let json = |text: &str| {
        let mut out = Vec::new();
        number(text).write_json(&mut out);
        String::from_utf8(out).unwrap_or_default()
    };
    assert_eq!(json("1.00"), "1");
    assert_eq!(json("2.50"), "2.5");
    assert_eq!(json("100000000000000000000"), "100000000000000000000");
    assert_eq!(json("0.3333333333333333333333333333333333"), "0.3333333333333333");
    assert_eq!(json("0.9999999999999999999999999999999999"), "1");
    assert_eq!(Number::parse_json("2.50").map(|value| value.to_string()).as_deref(), Some("2.5"));
    assert_eq!(Number::parse_json("1e2").map(|value| value.to_string()).as_deref(), Some("100.0"));
    assert_eq!(Number::parse_json("10.0").map(|value| value.to_string()).as_deref(), Some("10.0"));
}
