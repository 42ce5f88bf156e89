//! Rules about gateways.

use super::{MESSAGE, check, check_with};

#[test]
fn a_gateway_that_chooses_knows_where_to_go() {
    for kind in ["exclusiveGateway", "inclusiveGateway", "complexGateway"] {
        check_choice(kind);
    }
}

fn check_choice(kind: &str) {
    let gateway = |attributes: &str, flows: &str| {
        format!(
            "<{kind} id='g' {attributes}/><task id='a'/><task id='b'/>\
             <sequenceFlow id='in' sourceRef='s' targetRef='g'/>{flows}"
        )
    };
    let flow = |id: &str, condition: &str| {
        let condition = if condition.is_empty() {
            String::new()
        } else {
            format!("<conditionExpression>{condition}</conditionExpression>")
        };
        format!("<sequenceFlow id='{id}' sourceRef='g' targetRef='{id}'>{condition}</sequenceFlow>")
            .replace("id='a'", "id='to-a'")
            .replace("id='b'", "id='to-b'")
    };
    for (attributes, flows, expected) in [
        ("default='to-b'", flow("a", "=x") + &flow("b", ""), &[][..]),
        ("", flow("a", "=x") + &flow("b", "=y"), &[]),
        // One way out needs no condition, but may have one.
        ("", flow("a", ""), &[]),
        ("", flow("a", "= x"), &[]),
        ("", String::new(), &[]),
        (
            "",
            flow("a", "") + &flow("b", ""),
            &[
                "sequenceFlow 'to-a': must have a condition or be the default flow of the gateway",
                "sequenceFlow 'to-b': must have a condition or be the default flow of the gateway",
            ],
        ),
        (
            "default='to-a'",
            flow("a", "=x") + &flow("b", "=y"),
            &["sequenceFlow 'to-a': a default flow cannot have a condition"],
        ),
        (
            "default='in'",
            flow("a", "=x"),
            &[&format!("{kind} 'g': the default flow 'in' does not leave the gateway")],
        ),
        (
            "default='nowhere'",
            flow("a", "=x"),
            &[&format!("{kind} 'g': the default flow 'nowhere' does not leave the gateway")],
        ),
        (
            "",
            flow("a", "x") + &flow("b", "=y"),
            &[
                "sequenceFlow 'to-a': conditionExpression must be an expression that starts with '=', but is 'x'",
            ],
        ),
        (
            "",
            flow("a", "=1 +") + &flow("b", "=y"),
            &["sequenceFlow 'to-a': conditionExpression is not a valid expression: *"],
        ),
    ] {
        check(&gateway(attributes, &flows), expected);
    }
}

#[test]
fn an_event_based_gateway_leads_to_events_of_its_own() {
    let timer = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>";
    let message = "<messageEventDefinition messageRef='m'/>";
    let events = |first: &str, second: &str| {
        format!(
            "<intermediateCatchEvent id='a'>{first}</intermediateCatchEvent>\
             <intermediateCatchEvent id='b'>{second}</intermediateCatchEvent>"
        )
    };
    let to = |id: &str| format!("<sequenceFlow id='to-{id}' sourceRef='g' targetRef='{id}'/>");
    let both = to("a") + &to("b");
    for (body, expected) in [
        (events(timer, message) + &both, &[][..]),
        (events(timer, timer) + &both, &[]),
        (
            events(timer, message) + &to("a"),
            &["eventBasedGateway 'g': must have at least two outgoing sequence flows"],
        ),
        (
            events(message, message) + &both,
            &["eventBasedGateway 'g': two events of the gateway wait for the message 'paid'"],
        ),
        (
            events(timer, message) + &both + "<sequenceFlow id='f' sourceRef='s' targetRef='a'/>",
            &[
                "intermediateCatchEvent 'a': cannot have incoming sequence flows other than the one from its event-based gateway",
            ],
        ),
        (
            format!("{}<receiveTask id='r' messageRef='m'/><task id='t'/>", events(timer, message))
                + &both
                + &to("r")
                + &to("t"),
            &[
                "sequenceFlow 'to-r': must lead to a message, timer, signal or conditional intermediate catch event",
                "sequenceFlow 'to-t': must lead to a message, timer, signal or conditional intermediate catch event",
            ],
        ),
    ] {
        check_with(MESSAGE, &format!("<eventBasedGateway id='g'/>{body}"), expected);
    }
    for attribute in ["instantiate='true'", "eventGatewayType='Parallel'"] {
        check_with(
            MESSAGE,
            &format!("<eventBasedGateway id='g' {attribute}/>{}{both}", events(timer, message)),
            &[
                "eventBasedGateway 'g': only an exclusive event-based gateway that does not start a process is supported",
            ],
        );
    }
}

#[test]
fn a_complex_gateway_that_joins_says_when() {
    let gateway = |condition: &str, flows: &str| {
        format!(
            "<complexGateway id='g'>{condition}</complexGateway><task id='a'/>\
             <sequenceFlow id='f1' sourceRef='s' targetRef='g'/>{flows}\
             <sequenceFlow id='f3' sourceRef='g' targetRef='a'/>"
        )
    };
    let second = "<sequenceFlow id='f2' sourceRef='s' targetRef='g'/>";
    let condition = |text: &str| format!("<activationCondition>{text}</activationCondition>");
    for (condition, flows, expected) in [
        (condition("=activationCount > 1"), second, &[][..]),
        (String::new(), "", &[]),
        (
            String::new(),
            second,
            &["complexGateway 'g': a complex gateway that joins flows must have an activationCondition"],
        ),
        (
            condition("yes"),
            second,
            &[
                "complexGateway 'g': activationCondition must be an expression that starts with '=', but is 'yes'",
            ],
        ),
        (
            condition("=a") + &condition("=b"),
            second,
            &["complexGateway 'g': must have at most one activationCondition"],
        ),
    ] {
        check(&gateway(&condition, flows), expected);
    }
}
