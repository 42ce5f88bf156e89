//! Filters and positions as conditions.

use protocol::Name;
use search::model::{CUT_CHARS, ColumnId, Entity, EntityId, Kind, ORDER_CHARS, process_instance};
use search::{Filter, Latest, Related, Sort, Value};
use search::{Operand, Test};

use super::Query;

/// Conditions that are joined side by side.
const JOINED_MAX: usize = 50;

/// Values of a list that are bound one by one, since databases bind some 32,000 values. Of a longer list, numbers stand
/// in the text, and texts are one value, a JSON array.
const BOUND_MAX: usize = 4000;
/// Beginnings of identities that an index is asked for; of more, databases are slow to make a plan.
const BEGINNINGS_MAX: usize = 1000;
/// Values of a statement beyond which all lists are long ones.
const BOUND_ALL_MAX: usize = 20_000;

/// Writes what is compared.
type ColumnText<'f> = &'f dyn for<'q, 'd> Fn(&'q mut Query<'d>) -> &'q mut Query<'d>;

/// A row of the outermost query is of this table; each nested one has a name of its own.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub entity: &'static Entity,
    pub depth: u8,
}

impl Query<'_> {
    /// A column, by the name of its table.
    pub(super) fn column(&mut self, scope: Scope, column: ColumnId) -> &mut Self {
        self.push("t").push(&scope.depth.to_string()).push(".");
        self.name(scope.entity.columns[column as usize].name)
    }

    /// The sort expression of a column.
    pub(super) fn place(&mut self, scope: Scope, column: ColumnId) -> &mut Self {
        if !scope.entity.is_cut(column) {
            return self.column(scope, column);
        }
        self.push("SUBSTR(").column(scope, column).push(",1,").push(&ORDER_CHARS.to_string()).push(")")
    }

    /// A filter. Nests as deeply as the filter, which is built here and has a fixed depth.
    pub(super) fn filter(&mut self, scope: Scope, filter: &Filter) -> &mut Self {
        match filter {
            Filter::All(filters) => self.joined(scope, filters, " AND ", "1=1"),
            Filter::Any(filters) => self.joined(scope, filters, " OR ", "1=0"),
            Filter::Column(column, test) => self.test(scope, *column, test),
            Filter::Related(related) => self.related(scope, related),
            Filter::Latest(latest) => self.latest(scope, latest),
        }
    }

    /// Filters in groups of groups: databases read each further word as one level more, and have a limit of these.
    fn joined(&mut self, scope: Scope, filters: &[Filter], word: &str, none: &str) -> &mut Self {
        if filters.is_empty() {
            return self.push(none);
        }
        self.grouped(filters, word, &|query, filter| _ = query.filter(scope, filter))
    }

    /// Conditions in groups of groups, in parentheses.
    fn grouped<T>(
        &mut self,
        items: &[T],
        word: &str,
        write: &dyn for<'q, 'd> Fn(&'q mut Query<'d>, &T),
    ) -> &mut Self {
        self.push("(");
        if items.len() > JOINED_MAX {
            let size = items.len().div_ceil(JOINED_MAX).max(JOINED_MAX);
            for (at, group) in items.chunks(size).enumerate() {
                self.push(if at > 0 { word } else { "" }).grouped(group, word, write);
            }
            return self.push(")");
        }
        for (at, item) in items.iter().enumerate() {
            self.push(if at > 0 { word } else { "" });
            write(self, item);
        }
        self.push(")")
    }

    /// Whether so many values, or so many more, are too many to be bound one by one.
    fn are_many(&self, count: usize) -> bool {
        count > BOUND_MAX || self.values.len() + count > BOUND_ALL_MAX
    }

    /// Texts as rows of one column, of one value.
    fn rows_of(&mut self, texts: &[Value]) -> &mut Self {
        let texts: Vec<_> =
            texts.iter().filter_map(Value::text).map(|text| self.dialect.stored(text)).collect();
        let list = serde_json::to_string(&texts).expect("texts are JSON");
        let (before, after) = self.dialect.elements();
        self.push("SELECT l.value FROM ").push(before).value(list.into(), Kind::List).push(after).push(" l")
    }

    fn related(&mut self, scope: Scope, related: &Related) -> &mut Self {
        let inner = Scope { entity: related.entity.0, depth: scope.depth + 1 };
        if self.visits_all && related.exists && is_of_one_definition(related.entity.0, &related.filter) {
            // Looking up each row's other one takes longer than listing these others once.
            self.column(scope, related.column).push(" IN (SELECT ").column(inner, related.other);
            self.push(" FROM ").name(inner.entity.name).push(" t").push(&inner.depth.to_string());
            return self.push(" WHERE ").filter(inner, &related.filter).push(")");
        }
        if !related.exists {
            self.push("NOT ");
        }
        self.push("EXISTS (SELECT 1 FROM ").name(inner.entity.name).push(" t").push(&inner.depth.to_string());
        self.push(" WHERE ");
        self.twin(inner, related.other, &|query, other| {
            query.column(inner, other).push("=").column(scope, related.column)
        });
        self.push(" AND ").filter(inner, &related.filter).push(")")
    }

    /// A condition on a column. An index leaves out rows in which another column is the same, which has one of its own.
    fn twin(
        &mut self,
        scope: Scope,
        column: ColumnId,
        condition: &dyn for<'q, 'd> Fn(&'q mut Query<'d>, ColumnId) -> &'q mut Query<'d>,
    ) -> &mut Self {
        let Some(twin) = scope.entity.twin(column) else { return condition(self, column) };
        self.push("((");
        condition(self, column);
        self.push(" AND ")
            .column(scope, column)
            .push(" IS DISTINCT FROM ")
            .column(scope, twin)
            .push(") OR (");
        condition(self, twin);
        self.push(" AND ").column(scope, column).push(" IS NOT DISTINCT FROM ").column(scope, twin).push("))")
    }

    /// An identity begins with one of some keys.
    pub(super) fn begins_with_any(&mut self, identity: ColumnText<'_>, keys: &[Value]) -> &mut Self {
        // Each key takes two.
        let are_many = self.are_many(2 * keys.len());
        self.grouped(keys, " OR ", &|query, key| query.begins_with(identity, key, are_many))
    }

    fn begins_with(&mut self, identity: ColumnText<'_>, key: &Value, are_many: bool) {
        let key = key.integer().unwrap_or_default();
        self.push("(");
        // The last character is the one behind the underscore.
        for (word, operator, end) in [("", ">=", '_'), (" AND ", "<", '`')] {
            self.push(word);
            identity(self);
            let bound = format!("{key}{end}");
            if are_many {
                self.push(operator).push("'").push(&bound).push("'");
            } else {
                self.push(operator).value(bound.into(), Kind::Text);
            }
        }
        self.push(")");
    }

    fn latest(&mut self, scope: Scope, latest: &Latest) -> &mut Self {
        let other = Scope { depth: scope.depth + 1, ..scope };
        self.push("NOT EXISTS (SELECT 1 FROM ")
            .name(other.entity.name)
            .push(" t")
            .push(&other.depth.to_string());
        self.push(" WHERE ");
        for column in &latest.group {
            self.column(other, *column).push("=").column(scope, *column).push(" AND ");
        }
        self.column(other, latest.by).push(">").column(scope, latest.by).push(" AND ");
        self.filter(other, &latest.among).push(")")
    }

    /// A test on a list asks whether an element passes; one that wants something not to be, whether none is it.
    fn test(&mut self, scope: Scope, column: ColumnId, test: &Test) -> &mut Self {
        let kind = scope.entity.columns[column as usize].kind;
        let test = &*self.dialect.test(scope.entity, column, test);
        if kind != Kind::List || matches!(test, Test::Exists(_)) {
            return self.test_plain(scope, column, test);
        }
        let (test, is_negated) = match test {
            Test::NotEqual(unwanted) => (&Test::Equal(unwanted.clone()), true),
            Test::NotIn(unwanted) => (&Test::In(unwanted.clone()), true),
            test => (test, false),
        };
        let operands = match test {
            Test::Equal(operand) => std::slice::from_ref(operand),
            Test::In(operands) => operands,
            _ => &[],
        };
        if let Some(around) = self.dialect.indexed_elements().filter(|_| !operands.is_empty()) {
            return self.has_one_of(scope, column, around, operands, is_negated);
        }
        let (before, after) = self.dialect.elements();
        self.push(if is_negated { "NOT EXISTS (SELECT 1 FROM " } else { "EXISTS (SELECT 1 FROM " });
        self.push(before).column(scope, column).push(after).push(" l WHERE ");
        self.test_value(&|query| query.push("l.value"), Kind::Text, test).push(")")
    }

    /// Whether a list has one of some elements, or none of them, in the words of an index.
    fn has_one_of(
        &mut self,
        scope: Scope,
        column: ColumnId,
        (before, after): (&str, &str),
        operands: &[Operand],
        is_negated: bool,
    ) -> &mut Self {
        let values: Vec<_> = operands.iter().filter_map(|operand| value_of(operand, Kind::Text)).collect();
        if values.is_empty() {
            return self.push(if is_negated { "1=1" } else { "1=0" });
        }
        if is_negated {
            self.push("(").column(scope, column).push(" IS NULL OR NOT ");
        }
        self.push(before).column(scope, column).push(after).push(" ?| ARRAY");
        if self.are_many(values.len()) {
            self.push("(").rows_of(&values).push(")");
        } else {
            for (at, value) in values.into_iter().enumerate() {
                self.push(if at == 0 { "[" } else { "," }).value(value, Kind::Text);
            }
            self.push("]");
        }
        self.push(if is_negated { ")" } else { "" })
    }

    /// A test of a column, and what follows from it where only that shows an index to be of use.
    fn test_plain(&mut self, scope: Scope, column: ColumnId, test: &Test) -> &mut Self {
        let kind = scope.entity.columns[column as usize].kind;
        let operands = match test {
            // Databases see what is in an index by the number itself, not by a placeholder.
            Test::Greater(Operand::Integer(0)) if scope.entity.is_above(column) => {
                return self.column(scope, column).push(">0");
            }
            Test::Equal(operand) => std::slice::from_ref(operand),
            Test::In(operands) => operands,
            _ => return self.test_value(&|query| query.column(scope, column), kind, test),
        };
        if operands.is_empty() || operands.iter().any(|operand| value_of(operand, kind).is_none()) {
            return self.test_value(&|query| query.column(scope, column), kind, test);
        }
        if scope.entity.twin(column).is_some() {
            return self.twin(scope, column, &|query, column| {
                query.test_value(&|query| query.column(scope, column), kind, test)
            });
        }
        let entity = scope.entity;
        let is_unusual = |usual: &&str| {
            !operands.iter().any(|operand| matches!(operand, Operand::Text(text) if &**text == *usual))
        };
        let usual = entity.usual(column).filter(is_unusual);
        let is_beginning = entity.id_begins_with == Some(column) && operands.len() <= BEGINNINGS_MAX;
        // A row that is asked whether it has another one finds that by its key: whatever else is looked for is not few.
        let is_cut = scope.depth == 0 && entity.is_cut(column);
        if usual.is_none() && !is_beginning && !is_cut {
            return self.test_value(&|query| query.column(scope, column), kind, test);
        }
        self.push("(").test_value(&|query| query.column(scope, column), kind, test);
        if is_beginning {
            let keys: Vec<_> = operands.iter().filter_map(|operand| value_of(operand, kind)).collect();
            self.push(" AND ").begins_with_any(&|query| query.column(scope, 0), &keys);
        }
        if let Some(usual) = usual {
            self.push(" AND ").column(scope, column).push("<>").word(usual);
        }
        if is_cut {
            let cut = |operand: &Operand| match operand {
                Operand::Text(text) => Operand::Text(Name::from(self.dialect.cut(text).as_str())),
                Operand::Integer(number) => Operand::Integer(*number),
            };
            let test = Test::In(operands.iter().map(cut).collect());
            let length = CUT_CHARS.to_string();
            let beginning: ColumnText<'_> =
                &|query| query.push("SUBSTR(").column(scope, column).push(",1,").push(&length).push(")");
            self.push(" AND ").test_value(beginning, kind, &test);
        }
        self.push(")")
    }

    fn test_value(&mut self, value: ColumnText<'_>, kind: Kind, test: &Test) -> &mut Self {
        match test {
            Test::Equal(operand) => self.compare(value, kind, "=", operand),
            Test::Greater(operand) => self.compare(value, kind, ">", operand),
            Test::GreaterOrEqual(operand) => self.compare(value, kind, ">=", operand),
            Test::Less(operand) => self.compare(value, kind, "<", operand),
            Test::LessOrEqual(operand) => self.compare(value, kind, "<=", operand),
            Test::NotEqual(operand) => {
                let operator = value_of(operand, kind).map_or("", |_| "<>");
                self.or_null(value);
                match operator {
                    "" => self.push("1=1"),
                    operator => self.compare(value, kind, operator, operand),
                }
                .push(")")
            }
            Test::Exists(is_wanted) => {
                value(self);
                self.push(if *is_wanted { " IS NOT NULL" } else { " IS NULL" })
            }
            Test::In(operands) => self.list(value, kind, operands, false),
            Test::NotIn(operands) => {
                self.or_null(value);
                self.list(value, kind, operands, true).push(")")
            }
            Test::Like(_) if kind.is_integer() => self.push("1=0"),
            Test::Like(pattern) => {
                let (before, pattern, after) = self.dialect.like(pattern);
                value(self);
                self.push(before).value(Value::from(pattern), Kind::Text).push(after)
            }
        }
    }

    fn or_null(&mut self, value: ColumnText<'_>) {
        self.push("(");
        value(self);
        self.push(" IS NULL OR ");
    }

    /// A text is never equal to, less or more than a number.
    fn compare(&mut self, value: ColumnText<'_>, kind: Kind, operator: &str, operand: &Operand) -> &mut Self {
        let Some(operand) = value_of(operand, kind) else { return self.push("1=0") };
        value(self);
        self.push(operator).value(operand, kind)
    }

    fn list(
        &mut self,
        value: ColumnText<'_>,
        kind: Kind,
        operands: &[Operand],
        is_negated: bool,
    ) -> &mut Self {
        let values: Vec<_> = operands.iter().filter_map(|operand| value_of(operand, kind)).collect();
        if values.is_empty() {
            return self.push(if is_negated { "1=1" } else { "1=0" });
        }
        value(self);
        self.push(if is_negated { " NOT" } else { "" }).one_of(values, kind)
    }

    /// The list of values behind a column.
    pub(super) fn one_of(&mut self, values: Vec<Value>, kind: Kind) -> &mut Self {
        self.push(" IN (");
        let are_many = self.are_many(values.len());
        if are_many && !kind.is_integer() {
            return self.rows_of(&values).push(")");
        }
        for (at, value) in values.into_iter().enumerate() {
            if at > 0 {
                self.push(",");
            }
            match value {
                Value::Integer(number) if are_many => self.push(&number.to_string()),
                value => self.value(value, kind),
            };
        }
        self.push(")")
    }

    /// Rows that come after a row in an order.
    pub(super) fn after(&mut self, scope: Scope, order: &[Sort], row: &[Value]) -> &mut Self {
        let first = order[0];
        let kind = |column: ColumnId| scope.entity.columns[column as usize].kind;
        self.push("(");
        // Says the same as a part of what follows, in a way that an index can serve.
        if (first.descending || scope.entity.columns[first.column as usize].is_always_set)
            && row[0] != Value::Null
        {
            let operator = if first.descending { "<=" } else { ">=" };
            self.place(scope, first.column).push(operator).value(row[0].clone(), kind(first.column));
            self.push(" AND (");
        } else {
            self.push("(");
        }
        for at in 0..order.len() {
            if at > 0 {
                self.push(" OR ");
            }
            self.push("(");
            for (sort, value) in order[..at].iter().zip(row) {
                self.place(scope, sort.column);
                match value {
                    Value::Null => self.push(" IS NULL"),
                    value => self.push("=").value(value.clone(), kind(sort.column)),
                };
                self.push(" AND ");
            }
            let Sort { column, descending } = order[at];
            match (&row[at], descending) {
                (Value::Null, false) => {
                    self.push("1=0");
                }
                (Value::Null, true) => {
                    self.place(scope, column).push(" IS NOT NULL");
                }
                (value, true) => {
                    self.place(scope, column).push("<").value(value.clone(), kind(column));
                }
                (value, false) if scope.entity.columns[column as usize].is_always_set => {
                    self.place(scope, column).push(">").value(value.clone(), kind(column));
                }
                (value, false) => {
                    self.push("(").place(scope, column).push(">").value(value.clone(), kind(column));
                    self.push(" OR ").place(scope, column).push(" IS NULL)");
                }
            }
            self.push(")");
        }
        self.push("))")
    }
}

/// Whether rows are process instances of one definition: of these there are no more than of what is in them.
fn is_of_one_definition(entity: &Entity, filter: &Filter) -> bool {
    match filter {
        Filter::All(filters) => filters.iter().any(|filter| is_of_one_definition(entity, filter)),
        Filter::Column(column, Test::Equal(_)) => {
            entity.id == EntityId::ProcessInstance && *column == process_instance::DEFINITION_KEY
        }
        _ => false,
    }
}

/// An operand as a value of a kind of column; `None` if it cannot be one.
fn value_of(operand: &Operand, kind: Kind) -> Option<Value> {
    match operand {
        Operand::Integer(number) if kind.is_integer() => Some(Value::Integer(*number)),
        Operand::Text(text) if !kind.is_integer() => Some(Value::Text(text.clone())),
        _ => None,
    }
}
