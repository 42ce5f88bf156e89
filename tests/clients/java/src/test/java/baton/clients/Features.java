package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.clients.Server.Model;
import io.camunda.client.api.CamundaFuture;
import io.camunda.client.api.command.MigrationPlan;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.response.Decision;
import io.camunda.client.api.response.DeploymentEvent;
import io.camunda.client.api.response.EvaluateDecisionResponse;
import io.camunda.client.api.response.ProcessInstanceEvent;
import io.camunda.client.api.response.ProcessInstanceResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What goes beyond jobs and messages, told once and run over each protocol. */
abstract class Features extends Connected {
  @Test
  void evaluatesADecision() {
    final Decision decision = deployRule(Model.of("rule")).getDecisions().get(0);
    assertEquals(1, decision.getVersion());
    final EvaluateDecisionResponse byId =
        client
            .newEvaluateDecisionCommand()
            .decisionId(decision.getDmnDecisionId())
            .variables(Map.of("total", 150))
            .send()
            .join();
    assertEquals("10", byId.getDecisionOutput());
    assertEquals(decision.getDecisionKey(), byId.getDecisionKey());
    assertEquals(
        "large", byId.getEvaluatedDecisions().get(0).getMatchedRules().get(0).getRuleId());
    final EvaluateDecisionResponse byKey =
        client
            .newEvaluateDecisionCommand()
            .decisionKey(decision.getDecisionKey())
            .variables(Map.of("total", 5))
            .send()
            .join();
    assertEquals("0", byKey.getDecisionOutput());
    Rejection.NOT_FOUND.of(client.newEvaluateDecisionCommand().decisionKey(UNKNOWN_KEY));
  }

  @Test
  void storesWhatABusinessRuleDecides() {
    final Model model = Model.of("rule");
    deployRule(model);
    assertEquals(
        10, createAwaiting(model, Map.of("total", 120)).join().getVariablesAsMap().get("discount"));
  }

  @Test
  void collectsTheOutputsOfAMultiInstance() {
    final Model model = Model.of("multi").deploy(client);
    final ProcessInstanceResult result =
        createAwaiting(model, Map.of("items", List.of(5, 6, 7))).join();
    assertEquals(List.of(5, 12, 21), result.getVariablesAsMap().get("products"));
  }

  @Test
  void broadcastsASignal() throws Exception {
    final Model model = Model.of("signal").deploy(client);
    final CamundaFuture<ProcessInstanceResult> result = createAwaiting(model, Map.of());
    // The creation is on its way; signals go on until it has been reached.
    while (!result.toCompletableFuture().isDone()) {
      client
          .newBroadcastSignalCommand()
          .signalName(model.id())
          .variables(Map.of("seen", true))
          .send()
          .join();
      Thread.sleep(50);
    }
    assertEquals(true, result.join().getVariable("seen"));
  }

  @Test
  void startsAtAnElement() {
    final Model model = Model.of("two-steps").deploy(client);
    client
        .newCreateInstanceCommand()
        .bpmnProcessId(model.id())
        .latestVersion()
        .startBeforeElement("second")
        .send()
        .join();
    final ActivatedJob job = activateOne(model);
    assertEquals("second", job.getElementId());
    client.newCompleteCommand(job).send().join();
    Rejection.INVALID_ARGUMENT.of(
        client
            .newCreateInstanceCommand()
            .bpmnProcessId(model.id())
            .latestVersion()
            .startBeforeElement("nowhere"));
  }

  @Test
  void modifiesAnInstance() {
    final Model model = Model.of("two-steps").deploy(client);
    final ProcessInstanceEvent instance = create(model, Map.of());
    final ActivatedJob first = activateOne(model);
    client
        .newModifyProcessInstanceCommand(instance.getProcessInstanceKey())
        .activateElement("second")
        .withVariables(Map.of("moved", true))
        .and()
        .terminateElement(first.getElementInstanceKey())
        .send()
        .join();
    final ActivatedJob second = activateOne(model);
    assertEquals("second", second.getElementId());
    assertEquals(true, second.getVariable("moved"));
    Rejection.NOT_FOUND.of(client.newCompleteCommand(first));
    final String detail =
        Rejection.INVALID_ARGUMENT.of(
            client
                .newModifyProcessInstanceCommand(instance.getProcessInstanceKey())
                .activateElement("nowhere"));
    assertTrue(detail.contains("nowhere"), detail);
    client.newCompleteCommand(second).send().join();
  }

  @Test
  void migratesAnInstance() {
    final Model source = Model.of("two-steps").deploy(client);
    final Model target = Model.of("two-steps");
    final long targetKey = deploy(target).getProcesses().get(0).getProcessDefinitionKey();
    final ProcessInstanceEvent instance = create(source, Map.of());
    final ActivatedJob first = activateOne(source);
    client
        .newMigrateProcessInstanceCommand(instance.getProcessInstanceKey())
        .migrationPlan(
            MigrationPlan.newBuilder()
                .withTargetProcessDefinitionKey(targetKey)
                .addMappingInstruction("first", "first")
                .build())
        .send()
        .join();
    client.newCompleteCommand(first).send().join();
    final ActivatedJob second = activateOne(target);
    assertEquals(target.id(), second.getBpmnProcessId());
    client.newCompleteCommand(second).send().join();
  }

  @Test
  void completesAnAdHocSubProcess() {
    final Model model = Model.of("ad-hoc").deploy(client);
    final CamundaFuture<ProcessInstanceResult> result =
        createAwaiting(model, Map.of("elements", List.of("a", "b"), "finished", false));
    final List<ActivatedJob> jobs =
        List.of(activateOneOfSeveral(model), activateOneOfSeveral(model));
    assertEquals(
        List.of("a", "b"), jobs.stream().map(ActivatedJob::getElementId).sorted().toList());
    client
        .newSetVariablesCommand(jobs.get(0).getProcessInstanceKey())
        .variables(Map.of("finished", true))
        .send()
        .join();
    client.newCompleteCommand(jobs.get(0)).send().join();
    result.join();
    Rejection.NOT_FOUND.of(client.newCompleteCommand(jobs.get(1)));
  }

  DeploymentEvent deploy(final Model model) {
    return client
        .newDeployResourceCommand()
        .addResourceStringUtf8(model.xml(), model.resource())
        .send()
        .join();
  }

  private DeploymentEvent deployRule(final Model model) {
    return client
        .newDeployResourceCommand()
        .addResourceStringUtf8(model.xml(), model.resource())
        .addResourceStringUtf8(model.text("rule.dmn"), "rule.dmn")
        .send()
        .join();
  }
}
