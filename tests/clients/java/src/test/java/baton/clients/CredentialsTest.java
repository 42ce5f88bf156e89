package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.clients.Server.Model;
import io.camunda.client.CamundaClient;
import io.camunda.client.CredentialsProvider;
import io.camunda.client.api.command.ClientException;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.search.enums.ProcessInstanceState;
import io.camunda.client.api.search.response.ProcessInstance;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.Test;

/** The client where credentials are asked for: by password and by token, over both protocols. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CredentialsTest {
  @TempDir Path directory;

  private static CamundaClient client(
      final String kind, final CredentialsProvider credentials, final boolean rest) {
    return CamundaClient.newClientBuilder()
        .restAddress(URI.create(Server.environment("BATON_" + kind + "_REST_ADDRESS")))
        .grpcAddress(URI.create("http://" + Server.environment("BATON_" + kind + "_GRPC_ADDRESS")))
        .credentialsProvider(credentials)
        .preferRestOverGrpc(rest)
        .build();
  }

  private static CredentialsProvider password(final String password) {
    return CredentialsProvider.newBasicAuthCredentialsProviderBuilder()
        .username(Server.environment("BATON_USER"))
        .password(password)
        .build();
  }

  @Test
  void byPassword() {
    check("PASSWORD", password(Server.environment("BATON_USER_PASSWORD")));
  }

  @Test
  void byToken() {
    check(
        "TOKEN",
        CredentialsProvider.newCredentialsProviderBuilder()
            .authorizationServerUrl(Server.environment("BATON_TOKEN_URL"))
            .clientId(Server.environment("BATON_CLIENT_ID"))
            .clientSecret(Server.environment("BATON_CLIENT_SECRET"))
            .audience(Server.environment("BATON_AUDIENCE"))
            .credentialsCachePath(directory.resolve("tokens").toString())
            .build());
  }

  @Test
  void aWrongPasswordIsToldAsSuch() {
    for (final boolean rest : new boolean[] {true, false}) {
      try (CamundaClient client = client("PASSWORD", password("guess"), rest)) {
        final ClientException refused =
            assertThrows(ClientException.class, () -> client.newTopologyRequest().send().join());
        Rejection.UNAUTHENTICATED.detail(refused);
      }
    }
  }

  private static void check(final String kind, final CredentialsProvider credentials) {
    for (final boolean rest : new boolean[] {true, false}) {
      try (CamundaClient client = client(kind, credentials, rest)) {
        check(client);
      }
    }
  }

  /** Does what is allowed and is told what is not. */
  private static void check(final CamundaClient client) {
    final Model model = Model.of("task").deploy(client);
    final long key =
        client
            .newCreateInstanceCommand()
            .bpmnProcessId(model.id())
            .latestVersion()
            .variables(Map.of("a", 1))
            .send()
            .join()
            .getProcessInstanceKey();
    final List<ActivatedJob> jobs =
        client
            .newActivateJobsCommand()
            .jobType(model.id())
            .maxJobsToActivate(1)
            .requestTimeout(Duration.ofSeconds(15))
            .send()
            .join()
            .getJobs();
    assertEquals(1, jobs.size());
    Rejection.FORBIDDEN.of(client.newCancelInstanceCommand(key));
    client.newCompleteCommand(jobs.get(0)).send().join();
    final Instant end = Instant.now().plus(Duration.ofSeconds(20));
    List<ProcessInstance> found = List.of();
    while (found.isEmpty()) {
      assertTrue(Instant.now().isBefore(end));
      found =
          client
              .newProcessInstanceSearchRequest()
              .filter(f -> f.processInstanceKey(key).state(ProcessInstanceState.COMPLETED))
              .send()
              .join()
              .items();
    }
    assertEquals(key, found.get(0).getProcessInstanceKey());
  }
}
