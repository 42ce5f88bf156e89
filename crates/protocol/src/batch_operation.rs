//! Batch operations: one action on every process instance, or every incident, that a filter finds.

use minicbor::{Decode, Encode};

use crate::intent::named;
use crate::{BatchOperationItem, HistoryKind, Key, MigrationPlan, MoveElement, Name};

named! {
    /// Types of batch operations, as the API names them.
    BatchOperationType {
        CancelProcessInstance = 0 "CANCEL_PROCESS_INSTANCE", ResolveIncident = 1 "RESOLVE_INCIDENT",
        MigrateProcessInstance = 2 "MIGRATE_PROCESS_INSTANCE", ModifyProcessInstance = 3 "MODIFY_PROCESS_INSTANCE",
        DeleteProcessInstance = 4 "DELETE_PROCESS_INSTANCE", DeleteDecisionInstance = 5 "DELETE_DECISION_INSTANCE",
        DeleteProcessDefinition = 6 "DELETE_PROCESS_DEFINITION", DeleteDecisionDefinition = 7 "DELETE_DECISION_DEFINITION",
    }
}

named! {
    /// Where a batch operation is in its life.
    BatchOperationState {
        Created = 0 "CREATED", Active = 1 "ACTIVE", Suspended = 2 "SUSPENDED", Completed = 3 "COMPLETED",
        Canceled = 4 "CANCELED", Failed = 5 "FAILED",
    }
}

named! {
    /// Where one item of a batch operation is in its life.
    BatchItemState {
        Active = 0 "ACTIVE", Completed = 1 "COMPLETED", Skipped = 2 "SKIPPED", Canceled = 3 "CANCELED", Failed = 4 "FAILED",
    }
}

/// Creates a batch operation.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct CreateBatchOperation {
    /// The action.
    #[n(0)]
    pub action: BatchAction,
    /// With whom.
    #[n(1)]
    pub filter: InstanceFilter,
    /// Echoed in the records of this command.
    #[n(2)]
    pub operation_reference: Option<u64>,
    /// The filter as JSON, if its items are looked for elsewhere and come by [`AddBatchItems`]; then `filter` is empty.
    #[n(3)]
    pub search: Option<Name>,
}

/// Hands over items of a batch operation that were found elsewhere, in the order of their keys.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct AddBatchItems {
    /// The batch operation.
    #[n(0)]
    pub batch_operation_key: Key,
    /// Its next items.
    #[n(1)]
    pub items: Vec<BatchOperationItem>,
    /// Whether there are no more.
    #[n(2)]
    pub is_last: bool,
    /// Why they could not be found; it ends with that.
    #[n(3)]
    pub error: Option<Name>,
    /// Owners of the items, in the same order, where the engine has forgotten them: for deletions of history.
    #[cbor(n(4), default)]
    pub owners: Vec<HistoryOwner>,
}

/// The owner of an ended instance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct HistoryOwner {
    /// ID of the process or the decision.
    #[n(0)]
    pub definition_id: Name,
    /// Its tenant.
    #[n(1)]
    pub tenant_id: Name,
}

/// The action on each item.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum BatchAction {
    /// Cancels root process instances.
    #[n(0)]
    Cancel,
    /// Resolves incidents of process instances.
    #[n(1)]
    Resolve,
    /// Migrates process instances.
    #[n(2)]
    Migrate(#[n(0)] MigrationPlan),
    /// Moves tokens of process instances, each from all instances of one element to another element.
    #[n(3)]
    Modify(#[n(0)] Vec<MoveElement>),
    /// Deletes what is kept of instances that have ended, or of evaluations.
    #[n(4)]
    DeleteHistory(#[n(0)] HistoryKind),
    /// Deletes what is kept of all that a resource had, which is deleted itself.
    #[n(5)]
    DeleteWithResource(#[n(0)] HistoryKind),
}

impl BatchAction {
    /// Its name.
    pub const fn kind(&self) -> BatchOperationType {
        match self {
            Self::Cancel => BatchOperationType::CancelProcessInstance,
            Self::Resolve => BatchOperationType::ResolveIncident,
            Self::Migrate(_) => BatchOperationType::MigrateProcessInstance,
            Self::Modify(_) => BatchOperationType::ModifyProcessInstance,
            Self::DeleteHistory(HistoryKind::ProcessInstance) => BatchOperationType::DeleteProcessInstance,
            Self::DeleteHistory(HistoryKind::DecisionInstance) => BatchOperationType::DeleteDecisionInstance,
            Self::DeleteWithResource(HistoryKind::ProcessInstance) => {
                BatchOperationType::DeleteProcessDefinition
            }
            Self::DeleteWithResource(HistoryKind::DecisionInstance) => {
                BatchOperationType::DeleteDecisionDefinition
            }
        }
    }
}

/// A change to a batch operation that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum BatchOperationChange {
    /// It stands still until it is resumed.
    #[n(0)]
    Suspend,
    /// It goes on.
    #[n(1)]
    Resume,
    /// It ends; what it has not done yet is left undone.
    #[n(2)]
    Cancel,
}

impl BatchOperationChange {
    /// The name of the command.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Suspend => "suspend",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
        }
    }
}

/// Which process instances are meant: those that meet all conditions, and of the alternatives, if there are any, all
/// conditions of at least one.
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub struct InstanceFilter {
    /// Conditions.
    #[n(0)]
    pub all: Vec<Condition>,
    /// Alternatives.
    #[n(1)]
    pub any: Vec<Vec<Condition>>,
}

/// A condition on one property.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Condition {
    /// The property.
    #[n(0)]
    pub field: InstanceField,
    /// The condition on its value.
    #[n(1)]
    pub test: Test,
}

/// A property of a process instance that the engine knows. Flags are 0 or 1, dates Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum InstanceField {
    /// Its key.
    #[n(0)]
    ProcessInstanceKey,
    /// Key of the instance that called it.
    #[n(1)]
    ParentProcessInstanceKey,
    /// Key of the call activity that called it.
    #[n(2)]
    ParentElementInstanceKey,
    /// Key of its definition.
    #[n(3)]
    ProcessDefinitionKey,
    /// BPMN process ID.
    #[n(4)]
    ProcessDefinitionId,
    /// Name of the process.
    #[n(5)]
    ProcessDefinitionName,
    /// Version of the definition.
    #[n(6)]
    ProcessDefinitionVersion,
    /// Version tag of the definition.
    #[n(7)]
    ProcessDefinitionVersionTag,
    /// Owner.
    #[n(8)]
    TenantId,
    /// Business ID.
    #[n(9)]
    BusinessId,
    /// `ACTIVE`: the engine forgets those that have ended.
    #[n(10)]
    State,
    /// When it was created.
    #[n(11)]
    StartDate,
    /// Never there.
    #[n(12)]
    EndDate,
    /// Whether it, or an instance below it, has an incident.
    #[n(13)]
    HasIncident,
    /// The message of one of these incidents.
    #[n(14)]
    ErrorMessage,
    /// One of its tags.
    #[n(15)]
    Tag,
    /// JSON of a variable, in whatever scope.
    #[n(16)]
    Variable(#[n(0)] Name),
    /// ID of an active element. This and the next two are about the same element instance.
    #[n(17)]
    ElementId,
    /// `ACTIVE`.
    #[n(18)]
    ElementInstanceState,
    /// Whether that element instance has an incident.
    #[n(19)]
    HasElementInstanceIncident,
    /// The [`crate::error_hash`] of the message of one of its incidents.
    #[n(20)]
    IncidentErrorHash,
}

impl InstanceField {
    /// Whether it is about one element instance.
    pub const fn is_of_element(&self) -> bool {
        matches!(self, Self::ElementId | Self::ElementInstanceState | Self::HasElementInstanceIncident)
    }
}

/// Conditions on a property.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub enum Test {
    /// This.
    #[n(0)]
    Equal(#[n(0)] Operand),
    /// Not this.
    #[n(1)]
    NotEqual(#[n(0)] Operand),
    /// There, or not there.
    #[n(2)]
    Exists(#[n(0)] bool),
    /// One of these, which are sorted.
    #[n(3)]
    In(#[n(0)] Vec<Operand>),
    /// None of these, which are sorted.
    #[n(4)]
    NotIn(#[n(0)] Vec<Operand>),
    /// Text with `*` for any characters, `?` for one and `\` before those that stand for themselves.
    #[n(5)]
    Like(#[n(0)] Name),
    /// More than this.
    #[n(6)]
    Greater(#[n(0)] Operand),
    /// This or more.
    #[n(7)]
    GreaterOrEqual(#[n(0)] Operand),
    /// Less than this.
    #[n(8)]
    Less(#[n(0)] Operand),
    /// This or less.
    #[n(9)]
    LessOrEqual(#[n(0)] Operand),
}

/// Operands of comparisons.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub enum Operand {
    /// A text.
    #[n(0)]
    Text(#[n(0)] Name),
    /// A key, number, date or flag.
    #[n(1)]
    Integer(#[n(0)] i64),
}

impl Test {
    /// Whether a value meets it. There may be none.
    pub fn is_met_by(&self, value: Option<&Operand>) -> bool {
        match self {
            Self::Equal(wanted) => value == Some(wanted),
            Self::NotEqual(unwanted) => value != Some(unwanted),
            Self::Exists(wanted) => value.is_some() == *wanted,
            Self::In(wanted) => value.is_some_and(|value| wanted.binary_search(value).is_ok()),
            Self::NotIn(unwanted) => value.is_none_or(|value| unwanted.binary_search(value).is_err()),
            Self::Like(pattern) => matches!(value, Some(Operand::Text(text)) if is_like(pattern, text)),
            Self::Greater(than) => value.is_some_and(|value| value > than),
            Self::GreaterOrEqual(than) => value.is_some_and(|value| value >= than),
            Self::Less(than) => value.is_some_and(|value| value < than),
            Self::LessOrEqual(than) => value.is_some_and(|value| value <= than),
        }
    }
}

/// One sign of a pattern.
enum Sign {
    Any,
    One,
    This(char),
}

/// Whether a text is like a pattern. Takes time by the product of their lengths at the worst.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut signs = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        signs.push(match c {
            '*' => Sign::Any,
            '?' => Sign::One,
            '\\' => Sign::This(chars.next().unwrap_or('\\')),
            c => Sign::This(c),
        });
    }
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut sign) = (0, 0);
    // Where the last `*` stands, and how far the text was then: it may swallow one more.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        let fits = match signs.get(sign) {
            Some(Sign::Any) => {
                star = Some((sign, at));
                sign += 1;
                continue;
            }
            Some(Sign::One) => true,
            Some(Sign::This(c)) => *c == text[at],
            None => false,
        };
        if fits {
            (at, sign) = (at + 1, sign + 1);
        } else if let Some((star_sign, star_at)) = star {
            star = Some((star_sign, star_at + 1));
            (at, sign) = (star_at + 1, star_sign + 1);
        } else {
            return false;
        }
    }
    signs[sign..].iter().all(|sign| matches!(sign, Sign::Any))
}

/// The answer to a creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchOperationCreated {
    /// Key of the batch operation.
    pub batch_operation_key: Key,
    /// Its action.
    pub kind: BatchOperationType,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, wanted) in [
            ("", "", true),
            ("*", "", true),
            ("a*c", "abbbc", true),
            ("a*c", "abbbd", false),
            ("*b*b*", "abcb", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            ("ä?*", "äöü", true),
        ] {
            assert_eq!(is_like(pattern, text), wanted, "{pattern} {text}");
        }
    }

    #[test]
    fn tests_of_what_is_and_of_what_is_not_there() {
        let three = Operand::Integer(3);
        let list = || vec![Operand::Integer(1), Operand::Integer(3)];
        for (test, with_three, with_nothing) in [
            (Test::Equal(three.clone()), true, false),
            (Test::NotEqual(three.clone()), false, true),
            (Test::Exists(true), true, false),
            (Test::Exists(false), false, true),
            (Test::In(list()), true, false),
            (Test::NotIn(list()), false, true),
            (Test::Greater(Operand::Integer(2)), true, false),
            (Test::Greater(three.clone()), false, false),
            (Test::GreaterOrEqual(three.clone()), true, false),
            (Test::Less(three.clone()), false, false),
            (Test::LessOrEqual(three.clone()), true, false),
            (Test::Like("3".into()), false, false),
        ] {
            assert_eq!(test.is_met_by(Some(&three)), with_three, "{test:?}");
            assert_eq!(test.is_met_by(None), with_nothing, "{test:?}");
        }
    }
}
