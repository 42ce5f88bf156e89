//! The built-in functions of FEEL, one file for each family. Names of parameters are part of the language: calls may
//! use them.

// All of them have the type of `Builtin::call`, also those that cannot fail.
#![allow(clippy::unnecessary_wraps)]

mod argument;
mod boolean;
mod builtin;
mod context;
mod conversion;
mod id;
mod json;
mod list;
mod numeric;
mod ordering;
mod process;
mod range;
mod regex;
mod string;
mod temporal;

pub(crate) use builtin::{Builtin, Failure, Signature};
pub(crate) use id::BuiltinId;
use std::sync::LazyLock;

/// All built-ins, in the order of their names.
static TABLE: LazyLock<Vec<&'static Builtin>> = LazyLock::new(|| {
    let families: [&'static [Builtin]; 10] = [
        boolean::FUNCTIONS,
        context::FUNCTIONS,
        conversion::FUNCTIONS,
        list::FUNCTIONS,
        numeric::FUNCTIONS,
        ordering::FUNCTIONS,
        process::FUNCTIONS,
        range::FUNCTIONS,
        string::FUNCTIONS,
        temporal::FUNCTIONS,
    ];
    let mut table: Vec<_> = families.into_iter().flatten().collect();
    table.sort_unstable_by_key(|builtin| builtin.name);
    debug_assert!(table.is_sorted_by(|one, next| one.name < next.name), "names of built-ins are unique");
    table
});

/// The built-in of a name.
pub(crate) fn find(name: &str) -> Option<BuiltinId> {
    TABLE.binary_search_by_key(&name, |builtin| builtin.name).ok().map(BuiltinId)
}

/// The built-in of a number.
pub(crate) fn get(id: BuiltinId) -> &'static Builtin {
    TABLE[id.0]
}

/// The names of all built-ins, in order.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|builtin| builtin.name)
}
