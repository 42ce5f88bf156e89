//! Expressions that run long or have large results.

use crate::Random;

/// An expression that works for long and gives a small value. `size` bounds the numbers in it.
pub(crate) fn long(random: &mut Random, size: u64) -> String {
    let n = random.magnitude(size);
    let root = 1 + n.isqrt();
    let text = text(random, n);
    match random.below(16) {
        0 | 1 => format!("count(for i in 1..{n} return 1)"),
        2 => format!("count(for i in 1..{root}, j in 1..{root} return i * j)"),
        3 => format!("some i in 1..{n} satisfies i < 0"),
        4 => format!("every i in 1..{n} satisfies i + 1 > i"),
        5 => format!("count((1..{n})[item > 5])"),
        6 => format!("count(sort(for i in 1..{n} return {n} - i, function(a, b) a < b))"),
        7 => format!("count(distinct values(for i in 1..{root} return i))"),
        8 => format!("{{f: function(n) if n < 1 then 0 else 1 + f(n - 1), r: f({root})}}.r"),
        9 => format!("{{f: function(n) if n < 2 then 1 else f(n - 1) + f(n - 2), r: f({})}}.r", 1 + n % 40),
        10 => format!("matches({text}, '^(a+)+b$')"),
        11 => format!("string length(replace({text}, '(a|aa)+c', 'x'))"),
        12 => format!("count(split({text}, ''))"),
        13 => format!("sum(for i in 1..{n} return if i = 1 then 1 else partial[-1] + 1)"),
        14 => format!("{} ** {n}", random.below(20)),
        _ => format!("count(flatten(for i in 1..{root} return for j in 1..{root} return [j]))"),
    }
}

/// An expression that gives a large value.
pub(crate) fn large(random: &mut Random, size: u64) -> String {
    let n = random.magnitude(size);
    match random.below(12) {
        0..=2 => text(random, n),
        3 | 4 => format!("for i in 1..{n} return i"),
        5 => format!("for i in 1..{n} return {{a: i, b: 'text', c: [i, i]}}"),
        // A list in lists that is large only when it is written.
        6 => {
            format!("for i in 1..{} return if i = 1 then [1,2,3] else [partial[-1], partial[-1]]", 1 + n % 40)
        }
        7 => format!(
            "for i in 1..{} return if i = 1 then {{a: 'text'}} else {{a: partial[-1], b: partial[-1]}}",
            1 + n % 40
        ),
        8 => format!("context merge(for i in 1..{n} return {{key: string(i)}})"),
        9 => format!("split({}, 'a')", text(random, n)),
        10 => format!("concatenate((1..{n}), (1..{n}), (1..{n}))"),
        _ => format!("for i in 1..{} return {}", 1 + n.isqrt(), text(random, 1 + n.isqrt())),
    }
}

/// A text of about this length.
pub(crate) fn text(random: &mut Random, length: u64) -> String {
    match random.below(4) {
        0 | 1 => format!("string join(for i in 1..{length} return 'a')"),
        2 => format!("string join(for i in 1..{} return 'aaaaaaaaab', '+')", 1 + length / 10),
        _ => format!("string(for i in 1..{} return 'é')", 1 + length / 5),
    }
}

/// A large list, for a multi-instance activity.
pub(crate) fn items(random: &mut Random, size: u64) -> String {
    let n = random.magnitude(size);
    match random.below(4) {
        0 => format!("for i in 1..{} return {}", 1 + n / 8, text(random, 1 + n % 500)),
        1 => format!("[{}]", large(random, size)),
        _ => format!("for i in 1..{n} return i"),
    }
}

/// An expression that doubles the variable `of`.
pub(crate) fn doubled(random: &mut Random, of: &str) -> String {
    match random.below(6) {
        0 | 1 => format!("{of} + {of}"),
        2 => format!("[{of}, {of}]"),
        3 => format!("{{a: {of}, b: {of}}}"),
        4 => format!("concatenate({of}, {of})"),
        _ => format!("string({of}) + string({of})"),
    }
}
