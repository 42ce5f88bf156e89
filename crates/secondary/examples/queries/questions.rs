//! Queries of user interfaces.

use protocol::Name;
use search::model::{
    ColumnId, Entity, element_count as count, element_instance as element, incident, job,
    process_definition as definition, process_instance as instance, sequence_flow as flow, user_task as task,
    variable,
};
use search::{
    Aggregate, EntityRef, Filter, Latest, Position, Reader, Related, Search, Sort, Statistics, StoreError,
};
use search::{Operand, Test};

use super::fill::{ACTIVE, DEFINITIONS, INCIDENTS, PACE_MS, PEOPLE, START_MS, instance_key, process_id};

/// Totals are counted up to here, as the API does.
const COUNT_UP_TO: u64 = 10_000;
const PAGE: u32 = 50;

/// Values for one round.
pub struct Draw {
    /// Some instance.
    number: u64,
}

impl Draw {
    pub fn new(instances: u64, round: u64) -> Self {
        let spread = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
        Self { number: spread % instances.max(1) }
    }

    fn key(&self) -> i64 {
        instance_key(self.number).cast_signed()
    }

    /// The start of that instance.
    fn start(&self) -> i64 {
        START_MS + self.number.cast_signed() * PACE_MS
    }

    /// The key of an instance with an incident.
    fn troubled(&self) -> i64 {
        instance_key(self.number - self.number % (ACTIVE * INCIDENTS)).cast_signed()
    }
}

pub enum Question {
    Search(Search),
    Statistics(Statistics),
}

impl Question {
    /// Returns how many rows were found.
    pub async fn ask(self, reader: &dyn Reader) -> Result<usize, StoreError> {
        match self {
            Self::Search(search) => reader.search(search).await.map(|found| found.rows.len()),
            Self::Statistics(statistics) => reader.statistics(statistics).await.map(|rows| rows.len()),
        }
    }
}

pub type Make = fn(&Draw) -> Question;

pub const QUESTIONS: &[(&str, Make)] = &[
    ("latest instances", |_| page(&instance::ENTITY, Filter::everything(), instance::START)),
    ("latest active instances", |_| {
        page(&instance::ENTITY, text(instance::STATE, "ACTIVE"), instance::START)
    }),
    ("active instances of a process", |draw| {
        let process = text(instance::PROCESS_ID, &process_id(draw.number));
        page(&instance::ENTITY, all([process, text(instance::STATE, "ACTIVE")]), instance::START)
    }),
    ("instances with incidents", |_| {
        let has_incident = Filter::Column(instance::HAS_INCIDENT, Test::Greater(Operand::Integer(0)));
        let filter = all([text(instance::STATE, "ACTIVE"), has_incident]);
        page(&instance::ENTITY, filter, instance::START)
    }),
    ("instances ended in an hour", |draw| {
        let after = Filter::Column(instance::END, Test::GreaterOrEqual(Operand::Integer(draw.start())));
        let before = Filter::Column(instance::END, Test::Less(Operand::Integer(draw.start() + 3_600_000)));
        page(&instance::ENTITY, all([after, before]), instance::END)
    }),
    ("instances after a cursor", |draw| {
        let after = Position::After(vec![draw.start().into(), draw.key().into()]);
        paged(&instance::ENTITY, Filter::everything(), instance::START, after)
    }),
    ("instances of two processes by name", |draw| {
        let ids = [draw.number, draw.number + 1].map(|number| Operand::Text(Name::from(process_id(number))));
        let filter = Filter::Column(instance::PROCESS_ID, Test::In(ids.into()));
        page(&instance::ENTITY, all([filter, text(instance::STATE, "ACTIVE")]), instance::PROCESS_NAME)
    }),
    ("an instance by key", |draw| {
        page(&instance::ENTITY, number(instance::KEY, draw.key()), instance::START)
    }),
    ("instances by business ID", |draw| {
        page(
            &instance::ENTITY,
            text(instance::BUSINESS_ID, &format!("order-{}", draw.number)),
            instance::START,
        )
    }),
    ("instances by the beginning of a business ID", |draw| {
        let pattern = Test::Like(format!("order-{}*", draw.number / 10).as_str().into());
        page(&instance::ENTITY, Filter::Column(instance::BUSINESS_ID, pattern), instance::START)
    }),
    ("instances by the value of a variable", |draw| {
        let value = text(variable::VALUE, &format!("\"{}\"", draw.number));
        let related = Related {
            column: instance::KEY,
            entity: EntityRef(&variable::ENTITY),
            other: variable::INSTANCE_KEY,
            filter: all([text(variable::NAME, "orderId"), value]),
            exists: true,
        };
        page(&instance::ENTITY, Filter::Related(Box::new(related)), instance::START)
    }),
    ("called instances of an instance", |draw| {
        let parent = instance_key(draw.number / 50).cast_signed();
        page(&instance::ENTITY, number(instance::PARENT_INSTANCE_KEY, parent), instance::START)
    }),
    ("elements of an instance", |draw| {
        page(&element::ENTITY, number(element::INSTANCE_KEY, draw.key()), element::START)
    }),
    ("flows of an instance", |draw| page(&flow::ENTITY, number(flow::INSTANCE_KEY, draw.key()), flow::ID)),
    ("variables of an instance", |draw| {
        page(&variable::ENTITY, number(variable::INSTANCE_KEY, draw.key()), variable::NAME)
    }),
    ("jobs of an instance", |draw| page(&job::ENTITY, number(job::INSTANCE_KEY, draw.key()), job::CREATED)),
    ("latest open incidents", |_| {
        page(&incident::ENTITY, text(incident::STATE, "ACTIVE"), incident::CREATED)
    }),
    ("incidents of an instance", |draw| {
        page(&incident::ENTITY, number(incident::INSTANCE_KEY, draw.troubled()), incident::CREATED)
    }),
    ("open tasks", |_| page(&task::ENTITY, text(task::STATE, "CREATED"), task::CREATED)),
    ("open tasks of somebody", |draw| {
        let mine = text(task::ASSIGNEE, &format!("user-{}", draw.number % PEOPLE));
        page(&task::ENTITY, all([mine, text(task::STATE, "CREATED")]), task::CREATED)
    }),
    ("open tasks of a group", |_| {
        let group = text(task::CANDIDATE_GROUPS, "office");
        page(&task::ENTITY, all([group, text(task::STATE, "CREATED")]), task::CREATED)
    }),
    ("latest versions of processes", |_| {
        let active = text(definition::STATE, "ACTIVE");
        let latest = Filter::Latest(Box::new(Latest {
            group: vec![definition::PROCESS_ID, definition::TENANT],
            by: definition::VERSION,
            among: active.clone(),
        }));
        page(&definition::ENTITY, all([active, latest]), definition::NAME)
    }),
    ("active elements of a process, counted", |draw| {
        let key = (draw.number % DEFINITIONS + 1).cast_signed();
        let active = text(element::STATE, "ACTIVE");
        Question::Statistics(Statistics {
            entity: EntityRef(&element::ENTITY),
            filter: all([number(element::DEFINITION_KEY, key), active.clone()]),
            group_by: vec![element::ELEMENT_ID],
            aggregates: vec![Aggregate::Count(active)],
            limit: 10_000,
        })
    }),
    ("ended elements of a process, counted", |draw| {
        let key = (draw.number % DEFINITIONS + 1).cast_signed();
        Question::Statistics(Statistics {
            entity: EntityRef(&count::ENTITY),
            filter: number(count::DEFINITION_KEY, key),
            group_by: vec![count::ELEMENT_ID],
            aggregates: vec![Aggregate::Sum(count::TERMINATED), Aggregate::Sum(count::COMPLETED)],
            limit: 10_000,
        })
    }),
    ("incidents by error, counted", |_| {
        Question::Statistics(Statistics {
            entity: EntityRef(&incident::ENTITY),
            filter: text(incident::STATE, "ACTIVE"),
            group_by: vec![incident::ERROR_HASH],
            aggregates: vec![Aggregate::Distinct(incident::INSTANCE_KEY, Filter::everything())],
            limit: 10_000,
        })
    }),
];

fn all(filters: impl Into<Vec<Filter>>) -> Filter {
    Filter::All(filters.into())
}

fn text(column: ColumnId, value: &str) -> Filter {
    Filter::Column(column, Test::Equal(Operand::Text(Name::from(value))))
}

fn number(column: ColumnId, value: i64) -> Filter {
    Filter::Column(column, Test::Equal(Operand::Integer(value)))
}

/// The first page, the latest first, with its total.
fn page(entity: &'static Entity, filter: Filter, by: ColumnId) -> Question {
    paged(entity, filter, by, Position::Offset(0))
}

fn paged(entity: &'static Entity, filter: Filter, by: ColumnId, position: Position) -> Question {
    Question::Search(Search {
        entity: EntityRef(entity),
        filter,
        sort: vec![Sort { column: by, descending: true }],
        position,
        limit: PAGE,
        count_up_to: COUNT_UP_TO,
        columns: u64::MAX,
        cut: None,
    })
}
