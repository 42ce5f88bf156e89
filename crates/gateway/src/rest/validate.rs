//! The one validator: walks the raw JSON of a body once against the tables of the contract.
//!
//! It notes where the root's properties stand, so that handlers read them without parsing the body again. Every
//! problem is reported with the path of its field, several at once.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use json::{Cursor, Token};
use smallvec::SmallVec;

use super::contract::{Additional, Array, Discriminator, Format, Kind, Object, Parameter, Schema, Text};
use super::fields::{Field, Fields};
use super::lenient::takes;
use super::limits::ELEMENTS_MAX;
use super::moment;
use super::problem::Invalid;

/// How many problems one answer lists.
const MAX_PROBLEMS: usize = 10;
/// How much of a caller's own text an answer repeats, in characters.
const MAX_ECHO: usize = 60;

/// Checks a body and finds the properties of its root.
pub(crate) fn validate<'a>(schema: &'static Schema, text: &'a str) -> Result<Fields<'a>, Invalid> {
    let mut walk = Validation {
        cursor: Cursor::new(text),
        path: SmallVec::new(),
        problems: Problems::default(),
        fields: Fields::new(schema),
        elements: 0,
    };
    match walk.value(schema).and_then(|()| walk.cursor.finish()) {
        Ok(()) if walk.problems.count == 0 => Ok(walk.fields),
        Ok(()) => Err(walk.problems.finish()),
        Err(error) => Err(malformed(text, error, &Path(&walk.path))),
    }
}

/// Checks the text of a parameter or form field.
pub(crate) fn check_parameter(parameter: &Parameter, value: &str) -> Result<(), Invalid> {
    let problem = match &parameter.schema.kind {
        Kind::Boolean if matches!(value, "true" | "false") => None,
        Kind::Boolean => Some("expected true or false".to_owned()),
        Kind::Integer { min, max } => match value.parse::<i64>() {
            Ok(number) => out_of_range(*min, *max, number),
            Err(_) => Some("expected an integer".to_owned()),
        },
        _ => check_text(parameter.schema, value),
    };
    problem.map_or(Ok(()), |problem| Err(Invalid(format!("{}: {problem}", parameter.name))))
}

/// Checks a string against a schema.
pub(crate) fn check_text(schema: &Schema, value: &str) -> Option<String> {
    match &schema.kind {
        // An empty date clears what null would leave alone.
        Kind::Text(text) if schema.nullable && value.is_empty() && text.format == Format::DateTime => None,
        Kind::Text(text) => check_plain(text, value),
        Kind::Enum(values) if values.contains(&value) => None,
        Kind::Enum(values) => {
            Some(format!("expected one of {}, but found \"{}\"", values.join(", "), Echo(value)))
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

struct Validation<'a> {
    cursor: Cursor<'a>,
    path: SmallVec<[Step<'a>; 8]>,
    problems: Problems,
    fields: Fields<'a>,
    /// Elements of lists and members of maps so far.
    elements: usize,
}

/// Members of an object so far.
struct Seen {
    properties: u64,
    /// Alternatives that still fit.
    alternatives: u64,
}

impl<'a> Validation<'a> {
    fn value(&mut self, schema: &'static Schema) -> Result<(), json::Error> {
        let token = self.cursor.token()?;
        if token == Token::Null && (schema.nullable || matches!(schema.kind, Kind::Any)) {
            return self.cursor.word();
        }
        match (&schema.kind, token) {
            (Kind::Any, _) => self.cursor.skip(),
            (Kind::Boolean, Token::Boolean) => self.cursor.word(),
            (Kind::Integer { min, max }, Token::Number) => self.integer(*min, *max),
            (Kind::Number, Token::Number) => self.number(),
            (Kind::Text(_) | Kind::Enum(_), Token::String) => {
                let value = self.cursor.string()?;
                if let Some(problem) = check_text(schema, &value.text()) {
                    self.problem(problem);
                }
                Ok(())
            }
            (Kind::Array(array), Token::Array) => self.array(array),
            (Kind::Object(object), Token::Object) if object.is_free() => self.cursor.skip(),
            (Kind::Object(object), Token::Object) => self.object(object),
            (Kind::Choice(alternatives), _) => match alternatives.iter().find(|a| takes(&a.kind, token)) {
                Some(alternative) => self.value(alternative),
                None => self.wrong_type(schema, token),
            },
            _ => self.wrong_type(schema, token),
        }
    }

    fn wrong_type(&mut self, schema: &Schema, token: Token) -> Result<(), json::Error> {
        self.cursor.skip()?;
        self.problem(if token == Token::Null {
            format!("must not be null, expected {}", describe(schema))
        } else {
            format!("expected {}, but found {}", describe(schema), token.describe())
        });
        Ok(())
    }

    fn integer(&mut self, min: i64, max: i64) -> Result<(), json::Error> {
        let text = self.cursor.number()?;
        let problem = if text.contains(['.', 'e', 'E']) {
            Some(format!("expected an integer, but found {}", Echo(text)))
        } else {
            match text.parse::<i64>() {
                Ok(number) => out_of_range(min, max, number),
                Err(_) => Some(format!("{} is beyond 64 bits", Echo(text))),
            }
        };
        if let Some(problem) = problem {
            self.problem(problem);
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), json::Error> {
        let text = self.cursor.number()?;
        if !text.parse().is_ok_and(f64::is_finite) {
            self.problem(format!("{} is beyond 64 bits", Echo(text)));
        }
        Ok(())
    }

    fn array(&mut self, array: &'static Array) -> Result<(), json::Error> {
        self.cursor.open();
        let mut count = 0;
        let mut literals: SmallVec<[&'a str; 16]> = SmallVec::new();
        while self.cursor.element(count == 0)? {
            self.cursor.token()?;
            if !self.counts_element() {
                self.cursor.skip()?;
                count += 1;
                continue;
            }
            let start = self.cursor.at();
            self.path.push(Step::Index(count));
            self.value(array.items)?;
            if array.unique && count < array.max {
                let literal = self.cursor.since(start);
                if literals.contains(&literal) {
                    self.problem("occurs twice".to_owned());
                }
                literals.push(literal);
            }
            self.path.pop();
            count += 1;
        }
        if count > array.max {
            self.problem(format!("expected at most {} elements, but found {count}", array.max));
        } else if count < array.min {
            self.problem(format!("expected at least {} elements, but found {count}", array.min));
        }
        Ok(())
    }

    /// Counts an element of a list or a member of a map. Those beyond the limit are not looked at.
    fn counts_element(&mut self) -> bool {
        self.elements += 1;
        if self.elements == ELEMENTS_MAX + 1 {
            self.problem(format!(
                "expected at most {ELEMENTS_MAX} elements in all lists of a request together"
            ));
        }
        self.elements <= ELEMENTS_MAX
    }

    fn object(&mut self, object: &'static Object) -> Result<(), json::Error> {
        self.cursor.open();
        let all = u64::MAX >> (64 - object.alternatives.len());
        let mut seen = Seen { properties: 0, alternatives: all };
        let mut first = true;
        while let Some(name) = self.cursor.member(first)? {
            first = false;
            let name = name.text();
            match object.properties.iter().position(|p| p.name == name) {
                Some(at) => self.property(object, at, &mut seen)?,
                None => self.other(object, name)?,
            }
        }
        self.required(object, &seen);
        Ok(())
    }

    fn property(&mut self, object: &'static Object, at: usize, seen: &mut Seen) -> Result<(), json::Error> {
        let property = &object.properties[at];
        let is_root = self.path.is_empty();
        self.path.push(Step::Name(property.name));
        if seen.properties & (1 << at) != 0 {
            self.problem("occurs twice".to_owned());
        }
        seen.properties |= 1 << at;
        self.cursor.token()?;
        let start = self.cursor.at();
        self.value(property.schema)?;
        let raw = self.cursor.since(start);
        if is_root {
            self.fields.push(Field { name: property.name, raw });
        }
        if let Some(discriminator) = object.discriminator.as_ref().filter(|d| d.property == at) {
            self.discriminate(discriminator, raw, seen);
        }
        for (index, alternative) in object.alternatives.iter().enumerate() {
            if alternative.allowed & (1 << at) == 0 {
                seen.alternatives &= !(1 << index);
            }
        }
        self.path.pop();
        Ok(())
    }

    fn discriminate(&mut self, discriminator: &Discriminator, literal: &str, seen: &mut Seen) {
        let Ok(value) = serde_json::from_str::<Cow<'_, str>>(literal) else { return };
        if let Some((_, alternative)) = discriminator.values.iter().find(|(name, _)| *name == value) {
            seen.alternatives &= 1 << alternative;
        } else {
            let names: Vec<_> = discriminator.values.iter().map(|(name, _)| *name).collect();
            self.problem(format!("expected one of {}, but found \"{}\"", names.join(", "), Echo(&value)));
        }
    }

    /// A member that the object does not name.
    fn other(&mut self, object: &'static Object, name: Cow<'a, str>) -> Result<(), json::Error> {
        let step = match name {
            Cow::Borrowed(name) => name,
            Cow::Owned(_) => "(escaped name)",
        };
        self.cursor.token()?;
        if !self.counts_element() {
            return self.cursor.skip();
        }
        self.path.push(Step::Name(step));
        let result = match object.additional {
            Additional::Each(schema) => self.value(schema),
            Additional::Any => self.cursor.skip(),
            Additional::None => {
                self.problem("unknown property".to_owned());
                self.cursor.skip()
            }
        };
        self.path.pop();
        result
    }

    fn required(&mut self, object: &'static Object, seen: &Seen) {
        let names = |mask: u64| {
            let named = object.properties.iter().enumerate().filter(move |(at, _)| mask & (1 << at) != 0);
            named.map(|(_, property)| property.name)
        };
        let fits = |(index, alternative): (usize, &super::contract::Alternative)| {
            seen.alternatives & (1 << index) != 0 && alternative.required & !seen.properties == 0
        };
        if object.alternatives.iter().enumerate().any(fits) {
            return;
        }
        if seen.alternatives.is_power_of_two() {
            let required = object.alternatives[seen.alternatives.trailing_zeros() as usize].required;
            for name in names(required & !seen.properties) {
                self.path.push(Step::Name(name));
                self.problem("is required, but missing".to_owned());
                self.path.pop();
            }
            return;
        }
        // Properties that distinguish the alternatives.
        let shared = object.alternatives.iter().fold(u64::MAX, |mask, a| mask & a.required);
        let choices = object.alternatives.iter().map(|a| names(a.required & !shared).collect::<Vec<_>>());
        let choices: Vec<_> = choices.filter(|c| !c.is_empty()).map(|c| c.join(" with ")).collect();
        let found = names(seen.properties & !shared).collect::<Vec<_>>().join(", ");
        self.problem(if seen.alternatives == 0 {
            format!("expected exactly one of {}, but found {found} together", choices.join(", "))
        } else {
            format!("expected exactly one of {}, but found none", choices.join(", "))
        });
    }

    fn problem(&mut self, problem: String) {
        let path = Path(&self.path);
        self.problems.add(format_args!("{path}: {problem}"));
    }
}

fn describe(schema: &Schema) -> String {
    match &schema.kind {
        Kind::Any => "a value".into(),
        Kind::Boolean => "a boolean".into(),
        Kind::Integer { .. } => "an integer".into(),
        Kind::Number => "a number".into(),
        Kind::Text(_) | Kind::Enum(_) => "a string".into(),
        Kind::Array(_) => "an array".into(),
        Kind::Object(_) => "an object".into(),
        Kind::Choice(alternatives) => {
            alternatives.iter().map(|a| describe(a)).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn check_plain(text: &Text, value: &str) -> Option<String> {
    // Bytes are at least as many as characters.
    if text.min > 0 && value.len() < text.min * 4 && value.chars().count() < text.min {
        return Some(if value.is_empty() {
            "must not be empty".to_owned()
        } else {
            format!("expected at least {} characters", text.min)
        });
    }
    if value.len() > text.max && value.chars().count() > text.max {
        return Some(format!(
            "expected at most {} characters, but found {}",
            text.max,
            value.chars().count()
        ));
    }
    if let Some(pattern) = text.pattern
        && !pattern.matches(value)
    {
        return Some(format!("\"{}\" does not match {}", Echo(value), pattern.as_str()));
    }
    if text.format == Format::DateTime && moment::parse(value).is_none() {
        return Some(format!(
            "expected a date and time with offset (RFC 3339), but found \"{}\"",
            Echo(value)
        ));
    }
    None
}

fn out_of_range(min: i64, max: i64, number: i64) -> Option<String> {
    if number < min {
        Some(format!("expected at least {min}, but found {number}"))
    } else if number > max {
        Some(format!("expected at most {max}, but found {number}"))
    } else {
        None
    }
}

fn malformed(text: &str, error: json::Error, path: &Path<'_, '_>) -> Invalid {
    let before = &text.as_bytes()[..error.at.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1) + 1;
    let place = if path.0.is_empty() { String::new() } else { format!(" in {path}") };
    Invalid(format!("request body is not valid JSON: {} at line {line} column {column}{place}", error.reason))
}

#[derive(Default)]
struct Problems {
    count: usize,
    text: String,
}

impl Problems {
    fn add(&mut self, problem: fmt::Arguments<'_>) {
        self.count += 1;
        if self.count > MAX_PROBLEMS {
            return;
        }
        if self.count > 1 {
            self.text.push_str("; ");
        }
        self.text.write_fmt(problem).expect("writing to memory does not fail");
    }

    fn finish(mut self) -> Invalid {
        if self.count > MAX_PROBLEMS {
            write!(self.text, "; and {} more", self.count - MAX_PROBLEMS)
                .expect("writing to memory does not fail");
        }
        Invalid(self.text)
    }
}

/// The path of a field; the root is the request body.
struct Path<'p, 'a>(&'p [Step<'a>]);

impl fmt::Display for Path<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("request body");
        }
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Name(name) if at == 0 => write!(f, "{}", Echo(name))?,
                Step::Name(name) => write!(f, ".{}", Echo(name))?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Text of the caller, cut short and without control characters.
pub(crate) struct Echo<'a>(pub(crate) &'a str);

impl fmt::Display for Echo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, char) in self.0.chars().enumerate() {
            if at == MAX_ECHO {
                return f.write_str("…");
            }
            f.write_char(if char.is_control() { '\u{fffd}' } else { char })?;
        }
        Ok(())
    }
}
