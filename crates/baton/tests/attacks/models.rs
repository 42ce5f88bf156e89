//! Models that want everything: time, memory, or without end.

use std::fmt::Write as _;

/// As much work as one expression is allowed, or about.
const LONG: &str = "count(for i in 1..2400000 return 1)";
/// Variables that one request may have.
const VARIABLES_MAX: u32 = 2_000;
/// The process of every one.
pub(crate) const HOSTILE: &str = "hostile";

/// Files to deploy, and variables for each instance.
pub(crate) struct Hostile {
    pub(crate) name: &'static str,
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) variables: String,
    /// Evaluated over the API, instead of instances being created.
    pub(crate) expression: Option<String>,
}

pub(crate) fn all() -> Vec<Hostile> {
    vec![
        plain(
            "long mappings",
            task(&mappings((0..350).map(|number| (LONG.to_owned(), format!("t{number}"))))),
        ),
        plain("long scripts in parallel", scripts(2_000, LONG, "")),
        plain("mappings that double a text", doublings()),
        plain("mappings that copy a list", copies()),
        plain("wide output collection", wide_collection()),
        plain("large texts", large_texts()),
        plain("long conditions", long_conditions()),
        evaluated(),
        heavy_decision(),
        copied_payload(),
        many_variables("many variables", VARIABLES_MAX),
        many_variables("variables beyond the limit", 330_000),
        copied_variables(),
        many_targets(),
        plain("fork bomb", fork_bomb()),
        endless_loops(),
        endless_calls(),
    ]
}

fn plain(name: &'static str, body: String) -> Hostile {
    Hostile {
        name,
        files: vec![("hostile.bpmn", process(&body))],
        variables: "{}".to_owned(),
        expression: None,
    }
}

fn process(body: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="attacks"><process id="{HOSTILE}" isExecutable="true">{body}</process></definitions>"#
    )
}

fn flow(source: &str, target: &str) -> String {
    format!(r#"<sequenceFlow id="{source}-{target}" sourceRef="{source}" targetRef="{target}"/>"#)
}

/// Start, one element with the ID `task`, end.
fn between(element: &str) -> String {
    let (first, second) = (flow("start", "task"), flow("task", "end"));
    format!(r#"<startEvent id="start"/>{first}{element}{second}<endEvent id="end"/>"#)
}

fn mappings(inputs: impl Iterator<Item = (String, String)>) -> String {
    let mut text = "<zeebe:ioMapping>".to_owned();
    for (source, target) in inputs {
        write!(text, r#"<zeebe:input source="={source}" target="{target}"/>"#).unwrap();
    }
    text + "</zeebe:ioMapping>"
}

fn task(mappings: &str) -> String {
    between(&format!(
        r#"<serviceTask id="task"><extensionElements><zeebe:taskDefinition type="{HOSTILE}"/>{mappings}</extensionElements></serviceTask>"#
    ))
}

fn script(expression: &str, mappings: &str, inside: &str) -> String {
    format!(
        r#"<scriptTask id="task"><extensionElements><zeebe:script expression="={expression}" resultVariable="r"/>{mappings}</extensionElements>{inside}</scriptTask>"#
    )
}

/// A script for each of so many items.
fn scripts(items: u32, expression: &str, output: &str) -> String {
    let items = format!("inputCollection=\"=for i in 1..{items} return i\" inputElement=\"item\"");
    let several = format!(
        r"<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics {items} {output}/></extensionElements></multiInstanceLoopCharacteristics>"
    );
    between(&script(expression, "", &several))
}

fn doublings() -> String {
    let first = (String::from("&quot;0123456789abcdef&quot;"), "t".to_owned());
    let more = (0..60).map(|_| ("t + t".to_owned(), "t".to_owned()));
    task(&mappings(std::iter::once(first).chain(more)))
}

/// Each variable has all before it twice: none is large in steps.
fn copies() -> String {
    let first = ("for i in 1..1000 return i".to_owned(), "t0".to_owned());
    let more = (1..60).map(|number| {
        let before = number - 1;
        (format!("[t{before}, t{before}]"), format!("t{number}"))
    });
    task(&mappings(std::iter::once(first).chain(more)))
}

fn wide_collection() -> String {
    let text = "string join(for i in 1..20000 return &quot;0123456789&quot;)";
    scripts(2_000, text, r#"outputCollection="all" outputElement="=r""#)
}

fn large_texts() -> String {
    let text = |number| {
        (
            format!("string join(for i in 1..100000 return &quot;0123456789&quot;, &quot;{number}&quot;)"),
            format!("t{number}"),
        )
    };
    task(&mappings((0..200).map(text)))
}

/// A gateway that has to look at all its conditions.
fn long_conditions() -> String {
    let conditions = (0..350).map(|number| {
        format!(
            r#"<sequenceFlow id="f{number}" sourceRef="choice" targetRef="end"><conditionExpression>={LONG} = 0</conditionExpression></sequenceFlow>"#
        )
    });
    let default = r#"<sequenceFlow id="last" sourceRef="choice" targetRef="end"/>"#;
    format!(
        r#"<startEvent id="start"/>{}<exclusiveGateway id="choice" default="last"/>{}{default}<endEvent id="end"/>"#,
        flow("start", "choice"),
        conditions.collect::<String>()
    )
}

/// No model: expressions that are evaluated outside of any instance.
fn evaluated() -> Hostile {
    let expression = Some(format!("=[{}]", [LONG; 100].join(", ")));
    Hostile { expression, ..plain("evaluated expressions", task("")) }
}

/// Decisions that are long, each required by the last.
fn heavy_decision() -> Hostile {
    const STEPS: u32 = 100;
    let mut decisions = String::new();
    let mut required = String::new();
    for step in 0..STEPS {
        write!(
            decisions,
            r#"<decision id="d{step}" name="d{step}"><literalExpression><text>{LONG}</text></literalExpression></decision>"#
        )
        .unwrap();
        write!(
            required,
            r##"<informationRequirement><requiredDecision href="#d{step}"/></informationRequirement>"##
        )
        .unwrap();
    }
    let last = format!(
        r#"<decision id="heavy" name="heavy">{required}<literalExpression><text>d0</text></literalExpression></decision>"#
    );
    let dmn = format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="drg" name="drg" namespace="attacks">{decisions}{last}</definitions>"#
    );
    let rule = r#"<businessRuleTask id="task"><extensionElements><zeebe:calledDecision decisionId="heavy" resultVariable="r"/></extensionElements></businessRuleTask>"#;
    Hostile {
        name: "heavy decisions",
        files: vec![("heavy.dmn", dmn), ("hostile.bpmn", process(&between(rule)))],
        variables: "{}".to_owned(),
        expression: None,
    }
}

/// Each of many bodies has a payload of its own.
fn copied_payload() -> Hostile {
    let items = "inputCollection=\"=for i in 1..2000 return i\" inputElement=\"item\"";
    let several = format!(
        r"<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics {items}/></extensionElements></multiInstanceLoopCharacteristics>"
    );
    let copy = mappings(std::iter::once(("payload".to_owned(), "copy".to_owned())));
    let task = format!(
        r#"<serviceTask id="task"><extensionElements><zeebe:taskDefinition type="{HOSTILE}"/>{copy}</extensionElements>{several}</serviceTask>"#
    );
    Hostile {
        name: "copies of a payload",
        files: vec![("hostile.bpmn", process(&between(&task)))],
        variables: format!(r#"{{"payload":"{}"}}"#, "x".repeat(1_000_000)),
        expression: None,
    }
}

/// Small variables, as many as a body of 4 MiB has room for.
fn variables(count: u32) -> String {
    let members: Vec<_> = (0..count).map(|number| format!("\"v{number}\":1")).collect();
    format!("{{{}}}", members.join(","))
}

fn many_variables(name: &'static str, count: u32) -> Hostile {
    Hostile { variables: variables(count), ..plain(name, task("")) }
}

/// Each of many called instances has all variables of its caller.
fn copied_variables() -> Hostile {
    let items = "inputCollection=\"=for i in 1..200 return i\" inputElement=\"item\"";
    let several = format!(
        r"<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics {items}/></extensionElements></multiInstanceLoopCharacteristics>"
    );
    let call = format!(
        r#"<callActivity id="task"><extensionElements><zeebe:calledElement processId="once" propagateAllChildVariables="true"/></extensionElements>{several}</callActivity>"#
    );
    let hostile = in_two_files("copies of many variables", &between(&call), &task(""));
    Hostile { variables: variables(VARIABLES_MAX), ..hostile }
}

/// As many mappings as an element may have.
fn many_targets() -> Hostile {
    let inputs = (0..VARIABLES_MAX).map(|number| ("1".to_owned(), format!("t{number}")));
    plain("many mappings", task(&mappings(inputs)))
}

/// Each token becomes two. A loop of gateways alone may be deployed.
fn fork_bomb() -> String {
    let flows = [flow("start", "merge"), flow("merge", "fork")].concat();
    let back = r#"<sequenceFlow id="left" sourceRef="fork" targetRef="merge"/><sequenceFlow id="right" sourceRef="fork" targetRef="merge"/>"#;
    format!(
        r#"<startEvent id="start"/><exclusiveGateway id="merge"/><parallelGateway id="fork"/>{flows}{back}"#
    )
}

/// A script again and again. In two files, since a loop within one would be seen.
pub(crate) fn endless_loops() -> Hostile {
    let flows = [flow("start", "merge"), flow("merge", "task"), flow("task", "merge")].concat();
    let again = format!(r#"<startEvent id="start"/><exclusiveGateway id="merge"/>{}{flows}"#, call("once"));
    let once = between(&script("1 + 1", "", ""));
    in_two_files("endless loop", &again, &once)
}

/// Two processes that call each other.
fn endless_calls() -> Hostile {
    in_two_files("endless calls", &between(&call("once")), &between(&call(HOSTILE)))
}

fn call(process: &str) -> String {
    format!(
        r#"<callActivity id="task"><extensionElements><zeebe:calledElement processId="{process}" propagateAllChildVariables="true"/></extensionElements></callActivity>"#
    )
}

fn in_two_files(name: &'static str, first: &str, once: &str) -> Hostile {
    let once = process(once).replace(&format!("<process id=\"{HOSTILE}\""), "<process id=\"once\"");
    Hostile {
        name,
        files: vec![("once.bpmn", once), ("hostile.bpmn", process(first))],
        variables: "{}".to_owned(),
        expression: None,
    }
}
