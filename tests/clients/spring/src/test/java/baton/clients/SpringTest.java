package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.camunda.client.CamundaClient;
import io.camunda.client.api.CamundaFuture;
import io.camunda.client.api.response.ProcessInstanceResult;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;

/** The application runs a process, with commands over each protocol. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SpringTest {
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void itsWorkersWork(final boolean rest) {
    try (var context =
        new SpringApplicationBuilder(Application.class)
            .web(WebApplicationType.NONE)
            .properties("camunda.client.prefer-rest-over-grpc=" + rest)
            .run()) {
      final CamundaClient client = context.getBean(CamundaClient.class);
      final String order = "order-" + rest;
      final CamundaFuture<ProcessInstanceResult> result =
          client
              .newCreateInstanceCommand()
              .bpmnProcessId("spring")
              .latestVersion()
              .variables(Map.of("who", "ann", "orderId", order))
              .withResult()
              .requestTimeout(Duration.ofSeconds(60))
              .send();
      client
          .newPublishMessageCommand()
          .messageName("spring-paid")
          .correlationKey(order)
          .timeToLive(Duration.ofMinutes(1))
          .send()
          .join();
      final Map<String, Object> variables = result.join().getVariablesAsMap();
      assertEquals("hello ann", variables.get("text"));
      assertEquals("hello ann".length(), variables.get("length"));
      assertEquals(order, variables.get("of"));
      assertEquals(
          1L,
          client
              .newProcessInstanceSearchRequest()
              .filter(filter -> filter.processInstanceKey(result.join().getProcessInstanceKey()))
              .send()
              .join()
              .page()
              .totalItems());
      assertTrue(client.newStatusRequest().send().join().getStatus() != null);
    }
  }
}
