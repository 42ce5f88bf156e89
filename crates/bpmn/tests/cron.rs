//! Cron cycles agree with an independent implementation on the syntax that both have.

use bpmn::timer::Cycle;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::Offset;
use proptest::prelude::*;

/// A value, a range, a step or a list, written so that both sides read it alike.
fn field(min: u8, max: u8) -> impl Strategy<Value = String> {
    let value = min..=max;
    let range = (min..=max, min..=max).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b)));
    prop_oneof![
        3 => Just("*".to_owned()),
        3 => value.clone().prop_map(|value| value.to_string()),
        1 => range.clone(),
        1 => (range, 1..=20u8).prop_map(|(range, step)| format!("{range}/{step}")),
        1 => (1..=20u8).prop_map(|step| format!("*/{step}")),
        1 => (value.clone(), value).prop_map(|(a, b)| format!("{a},{b}")),
    ]
}

fn day() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => field(1, 28),
        1 => Just("?".to_owned()),
        1 => Just("L".to_owned()),
        1 => Just("LW".to_owned()),
        1 => (1..=28u8).prop_map(|day| format!("{day}W")),
    ]
}

fn weekday() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => field(0, 6),
        1 => Just("?".to_owned()),
        1 => (0..=6u8).prop_map(|day| format!("{day}L")),
        1 => (0..=6u8, 1..=5u8).prop_map(|(day, nth)| format!("{day}#{nth}")),
    ]
}

proptest! {
    #[test]
    fn agrees(
        second in field(0, 59),
        minute in field(0, 59),
        hour in field(0, 23),
        day in day(),
        month in field(1, 12),
        weekday in weekday(),
        start_s in 0..4_000_000_000i64,
    ) {
        let text = format!("{second} {minute} {hour} {day} {month} {weekday}");
        let other = CronParser::builder()
            .seconds(Seconds::Required)
            .year(Year::Disallowed)
            .dom_and_dow(true)
            .build()
            .parse(&text)
            .unwrap();
        let mut at = Timestamp::from_second(start_s).unwrap();
        let Ok(cycle) = Cycle::parse(&text) else {
            // Such as a first day of the month that is also its last Sunday.
            prop_assert!(other.find_next_occurrence(&Offset::UTC.to_datetime(at), false).is_err(), "{}", text);
            return Ok(());
        };
        for _ in 0..5 {
            let found = cycle.first(at.as_millisecond()).map(|ms| Timestamp::from_millisecond(ms).unwrap());
            let expected = other
                .find_next_occurrence(&Offset::UTC.to_datetime(at), false)
                .map(|time| Offset::UTC.to_timestamp(time).unwrap());
            prop_assert_eq!(found, expected.ok(), "{} after {}", text, at);
            let Some(found) = found else { break };
            at = found;
        }
    }
}
