package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.clients.Server.Model;
import io.camunda.client.CamundaClient;
import io.camunda.client.api.CamundaFuture;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.response.ProcessInstanceEvent;
import io.camunda.client.api.response.ProcessInstanceResult;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A client of one protocol, and what most tests do with it. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class Connected {
  static final String TENANT = "<default>";
  static final Duration RESULT_TIMEOUT = Duration.ofSeconds(20);
  static final Duration NO_WAIT = Duration.ofMillis(-1);
  static final long UNKNOWN_KEY = (1L << 51) + (1L << 50);

  CamundaClient client;

  abstract boolean rest();

  @BeforeEach
  void connect() {
    client = Server.client().preferRestOverGrpc(rest()).build();
  }

  @AfterEach
  void disconnect() {
    client.close();
  }

  ProcessInstanceEvent create(final Model model, final Map<String, Object> variables) {
    return client
        .newCreateInstanceCommand()
        .bpmnProcessId(model.id())
        .latestVersion()
        .variables(variables)
        .send()
        .join();
  }

  CamundaFuture<ProcessInstanceResult> createAwaiting(
      final Model model, final Map<String, Object> variables) {
    return client
        .newCreateInstanceCommand()
        .bpmnProcessId(model.id())
        .latestVersion()
        .variables(variables)
        .withResult()
        .requestTimeout(RESULT_TIMEOUT)
        .send();
  }

  List<ActivatedJob> activate(final Model model, final Duration requestTimeout) {
    return activate(model, requestTimeout, 10);
  }

  private List<ActivatedJob> activate(
      final Model model, final Duration requestTimeout, final int maxJobs) {
    return client
        .newActivateJobsCommand()
        .jobType(model.id())
        .maxJobsToActivate(maxJobs)
        .workerName("tester")
        .timeout(Duration.ofMinutes(1))
        .requestTimeout(requestTimeout)
        .send()
        .join()
        .getJobs();
  }

  ActivatedJob activateOne(final Model model) {
    final List<ActivatedJob> jobs = activate(model, Duration.ofSeconds(15));
    assertEquals(1, jobs.size());
    return jobs.get(0);
  }

  /** One job of those that are there, or come. */
  ActivatedJob activateOneOfSeveral(final Model model) {
    return activate(model, Duration.ofSeconds(15), 1).get(0);
  }

  void publish(
      final Model model,
      final String correlationKey,
      final Duration timeToLive,
      final Map<String, Object> variables) {
    client
        .newPublishMessageCommand()
        .messageName(model.id())
        .correlationKey(correlationKey)
        .timeToLive(timeToLive)
        .variables(variables)
        .send()
        .join();
  }
}
