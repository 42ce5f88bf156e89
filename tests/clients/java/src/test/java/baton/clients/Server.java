package baton.clients;

import io.camunda.client.CamundaClient;
import io.camunda.client.CamundaClientBuilder;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/** The server under test, named by the environment, and the models it is given. */
final class Server {
  private Server() {}

  static CamundaClientBuilder client() {
    return CamundaClient.newClientBuilder()
        .restAddress(URI.create(environment("BATON_REST_ADDRESS")))
        .grpcAddress(URI.create("http://" + environment("BATON_GRPC_ADDRESS")));
  }

  /** A model under an ID of its own, so that no test meets another one's jobs or messages. */
  record Model(String id, String resource, String xml) {
    static Model of(final String name) {
      final String id = "java-" + name + "-" + UUID.randomUUID();
      return new Model(id, name + ".bpmn", read(name + ".bpmn").replace("@ID@", id));
    }

    Model deploy(final CamundaClient client) {
      client.newDeployResourceCommand().addResourceStringUtf8(xml, resource).send().join();
      return this;
    }

    /** Another file that belongs to the model, under the same ID. */
    String text(final String file) {
      return read(file).replace("@ID@", id);
    }

    private static String read(final String file) {
      try {
        return Files.readString(Path.of(environment("BATON_CLIENT_MODELS"), file));
      } catch (final IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  static String environment(final String name) {
    final String value = System.getenv(name);
    if (value == null) {
      throw new IllegalStateException(name + " is not set; run tests/clients/run.py");
    }
    return value;
  }
}
