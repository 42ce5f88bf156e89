//! Damaged models are refused or read, but never panic, and their findings stay within the length limit.

use bpmn::{Limits, MAX_DISPLAY_BYTES, parse};
use proptest::prelude::*;
use proptest::sample::Index;

/// One model with every element that is read.
const MODEL: &str = include_str!("everything.bpmn");

/// Pieces that mean something to the reader.
const PIECES: [&str; 24] = [
    "<",
    ">",
    "/>",
    "</",
    "\"",
    "'",
    "=",
    "&",
    "&amp;",
    "&#0;",
    "&x;",
    "]]>",
    "<![CDATA[",
    "<!--",
    "-->",
    "<?xml ?>",
    "<!DOCTYPE x [",
    "id=\"\"",
    "xmlns=\"\"",
    "bpmn:",
    "zeebe:",
    "\u{0}",
    "é",
    "=(((((",
];

#[derive(Debug, Clone)]
enum Damage {
    Cut { from: Index, bytes: usize },
    Insert { at: Index, piece: usize },
    Repeat { from: Index, bytes: usize, times: usize },
    Byte { at: Index, value: u8 },
    SwapAttribute { from: Index, to: Index },
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<Index>(), 1..200usize).prop_map(|(from, bytes)| Damage::Cut { from, bytes }),
        (any::<Index>(), 0..PIECES.len()).prop_map(|(at, piece)| Damage::Insert { at, piece }),
        (any::<Index>(), 1..400usize, 1..5usize).prop_map(|(from, bytes, times)| Damage::Repeat {
            from,
            bytes,
            times
        }),
        (any::<Index>(), any::<u8>()).prop_map(|(at, value)| Damage::Byte { at, value }),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::SwapAttribute { from, to }),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let span = |from: &Index, length: usize, bytes: &[u8]| {
        let from = from.index(bytes.len());
        from..(from + length).min(bytes.len())
    };
    match damage {
        Damage::Cut { from, bytes: length } => {
            let span = span(from, *length, bytes);
            bytes.drain(span);
        }
        Damage::Insert { at, piece } => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, PIECES[*piece].bytes());
        }
        Damage::Repeat { from, bytes: length, times } => {
            let span = span(from, *length, bytes);
            let piece = bytes[span.clone()].repeat(*times);
            bytes.splice(span.start..span.start, piece);
        }
        Damage::Byte { at, value } => {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        // Well-formed but wrong: the value of one attribute becomes that of another.
        Damage::SwapAttribute { from, to } => {
            let quotes: Vec<usize> =
                bytes.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(|(at, _)| at).collect();
            let pairs: Vec<_> = quotes.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]).collect();
            if pairs.is_empty() {
                return;
            }
            let value = bytes[pairs[from.index(pairs.len())].clone()].to_vec();
            bytes.splice(pairs[to.index(pairs.len())].clone(), value);
        }
    }
}

#[test]
fn the_model_is_valid() {
    let processes =
        parse(MODEL.as_bytes(), &Limits::default()).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(processes.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn damage_does_not_panic(damages in prop::collection::vec(damage(), 1..12)) {
        let mut bytes = MODEL.as_bytes().to_vec();
        for damage in &damages {
            apply(&mut bytes, damage);
        }
        if let Err(problems) = parse(&bytes, &Limits::default()) {
            prop_assert!(!problems.0.is_empty());
            prop_assert!(problems.to_string().len() <= MAX_DISPLAY_BYTES);
        }
    }

    #[test]
    fn timers_do_not_panic(text in "[-+RPTYMWDHS0-9/*?#LWZ:., @a-z]{0,40}", now_ms in any::<i64>()) {
        let _ = bpmn::timer::parse_date(&text);
        if let Ok(interval) = bpmn::timer::Interval::parse(&text) {
            interval.after(now_ms);
        }
        if let Ok(cycle) = bpmn::timer::Cycle::parse(&text)
            && let Some(first_ms) = cycle.first(now_ms)
        {
            prop_assert!(first_ms >= now_ms);
            prop_assert!(cycle.next(first_ms, now_ms).is_none_or(|next_ms| next_ms >= now_ms));
        }
    }
}
