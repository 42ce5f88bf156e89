//! Forms and other files: deployed together, bound, linked to jobs, deleted.

use engine::Options;
use expect_test::expect;

use crate::support::check_with;

const ASK: &str = r#"{"id": "ask", "type": "default", "versionTag": "v1", "components": []}"#;
const ROBOT: &str = r#"{"id": "robot", "versionTag": "v1", "script": "*** Tasks ***"}"#;

#[test]
fn forms_and_files_have_versions_and_are_deleted() {
    check_with(
        &[
            ("ask.form", ASK),
            ("ask@2.form", r#"{"id": "ask", "components": [{}]}"#),
            ("robot.rpa", ROBOT),
            ("logo.svg", "<svg/>"),
            ("readme.txt", "read me"),
        ],
        Options::default(),
        "show definitions
         deploy ask.form robot.rpa logo.svg readme.txt
         deploy ask.form robot.rpa logo.svg readme.txt
         deploy ask@2.form robot.rpa
         delete form:ask v=2
         deploy ask.form
         deploy ask@2.form
         delete form:ask v=1
         delete form:ask v=3
         delete form:ask v=3
         delete file:logo.svg v=1
         delete file:robot v=2
         delete file:robot v=1
         reopen
         deploy robot.rpa",
        expect![[r#"
            > deploy ask.form robot.rpa logo.svg readme.txt
              form ask v1 created
              file robot v1 created
              file logo.svg v1 created
              file readme.txt v1 created
              = deployed form:ask v1 file:robot v1 file:logo.svg v1 file:readme.txt v1
            > deploy ask.form robot.rpa logo.svg readme.txt
              = deployed form:ask v1 file:robot v1 file:logo.svg v1 file:readme.txt v1
            > deploy ask@2.form robot.rpa
              form ask v2 created
              file robot v2 created
              = deployed form:ask v2 file:robot v2
            > delete form:ask v=2
              resource deleting
              form ask v2 deleted
              resource deleted
            > deploy ask.form
              = deployed form:ask v1
            > deploy ask@2.form
              form ask v3 created
              = deployed form:ask v3
            > delete form:ask v=1
              resource deleting
              form ask v1 deleted
              resource deleted
            > delete form:ask v=3
              resource deleting
              form ask v3 deleted
              resource deleted
            > delete form:ask v=3
              = rejected NOT_FOUND: Expected to delete resource but no resource found with key `<key>`
            > delete file:logo.svg v=1
              resource deleting
              file logo.svg v1 deleted
              resource deleted
            > delete file:robot v=2
              resource deleting
              file robot v2 deleted
              resource deleted
            > delete file:robot v=1
              resource deleting
              file robot v1 deleted
              resource deleted
            > reopen
            > deploy robot.rpa
              file robot v3 created
              = deployed file:robot v3
        "#]],
    );
}

#[test]
fn every_problem_of_every_file_is_told() {
    check_with(
        &[
            ("a", "process a\n start s\n s -> e\n end e"),
            ("anonymous.form", r#"{"id": " "}"#),
            ("number.form", r#"{"id": 5}"#),
            ("list.form", "[1]"),
            ("broken.form", "{"),
            ("tag.form", r#"{"id": "x", "versionTag": 1}"#),
            ("no-id.rpa", "{}"),
            ("ask.form", ASK),
            ("again.form", ASK),
            ("broken.dmn", "<definitions"),
            (
                "no-decision.dmn",
                r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="g"/>"#,
            ),
            (
                "bad.dmn",
                r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="g"><decision id="d"><literalExpression><text>1 +</text></literalExpression></decision></definitions>"#,
            ),
            (
                "no-graph-id.dmn",
                r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision id="d"><literalExpression><text>1</text></literalExpression></decision></definitions>"#,
            ),
            (
                "one.dmn",
                r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="g"><decision id="d"><literalExpression><text>1</text></literalExpression></decision></definitions>"#,
            ),
            (
                "two.dmn",
                r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="g"><decision id="d"><literalExpression><text>1</text></literalExpression></decision></definitions>"#,
            ),
        ],
        Options::default(),
        "show definitions
         deploy a anonymous.form number.form list.form broken.form tag.form no-id.rpa
         deploy a ask.form again.form
         deploy a broken.dmn no-decision.dmn bad.dmn no-graph-id.dmn
         deploy one.dmn two.dmn
         create a",
        expect![[r#"
            > deploy a anonymous.form number.form list.form broken.form tag.form no-id.rpa
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'anonymous.form': the form must have a non-blank property 'id'|'number.form': the property 'id' of the form must be a string|'list.form': the form must be a JSON object|'broken.form': the form is not valid JSON: expected a property name at byte 1|'tag.form': the property 'versionTag' of the form must be a string|'no-id.rpa': the script must have a non-blank property 'id'
            > deploy a ask.form again.form
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|Duplicated form id 'ask' in resources 'ask.form' and 'again.form'
            > deploy a broken.dmn no-decision.dmn bad.dmn no-graph-id.dmn
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'broken.dmn': malformed XML at line 1, column 1: syntax error: tag not closed: `>` not found before end of input|'no-decision.dmn': the file has no decision|'bad.dmn': literalExpression of 'd': failed to parse expression '1 +': expected an expression, but the expression ends (line 1, column 4)|'no-graph-id.dmn': definitions must have a non-blank attribute 'id'
            > deploy one.dmn two.dmn
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|Duplicated decision requirements id 'g' in resources 'one.dmn' and 'two.dmn'|Duplicated decision id 'd' in resources 'one.dmn' and 'two.dmn'
            > create a
              = rejected NOT_FOUND: Expected to find process definition with process ID 'a', but none found
        "#]],
    );
}

#[test]
fn what_is_bound_to_its_deployment_gets_a_new_version_with_it() {
    check_with(
        &[
            ("caller", "process caller\n start s\n call c process=child binding=deployment\n s -> c"),
            ("child", "process child\n start s\n job one\n s -> one"),
            ("child@2", "process child\n start s\n job two\n s -> two"),
            ("free", "process free\n start s\n call c process=child\n s -> c"),
        ],
        Options::default(),
        "show definitions jobs
         deploy caller child
         deploy caller child
         deploy child@2
         // No file is new, but the caller would not see the child that was deployed alone.
         deploy caller child@2
         deploy caller child@2
         create caller
         // The caller is not new, but the child is.
         deploy caller child
         create caller
         // Without such a binding, files of several deployments are not new together.
         deploy free
         deploy free child
         cancel #1
         cancel #3",
        expect![[r#"
            > deploy caller child
              process caller v1 created
              process child v1 created
              = deployed caller v1 child v1
            > deploy caller child
              = deployed caller v1 child v1
            > deploy child@2
              process child v2 created
              = deployed child v2
            > deploy caller child@2
              process caller v2 created
              process child v3 created
              = deployed caller v2 child v3
            > deploy caller child@2
              = deployed caller v2 child v3
            > create caller
              job #2.two created type two retries 3
              = created caller v2
            > deploy caller child
              process caller v3 created
              process child v4 created
              = deployed caller v3 child v4
            > create caller
              job #4.one created type one retries 3
              = created caller v3
            > deploy free
              process free v1 created
              = deployed free v1
            > deploy free child
              = deployed free v1 child v4
            > cancel #1
              job #2.two canceled
            > cancel #3
              job #4.one canceled
        "#]],
    );
}

#[test]
fn linked_resources_go_with_the_job() {
    check_with(
        &[
            ("robot.rpa", ROBOT),
            ("robot@2.rpa", r#"{"id": "robot", "script": "second"}"#),
            (
                "p",
                r#"process p
                 start s
                 job newest link==which header:a=1
                 job tagged link=robot binding=versionTag tag=v1
                 job same link=robot binding=deployment
                 s -> newest -> tagged -> same"#,
            ),
        ],
        Options::default(),
        r#"deploy robot.rpa p
         deploy robot@2.rpa
         show jobs incidents
         create p {"which": "nothing"}
         set #1 {"which": "robot"}
         resolve newest
         activate newest fetch=none
         complete newest
         delete file:robot v=1
         activate tagged fetch=none
         complete tagged
         cancel #1"#,
        expect![[r#"
              = deployed p v1 file:robot v1
            > deploy robot@2.rpa
              = deployed file:robot v2
            > create p {"which": "nothing"}
              incident newest RESOURCE_NOT_FOUND created: Expected to link resource 'nothing', but no resource found for id 'nothing'.
              = created p v1
            > set #1 {"which": "robot"}
            > resolve newest
              incident newest RESOURCE_NOT_FOUND resolved
              job newest created type newest retries 3
            > activate newest fetch=none
              job newest activated
              < job newest retries 3 deadline 600000 variables {} headers {"a":"1","linkedResources":"[{\"resourceKey\":\"2251799813685253\",\"resourceType\":\"RPA\",\"linkName\":\"script\"}]"}
            > complete newest
              job newest completed
              job tagged created type tagged retries 3
            > delete file:robot v=1
            > activate tagged fetch=none
              job tagged activated
              < job tagged retries 3 deadline 600000 variables {} headers {"linkedResources":"[{\"resourceKey\":\"2251799813685250\",\"resourceType\":\"RPA\",\"linkName\":\"script\"}]"}
            > complete tagged
              job tagged completed
              incident same RESOURCE_NOT_FOUND created: Expected to link resource 'robot', but no resource found for id 'robot' in the deployment of the process.
            > cancel #1
              incident same RESOURCE_NOT_FOUND resolved
        "#]],
    );
}

#[test]
fn a_user_task_of_a_worker_is_told_its_form() {
    let process = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
      <process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="ask"/>
        <userTask id="ask"><extensionElements>
          <zeebe:formDefinition formId="ask" bindingType="versionTag" versionTag="v1"/>
          <zeebe:assignmentDefinition assignee="demo"/>
        </extensionElements></userTask>
      </process></definitions>"#;
    check_with(
        &[("p.bpmn", process), ("ask.form", ASK)],
        Options::default(),
        "deploy p.bpmn
         show jobs incidents
         create p
         deploy ask.form
         resolve ask
         activate io.camunda.zeebe:userTask
         cancel #1",
        expect![[r#"
              = deployed p v1
            > create p
              incident ask FORM_NOT_FOUND created: Expected to find a form with id 'ask', but no such form was found
              = created p v1
            > deploy ask.form
              = deployed form:ask v1
            > resolve ask
              incident ask FORM_NOT_FOUND resolved
              job ask created type io.camunda.zeebe:userTask retries 1
            > activate io.camunda.zeebe:userTask
              job ask activated
              < job ask retries 1 deadline 600000 variables {} headers {"io.camunda.zeebe:assignee":"demo","io.camunda.zeebe:formKey":"2251799813685258"}
            > cancel #1
              job ask canceled
        "#]],
    );
}

#[test]
fn forms_of_user_tasks_are_bound_as_the_model_says() {
    check_with(
        &[
            ("ask.form", ASK),
            ("ask@2.form", r#"{"id": "ask", "components": [], "versionTag": "v2"}"#),
            (
                "p",
                "process p
                 start s
                 user newest form==which
                 user same form=ask binding=deployment
                 user tagged form=ask binding=versionTag formtag=v1
                 s -> newest -> same -> tagged",
            ),
        ],
        Options::default(),
        r#"deploy ask.form p
           deploy ask@2.form
           show tasks incidents
           create p {"which": "none"}
           set #1 {"which": "ask"}
           resolve newest
           finish newest
           finish same
           delete form:ask v=1
           create p {"which": "ask"}
           finish newest
           cancel #1
           cancel #2"#,
        expect![[r#"
              = deployed p v1 form:ask v1
            > deploy ask@2.form
              = deployed form:ask v2
            > create p {"which": "none"}
              incident newest FORM_NOT_FOUND created: Expected to find a form with id 'none', but no such form was found
              = created p v1
            > set #1 {"which": "ask"}
            > resolve newest
              incident newest FORM_NOT_FOUND resolved
              task newest creating form:ask v2
              task newest created form:ask v2
            > finish newest
              task newest completing action=complete form:ask v2
              task newest completed action=complete form:ask v2
              task same creating form:ask v1
              task same created form:ask v1
            > finish same
              task same completing action=complete form:ask v1
              task same completed action=complete form:ask v1
              task tagged creating form:ask v1
              task tagged created form:ask v1
            > delete form:ask v=1
            > create p {"which": "ask"}
              task #2.newest creating form:ask v2
              task #2.newest created form:ask v2
              = created p v1
            > finish newest
              task #2.newest completing action=complete form:ask v2
              task #2.newest completed action=complete form:ask v2
              incident #2.same FORM_NOT_FOUND created: Expected to find a form with id 'ask', but no such form was found
            > cancel #1
              task tagged canceling action=cancel form:ask v1
              task tagged canceled action=cancel form:ask v1
            > cancel #2
              incident #2.same FORM_NOT_FOUND resolved
        "#]],
    );
}

#[test]
fn xml_files_that_are_no_models_are_kept_as_they_are() {
    check_with(
        &[
            ("notes.xml", "<notes><note>one</note></notes>"),
            ("notes@2.xml", "<notes/>"),
            ("broken.xml", r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">"#),
            ("plain.txt", "no model"),
        ],
        Options::default(),
        "show definitions
         deploy notes.xml plain.txt
         deploy notes.xml plain.txt
         deploy notes@2.xml
         deploy broken.xml
         delete file:notes.xml v=2
         deploy notes@2.xml",
        expect![[r#"
            > deploy notes.xml plain.txt
              file notes.xml v1 created
              file plain.txt v1 created
              = deployed file:notes.xml v1 file:plain.txt v1
            > deploy notes.xml plain.txt
              = deployed file:notes.xml v1 file:plain.txt v1
            > deploy notes@2.xml
              file notes.xml v2 created
              = deployed file:notes.xml v2
            > deploy broken.xml
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'broken.xml': malformed XML at line 1, column 66: an element is not closed
            > delete file:notes.xml v=2
              resource deleting
              file notes.xml v2 deleted
              resource deleted
            > deploy notes@2.xml
              file notes.xml v3 created
              = deployed file:notes.xml v3
        "#]],
    );
}

#[test]
fn endings_are_of_any_case_and_content_of_a_kind_needs_its_ending() {
    let process = models::bpmn("process p\nstart s");
    let decision = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="g"><decision id="d"><literalExpression><text>1</text></literalExpression></decision></definitions>"#;
    check_with(
        &[
            ("ORDER.BPMN", &process),
            ("Rules.Dmn", decision),
            ("ASK.FORM", ASK),
            ("Robot.RPA", ROBOT),
            ("order.bpm", &process),
            ("order.old", &process),
            ("rules.xml", decision),
            ("rules.txt", &format!("\u{feff}  {decision}")),
            ("ask.json", ASK),
            ("data.json", r#"{"components": [], "id": "x"}"#),
            ("about.md", "The namespace is http://www.omg.org/spec/BPMN/20100524/MODEL"),
        ],
        Options::default(),
        "show definitions
         deploy ORDER.BPMN Rules.Dmn ASK.FORM Robot.RPA
         deploy order.bpm order.old rules.xml rules.txt ask.json data.json
         deploy data.json about.md",
        expect![[r#"
            > deploy ORDER.BPMN Rules.Dmn ASK.FORM Robot.RPA
              process p v1 created
              decisions g v1 created
              decision d v1 created
              form ask v1 created
              file robot v1 created
              = deployed p v1 decisions:g v1 decision:d v1 form:ask v1 file:robot v1
            > deploy order.bpm order.old rules.xml rules.txt ask.json data.json
              = rejected INVALID_ARGUMENT: Expected to deploy new resources, but encountered the following errors:|'order.bpm': the content is a BPMN model, but the name does not end with '.bpmn'|'order.old': the content is a BPMN model, but the name does not end with '.bpmn'|'rules.xml': the content is a DMN model, but the name does not end with '.dmn'|'rules.txt': the content is a DMN model, but the name does not end with '.dmn'|'ask.json': the content is a form, but the name does not end with '.form'
            > deploy data.json about.md
              file data.json v1 created
              file about.md v1 created
              = deployed file:data.json v1 file:about.md v1
        "#]],
    );
}
