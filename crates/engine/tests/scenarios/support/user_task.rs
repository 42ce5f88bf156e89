//! Commands of scripts about user tasks.

use protocol::{
    Command, GlobalListener, GlobalListenerCommand, GlobalListenerSource, JobListenerEventType, JobResult,
    Key, Name, UserTaskChanges, UserTaskCommand, UserTaskOperation,
};

use super::check::Line;

pub(super) fn command(line: &Line, user_task_key: Key) -> Command {
    let operation = match line.word(0) {
        "assign" => UserTaskOperation::Assign {
            assignee: Name::from(line.word(2)),
            allow_override: line.words.get(3) != Some(&"claim"),
        },
        "unassign" => UserTaskOperation::Assign { assignee: Name::default(), allow_override: true },
        "change" => UserTaskOperation::Update(changes(line)),
        _ => UserTaskOperation::Complete { variables: line.variables() },
    };
    Command::UserTask(UserTaskCommand {
        user_task_key,
        operation,
        action: line.text("action"),
        request_id: line.number("await"),
    })
}

/// Content of the job of a task listener.
pub(super) fn result(line: &Line) -> Option<JobResult> {
    let denied_reason = line.option("deny").map(|_| line.text("deny"));
    let corrections = changes(line);
    let result = JobResult::UserTask {
        denied: denied_reason.is_some(),
        denied_reason: denied_reason.unwrap_or_default(),
        corrections,
    };
    (!result.is_empty()).then_some(result)
}

fn changes(line: &Line) -> UserTaskChanges {
    let text = |name: &str| line.option(name).map(Name::from);
    let list = |name: &str| {
        line.option(name)
            .map(|list| list.split(',').filter(|item| !item.is_empty()).map(Name::from).collect())
    };
    UserTaskChanges {
        candidate_users: list("users"),
        candidate_groups: list("groups"),
        due_date: text("due"),
        follow_up_date: text("followup"),
        priority: line.number("priority"),
        assignee: text("assignee"),
    }
}

pub(super) fn global_listener(line: &Line) -> Command {
    let id = Name::from(line.word(1));
    if line.word(0) == "unlisten" {
        return Command::GlobalListener(GlobalListenerCommand::Delete { id });
    }
    if line.word(0) == "configure" {
        let names = line.names("listeners").into_iter();
        let listeners = names.map(|id| GlobalListener { job_type: id.clone(), ..global(line, id) });
        return Command::GlobalListener(GlobalListenerCommand::Configure(listeners.collect()));
    }
    let listener = global(line, id);
    Command::GlobalListener(if line.words.contains(&"update") {
        GlobalListenerCommand::Update(listener)
    } else {
        GlobalListenerCommand::Create(listener)
    })
}

fn global(line: &Line, id: Name) -> GlobalListener {
    GlobalListener {
        id,
        job_type: line.text("type"),
        retries: line.number("retries").unwrap_or(3),
        event_types: line.names("events").iter().map(event).collect(),
        after_non_global: line.words.contains(&"after"),
        priority: line.number("priority").unwrap_or(50),
        source: GlobalListenerSource::Api,
    }
}

fn event(name: &Name) -> JobListenerEventType {
    use JobListenerEventType as E;
    let events = [E::Creating, E::Assigning, E::Updating, E::Completing, E::Canceling];
    events.into_iter().find(|event| event.as_str().eq_ignore_ascii_case(name)).expect("a known event")
}
