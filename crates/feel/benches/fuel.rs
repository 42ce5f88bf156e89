//! Time of a unit of fuel, by family of work: fuel must bound the time of every expression, so no family may take
//! much longer for a unit than the others. `cargo bench -p feel --bench fuel`; a text behind it picks families by
//! name.

use bytes::Bytes;
use feel::{Budget, Environment, Expression, Limits, Value, Variables};
use std::fmt::Write as _;
use std::time::Instant;

/// Variables as the engine has them: raw JSON, checked at each read.
struct Raw(Vec<(&'static str, Bytes)>);

impl Variables for Raw {
    fn get(&self, name: &str) -> Option<Value> {
        let (_, bytes) = self.0.iter().find(|(candidate, _)| *candidate == name)?;
        Value::from_json(bytes.clone()).ok()
    }
}

fn repeated(count: usize, item: impl Fn(usize) -> String) -> String {
    let mut text = String::from("[");
    for index in 0..count {
        let _ = write!(text, "{}{}", if index == 0 { "" } else { "," }, item(index));
    }
    text + "]"
}

fn variables() -> Raw {
    let object = repeated(50_000, |index| format!(r#""k{index}":{index}"#)).replace(['[', ']'], "");
    let text = |part: &str, bytes: usize| Bytes::from(format!("\"{}\"", part.repeat(bytes / part.len())));
    Raw(vec![
        ("small", Bytes::from_static(b"1")),
        ("tiny", Bytes::from_static(br#"{"a":{"b":{"c":1}},"d":"text","e":[1,2,3],"f":2.5}"#)),
        ("padded", Bytes::from(format!(r#"{{"pad":"{}","a":1}}"#, "x".repeat(480)))),
        ("ones", Bytes::from(repeated(500_000, |_| "1".to_owned()))),
        ("numbers", Bytes::from(repeated(100_000, |index| format!("{}", index * 7919 % 100_003)))),
        ("few", Bytes::from(repeated(2_000, |index| format!("{}", index * 7919 % 2_003)))),
        ("decimals", Bytes::from(repeated(50_000, |index| format!("{}.{:09}", index, index * 7919)))),
        ("words", Bytes::from(repeated(50_000, |index| format!("\"word {index} and so on\"")))),
        ("objects", Bytes::from(repeated(20_000, |index| format!(r#"{{"id":{index},"name":"n{index}"}}"#)))),
        ("nested", Bytes::from(repeated(500, |_| repeated(500, |index| index.to_string())))),
        ("object", Bytes::from(format!("{{{object}}}"))),
        ("ascii", text("the quick brown fox jumps. ", 1 << 20)),
        ("wide", text("süße Größe, naïve — ", 1 << 20)),
        ("blank", text("      ", 1 << 20)),
        ("escaped", text("\\n\\\"", 1 << 20)),
        ("document", Bytes::from(format!("\"{}\"", repeated(50_000, |_| r#"{\"a\":1}"#.to_owned())))),
        ("base", text("QUJD", 1 << 20)),
    ])
}

const FAMILIES: &[(&str, &str)] = &[
    ("loop", "count(for i in 1..400000 return 1)"),
    ("loop of arithmetic", "sum(for i in 1..100000 return i * 2 + 1)"),
    ("loop of division", "count(for i in 1..50000 return 1 / (i + 2.5))"),
    ("loop of power", "count(for i in 1..20000 return (1 + i / 100000) ** 20)"),
    ("loop of roots", "count(for i in 1..20000 return sqrt(i) + log(i) + exp(2))"),
    ("loop of conditions", "count(for i in 1..100000 return if i > 5 and i < 900 then i else -i)"),
    ("loop of contexts", "count(for i in 1..50000 return {a: i, b: i})"),
    (
        "loop of large contexts",
        "count(for i in 1..10000 return {a: i, b: i, c: i, d: i, e: i, f: i, g: i, h: i, i: i})",
    ),
    ("loop of lists", "count(for i in 1..50000 return [i, i])"),
    ("loop of texts", "count(for i in 1..50000 return string(i) + \"x\")"),
    ("loop of functions", "{f: function(a) a + 1, r: count(for i in 1..50000 return f(i))}.r"),
    ("loop of dates", "count(for i in 1..20000 return date(\"2024-05-06\") + duration(\"P1D\"))"),
    (
        "loop of zones",
        "count(for i in 1..20000 return date and time(\"2024-05-06T10:00:00@Europe/Berlin\") + duration(\"PT1H\"))",
    ),
    (
        "loop of zone texts",
        "count(for i in 1..20000 return string(date and time(\"2024-05-06T10:00:00@Europe/Berlin\")))",
    ),
    ("loop of conversions", "count(for i in 1..50000 return number(\"12345.678\"))"),
    ("loop of paths", "count(for i in 1..50000 return tiny.a.b.c)"),
    ("loop of padded paths", "count(for i in 1..50000 return padded.a)"),
    ("loop of missing names", "count(for i in 1..50000 return nothing)"),
    ("loop of missing paths", "count(for i in 1..50000 return tiny.nothing)"),
    ("loop of wrong types", "count(for i in 1..50000 return 1 + ones)"),
    ("loop of uuid", "count(for i in 1..50000 return uuid())"),
    ("loop of ranges", "count(for i in 1..50000 return i in [5..100])"),
    ("loop of between", "count(for i in 1..50000 return i between 5 and 100)"),
    ("loop of instance of", "count(for i in 1..50000 return i instance of number)"),
    ("loop of type tests", "count(for i in 1..20 return nested instance of list<list<number>>)"),
    ("loop of constant texts", "count(for i in 1..1000 return string length(ascii))"),
    ("loop of large texts", "count(for i in 1..1000 return upper case(substring(ascii, 1, 10000)))"),
    ("loop of comparisons of texts", "count(for i in 1..1000 return ascii = ascii + \"\")"),
    ("loop of orders of texts", "count(for i in 1..100 return ascii < ascii)"),
    ("loop of filters", "count(for i in 1..20 return few[item > 1000])"),
    ("loop of range text", "count(for i in 1..5000 return range(\"[1..10]\"))"),
    ("some", "some i in 1..200000 satisfies i > 300000"),
    ("every", "every i in ones satisfies i = 1"),
    ("partial", "count(for i in 1..50000 return if i = 1 then 1 else partial[-1] + 1)"),
    ("nested loops", "count(for i in 1..300, j in 1..300 return i * j)"),
    ("filter", "count(numbers[item > 50000])"),
    ("filter of objects", "count(objects[id > 10000])"),
    ("index", "numbers[5]"),
    ("read a number list", "count(ones)"),
    ("read objects", "count(objects)"),
    ("read an object", "object.k4999"),
    ("get entries", "count(get entries(object))"),
    ("context merge", "count(get entries(context merge(object, object)))"),
    ("context put", "string length(string(context put(object, \"x\", 1)))"),
    ("loop of context put", "count(for i in 1..20 return context put(object, \"x\", i))"),
    ("context", "string length(string(context(get entries(object))))"),
    ("path over objects", "count(objects.id)"),
    ("identity", "ascii"),
    ("identity of escapes", "escaped"),
    ("identity of a list", "ones"),
    ("string length", "string length(ascii)"),
    ("string length wide", "string length(wide)"),
    ("upper case", "upper case(ascii)"),
    ("upper case wide", "upper case(wide)"),
    ("lower case wide", "lower case(wide)"),
    ("trim", "trim(blank)"),
    ("substring wide", "substring(wide, 10)"),
    ("contains", "contains(ascii, \"no such words\")"),
    ("contains pathological", "contains(blank, \"     x     \")"),
    ("substring before", "substring before(ascii, \"no such\")"),
    ("matches", "matches(ascii, \"no (such|words)\")"),
    ("matches with classes", "matches(wide, \"[a-z]+[0-9]{3}\")"),
    ("matches quadratic", "matches(substring(blank, 1, 100000), \"( +)+x\")"),
    ("matches that steps back", "matches(substring(blank, 1, 20000), \"(?= *x) +\")"),
    ("matches that fails everywhere", "matches(blank, \" +(?=x)\")"),
    (
        "loop of new patterns",
        "count(for i in 1..100 return matches(\"abc\", \"a{\" + string(i) + \"}[b-z]*c?\"))",
    ),
    (
        "loop of large patterns",
        "count(for i in 1..20 return matches(\"abc\", \"(\\\\w{\" + string(i) + \"}){20}\"))",
    ),
    ("replace", "replace(ascii, \"o\", \"0\")"),
    ("replace all", "replace(ascii, \".\", \"xy\")"),
    ("replace words", "replace(ascii, \"(\\\\w+) (\\\\w+)\", \"$2 $1\")"),
    ("split", "count(split(ascii, \" \"))"),
    ("extract", "count(extract(ascii, \"[a-z]+\"))"),
    ("to base64", "to base64(ascii)"),
    ("from base64", "from base64(base)"),
    ("to json of text", "to json(ascii)"),
    ("to json of numbers", "to json(numbers)"),
    ("to json of objects", "to json(objects)"),
    ("to json of nested", "to json(nested)"),
    ("from json", "count(from json(document))"),
    ("string of list", "string length(string(numbers))"),
    ("string of nested", "string length(string(nested))"),
    ("string join", "string length(string join(words, \", \"))"),
    ("concatenation", "string length(ascii + ascii + ascii + ascii)"),
    (
        "concatenation of small",
        "string length((for i in 1..2000 return if i = 1 then \"x\" else partial[-1] + \"y\")[-1])",
    ),
    ("list contains", "list contains(numbers, -1)"),
    ("list contains text", "list contains(words, \"no such\")"),
    ("index of", "index of(numbers, 5)"),
    ("append", "count(append(numbers, 1))"),
    ("loop of append", "count(for i in 1..100 return append(few, i))"),
    ("concatenate", "count(concatenate(numbers, numbers))"),
    ("insert before", "count(insert before(numbers, 1, 1))"),
    ("remove", "count(remove(numbers, 1))"),
    ("reverse", "count(reverse(numbers))"),
    ("sublist", "count(sublist(numbers, 2))"),
    ("union", "count(union(few, few))"),
    ("distinct values", "count(distinct values(few))"),
    ("distinct texts", "count(distinct values(sublist(words, 1, 1000)))"),
    ("distinct objects", "count(distinct values(sublist(objects, 1, 500)))"),
    ("distinct equal lists", "count(distinct values(for i in 1..200 return few))"),
    ("duplicate values", "count(duplicate values(few))"),
    ("flatten", "count(flatten(nested))"),
    ("sort", "count(sort(few, function(a, b) a < b))"),
    ("partition", "count(partition(numbers, 2))"),
    ("min", "min(numbers)"),
    ("min of words", "min(words)"),
    ("sum", "sum(numbers)"),
    ("sum of decimals", "sum(decimals)"),
    ("product", "product(for i in 1..5000 return 1.0001)"),
    ("mean", "mean(decimals)"),
    ("median", "median(numbers)"),
    ("stddev", "stddev(decimals)"),
    ("mode", "mode(numbers)"),
    ("all", "all(for i in 1..100000 return true)"),
    ("equal lists", "numbers = numbers"),
    ("equal objects", "objects = objects"),
    ("loop of equal objects", "count(for i in 1..10 return {a: objects} = {a: objects})"),
];

/// Time that the thread has worked, in nanoseconds; by the clock where the system has no such counter.
fn worked(since: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split(' ').next()?.parse().ok());
    told.unwrap_or_else(|| since.elapsed().as_secs_f64() * 1e9)
}

/// A family runs until it has worked for so long, or so often.
const ENOUGH_NS: f64 = 120e6;
const MOST_RUNS: u32 = 1000;
/// The fuel of a family that is only tried.
const TRIED_FUEL: u64 = 50_000;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    // `cargo bench` says so; `cargo test` does not, and wants each family to begin.
    let is_measured = std::env::args().any(|word| word == "--bench");
    let (most_runs, most_fuel) = if is_measured { (MOST_RUNS, u64::MAX) } else { (1, TRIED_FUEL) };
    let variables = variables();
    let limits = Limits { fuel: most_fuel, ..Limits::default() };
    let clock = Instant::now();
    let environment = Environment { limits, ..Environment::default() };
    println!("{:<32}{:>12}{:>12}{:>10}{:>12}", "family", "fuel", "ms", "ns/fuel", "result");
    for (name, text) in FAMILIES {
        if !wanted.is_empty() && !wanted.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (mut runs, mut fuel, mut result, mut took) = (0, 0, 0, 0.0);
        let started = worked(clock);
        while took < ENOUGH_NS && runs < most_runs {
            let mut budget = Budget::new(&environment);
            let outcome = expression.evaluate_within(None, &variables, &environment, &mut budget);
            let mut json = Vec::new();
            match outcome {
                Ok(evaluation) => evaluation.value.to_json(&mut json),
                Err(error) => println!("{name}: {}", error.message),
            }
            (fuel, result) = (most_fuel - budget.fuel, json.len());
            runs += 1;
            took = worked(clock) - started;
        }
        let each = took / f64::from(runs);
        let per_unit = each / fuel as f64;
        println!("{name:<32}{fuel:>12}{:>12.2}{per_unit:>10.1}{result:>12}", each / 1e6);
    }
}
