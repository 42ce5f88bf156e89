//! How many elements have ended, kept in numbers: counting rows takes ever longer. Writers add, each partition
//! in rows of its own, who removes rows subtracts in others; what is asked for is the sum.

use protocol::{Name, PartitionId};
use search::model::{ColumnId, Entity, EntityId, element_count as count, element_instance as element};
use search::{Row, Value};

use crate::change::{Batch, RowId};
use crate::recent::Recent;

/// The partition number of the cleaner; real ones begin at 1.
pub(crate) const REMOVED: PartitionId = 0;

/// The columns of a row that its count needs.
pub(crate) const COUNTED: [ColumnId; 5] =
    [element::DEFINITION_KEY, element::ELEMENT_ID, element::PROCESS_ID, element::TENANT, element::STATE];

/// The columns that must be known of rows of an entity when they are removed; the identity of those that are not
/// counted.
pub(crate) fn counted(entity: &Entity) -> &'static [ColumnId] {
    if entity.id == EntityId::ElementInstance { &COUNTED } else { &[0] }
}

/// An element of a process.
pub(crate) struct Place {
    pub definition_key: Value,
    pub element_id: Value,
    pub process_id: Value,
    pub tenant_id: Value,
}

/// The rows that elements were counted in lately, by partition, definition and element.
pub(crate) type Counted = Recent<(PartitionId, i64, Name)>;

/// Counts instances of an element that have ended in this state; others are not counted.
pub(crate) fn add(
    counted: &mut Counted,
    partition: PartitionId,
    place: Place,
    (state, amount): (&str, i64),
    batch: &mut Batch,
) {
    let column = match state {
        "COMPLETED" => count::COMPLETED,
        "TERMINATED" => count::TERMINATED,
        _ => return,
    };
    let (Some(definition), Some(element)) = (place.definition_key.integer(), place.element_id.text()) else {
        return;
    };
    let id = counted.id(
        |(of, key, name)| *key == definition && *name == *element && *of == partition,
        || ((partition, definition, element.clone()), format!("{partition}-{definition}-{element}")),
    );
    batch
        .insert(&count::ENTITY, RowId::Text(id))
        .set(count::DEFINITION_KEY, place.definition_key)
        .set(count::ELEMENT_ID, place.element_id)
        .set(count::PROCESS_ID, place.process_id)
        .set(count::TENANT, place.tenant_id)
        .add(column, amount);
}

/// Takes rows that are gone, with the columns of [`counted`], from the counts.
pub(crate) fn removed(rows: Vec<Row>) -> Batch {
    let (mut batch, mut counted) = (Batch::default(), Counted::default());
    for row in rows {
        let Ok([definition_key, element_id, process_id, tenant_id, state]) = <[Value; 5]>::try_from(row)
        else {
            continue;
        };
        let Value::Text(state) = state else { continue };
        let place = Place { definition_key, element_id, process_id, tenant_id };
        add(&mut counted, REMOVED, place, (&state, -1), &mut batch);
    }
    batch
}
