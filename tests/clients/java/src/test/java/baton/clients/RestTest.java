package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.clients.Server.Model;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.camunda.client.api.command.ClientException;
import io.camunda.client.api.response.CorrelateMessageResponse;
import io.camunda.client.api.response.ProcessInstanceEvent;
import io.camunda.client.api.response.StatusResponse;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The contract over REST, and what only REST has. */
class RestTest extends Contract {
  @Override
  boolean rest() {
    return true;
  }

  @Test
  void statusIsUp() {
    assertEquals(StatusResponse.Status.UP, client.newStatusRequest().send().join().getStatus());
  }

  @Test
  void correlatesAMessageAndNamesTheInstance() {
    final Model model = Model.of("message").deploy(client);
    final ProcessInstanceEvent instance = create(model, Map.of("orderId", "o-5"));
    final CorrelateMessageResponse response = correlateWhenSubscribed(model, "o-5");
    assertEquals(instance.getProcessInstanceKey(), response.getProcessInstanceKey());
    assertEquals(TENANT, response.getTenantId());
    assertTrue(response.getMessageKey() > 0);
    Rejection.NOT_FOUND.of(
        client.newCorrelateMessageCommand().messageName(model.id()).correlationKey("o-5"));
  }

  /** The subscription opens a moment after the creation was answered. */
  private CorrelateMessageResponse correlateWhenSubscribed(final Model model, final String key) {
    final Instant end = Instant.now().plus(Duration.ofSeconds(10));
    while (true) {
      try {
        return client
            .newCorrelateMessageCommand()
            .messageName(model.id())
            .correlationKey(key)
            .send()
            .join();
      } catch (final ClientException refused) {
        Rejection.NOT_FOUND.detail(refused);
        if (Instant.now().isAfter(end)) {
          throw refused;
        }
      }
    }
  }

  /** The client itself cannot send such variables, so this speaks HTTP. */
  @Test
  void refusesVariablesThatAreNotAnObject() throws Exception {
    final Model model = Model.of("task").deploy(client);
    final String body = "{\"processDefinitionId\":\"" + model.id() + "\",\"variables\":[1,2]}";
    final HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(client.getConfiguration().getRestAddress() + "/v2/process-instances"))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(10))
            .POST(BodyPublishers.ofString(body))
            .build();
    final HttpResponse<String> response =
        HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    assertEquals(400, response.statusCode(), response.body());
    final String type = response.headers().firstValue("Content-Type").orElse("");
    assertTrue(type.startsWith("application/problem+json"), type);
    final JsonNode problem = new ObjectMapper().readTree(response.body());
    assertEquals(400, problem.get("status").asInt());
    assertTrue(problem.get("detail").asText().contains("variables"), response.body());
    for (final String member : new String[] {"type", "title", "instance"}) {
      assertTrue(problem.hasNonNull(member), response.body());
    }
  }
}
