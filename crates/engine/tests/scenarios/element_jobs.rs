//! Elements other than service tasks that a job worker may do.

use engine::Options;
use expect_test::expect;

use crate::support::check_with;

/// One element of each kind with a task definition, one after the other.
const ALL: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <message id="m" name="told"/>
  <process id="p" isExecutable="true">
    <startEvent id="s"/>
    <sendTask id="send"><extensionElements>
      <zeebe:taskDefinition type="mail" retries="=5 - 1"/>
      <zeebe:taskHeaders><zeebe:header key="to" value="all"/></zeebe:taskHeaders>
    </extensionElements></sendTask>
    <scriptTask id="script"><extensionElements>
      <zeebe:taskDefinition type="=&quot;run-&quot; + lang"/>
    </extensionElements></scriptTask>
    <businessRuleTask id="rule"><extensionElements>
      <zeebe:taskDefinition type="decide"/>
      <zeebe:ioMapping><zeebe:output source="=answer + 1" target="next"/></zeebe:ioMapping>
    </extensionElements></businessRuleTask>
    <intermediateThrowEvent id="throw"><extensionElements>
      <zeebe:taskDefinition type="tell"/>
      <zeebe:ioMapping><zeebe:input source="=next" target="body"/></zeebe:ioMapping>
    </extensionElements><messageEventDefinition id="d1" messageRef="m"/></intermediateThrowEvent>
    <endEvent id="end"><extensionElements>
      <zeebe:taskDefinition type="tell-end" retries="1"/>
    </extensionElements><messageEventDefinition id="d2" messageRef="m"/></endEvent>
    <sequenceFlow id="f1" sourceRef="s" targetRef="send"/>
    <sequenceFlow id="f2" sourceRef="send" targetRef="script"/>
    <sequenceFlow id="f3" sourceRef="script" targetRef="rule"/>
    <sequenceFlow id="f4" sourceRef="rule" targetRef="throw"/>
    <sequenceFlow id="f5" sourceRef="throw" targetRef="end"/>
  </process></definitions>"#;

#[test]
fn every_element_with_a_task_definition_waits_for_its_worker_and_passes_the_result_on() {
    check_with(
        &[("p.bpmn", ALL)],
        Options::default(),
        r#"deploy p.bpmn
           hide flows
           create p {"lang": "py"}
           activate mail
           complete send {"sent": true}
           complete script {"ran": 1}
           complete rule {"answer": 41, "lost": 0}
           activate tell
           complete throw {"told": "some"}
           activate tell-end
           fail end retries=0
           update end retries=1
           resolve end
           complete end {"at": "last"}"#,
        expect![[r#"
              = deployed p v1
            > create p {"lang": "py"}
              p activating
              p.lang = "py" created
              p activated
              s activating, activated, completing, completed
              send activating
              job send created type mail retries 4
              send activated
              = created p v1
            > activate mail
              job send activated
              < job send retries 4 deadline 600000 variables {"lang":"py"} headers {"to":"all"}
            > complete send {"sent": true}
              job send completed
              send completing
              p.sent = true created
              send completed
              script activating
              job script created type run-py retries 3
              script activated
            > complete script {"ran": 1}
              job script completed
              script completing
              p.ran = 1 created
              script completed
              rule activating
              job rule created type decide retries 3
              rule activated
            > complete rule {"answer": 41, "lost": 0}
              job rule completed
              rule completing
              rule.answer = 41 created
              rule.lost = 0 created
              p.next = 42 created
              rule completed
              throw activating
              throw.body = 42 created
              job throw created type tell retries 3
              throw activated
            > activate tell
              job throw activated
              < job throw retries 3 deadline 600000 variables {"body":42,"lang":"py","next":42,"ran":1,"sent":true}
            > complete throw {"told": "some"}
              job throw completed
              throw completing
              p.told = "some" created
              throw completed
              end activating
              job end created type tell-end retries 1
              end activated
            > activate tell-end
              job end activated
              < job end retries 1 deadline 600000 variables {"lang":"py","next":42,"ran":1,"sent":true,"told":"some"}
            > fail end retries=0
              job end failed retries 0
              incident end JOB_NO_RETRIES created: No more retries left.
            > update end retries=1
              job end retries updated retries 1
            > resolve end
              incident end JOB_NO_RETRIES resolved
            > complete end {"at": "last"}
              job end completed
              end completing
              p.at = "last" created
              end completed
              p completing, completed
        "#]],
    );
}

#[test]
fn a_business_rule_that_names_no_decision_is_an_incident() {
    check_with(
        &[("p", "process p\nstart s\ndecide d decision==which result=r\ns -> d")],
        Options::default(),
        r#"deploy p
           show incidents
           create p
           set #1 {"which": 1}
           resolve d
           set #1 {"which": "none"}
           resolve d
           cancel #1"#,
        expect![[r#"
              = deployed p v1
            > create p
              incident d EXTRACT_VALUE_ERROR created: Expected result of the expression 'which' to be 'STRING', but was 'NULL'. The evaluation reported the following warnings:|[NO_VARIABLE_FOUND] No variable found with name 'which'
              = created p v1
            > set #1 {"which": 1}
            > resolve d
              incident d EXTRACT_VALUE_ERROR resolved
              incident d EXTRACT_VALUE_ERROR created: Expected result of the expression 'which' to be 'STRING', but was 'NUMBER'.
            > set #1 {"which": "none"}
            > resolve d
              incident d EXTRACT_VALUE_ERROR resolved
              incident d CALLED_DECISION_ERROR created: Expected to evaluate decision 'none', but no decision found for id 'none'.
            > cancel #1
              incident d CALLED_DECISION_ERROR resolved
        "#]],
    );
}
