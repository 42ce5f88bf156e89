package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.camunda.client.api.command.ClientException;
import io.camunda.client.api.command.ClientStatusException;
import io.camunda.client.api.command.FinalCommandStep;
import io.camunda.client.api.command.ProblemException;
import io.grpc.Status;

/** What a refused command looks like on either protocol. */
enum Rejection {
  INVALID_ARGUMENT(400, Status.Code.INVALID_ARGUMENT),
  TOO_LARGE(413, Status.Code.INVALID_ARGUMENT),
  NOT_FOUND(404, Status.Code.NOT_FOUND),
  INVALID_STATE(409, Status.Code.FAILED_PRECONDITION),
  ALREADY_EXISTS(409, Status.Code.ALREADY_EXISTS),
  UNAUTHENTICATED(401, Status.Code.UNAUTHENTICATED),
  FORBIDDEN(403, Status.Code.PERMISSION_DENIED),
  TIMED_OUT(504, Status.Code.DEADLINE_EXCEEDED);

  private final int http;
  private final Status.Code grpc;

  Rejection(final int http, final Status.Code grpc) {
    this.http = http;
    this.grpc = grpc;
  }

  /** Sends the command, demands this refusal and returns the text shown to users. */
  String of(final FinalCommandStep<?> command) {
    final ClientException refused =
        assertThrows(ClientException.class, () -> command.send().join());
    return detail(refused);
  }

  String detail(final ClientException refused) {
    if (refused instanceof ClientStatusException status) {
      assertEquals(grpc, status.getStatusCode(), status.getMessage());
      assertNotNull(status.getStatus().getDescription());
      return status.getStatus().getDescription();
    }
    final ProblemException problem = (ProblemException) refused;
    assertEquals(http, problem.code(), problem.getMessage());
    assertEquals(http, problem.details().getStatus());
    assertNotNull(problem.details().getType());
    assertNotNull(problem.details().getInstance());
    assertTrue(problem.details().getTitle().length() > 0);
    return problem.details().getDetail();
  }
}
