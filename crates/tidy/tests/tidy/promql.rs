//! Series of a PromQL query: enough of its syntax to name the series, their labels and functions.

/// A series in a query.
#[derive(Debug, PartialEq, Eq)]
pub struct Series {
    pub name: String,
    /// Label, operator, value.
    pub matchers: Vec<(String, String, String)>,
    /// The function that it is the argument of.
    pub function: Option<String>,
}

/// Series and labels of a query.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub series: Vec<Series>,
    /// Labels of `by`, `on` and the like.
    pub grouping: Vec<String>,
}

const GROUPINGS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];
const OPERATORS: [&str; 5] = ["and", "or", "unless", "bool", "offset"];

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}

/// A word at the beginning, and the rest.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}

/// The text before the first `end`, and the text behind it.
fn until(text: &str, end: char) -> (&str, &str) {
    text.split_once(end).unwrap_or_else(|| panic!("no {end} in {text}"))
}

fn matchers(mut text: &str) -> (Vec<(String, String, String)>, &str) {
    let mut found = Vec::new();
    loop {
        text = text.trim_start_matches([' ', ',', '\n']);
        if let Some(rest) = text.strip_prefix('}') {
            return (found, rest);
        }
        let (label, rest) = word(text);
        assert!(!label.is_empty(), "a label is expected at {text}");
        let (operator, rest) = until(rest, '"');
        let (value, rest) = until(rest, '"');
        found.push((label.to_owned(), operator.trim().to_owned(), value.to_owned()));
        text = rest;
    }
}

/// Reads a query; panics on what it does not understand.
pub fn read(query: &str) -> Query {
    let mut found = Query::default();
    let mut rest = query;
    while let Some(first) = rest.chars().next() {
        if first == '[' {
            rest = until(rest, ']').1;
        } else if first.is_ascii_digit() {
            rest = rest.trim_start_matches(|c| is_word(c) || c == '.');
        } else if is_word(first) {
            let before = query[..query.len() - rest.len()].trim_end();
            let (name, after) = word(rest);
            rest = after.trim_start();
            if GROUPINGS.contains(&name) {
                let (labels, after) = until(rest.strip_prefix('(').expect("labels in brackets"), ')');
                found.grouping.extend(labels.split(',').map(|label| label.trim().to_owned()));
                rest = after;
            } else if !OPERATORS.contains(&name)
                && !rest.starts_with('(')
                && !GROUPINGS.contains(&word(rest).0)
            {
                let function = before.strip_suffix('(').map(|before| {
                    let start = before.trim_end_matches(is_word).len();
                    before[start..].to_owned()
                });
                let (matchers, after) = rest.strip_prefix('{').map_or((Vec::new(), rest), matchers);
                let function = function.filter(|name| !name.is_empty());
                found.series.push(Series { name: name.to_owned(), matchers, function });
                rest = after;
            }
        } else {
            assert!(!matches!(first, '"' | '{' | '\''), "not understood: {rest}");
            rest = &rest[first.len_utf8()..];
        }
    }
    found
}

#[test]
fn queries_are_understood() {
    let query = "histogram_quantile(0.99, sum by (le, uri) (rate(a_bucket{x=\"1\", y!~\"b|c\"}[$__rate_interval])))\n\
        > 2e3 and on (instance) b offset 5m or time() - (c) * 3";
    let found = read(query);
    let series = |name: &str, function: Option<&str>, matchers: &[[&str; 3]]| Series {
        name: name.to_owned(),
        matchers: matchers.iter().map(|[l, o, v]| (l.to_string(), o.to_string(), v.to_string())).collect(),
        function: function.map(ToOwned::to_owned),
    };
    assert_eq!(found.grouping, ["le", "uri", "instance"]);
    assert_eq!(
        found.series,
        [
            series("a_bucket", Some("rate"), &[["x", "=", "1"], ["y", "!~", "b|c"]]),
            series("b", None, &[]),
            series("c", None, &[]),
        ]
    );
}
