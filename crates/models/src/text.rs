//! Models for tests, written as lines of text and turned into BPMN.
//!
//! ```text
//! process order
//! start s
//! job charge type=charge retries=2 in:amount="=price * 2" out:paid==amount
//! sub inner {
//!   start s2 → …
//! }
//! on cancelled {
//!   start c message=cancel key=id interrupting=false
//! }
//! boundary undo on=charge compensation=refund
//! job refund handler
//! boundary late on=charge timer=PT1M interrupting=false
//! s -> charge -> e
//! gateway -> a if x > 1
//! gateway -> b default
//! job pack listen:start=prepare listen:end=check/1
//! user sign assignee=ann users="a, b" due=… priority=7 form=f task:creating=check
//! ```
//!
//! `task` is an undefined task, `manual` a manual one. A receive task with `starts` starts the process; `throw`,
//! `end` and `send` with `message=` publish it.
//!
//! Any activity may be multi-instance: `each=` the collection, optionally `as=` the input element, `sequential`,
//! `collect=` the output collection, `gives=` the output element, `until=` the completion condition.
//!
//! An ad-hoc sub-process has braces, as in `adhoc a elements=… done=… cancel=false collect=… gives=… job=TYPE {`.
//!
//! Any activity may have a loop marker instead: `while=` the condition, optionally `before=true`, `most=` the
//! maximum.
//!
//! A line is `kind id key=value …`, a chain of flows, or `}`. Values with blanks stand in double quotes. The ID of a
//! flow is `source_target`. Flows appear in the document in the order of their lines.

mod element;
mod listener;

use std::collections::HashMap;
use std::fmt::Write as _;

use element::Element;
pub(crate) use element::escape;
use listener::{headers, listeners};

/// The BPMN file of one or more processes.
pub fn bpmn(text: &str) -> String {
    Writer::default().write(text)
}

#[derive(Default)]
struct Scope {
    nodes: String,
    flows: String,
    taken: HashMap<String, usize>,
    defaults: HashMap<String, String>,
    close: &'static str,
}

#[derive(Default)]
struct Writer {
    shared: String,
    shared_count: usize,
    done: String,
    scopes: Vec<Scope>,
}

impl Writer {
    fn write(mut self, text: &str) -> String {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            self.line(line);
        }
        while !self.scopes.is_empty() {
            self.close();
        }
        format!(
            r#"<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="test">{}{}</bpmn:definitions>"#,
            self.shared, self.done
        )
    }

    fn line(&mut self, line: &str) {
        if line == "}" {
            return self.close();
        }
        if line.contains(" -> ") {
            return self.flows(line);
        }
        let opens = line.ends_with('{');
        let words = words(line.trim_end_matches('{'));
        let kind = words[0].clone();
        let id = words.get(1).unwrap_or_else(|| panic!("no ID: {line}")).clone();
        let attributes = words[2..]
            .iter()
            .map(|word| {
                let (key, value) = word.split_once('=').unwrap_or((word, "true"));
                (key.to_owned(), value.to_owned())
            })
            .collect();
        let element = Element { kind, id, attributes };
        match element.kind.as_str() {
            "process" => {
                while !self.scopes.is_empty() {
                    self.close();
                }
                let tag = element
                    .get("tag")
                    .map_or(String::new(), |tag| format!(r#"<zeebe:versionTag value="{tag}"/>"#));
                let extensions = extensions(&element, &tag);
                let nodes = format!(r#"<bpmn:process id="{}" isExecutable="true">{extensions}"#, element.id);
                self.scopes.push(Scope { nodes, close: "</bpmn:process>", ..Scope::default() });
            }
            "adhoc" => {
                assert!(opens, "an ad-hoc sub-process has braces: {line}");
                let nodes = ad_hoc(&element);
                self.scopes.push(Scope { nodes, close: "</bpmn:adHocSubProcess>", ..Scope::default() });
            }
            "sub" | "on" | "tx" => {
                assert!(opens, "a sub-process has braces: {line}");
                let by_event = if element.kind == "on" { r#" triggeredByEvent="true""# } else { "" };
                let (extensions, markers) = (extensions(&element, ""), markers(&element));
                let (tag, close) = match element.kind.as_str() {
                    "tx" => ("transaction", "</bpmn:transaction>"),
                    _ => ("subProcess", "</bpmn:subProcess>"),
                };
                let marks = format!("{by_event}{}", handler(&element));
                let nodes = format!(r#"<bpmn:{tag} id="{}"{marks}>{extensions}{markers}"#, element.id);
                self.scopes.push(Scope { nodes, close, ..Scope::default() });
            }
            _ => {
                let mut xml = self.node(&element);
                let end = xml.rfind("</").expect("an end tag");
                xml.insert_str(end, &markers(&element));
                if let Some(at) = xml.find(" id=") {
                    xml.insert_str(at, handler(&element));
                }
                if let Some(target) = element.get("compensation") {
                    let id = &element.id;
                    let _ = write!(
                        self.scope().flows,
                        r#"<bpmn:association id="{id}_{target}" sourceRef="{id}" targetRef="{target}"/>"#
                    );
                }
                self.scope().nodes.push_str(&xml);
            }
        }
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the text starts with a process")
    }

    fn close(&mut self) {
        let mut scope = self.scopes.pop().expect("a scope to close");
        for (gateway, flow) in &scope.defaults {
            let id = format!(r#" id="{gateway}""#);
            scope.nodes = scope.nodes.replacen(&id, &format!(r#"{id} default="{flow}""#), 1);
        }
        let xml = format!("{}{}{}", scope.nodes, scope.flows, scope.close);
        match self.scopes.last_mut() {
            Some(outer) => outer.nodes.push_str(&xml),
            None => self.done.push_str(&xml),
        }
    }

    fn flows(&mut self, line: &str) {
        let (chain, condition) = match line.split_once(" if ") {
            Some((chain, condition)) => (chain, Some(condition)),
            None => (line, None),
        };
        let (chain, is_default) = match chain.strip_suffix(" default") {
            Some(chain) => (chain, true),
            None => (chain, false),
        };
        let ids: Vec<&str> = chain.split(" -> ").map(str::trim).collect();
        for pair in ids.windows(2) {
            let scope = self.scope();
            let mut id = format!("{}_{}", pair[0], pair[1]);
            let count = scope.taken.entry(id.clone()).or_default();
            *count += 1;
            if *count > 1 {
                let _ = write!(id, "_{count}");
            }
            let condition = condition.map_or(String::new(), |text| {
                format!("<bpmn:conditionExpression>={}</bpmn:conditionExpression>", escape(text))
            });
            let _ = write!(
                scope.flows,
                r#"<bpmn:sequenceFlow id="{id}" sourceRef="{}" targetRef="{}">{condition}</bpmn:sequenceFlow>"#,
                pair[0], pair[1]
            );
            if is_default {
                scope.defaults.insert(pair[0].to_owned(), id);
            }
        }
    }

    fn node(&mut self, e: &Element) -> String {
        let id = &e.id;
        let (tag, extra, inner) = match e.kind.as_str() {
            "start" => {
                let interrupting = e
                    .get("interrupting")
                    .map(|value| format!(r#" isInterrupting="{value}""#))
                    .unwrap_or_default();
                ("startEvent", interrupting, self.event(e))
            }
            "end" => ("endEvent", String::new(), self.event(e)),
            "catch" => ("intermediateCatchEvent", String::new(), self.event(e)),
            "throw" => ("intermediateThrowEvent", String::new(), self.event(e)),
            "boundary" => {
                let interrupting = e.get("interrupting").unwrap_or("true");
                let on = e.get("on").expect("a boundary event has a host");
                let extra = format!(r#" attachedToRef="{on}" cancelActivity="{interrupting}""#);
                ("boundaryEvent", extra, self.event(e))
            }
            "task" => ("task", String::new(), String::new()),
            "manual" => ("manualTask", String::new(), String::new()),
            "xor" => ("exclusiveGateway", String::new(), String::new()),
            "complex" => {
                let condition = e.get("when").map_or(String::new(), |condition| {
                    format!("<bpmn:activationCondition>={}</bpmn:activationCondition>", escape(condition))
                });
                ("complexGateway", String::new(), condition)
            }
            "or" => ("inclusiveGateway", String::new(), String::new()),
            "and" => ("parallelGateway", String::new(), String::new()),
            "events" => ("eventBasedGateway", String::new(), String::new()),
            "receive" => {
                let message = self.message(e);
                let starts = if e.get("starts").is_some() { r#" instantiate="true""# } else { "" };
                ("receiveTask", format!(r#" messageRef="{message}"{starts}"#), String::new())
            }
            "send" => {
                let message = self.message(e);
                ("sendTask", format!(r#" messageRef="{message}""#), String::new())
            }
            "user" => {
                return format!(
                    r#"<bpmn:userTask id="{id}">{}</bpmn:userTask>"#,
                    extensions(e, &user_task(e))
                );
            }
            "job" => {
                let task_type = escape(e.get("type").unwrap_or(id));
                let retries = e.get("retries").unwrap_or("3");
                let links = e.get("link").map_or(String::new(), |resource| {
                    format!(
                        r#"<zeebe:linkedResources><zeebe:linkedResource resourceId="{}" resourceType="RPA" linkName="script"{}</zeebe:linkedResources>"#,
                        escape(resource),
                        bound(e)
                    )
                });
                let priority = e.get("priority").map_or(String::new(), |priority| {
                    format!(r#"<zeebe:jobPriorityDefinition priority="{}"/>"#, escape(priority))
                });
                let headers = headers(e) + &links + &priority + &agent(e);
                let definition = format!(
                    r#"<zeebe:taskDefinition type="{task_type}" retries="{}"/>{headers}"#,
                    escape(retries)
                );
                return format!(
                    r#"<bpmn:serviceTask id="{id}">{}</bpmn:serviceTask>"#,
                    extensions(e, &definition)
                );
            }
            "script" => {
                let definition = format!(
                    r#"<zeebe:script expression="={}" resultVariable="{}"/>"#,
                    escape(e.get("expr").expect("a script has an expression")),
                    e.get("result").expect("a script has a result")
                );
                return format!(
                    r#"<bpmn:scriptTask id="{id}">{}</bpmn:scriptTask>"#,
                    extensions(e, &definition)
                );
            }
            "decide" => {
                let mut definition = format!(
                    r#"<zeebe:calledDecision decisionId="{}" resultVariable="{}""#,
                    escape(e.get("decision").expect("a decision")),
                    e.get("result").unwrap_or("result")
                );
                definition.push_str(&bound(e));
                return format!(
                    r#"<bpmn:businessRuleTask id="{id}">{}</bpmn:businessRuleTask>"#,
                    extensions(e, &definition)
                );
            }
            "call" => {
                let mut definition = format!(
                    r#"<zeebe:calledElement processId="{}""#,
                    escape(e.get("process").expect("a process"))
                );
                for (key, attribute) in
                    [("up", "propagateAllChildVariables"), ("down", "propagateAllParentVariables")]
                {
                    if let Some(value) = e.get(key) {
                        let _ = write!(definition, r#" {attribute}="{value}""#);
                    }
                }
                definition.push_str(&bound(e));
                return format!(
                    r#"<bpmn:callActivity id="{id}">{}</bpmn:callActivity>"#,
                    extensions(e, &definition)
                );
            }
            other => panic!("no such kind of element: {other}"),
        };
        format!(r#"<bpmn:{tag} id="{id}"{extra}>{}{inner}</bpmn:{tag}>"#, extensions(e, &publish(e)))
    }

    fn event(&mut self, e: &Element) -> String {
        for (key, tag) in [("timer", "timeDuration"), ("date", "timeDate"), ("cycle", "timeCycle")] {
            if let Some(value) = e.get(key) {
                return format!(
                    "<bpmn:timerEventDefinition><bpmn:{tag}>{}</bpmn:{tag}></bpmn:timerEventDefinition>",
                    escape(value)
                );
            }
        }
        if e.get("message").is_some() {
            let message = self.message(e);
            return format!(r#"<bpmn:messageEventDefinition messageRef="{message}"/>"#);
        }
        match e.get("compensate") {
            None => {}
            Some("true") => return "<bpmn:compensateEventDefinition/>".to_owned(),
            Some(id) => return format!(r#"<bpmn:compensateEventDefinition activityRef="{id}"/>"#),
        }
        if e.get("compensation").is_some() {
            return "<bpmn:compensateEventDefinition/>".to_owned();
        }
        if e.get("cancel").is_some() {
            return "<bpmn:cancelEventDefinition/>".to_owned();
        }
        if let Some(name) = e.get("link") {
            return format!(r#"<bpmn:linkEventDefinition name="{name}"/>"#);
        }
        if let Some(name) = e.get("signal") {
            let signal = self.share(|id| format!(r#"<bpmn:signal id="{id}" name="{}"/>"#, escape(name)));
            return format!(r#"<bpmn:signalEventDefinition signalRef="{signal}"/>"#);
        }
        if let Some(condition) = e.get("condition") {
            let filter = e.get("after").map_or(String::new(), |events| {
                format!(
                    r#"<bpmn:extensionElements><zeebe:conditionalFilter variableEvents="{events}"/></bpmn:extensionElements>"#
                )
            });
            return format!(
                "<bpmn:conditionalEventDefinition>{filter}<bpmn:condition>={}</bpmn:condition></bpmn:conditionalEventDefinition>",
                escape(condition)
            );
        }
        match e.get("escalation") {
            Some("*") => return "<bpmn:escalationEventDefinition/>".to_owned(),
            Some(code) => {
                let escalation = self
                    .share(|id| format!(r#"<bpmn:escalation id="{id}" escalationCode="{}"/>"#, escape(code)));
                return format!(r#"<bpmn:escalationEventDefinition escalationRef="{escalation}"/>"#);
            }
            None => {}
        }
        match e.get("error") {
            Some("*") => "<bpmn:errorEventDefinition/>".to_owned(),
            Some(code) => {
                let error =
                    self.share(|id| format!(r#"<bpmn:error id="{id}" errorCode="{}"/>"#, escape(code)));
                format!(r#"<bpmn:errorEventDefinition errorRef="{error}"/>"#)
            }
            None if e.get("terminate").is_some() => "<bpmn:terminateEventDefinition/>".to_owned(),
            None => String::new(),
        }
    }

    fn message(&mut self, e: &Element) -> String {
        let name = escape(e.get("message").expect("a message"));
        let key = e.get("key").map_or(String::new(), |key| {
            format!(
                r#"<bpmn:extensionElements><zeebe:subscription correlationKey="={}"/></bpmn:extensionElements>"#,
                escape(key)
            )
        });
        self.share(|id| format!(r#"<bpmn:message id="{id}" name="{name}">{key}</bpmn:message>"#))
    }

    fn share(&mut self, make: impl FnOnce(&str) -> String) -> String {
        self.shared_count += 1;
        let id = format!("shared-{}", self.shared_count);
        self.shared.push_str(&make(&id));
        id
    }
}

/// The beginning of an ad-hoc sub-process.
fn ad_hoc(e: &Element) -> String {
    let mut attributes = String::new();
    for (key, attribute, prefix) in [
        ("elements", "activeElementsCollection", "="),
        ("collect", "outputCollection", ""),
        ("gives", "outputElement", "="),
    ] {
        if let Some(value) = e.get(key) {
            let _ = write!(attributes, r#" {attribute}="{prefix}{}""#, escape(value));
        }
    }
    let job = e.get("job").map_or(String::new(), |job_type| {
        format!(r#"<zeebe:taskDefinition type="{}" retries="1"/>"#, escape(job_type))
    });
    let extensions = extensions(e, &format!("{job}<zeebe:adHoc{attributes}/>"));
    let condition = e.get("done").map_or(String::new(), |condition| {
        format!("<bpmn:completionCondition>={}</bpmn:completionCondition>", escape(condition))
    });
    let cancel = e.get("cancel").unwrap_or("true");
    format!(
        r#"<bpmn:adHocSubProcess id="{}" cancelRemainingInstances="{cancel}">{extensions}{}{condition}"#,
        e.id,
        if e.get("each").is_some() { markers(e) } else { String::new() }
    )
}

/// The loop marker of an activity.
fn markers(e: &Element) -> String {
    if let Some(condition) = e.get("while") {
        let attribute = |key, name| e.get(key).map_or(String::new(), |value| format!(r#" {name}="{value}""#));
        return format!(
            r"<bpmn:standardLoopCharacteristics{}{}><bpmn:loopCondition>={}</bpmn:loopCondition></bpmn:standardLoopCharacteristics>",
            attribute("before", "testBefore"),
            attribute("most", "loopMaximum"),
            escape(condition)
        );
    }
    let Some(collection) = e.get("each") else { return String::new() };
    let mut attributes = format!(r#"inputCollection="={}""#, escape(collection));
    for (key, attribute, prefix) in
        [("as", "inputElement", ""), ("collect", "outputCollection", ""), ("gives", "outputElement", "=")]
    {
        if let Some(value) = e.get(key) {
            let _ = write!(attributes, r#" {attribute}="{prefix}{}""#, escape(value));
        }
    }
    let condition = e.get("until").map_or(String::new(), |condition| {
        format!("<bpmn:completionCondition>={}</bpmn:completionCondition>", escape(condition))
    });
    let sequential = e.get("sequential").is_some();
    format!(
        r#"<bpmn:multiInstanceLoopCharacteristics isSequential="{sequential}"><bpmn:extensionElements><zeebe:loopCharacteristics {attributes}/></bpmn:extensionElements>{condition}</bpmn:multiInstanceLoopCharacteristics>"#
    )
}

/// Publication of an element with a message: `to=` the correlation key, optionally `ttl=` and `dedupe=` (the message
/// ID).
fn publish(e: &Element) -> String {
    if e.get("message").is_none() || !matches!(e.kind.as_str(), "throw" | "end" | "send") {
        return String::new();
    }
    let given: String = [("to", "correlationKey"), ("ttl", "timeToLive"), ("dedupe", "messageId")]
        .iter()
        .filter_map(|(key, attribute)| Some(format!(r#" {attribute}="{}""#, escape(e.get(key)?))))
        .collect();
    format!("<zeebe:publishMessage{given}/>")
}

/// Binding type of a reference, and the end of its element.
fn bound(e: &Element) -> String {
    let mut text = String::new();
    for (key, attribute) in [("binding", "bindingType"), ("tag", "versionTag")] {
        if let Some(value) = e.get(key) {
            let _ = write!(text, r#" {attribute}="{value}""#);
        }
    }
    text + "/>"
}

/// The mark of a compensation handler.
fn handler(e: &Element) -> &'static str {
    if e.get("handler").is_some() { r#" isForCompensation="true""# } else { "" }
}

fn extensions(e: &Element, more: &str) -> String {
    let form = match e.get("form") {
        Some(form) if e.kind == "start" => {
            format!(r#"<zeebe:formDefinition formId="{}"{}"#, escape(form), bound(e))
        }
        _ => String::new(),
    };
    let more = &(form + more);
    let mappings: String = e
        .attributes
        .iter()
        .filter_map(|(key, value)| {
            let (direction, target) = key.split_once(':').filter(|(d, _)| matches!(*d, "in" | "out"))?;
            Some(format!(r#"<zeebe:{direction}put source="{}" target="{target}"/>"#, escape(value)))
        })
        .collect();
    let mappings =
        if mappings.is_empty() { mappings } else { format!("<zeebe:ioMapping>{mappings}</zeebe:ioMapping>") };
    let all = format!("{more}{mappings}{}", listeners(e, "listen", "execution"));
    if all.is_empty() { all } else { format!("<bpmn:extensionElements>{all}</bpmn:extensionElements>") }
}

/// Whether it is an agent, and of what type.
fn agent(e: &Element) -> String {
    e.get("agent").map_or(String::new(), |agent| format!(r#"<zeebe:agentDefinition agentType="{agent}"/>"#))
}

/// Assignment and form of a user task; native unless it has the attribute `worker`.
fn user_task(e: &Element) -> String {
    // `worker`: a job-based user task.
    let mut xml = if e.get("worker").is_some() { String::new() } else { "<zeebe:userTask/>".to_owned() };
    for (element, attributes) in [
        (
            "assignmentDefinition",
            &[("assignee", "assignee"), ("users", "candidateUsers"), ("groups", "candidateGroups")][..],
        ),
        ("taskSchedule", &[("due", "dueDate"), ("followup", "followUpDate")]),
        ("priorityDefinition", &[("priority", "priority")]),
        (
            "formDefinition",
            &[
                ("form", "formId"),
                ("external", "externalReference"),
                ("formkey", "formKey"),
                ("binding", "bindingType"),
                ("formtag", "versionTag"),
            ],
        ),
    ] {
        let given: String = attributes
            .iter()
            .filter_map(|(key, attribute)| Some(format!(r#" {attribute}="{}""#, escape(e.get(key)?))))
            .collect();
        if !given.is_empty() {
            let _ = write!(xml, "<zeebe:{element}{given}/>");
        }
    }
    xml + &headers(e) + &listeners(e, "task", "task")
}

/// Splits at blanks outside double quotes and removes the quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => words.last_mut().expect("one at least").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
