package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.clients.Server.Model;
import io.camunda.client.api.CamundaFuture;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.response.CompleteUserTaskResponse;
import io.camunda.client.api.response.DocumentReferenceResponse;
import io.camunda.client.api.response.ProcessInstanceResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The features over REST, and those that only REST has. */
class RestFeaturesTest extends Features {
  @Override
  boolean rest() {
    return true;
  }

  @Test
  void aUserTaskGoesThroughItsListenersAndHands() {
    final Model model = Model.of("user-task").deploy(client);
    final CamundaFuture<ProcessInstanceResult> result =
        createAwaiting(model, Map.of("who", "ann"));
    final ActivatedJob creating = listenerJob(model, "creating");
    assertEquals("TASK_LISTENER", creating.getKind().name());
    assertEquals(List.of("sales", "support"), creating.getUserTask().getCandidateGroups());
    final long key = creating.getUserTask().getUserTaskKey();
    client
        .newCompleteCommand(creating)
        .withResult(listener -> listener.forUserTask().correctPriority(70))
        .send()
        .join();

    client.newUpdateUserTaskCommand(key).candidateUsers("bob").send().join();
    client.newUnassignUserTaskCommand(key).send().join();
    client.newAssignUserTaskCommand(key).assignee("bob").allowOverride(false).send().join();
    Rejection.INVALID_STATE.of(
        client.newAssignUserTaskCommand(key).assignee("eve").allowOverride(false));

    final CamundaFuture<CompleteUserTaskResponse> completed =
        client.newCompleteUserTaskCommand(key).variables(Map.of("ok", true)).send();
    final ActivatedJob completing = listenerJob(model, "completing");
    assertEquals("bob", completing.getUserTask().getAssignee());
    assertEquals(70, completing.getUserTask().getPriority());
    client.newCompleteCommand(completing).send().join();
    completed.join();
    assertEquals(true, result.join().getVariable("ok"));
    Rejection.NOT_FOUND.of(client.newCompleteUserTaskCommand(key));
  }

  @Test
  void keepsDocuments() throws Exception {
    final DocumentReferenceResponse reference =
        client
            .newCreateDocumentCommand()
            .content("hello")
            .fileName("hello.txt")
            .contentType("text/plain")
            .send()
            .join();
    assertEquals(5, reference.getMetadata().getSize());
    try (var content = client.newDocumentContentGetRequest(reference).send().join()) {
      assertEquals("hello", new String(content.readAllBytes()));
    }
    client.newDeleteDocumentCommand(reference).send().join();
    Rejection.NOT_FOUND.of(client.newDocumentContentGetRequest(reference));
  }

  private ActivatedJob listenerJob(final Model model, final String event) {
    final List<ActivatedJob> jobs =
        client
            .newActivateJobsCommand()
            .jobType(model.id() + "-" + event)
            .maxJobsToActivate(1)
            .send()
            .join()
            .getJobs();
    assertEquals(1, jobs.size());
    return jobs.get(0);
  }
}
