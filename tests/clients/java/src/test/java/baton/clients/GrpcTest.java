package baton.clients;

import baton.clients.Server.Model;
import org.junit.jupiter.api.Test;

/** The contract over gRPC. */
class GrpcTest extends Contract {
  @Override
  boolean rest() {
    return false;
  }

  @Test
  void refusesVariablesThatAreNotAnObject() {
    final Model model = Model.of("task").deploy(client);
    Rejection.INVALID_ARGUMENT.of(
        client
            .newCreateInstanceCommand()
            .bpmnProcessId(model.id())
            .latestVersion()
            .variables("[1, 2]"));
    Rejection.INVALID_ARGUMENT.of(
        client.newPublishMessageCommand().messageName("m").withoutCorrelationKey().variables("7"));
  }
}
