//! Scopes: those that an element instance sees (itself, what is around it, its process instance), and those that have
//! an incident.

use std::collections::BTreeMap;

use protocol::{Key, Name};
use search::model::{
    ColumnId, Entity, element_instance as element, incident, process_instance as instance, user_task as task,
    variable,
};
use search::{Filter, Row, Search};
use search::{Operand, Test};

use super::super::call::Call;
use super::super::problem::Failure;
use super::super::storage::Reads;

/// How deeply elements may nest; the engine allows less.
const DEPTH_MAX: usize = 1000;
/// Variables that a task may see.
const VARIABLES_MAX: u32 = 10_000;

async fn one(
    storage: Reads<'_>,
    entity: &'static Entity,
    key: i64,
    columns: u64,
) -> Result<Option<Row>, Failure> {
    let found = storage.search(Search::one(entity, Operand::Integer(key), columns)).await?;
    Ok(found.rows.into_iter().next())
}

/// A kind of things that have the incidents of all below them.
pub(crate) struct Holder {
    entity: &'static Entity,
    root: ColumnId,
    /// The column of an incident that names the thing where it is.
    of_incident: ColumnId,
}

pub(super) static INSTANCE: Holder = Holder {
    entity: &instance::ENTITY,
    root: instance::ROOT_INSTANCE_KEY,
    of_incident: incident::INSTANCE_KEY,
};
pub(super) static ELEMENT: Holder =
    Holder { entity: &element::ENTITY, root: element::ROOT_INSTANCE_KEY, of_incident: incident::ELEMENT_KEY };

/// Incidents of the thing in the path and of all that it called or contains.
pub(super) async fn incidents_of(call: &Call<'_>, holder: &Holder) -> Result<Filter, Failure> {
    let key = call.key()?;
    let search = Search::one(holder.entity, Operand::Integer(key.cast_signed()), 1 << holder.root);
    let visible = call.visible_rows(holder.entity).await?;
    let search = Search { filter: search.filter.clone().and(visible), ..search };
    let found = call.fresh_storage().await?.search(search).await?;
    let Some(row) = found.rows.into_iter().next() else {
        // A search shows nothing of things that are not there or may not be seen.
        return Ok(Filter::Any(Vec::new()));
    };
    let root = row[holder.root as usize].integer();
    let is = |column, value| Filter::Column(column, Test::Equal(value));
    let own = is(holder.of_incident, Operand::Integer(key.cast_signed()));
    let Some(root) = root else { return Ok(own) };
    // Incidents are found by the root: few have many, and lists have no index everywhere.
    let in_tree = is(incident::ROOT_INSTANCE_KEY, Operand::Integer(root));
    if root == key.cast_signed() {
        return Ok(in_tree);
    }
    let below = is(incident::HOLDERS, Operand::Text(Name::from(key.to_string())));
    Ok(in_tree.and(Filter::Any(vec![own, below])))
}

/// The scopes of a user task, the innermost first; none if whoever asks sees no such task.
pub(in crate::rest) async fn of_user_task(call: &Call<'_>, key: Key) -> Result<Vec<i64>, Failure> {
    let storage = call.fresh_storage().await?;
    let columns = 1 << task::ELEMENT_KEY | 1 << task::INSTANCE_KEY;
    let search = Search::one(&task::ENTITY, Operand::Integer(key.cast_signed()), columns);
    // Readers of a task may read its effective variables.
    let visible = call.visible_rows(&task::ENTITY).await?;
    let search = Search { filter: search.filter.clone().and(visible), ..search };
    let Some(task) = storage.search(search).await?.rows.into_iter().next() else {
        return Ok(Vec::new());
    };
    let instance = task[task::INSTANCE_KEY as usize].integer();
    let mut scopes = Vec::new();
    let mut next = task[task::ELEMENT_KEY as usize].integer();
    while let Some(scope) = next.filter(|scope| Some(*scope) != instance && scopes.len() < DEPTH_MAX) {
        scopes.push(scope);
        let element = one(storage, &element::ENTITY, scope, 1 << element::SCOPE_KEY).await?;
        next = element.and_then(|element| element[element::SCOPE_KEY as usize].integer());
    }
    scopes.extend(instance);
    Ok(scopes)
}

/// Variables of these scopes.
pub(in crate::rest) fn variables_of(scopes: &[i64]) -> Filter {
    let mut keys: Vec<_> = scopes.iter().map(|scope| Operand::Integer(*scope)).collect();
    keys.sort_unstable();
    Filter::Column(variable::SCOPE_KEY, Test::In(keys))
}

/// Of each name, the variable of the innermost of these scopes.
pub(in crate::rest) async fn effective_variables_of(
    call: &Call<'_>,
    scopes: &[i64],
) -> Result<Filter, Failure> {
    let search = Search {
        filter: variables_of(scopes),
        limit: VARIABLES_MAX,
        ..Search::one(
            &variable::ENTITY,
            Operand::Integer(0),
            1 | 1 << variable::NAME | 1 << variable::SCOPE_KEY,
        )
    };
    let storage = call.fresh_storage().await?;
    let found = storage.search(search).await?;
    let depth = |row: &Row| {
        let scope = row[variable::SCOPE_KEY as usize].integer();
        scopes.iter().position(|known| Some(*known) == scope).unwrap_or(usize::MAX)
    };
    let mut innermost: BTreeMap<Name, &Row> = BTreeMap::new();
    for row in &found.rows {
        let name = row[variable::NAME as usize].text().cloned().unwrap_or_default();
        let chosen = innermost.entry(name).or_insert(row);
        if depth(row) < depth(chosen) {
            *chosen = row;
        }
    }
    let mut keys: Vec<_> =
        innermost.values().filter_map(|row| row[0].integer().map(Operand::Integer)).collect();
    keys.sort_unstable();
    Ok(Filter::Column(variable::KEY, Test::In(keys)))
}
