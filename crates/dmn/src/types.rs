//! Item definitions: conformance of values to a type, and implicit conversions (DMN 1.5 §7.3.2, §10.3.2.9.4).

use feel::{Budget, DateTime, Dialect, Environment, Expression, Time, Types, Value, Zone};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longest chain of aliases (definitions that only refer to another definition).
const MAX_ALIASES: u32 = 64;

/// A reference to a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum TypeRef {
    #[default]
    Any,
    /// A type of FEEL under a name that Camunda's dialect knows.
    Builtin(Builtin),
    /// A type under a name of the standard, which Camunda's dialect does not check.
    Standard(Builtin),
    /// A definition of this model.
    Item(usize),
    /// A definition of an imported model: place of the import, place of the definition.
    Imported(usize, usize),
}

/// The types of FEEL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    String,
    Number,
    Boolean,
    Date,
    Time,
    DateTime,
    DayTimeDuration,
    YearMonthDuration,
    Context,
}

impl Builtin {
    /// Reads the name of a type; tools write some of them in several ways.
    fn parse(name: &str) -> Option<TypeRef> {
        let name = name.strip_prefix("feel:").unwrap_or(name);
        Some(match name {
            "string" => TypeRef::Builtin(Self::String),
            "number" => TypeRef::Builtin(Self::Number),
            "boolean" => TypeRef::Builtin(Self::Boolean),
            "date" => TypeRef::Builtin(Self::Date),
            "time" => TypeRef::Builtin(Self::Time),
            "dateTime" => TypeRef::Builtin(Self::DateTime),
            "dayTimeDuration" => TypeRef::Builtin(Self::DayTimeDuration),
            "yearMonthDuration" => TypeRef::Builtin(Self::YearMonthDuration),
            "date and time" => TypeRef::Standard(Self::DateTime),
            "days and time duration" => TypeRef::Standard(Self::DayTimeDuration),
            "years and months duration" => TypeRef::Standard(Self::YearMonthDuration),
            "context" | "Context" => TypeRef::Standard(Self::Context),
            _ => return None,
        })
    }

    /// The name as models and messages have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "dateTime",
            Self::DayTimeDuration => "dayTimeDuration",
            Self::YearMonthDuration => "yearMonthDuration",
            Self::Context => "context",
        }
    }

    pub(crate) fn fits(self, value: &Value) -> bool {
        matches!(
            (self, value),
            (Self::String, Value::String(_))
                | (Self::Number, Value::Number(_))
                | (Self::Boolean, Value::Bool(_))
                | (Self::Date, Value::Date(_))
                | (Self::Time, Value::Time(_))
                | (Self::DateTime, Value::DateTime(_))
                | (Self::DayTimeDuration, Value::Duration(_))
                | (Self::YearMonthDuration, Value::Period(_))
                | (Self::Context, Value::Context(_))
        )
    }
}

/// An item definition, or a component of one.
#[derive(Debug, Default)]
pub(crate) struct ItemDefinition {
    pub(crate) is_collection: bool,
    pub(crate) base: Base,
    /// Tests that each value, or each item of a collection, must pass.
    pub(crate) allowed: Option<Expression>,
    /// Tests that the value as a whole must pass (DMN 1.5).
    pub(crate) constraint: Option<Expression>,
}

/// Constraint of an item definition on its values.
#[derive(Debug, Default)]
pub(crate) enum Base {
    #[default]
    Any,
    Reference(TypeRef),
    Components(Vec<(Arc<str>, usize)>),
    /// A function with this number of parameters and a result.
    Function(usize, TypeRef),
}

/// Mode of a comparison of a value with a type.
#[derive(Clone, Copy)]
struct Check<'f> {
    /// Number of further aliases that may follow each other.
    aliases: u32,
    /// The fuel for tests of allowed values; without it, the tests are ignored.
    fuel: Option<&'f Cell<u64>>,
}

impl Check<'_> {
    /// Whether a value passes tests, unless tests are ignored. When the fuel is used up, nothing passes.
    fn passes(self, tests: Option<&Expression>, value: &Value) -> bool {
        match (self.fuel, tests) {
            (Some(fuel), Some(tests)) => {
                let mut left = fuel.get();
                let passes = passes(tests, value, &mut left);
                fuel.set(left);
                passes
            }
            _ => true,
        }
    }

    /// The comparison for a part of the value.
    fn fresh(self) -> Self {
        Self { aliases: MAX_ALIASES, ..self }
    }
}

/// All definitions of a model and of those it imports.
#[derive(Debug, Default)]
pub(crate) struct TypeTable {
    pub(crate) definitions: Vec<ItemDefinition>,
    pub(crate) by_name: BTreeMap<String, usize>,
    pub(crate) imports: Vec<(Arc<str>, Arc<TypeTable>)>,
}

impl TypeTable {
    /// The type of a name; unknown names are types without constraints.
    pub(crate) fn resolve(&self, name: &str) -> TypeRef {
        let name = name.trim();
        if let Some(place) = self.by_name.get(name) {
            return TypeRef::Item(*place);
        }
        if let Some(builtin) = Builtin::parse(name) {
            return builtin;
        }
        let imported = self.imports.iter().enumerate().find_map(|(index, (prefix, table))| {
            let local = name.strip_prefix(&**prefix)?.strip_prefix('.')?;
            Some(TypeRef::Imported(index, *table.by_name.get(local)?))
        });
        imported.unwrap_or_default()
    }

    /// Whether a value is of the type. Null is of every type.
    fn conforms(&self, value: &Value, kind: &TypeRef, fuel: &Cell<u64>) -> bool {
        value.is_null() || self.is_of(value, kind, Check { aliases: MAX_ALIASES, fuel: Some(fuel) })
    }

    /// Recursion is bounded by the depth of the value and by the length of chains of aliases.
    fn is_of(&self, value: &Value, kind: &TypeRef, check: Check<'_>) -> bool {
        match kind {
            TypeRef::Any => true,
            TypeRef::Builtin(builtin) | TypeRef::Standard(builtin) => builtin.fits(value),
            TypeRef::Item(place) => self.fits(value, *place, check),
            TypeRef::Imported(import, place) => {
                self.imports.get(*import).is_some_and(|(_, table)| table.fits(value, *place, check))
            }
        }
    }

    fn fits(&self, value: &Value, place: usize, check: Check<'_>) -> bool {
        let (Some(definition), Some(aliases)) = (self.definitions.get(place), check.aliases.checked_sub(1))
        else {
            return false;
        };
        let check = Check { aliases, ..check };
        let fits = if definition.is_collection {
            value.as_list().is_some_and(|list| {
                list.iter().all(|item| item.is_null() || self.fits_item(item, definition, check.fresh()))
            })
        } else {
            self.fits_item(value, definition, check)
        };
        fits && check.passes(definition.constraint.as_ref(), value)
    }

    fn fits_item(&self, value: &Value, definition: &ItemDefinition, check: Check<'_>) -> bool {
        let fits = match &definition.base {
            Base::Any => true,
            Base::Reference(kind) => self.is_of(value, kind, check),
            Base::Components(components) => value.as_context().is_some_and(|context| {
                components.iter().all(|(name, place)| {
                    context
                        .get(name)
                        .is_some_and(|entry| entry.is_null() || self.fits(&entry, *place, check.fresh()))
                })
            }),
            Base::Function(parameters, _) => {
                value.as_function().is_some_and(|function| function.parameters().len() == *parameters)
            }
        };
        fits && check.passes(definition.allowed.as_ref(), value)
    }

    /// The value as one of the type, or nothing if it cannot be. Tests of allowed values take from the fuel; when it
    /// is used up, nothing conforms.
    pub(crate) fn coerce(&self, value: &Value, kind: &TypeRef, fuel: &mut u64) -> Option<Value> {
        let left = Cell::new(*fuel);
        let coerced = self.coerce_within(value, kind, &left);
        *fuel = left.get();
        coerced
    }

    fn coerce_within(&self, value: &Value, kind: &TypeRef, fuel: &Cell<u64>) -> Option<Value> {
        if self.conforms(value, kind, fuel) {
            return Some(value.clone());
        }
        if let Value::List(list) = value
            && let [item] = list.items()
            && self.conforms(item, kind, fuel)
        {
            return Some(item.clone());
        }
        if let Value::Date(date) = value {
            let midnight = DateTime::new(*date, &Time::midnight(Zone::UTC)).map(Value::from)?;
            return self.conforms(&midnight, kind, fuel).then_some(midnight);
        }
        let listed = Value::list(vec![value.clone()]);
        let may_be_listed = !matches!(value, Value::List(_)) && listed.is_within_bounds();
        (may_be_listed && self.conforms(&listed, kind, fuel)).then_some(listed)
    }
}

/// Whether a value passes unary tests that read only this value.
pub(crate) fn passes(tests: &Expression, value: &Value, fuel: &mut u64) -> bool {
    let environment = Environment { dialect: Dialect::Standard, ..Environment::default() };
    let mut budget = Budget { fuel: *fuel, ..Budget::new(&environment) };
    let outcome = tests.evaluate_within(Some(value), &(), &environment, &mut budget);
    *fuel = budget.fuel;
    outcome.is_ok_and(|evaluation| evaluation.value.as_bool() == Some(true))
}

/// The operator `instance of` ignores allowed values.
impl Types for TypeTable {
    fn is_instance(&self, type_name: &str, value: &Value) -> bool {
        match self.resolve(type_name) {
            TypeRef::Any => false,
            kind => !value.is_null() && self.is_of(value, &kind, Check { aliases: MAX_ALIASES, fuel: None }),
        }
    }
}
