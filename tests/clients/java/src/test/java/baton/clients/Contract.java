package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import baton.clients.Server.Model;
import io.camunda.client.api.CamundaFuture;
import io.camunda.client.api.command.ClientException;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.response.BrokerInfo;
import io.camunda.client.api.response.DeploymentEvent;
import io.camunda.client.api.response.PartitionBrokerHealth;
import io.camunda.client.api.response.PartitionInfo;
import io.camunda.client.api.response.Process;
import io.camunda.client.api.response.ProcessInstanceEvent;
import io.camunda.client.api.response.ProcessInstanceResult;
import io.camunda.client.api.response.Topology;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a Java client relies on, told once and run over each protocol. */
abstract class Contract extends Connected {
  /** Number of partitions of the server. */
  private static final int PARTITIONS =
      Integer.parseInt(System.getenv().getOrDefault("BATON_PARTITIONS", "1"));

  /** Bits of a key behind its partition. */
  private static final int PARTITION_SHIFT = 51;

  /** Most keys the incident search may try between two known ones. */
  private static final long KEYS_TO_TRY_MAX = 2_000;

  // --- cluster ---

  @Test
  void topologyNamesOneHealthyLeader() {
    final Topology topology = client.newTopologyRequest().send().join();
    assertEquals(1, topology.getClusterSize());
    assertEquals(PARTITIONS, topology.getPartitionsCount());
    assertEquals(1, topology.getReplicationFactor());
    assertFalse(topology.getGatewayVersion().isEmpty());
    final BrokerInfo broker = topology.getBrokers().get(0);
    assertFalse(broker.getHost().isEmpty());
    assertFalse(broker.getVersion().isEmpty());
    assertEquals(PARTITIONS, broker.getPartitions().size());
    for (int number = 1; number <= PARTITIONS; number++) {
      final PartitionInfo partition = broker.getPartitions().get(number - 1);
      assertEquals(number, partition.getPartitionId());
      assertTrue(partition.isLeader());
      assertEquals(PartitionBrokerHealth.HEALTHY, partition.getHealth());
    }
  }

  // --- deployment ---

  @Test
  void deploysAndVersionsAProcess() {
    final Model model = Model.of("task");
    final DeploymentEvent first = deploy(model, model.xml());
    assertEquals(1, first.getProcesses().size());
    final Process process = first.getProcesses().get(0);
    assertEquals(model.id(), process.getBpmnProcessId());
    assertEquals(1, process.getVersion());
    assertEquals(model.resource(), process.getResourceName());
    assertEquals(TENANT, process.getTenantId());
    assertTrue(process.getProcessDefinitionKey() > 0);
    assertTrue(first.getKey() > 0);

    final Process again = deploy(model, model.xml()).getProcesses().get(0);
    assertEquals(process.getProcessDefinitionKey(), again.getProcessDefinitionKey());
    assertEquals(1, again.getVersion());

    final Process changed =
        deploy(model, model.xml().replace("parcels", "letters")).getProcesses().get(0);
    assertEquals(2, changed.getVersion());
    assertNotEquals(process.getProcessDefinitionKey(), changed.getProcessDefinitionKey());
  }

  @Test
  void deploysSeveralResourcesAtOnce() {
    final Model task = Model.of("task");
    final Model message = Model.of("message");
    final DeploymentEvent event =
        client
            .newDeployResourceCommand()
            .addResourceStringUtf8(task.xml(), task.resource())
            .addResourceStringUtf8(message.xml(), message.resource())
            .send()
            .join();
    assertEquals(
        List.of(message.id(), task.id()),
        event.getProcesses().stream().map(Process::getBpmnProcessId).sorted().toList());
  }

  @Test
  void refusesAMalformedExpressionNamingTheElement() {
    final String detail = refusedDeployment("malformed-expression");
    assertTrue(detail.contains("price_check"), detail);
    assertTrue(detail.contains("malformed-expression.bpmn"), detail);
  }

  @Test
  void refusesAnIncompleteTaskNamingTheElement() {
    final String detail = refusedDeployment("missing-type");
    assertTrue(detail.contains("untyped_work"), detail);
    assertTrue(detail.contains("missing-type.bpmn"), detail);
  }

  @Test
  void refusesXmlThatIsNotWellFormedNamingTheResource() {
    final String detail = refusedDeployment("not-well-formed");
    assertTrue(detail.contains("not-well-formed.bpmn"), detail);
  }

  @Test
  void refusesAWholeDeploymentForOneBadResource() {
    final Model good = Model.of("task");
    final Model bad = Model.of("malformed-expression");
    Rejection.INVALID_ARGUMENT.of(
        client
            .newDeployResourceCommand()
            .addResourceStringUtf8(good.xml(), good.resource())
            .addResourceStringUtf8(bad.xml(), bad.resource()));
    Rejection.NOT_FOUND.of(
        client.newCreateInstanceCommand().bpmnProcessId(good.id()).latestVersion());
  }

  // --- creation ---

  @Test
  void refusesAtOnceAVariableThatIsTooLarge() {
    // run.py sets this limit to 1 MiB.
    refusesAtOnce("limits.max_variable_bytes", 2 << 20, Rejection.TOO_LARGE);
  }

  @Test
  void refusesAtOnceARequestThatIsTooLarge() {
    refusesAtOnce("limits.max_message_bytes", 5 << 20, Rejection.TOO_LARGE);
  }

  private void refusesAtOnce(final String limit, final int bytes, final Rejection rejection) {
    final Model model = Model.of("task");
    deploy(model, model.xml());
    final long start = System.nanoTime();
    final String detail =
        rejection.of(
            client
                .newCreateInstanceCommand()
                .bpmnProcessId(model.id())
                .latestVersion()
                .variables(Map.of("a", "x".repeat(bytes))));
    // Less than the client's timeout, and than a second try after a pause takes.
    assertTrue(System.nanoTime() - start < 8_000_000_000L);
    assertTrue(detail.contains(limit), detail);
    create(model, Map.of("a", "x"));
  }

  @Test
  void createsByIdVersionAndKey() {
    final Model model = Model.of("task");
    final Process process = deploy(model, model.xml()).getProcesses().get(0);
    final ProcessInstanceEvent byId = create(model, Map.of("n", 1));
    assertEquals(model.id(), byId.getBpmnProcessId());
    assertEquals(1, byId.getVersion());
    assertEquals(process.getProcessDefinitionKey(), byId.getProcessDefinitionKey());
    assertEquals(TENANT, byId.getTenantId());

    final ProcessInstanceEvent byVersion =
        client.newCreateInstanceCommand().bpmnProcessId(model.id()).version(1).send().join();
    final ProcessInstanceEvent byKey =
        client
            .newCreateInstanceCommand()
            .processDefinitionKey(process.getProcessDefinitionKey())
            .send()
            .join();
    assertLater(byId.getProcessInstanceKey(), byVersion.getProcessInstanceKey());
    assertLater(byVersion.getProcessInstanceKey(), byKey.getProcessInstanceKey());
  }

  @Test
  void returnsTheResultOfAnInstance() {
    final Model model = Model.of("straight").deploy(client);
    final ProcessInstanceResult result =
        client
            .newCreateInstanceCommand()
            .bpmnProcessId(model.id())
            .latestVersion()
            .variables(Map.of("price", 12, "quantity", 3, "note", "grüße"))
            .withResult()
            .requestTimeout(RESULT_TIMEOUT)
            .send()
            .join();
    assertEquals(
        Map.of("price", 12, "quantity", 3, "note", "grüße", "total", 36),
        result.getVariablesAsMap());
    assertEquals(model.id(), result.getBpmnProcessId());
    assertTrue(result.getProcessInstanceKey() > 0);
  }

  @Test
  void returnsOnlyTheVariablesAskedFor() {
    final Model model = Model.of("straight").deploy(client);
    final ProcessInstanceResult result =
        client
            .newCreateInstanceCommand()
            .bpmnProcessId(model.id())
            .latestVersion()
            .variables(Map.of("price", 2, "quantity", 4))
            .withResult()
            .fetchVariables("total")
            .requestTimeout(RESULT_TIMEOUT)
            .send()
            .join();
    assertEquals(Map.of("total", 8), result.getVariablesAsMap());
  }

  @Test
  void refusesAnUnknownProcess() {
    final String detail =
        Rejection.NOT_FOUND.of(
            client.newCreateInstanceCommand().bpmnProcessId("nowhere").latestVersion());
    assertTrue(detail.contains("nowhere"), detail);
    Rejection.NOT_FOUND.of(client.newCreateInstanceCommand().processDefinitionKey(UNKNOWN_KEY));
    final Model model = Model.of("task").deploy(client);
    Rejection.NOT_FOUND.of(client.newCreateInstanceCommand().bpmnProcessId(model.id()).version(7));
  }

  // --- jobs ---

  @Test
  void handsOutAJobWithEverythingAWorkerReads() {
    final Model model = Model.of("task").deploy(client);
    final ProcessInstanceEvent instance = create(model, Map.of("n", 7, "list", List.of(1, 2)));
    final long before = System.currentTimeMillis();
    final ActivatedJob job = activateOne(model);
    assertEquals(model.id(), job.getType());
    assertEquals(model.id(), job.getBpmnProcessId());
    assertEquals(1, job.getProcessDefinitionVersion());
    assertEquals(instance.getProcessDefinitionKey(), job.getProcessDefinitionKey());
    assertEquals(instance.getProcessInstanceKey(), job.getProcessInstanceKey());
    assertEquals("work", job.getElementId());
    assertTrue(job.getElementInstanceKey() > instance.getProcessInstanceKey());
    assertEquals(Map.of("queue", "parcels"), job.getCustomHeaders());
    assertEquals(Map.of("n", 7, "list", List.of(1, 2)), job.getVariablesAsMap());
    assertEquals("tester", job.getWorker());
    assertEquals(3, job.getRetries());
    assertEquals(TENANT, job.getTenantId());
    assertEquals("BPMN_ELEMENT", job.getKind().name());
    assertTrue(job.getDeadline() >= before + 60_000, "deadline too early");
    assertTrue(job.getDeadline() <= System.currentTimeMillis() + 60_000, "deadline too late");
  }

  @Test
  void fetchesOnlyTheVariablesAJobAsksFor() {
    final Model model = Model.of("task").deploy(client);
    create(model, Map.of("a", 1, "b", 2));
    final List<ActivatedJob> jobs =
        client
            .newActivateJobsCommand()
            .jobType(model.id())
            .maxJobsToActivate(1)
            .fetchVariables("b", "missing")
            .send()
            .join()
            .getJobs();
    assertEquals(Map.of("b", 2), jobs.get(0).getVariablesAsMap());
  }

  @Test
  void completesAJobWithVariables() {
    final Model model = Model.of("task").deploy(client);
    final CamundaFuture<ProcessInstanceResult> result = createAwaiting(model, Map.of("n", 1));
    final ActivatedJob job = activateOne(model);
    client.newCompleteCommand(job).variables(Map.of("answer", 42)).send().join();
    assertEquals(Map.of("n", 1, "answer", 42), result.join().getVariablesAsMap());
    Rejection.NOT_FOUND.of(client.newCompleteCommand(job.getKey()));
  }

  @Test
  void givesAFailedJobBackAfterItsBackoff() {
    final Model model = Model.of("task").deploy(client);
    final CamundaFuture<ProcessInstanceResult> result = createAwaiting(model, Map.of());
    final ActivatedJob job = activateOne(model);
    final Duration backoff = Duration.ofMillis(1_500);
    final long failed = System.nanoTime();
    client
        .newFailCommand(job)
        .retries(2)
        .retryBackoff(backoff)
        .errorMessage("try later")
        .send()
        .join();
    assertTrue(activate(model, NO_WAIT).isEmpty(), "the job was back before its backoff");
    Rejection.INVALID_STATE.of(client.newCompleteCommand(job.getKey()));

    final ActivatedJob again = activateOne(model);
    final Duration waited = Duration.ofNanos(System.nanoTime() - failed);
    assertEquals(job.getKey(), again.getKey());
    assertEquals(2, again.getRetries());
    assertTrue(waited.compareTo(backoff.minusMillis(50)) >= 0, "back after " + waited);
    assertTrue(waited.compareTo(backoff.plusSeconds(5)) < 0, "back only after " + waited);
    client.newCompleteCommand(again).send().join();
    result.join();
  }

  @Test
  void givesAFailedJobBackAtOnceWithItsVariables() {
    final Model model = Model.of("task").deploy(client);
    create(model, Map.of("n", 1));
    final ActivatedJob job = activateOne(model);
    client.newFailCommand(job).retries(1).variables(Map.of("seen", true)).send().join();
    final ActivatedJob again = activateOne(model);
    assertEquals(1, again.getRetries());
    assertEquals(Map.of("n", 1, "seen", true), again.getVariablesAsMap());
  }

  @Test
  void catchesABpmnErrorAtTheBoundary() {
    final Model model = Model.of("error").deploy(client);
    final CamundaFuture<ProcessInstanceResult> result = createAwaiting(model, Map.of());
    final ActivatedJob job = activateOne(model);
    client.newThrowErrorCommand(job).errorCode("REFUSED").errorMessage("no stock").send().join();
    assertEquals("refused", result.join().getVariable("path"));
    Rejection.NOT_FOUND.of(client.newCompleteCommand(job.getKey()));
  }

  @Test
  void extendsAJobsTimeout() {
    final Model model = Model.of("task").deploy(client);
    create(model, Map.of());
    final ActivatedJob job =
        client
            .newActivateJobsCommand()
            .jobType(model.id())
            .maxJobsToActivate(1)
            .timeout(Duration.ofMillis(700))
            .send()
            .join()
            .getJobs()
            .get(0);
    final long activated = System.nanoTime();
    client.newUpdateTimeoutCommand(job).timeout(Duration.ofMillis(2_500)).send().join();
    final ActivatedJob again = activateOne(model);
    assertEquals(job.getKey(), again.getKey());
    assertEquals(3, again.getRetries());
    final Duration waited = Duration.ofNanos(System.nanoTime() - activated);
    assertTrue(waited.toMillis() >= 2_400, "timed out after " + waited);
  }

  @Test
  void holdsAnEmptyPollForItsRequestTimeout() {
    final Model model = Model.of("task").deploy(client);
    final long start = System.nanoTime();
    assertTrue(activate(model, Duration.ofMillis(1_000)).isEmpty());
    final Duration waited = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(waited.toMillis() >= 900, "answered after " + waited);
    assertTrue(waited.toMillis() < 5_000, "answered after " + waited);
  }

  @Test
  void answersALongPollAsSoonAsAJobAppears() {
    final Model model = Model.of("task").deploy(client);
    final var poll =
        client
            .newActivateJobsCommand()
            .jobType(model.id())
            .maxJobsToActivate(5)
            .requestTimeout(Duration.ofSeconds(30))
            .send();
    create(model, Map.of());
    final long created = System.nanoTime();
    assertEquals(1, poll.join(20, TimeUnit.SECONDS).getJobs().size());
    final Duration waited = Duration.ofNanos(System.nanoTime() - created);
    assertTrue(waited.toMillis() < 2_000, "woken only after " + waited);
  }

  @Test
  void refusesUnknownJobs() {
    final List<String> details =
        List.of(
            Rejection.NOT_FOUND.of(client.newCompleteCommand(UNKNOWN_KEY)),
            Rejection.NOT_FOUND.of(client.newFailCommand(UNKNOWN_KEY).retries(1)),
            Rejection.NOT_FOUND.of(client.newThrowErrorCommand(UNKNOWN_KEY).errorCode("E")),
            Rejection.NOT_FOUND.of(client.newUpdateRetriesCommand(UNKNOWN_KEY).retries(1)),
            Rejection.NOT_FOUND.of(
                client.newUpdateTimeoutCommand(UNKNOWN_KEY).timeout(Duration.ofSeconds(1))));
    details.forEach(detail -> assertTrue(detail.contains("" + UNKNOWN_KEY), detail));
  }

  @Test
  void refusesABadActivation() {
    final String noJobs =
        Rejection.INVALID_ARGUMENT.of(
            client.newActivateJobsCommand().jobType("t").maxJobsToActivate(0));
    assertTrue(noJobs.contains("maxJobsToActivate"), noJobs);
    final String noTimeout =
        Rejection.INVALID_ARGUMENT.of(
            client
                .newActivateJobsCommand()
                .jobType("t")
                .maxJobsToActivate(1)
                .timeout(Duration.ZERO));
    assertTrue(noTimeout.contains("timeout"), noTimeout);
  }

  // --- messages ---

  @Test
  void correlatesAPublishedMessageToAWaitingInstance() {
    final Model model = Model.of("message").deploy(client);
    final CamundaFuture<ProcessInstanceResult> result =
        createAwaiting(model, Map.of("orderId", "o-1"));
    // The time to live covers the moment before the subscription is open.
    publish(model, "o-1", Duration.ofSeconds(20), Map.of("paid", 9.5));
    assertEquals(Map.of("orderId", "o-1", "paid", 9.5), result.join().getVariablesAsMap());
  }

  @Test
  void keepsAMessageForALaterSubscription() {
    final Model model = Model.of("message").deploy(client);
    publish(model, "o-2", Duration.ofMinutes(1), Map.of("paid", true));
    final ProcessInstanceResult result = createAwaiting(model, Map.of("orderId", "o-2")).join();
    assertEquals(true, result.getVariable("paid"));
  }

  @Test
  void dropsAMessageWithoutTimeToLiveAndTimesOutTheResult() {
    final Model model = Model.of("message").deploy(client);
    publish(model, "o-3", Duration.ZERO, Map.of());
    Rejection.TIMED_OUT.of(
        client
            .newCreateInstanceCommand()
            .bpmnProcessId(model.id())
            .latestVersion()
            .variables(Map.of("orderId", "o-3"))
            .withResult()
            .requestTimeout(Duration.ofMillis(700)));
  }

  @Test
  void refusesAMessageIdThatIsStillBuffered() {
    final Model model = Model.of("message").deploy(client);
    final var first =
        client
            .newPublishMessageCommand()
            .messageName(model.id())
            .correlationKey("o-4")
            .messageId("m-1")
            .timeToLive(Duration.ofMinutes(1))
            .send()
            .join();
    assertTrue(first.getMessageKey() > 0);
    assertEquals(TENANT, first.getTenantId());
    final String detail =
        Rejection.ALREADY_EXISTS.of(
            client
                .newPublishMessageCommand()
                .messageName(model.id())
                .correlationKey("o-4")
                .messageId("m-1")
                .timeToLive(Duration.ofMinutes(1)));
    assertTrue(detail.contains("m-1"), detail);
  }

  // --- instances, variables, incidents ---

  @Test
  void cancelsAnInstance() {
    final Model model = Model.of("task").deploy(client);
    final ProcessInstanceEvent instance = create(model, Map.of());
    final ActivatedJob job = activateOne(model);
    client.newCancelInstanceCommand(instance.getProcessInstanceKey()).send().join();
    Rejection.NOT_FOUND.of(client.newCompleteCommand(job.getKey()));
    Rejection.NOT_FOUND.of(client.newCancelInstanceCommand(instance.getProcessInstanceKey()));
    Rejection.NOT_FOUND.of(client.newCancelInstanceCommand(UNKNOWN_KEY));
  }

  @Test
  void setsVariablesInTheInstanceAndInAnElement() {
    final Model model = Model.of("task").deploy(client);
    final CamundaFuture<ProcessInstanceResult> result = createAwaiting(model, Map.of("n", 1));
    final ActivatedJob job = activateOne(model);
    client
        .newSetVariablesCommand(job.getProcessInstanceKey())
        .variables(Map.of("n", 2, "nested", Map.of("a", List.of(1, 2))))
        .send()
        .join();
    client
        .newSetVariablesCommand(job.getElementInstanceKey())
        .variables(Map.of("own", "local"))
        .local(true)
        .send()
        .join();
    client.newFailCommand(job).retries(1).send().join();
    final ActivatedJob again = activateOne(model);
    assertEquals(
        Map.of("n", 2, "nested", Map.of("a", List.of(1, 2)), "own", "local"),
        again.getVariablesAsMap());
    client.newCompleteCommand(again).send().join();
    assertEquals(
        Map.of("n", 2, "nested", Map.of("a", List.of(1, 2))), result.join().getVariablesAsMap());
    Rejection.NOT_FOUND.of(
        client.newSetVariablesCommand(UNKNOWN_KEY).variables(Map.of("n", 1)));
  }

  @Test
  void resolvesTheIncidentOfAJobWithoutRetries() {
    final Model model = Model.of("task").deploy(client);
    final CamundaFuture<ProcessInstanceResult> result = createAwaiting(model, Map.of());
    final ActivatedJob job = activateOne(model);
    client.newFailCommand(job).retries(0).errorMessage("broken").send().join();
    assertTrue(activate(model, NO_WAIT).isEmpty(), "a job without retries was handed out");
    client.newUpdateRetriesCommand(job).retries(1).send().join();
    assertTrue(activate(model, NO_WAIT).isEmpty(), "the incident does not hold the job");

    resolveIncidentAfter(job.getKey());
    final ActivatedJob again = activateOne(model);
    assertEquals(job.getKey(), again.getKey());
    assertEquals(1, again.getRetries());
    client.newCompleteCommand(again).send().join();
    result.join();
    Rejection.NOT_FOUND.of(client.newResolveIncidentCommand(UNKNOWN_KEY));
  }

  /**
   * Resolves the one incident raised since the given key was drawn. Without a search endpoint its
   * key is known only to lie between that key and one drawn now, so each in between is tried.
   */
  private void resolveIncidentAfter(final long key) {
    final Model model = Model.of("message").deploy(client);
    long now;
    do {
      now = create(model, Map.of("orderId", "x")).getProcessInstanceKey();
    } while (now >> PARTITION_SHIFT != key >> PARTITION_SHIFT);
    assertTrue(now - key <= KEYS_TO_TRY_MAX, "keys are not dense: " + key + " to " + now);
    for (long candidate = key + 1; candidate < now; candidate++) {
      try {
        client.newResolveIncidentCommand(candidate).send().join();
        return;
      } catch (final ClientException refused) {
        Rejection.NOT_FOUND.detail(refused);
      }
    }
    fail("no incident between " + key + " and " + now);
  }

  // --- helpers ---

  /** Keys of one partition grow, those of two say nothing of each other. */
  private static void assertLater(final long earlier, final long later) {
    if (earlier >> PARTITION_SHIFT == later >> PARTITION_SHIFT) {
      assertTrue(earlier < later, later + " is no later key than " + earlier);
    } else {
      assertTrue(PARTITIONS > 1, "a key of a partition that does not exist: " + later);
    }
  }

  private DeploymentEvent deploy(final Model model, final String xml) {
    return client
        .newDeployResourceCommand()
        .addResourceStringUtf8(xml, model.resource())
        .send()
        .join();
  }

  private String refusedDeployment(final String name) {
    final Model model = Model.of(name);
    return Rejection.INVALID_ARGUMENT.of(
        client.newDeployResourceCommand().addResourceStringUtf8(model.xml(), model.resource()));
  }
}
