//! Queries as SQL. A [`Dialect`] has the differences between databases.

mod condition;
mod selective;
mod statement;

#[cfg(test)]
mod tests;

pub(crate) use selective::{FEW, others, selective, with_few};
pub(crate) use statement::{
    count, count_of, create_index, create_table, exists, numbers, remove, search, statistics, total_of_page,
    upsert,
};
#[cfg(feature = "postgres")]
pub(crate) use statement::{grown, index_name};

use std::borrow::Cow;

use search::Test;

use search::Value;
use search::model::{CUT_CHARS, ColumnId, Entity, Kind};

pub(crate) trait Dialect {
    fn column_type(&self, kind: Kind) -> &'static str;
    /// A placeholder; numbers start at 1.
    fn placeholder(&self, number: usize, kind: Kind, out: &mut String);
    /// The comparison of `column` with a pattern in placeholder position, and the pattern, made from one of
    /// the API: `*` any characters, `?` one, `\` before those that stand for themselves.
    fn like(&self, pattern: &str) -> (&'static str, String, &'static str);
    /// Text around a list column that makes a table of its elements, whose column is `value`.
    fn elements(&self) -> (&'static str, &'static str);
    /// Text around a list column that makes the form of an index of its elements, which `?|` compares with
    /// an array of texts. `None` if there are no such indexes.
    fn indexed_elements(&self) -> Option<(&'static str, &'static str)> {
        None
    }
    /// The function that gives the larger of two numbers.
    fn larger(&self) -> &'static str;
    /// The function that makes a JSON object of names and values, as a text.
    fn json_object(&self, members: &str) -> String;
    /// A moment of a column, Unix milliseconds, as RFC 3339 tells it.
    fn moment(&self, column: &str) -> String;
    /// The beginning of a text, as an index has it.
    fn cut(&self, text: &str) -> String {
        text.chars().take(CUT_CHARS).collect()
    }
    /// A text as the database keeps it.
    fn stored<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }
    /// A test of a column, as it must be for what the database keeps of the column's values.
    fn test<'t>(&self, _: &Entity, _: ColumnId, test: &'t Test) -> Cow<'t, Test> {
        Cow::Borrowed(test)
    }
}

/// SQL under way, with the values of its placeholders.
pub(crate) struct Query<'d> {
    dialect: &'d dyn Dialect,
    pub text: String,
    pub values: Vec<Value>,
    /// Whether all rows are visited, not those of a page alone.
    visits_all: bool,
}

impl<'d> Query<'d> {
    pub(crate) fn new(dialect: &'d dyn Dialect) -> Self {
        Self { dialect, text: String::with_capacity(512), values: Vec::new(), visits_all: false }
    }

    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// A name in quotes: some columns are called like words of SQL.
    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.text.push('"');
        self.text.push_str(name);
        self.text.push('"');
        self
    }

    /// A word of the model as a literal: a condition that an index has must stand in the question as it stands there.
    pub(crate) fn word(&mut self, word: &'static str) -> &mut Self {
        debug_assert!(word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{word}");
        self.push("'").push(word).push("'")
    }

    fn value(&mut self, value: Value, kind: Kind) -> &mut Self {
        self.values.push(value);
        self.dialect.placeholder(self.values.len(), kind, &mut self.text);
        self
    }

    fn integer(&mut self, number: i64) -> &mut Self {
        self.value(Value::Integer(number), Kind::Integer)
    }
}
