//! Relations between points and ranges (DMN 1.5 table 77, after Allen's interval algebra).

use super::builtin::{Builtin, Failure, Outcome, Signature, fixed, function};
use crate::evaluate::{Evaluator, compare};
use crate::value::{Range, Value};
use std::cmp::Ordering;

const ANY_TWO: &[Signature] = &[
    fixed(&["point1", "point2"]),
    fixed(&["point", "range"]),
    fixed(&["range", "point"]),
    fixed(&["range1", "range2"]),
];
const TWO_RANGES: &[Signature] = &[fixed(&["range1", "range2"])];
const POINT_OR_RANGE_IN_RANGE: &[Signature] = &[fixed(&["point", "range"]), fixed(&["range1", "range2"])];
const RANGE_AND_POINT_OR_RANGE: &[Signature] = &[fixed(&["range", "point"]), fixed(&["range1", "range2"])];

pub(super) const FUNCTIONS: &[Builtin] = &[
    function("before", ANY_TWO, |_, arguments| relate(arguments, before)),
    function("after", ANY_TWO, |_, arguments| relate(arguments, |left, right| before(right, left))),
    function("meets", TWO_RANGES, |_, arguments| relate_ranges(arguments, meets)),
    function("met by", TWO_RANGES, |_, arguments| relate_ranges(arguments, |left, right| meets(right, left))),
    function("overlaps", TWO_RANGES, |_, arguments| relate_ranges(arguments, overlaps)),
    function("overlaps before", TWO_RANGES, |_, arguments| relate_ranges(arguments, overlaps_before)),
    function("overlaps after", TWO_RANGES, |_, arguments| relate_ranges(arguments, overlaps_after)),
    function("finishes", POINT_OR_RANGE_IN_RANGE, |_, arguments| relate_second(arguments, finishes)),
    function("finished by", RANGE_AND_POINT_OR_RANGE, |_, arguments| {
        relate_second(&swapped(arguments), finishes)
    }),
    function("includes", RANGE_AND_POINT_OR_RANGE, |_, arguments| relate_second(&swapped(arguments), during)),
    function("during", POINT_OR_RANGE_IN_RANGE, |_, arguments| relate_second(arguments, during)),
    function("starts", POINT_OR_RANGE_IN_RANGE, |_, arguments| relate_second(arguments, starts)),
    function("started by", RANGE_AND_POINT_OR_RANGE, |_, arguments| {
        relate_second(&swapped(arguments), starts)
    }),
    function(
        "coincides",
        &[fixed(&["point1", "point2"]), fixed(&["range1", "range2"])],
        |_: &mut Evaluator<'_>, arguments| relate(arguments, coincides),
    ),
];

/// A point is a range that begins and ends with it.
struct Span<'a> {
    start: &'a Value,
    start_included: bool,
    end: &'a Value,
    end_included: bool,
    is_point: bool,
}

impl<'a> Span<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Range(range) => {
                let Range { start, start_included, end, end_included } = &**range;
                Self {
                    start,
                    start_included: *start_included,
                    end,
                    end_included: *end_included,
                    is_point: false,
                }
            }
            Value::Number(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime(_)
            | Value::Duration(_)
            | Value::Period(_) => {
                Self { start: value, start_included: true, end: value, end_included: true, is_point: true }
            }
            _ => return None,
        })
    }
}

type Relation = fn(&Span<'_>, &Span<'_>) -> Option<bool>;

fn relate(arguments: &[Value], relation: Relation) -> Outcome {
    let (left, right) = (Span::of(&arguments[0]), Span::of(&arguments[1]));
    let related = left.zip(right).and_then(|(left, right)| relation(&left, &right));
    related.map(Value::Bool).ok_or(Failure::Illegal)
}

fn relate_ranges(arguments: &[Value], relation: Relation) -> Outcome {
    if arguments.iter().all(|argument| matches!(argument, Value::Range(_))) {
        relate(arguments, relation)
    } else {
        Err(Failure::Illegal)
    }
}

/// The second argument has to be a range.
fn relate_second(arguments: &[Value], relation: Relation) -> Outcome {
    if matches!(arguments[1], Value::Range(_)) { relate(arguments, relation) } else { Err(Failure::Illegal) }
}

fn swapped(arguments: &[Value]) -> [Value; 2] {
    [arguments[1].clone(), arguments[0].clone()]
}

fn before(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    Some(match compare::order(left.end, right.start)? {
        Ordering::Less => true,
        Ordering::Equal => !(left.end_included && right.start_included),
        Ordering::Greater => false,
    })
}

fn meets(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    Some(left.end_included && right.start_included && compare::order(left.end, right.start)?.is_eq())
}

fn overlaps(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    Some(!before(left, right)? && !before(right, left)?)
}

/// Whether the left one begins earlier.
fn begins_before(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    Some(match compare::order(left.start, right.start)? {
        Ordering::Less => true,
        Ordering::Equal => left.start_included && !right.start_included,
        Ordering::Greater => false,
    })
}

/// Whether the left one ends no later.
fn ends_within(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    Some(match compare::order(left.end, right.end)? {
        Ordering::Less => true,
        Ordering::Equal => right.end_included || !left.end_included,
        Ordering::Greater => false,
    })
}

fn overlaps_before(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    Some(begins_before(left, right)? && overlaps(left, right)? && ends_within(left, right)?)
}

fn overlaps_after(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    Some(begins_before(right, left)? && overlaps(left, right)? && ends_within(right, left)?)
}

fn during(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    Some(!begins_before(left, right)? && ends_within(left, right)?)
}

fn finishes(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    let same_end = compare::order(left.end, right.end)?.is_eq() && left.end_included == right.end_included;
    Some(same_end && (left.is_point || !begins_before(left, right)?))
}

fn starts(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    let same_start =
        compare::order(left.start, right.start)?.is_eq() && left.start_included == right.start_included;
    Some(same_start && (left.is_point || ends_within(left, right)?))
}

fn coincides(left: &Span<'_>, right: &Span<'_>) -> Option<bool> {
    if left.is_point != right.is_point {
        return None;
    }
    Some(
        compare::order(left.start, right.start)?.is_eq()
            && compare::order(left.end, right.end)?.is_eq()
            && left.start_included == right.start_included
            && left.end_included == right.end_included,
    )
}
