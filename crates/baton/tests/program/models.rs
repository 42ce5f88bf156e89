//! Models for the tests of commands.

pub(crate) const STRAIGHT_BPMN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="straight" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="flow" sourceRef="start" targetRef="end"/>
    <endEvent id="end"/>
  </process>
</definitions>"#;

/// A job of type `errand`, whose error `SOLD_OUT` is caught.
pub(crate) const TASK_BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <error id="sold-out" errorCode="SOLD_OUT"/>
  <process id="errand" isExecutable="true">
    <startEvent id="begin"/>
    <sequenceFlow id="to-task" sourceRef="begin" targetRef="task"/>
    <serviceTask id="task">
      <extensionElements><zeebe:taskDefinition type="errand"/></extensionElements>
    </serviceTask>
    <boundaryEvent id="caught" attachedToRef="task"><errorEventDefinition errorRef="sold-out"/></boundaryEvent>
    <sequenceFlow id="to-gone" sourceRef="caught" targetRef="gone"/>
    <endEvent id="gone"/>
  </process>
</definitions>"#;

/// A message, then a signal, then a user task.
pub(crate) const WAITING_BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <message id="paid" name="paid">
    <extensionElements><zeebe:subscription correlationKey="=order"/></extensionElements>
  </message>
  <signal id="open" name="open"/>
  <process id="waiting" isExecutable="true">
    <startEvent id="begin"/>
    <sequenceFlow id="f1" sourceRef="begin" targetRef="until-paid"/>
    <intermediateCatchEvent id="until-paid"><messageEventDefinition messageRef="paid"/></intermediateCatchEvent>
    <sequenceFlow id="f2" sourceRef="until-paid" targetRef="until-open"/>
    <intermediateCatchEvent id="until-open"><signalEventDefinition signalRef="open"/></intermediateCatchEvent>
    <sequenceFlow id="f3" sourceRef="until-open" targetRef="look"/>
    <userTask id="look" name="Look">
      <extensionElements><zeebe:userTask/></extensionElements>
    </userTask>
  </process>
</definitions>"#;

pub(crate) const DISH_DMN: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"
  id="dinner" name="Dinner" namespace="t">
  <decision id="dish" name="Dish">
    <decisionTable id="table">
      <input id="season" label="Season"><inputExpression id="in" typeRef="string"><text>season</text></inputExpression></input>
      <output id="out" name="dish" typeRef="string"/>
      <rule id="r1"><inputEntry id="i1"><text>"Winter"</text></inputEntry><outputEntry id="o1"><text>"Roast"</text></outputEntry></rule>
      <rule id="r2"><inputEntry id="i2"><text>not("Winter")</text></inputEntry><outputEntry id="o2"><text>"Salad"</text></outputEntry></rule>
    </decisionTable>
  </decision>
</definitions>"#;

/// Starts by a message, has a time, a list that fills, and something to compensate.
pub(crate) const SEEN_BPMN: &str = r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <message id="m" name="begin"/>
  <process id="seen" isExecutable="true">
    <startEvent id="begun"><messageEventDefinition messageRef="m"/></startEvent>
    <scriptTask id="book"><extensionElements>
      <zeebe:script expression="=date and time(&quot;2024-02-29T10:00:00&quot;)" resultVariable="at"/>
    </extensionElements></scriptTask>
    <boundaryEvent id="undo" attachedToRef="book"><compensateEventDefinition id="c1"/></boundaryEvent>
    <scriptTask id="cancel" isForCompensation="true"><extensionElements>
      <zeebe:script expression="=true" resultVariable="cancelled"/>
    </extensionElements></scriptTask>
    <serviceTask id="each">
      <extensionElements><zeebe:taskDefinition type="work"/></extensionElements>
      <multiInstanceLoopCharacteristics><extensionElements>
        <zeebe:loopCharacteristics inputCollection="=[1,2,3]" inputElement="item"
          outputCollection="results" outputElement="=item * 10"/>
      </extensionElements></multiInstanceLoopCharacteristics>
    </serviceTask>
    <intermediateThrowEvent id="back"><compensateEventDefinition id="c2"/></intermediateThrowEvent>
    <endEvent id="end"/>
    <association id="a" associationDirection="One" sourceRef="undo" targetRef="cancel"/>
    <sequenceFlow id="f1" sourceRef="begun" targetRef="book"/>
    <sequenceFlow id="f2" sourceRef="book" targetRef="each"/>
    <sequenceFlow id="f3" sourceRef="each" targetRef="back"/>
    <sequenceFlow id="f4" sourceRef="back" targetRef="end"/>
  </process>
</definitions>"#;
