package baton.clients;

import io.camunda.client.annotation.CustomHeaders;
import io.camunda.client.annotation.Deployment;
import io.camunda.client.annotation.JobWorker;
import io.camunda.client.annotation.Variable;
import io.camunda.client.annotation.VariablesAsType;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.worker.JobClient;
import io.camunda.client.exception.CamundaError;
import java.util.Map;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application as the starter has it: a process that is deployed at the start, and workers. */
@SpringBootApplication
@Deployment(resources = "classpath:spring.bpmn")
public class Application {
  /** Variables of a process instance. */
  public record Order(String orderId, String text) {}

  /** Whole variables, headers, and a result that completes the job. */
  @JobWorker(type = "greet")
  public Map<String, Object> greet(
      @Variable(name = "who") final String who, @CustomHeaders final Map<String, String> headers) {
    return Map.of("text", headers.get("greeting") + " " + who);
  }

  /** Fails once, by an exception. */
  @JobWorker(type = "try")
  public void tryIt(final ActivatedJob job) {
    if (job.getRetries() == 2) {
      throw CamundaError.jobError("not yet", Map.of(), 1);
    }
  }

  /** An error of the process, by an exception. */
  @JobWorker(type = "refuse")
  public void refuse() {
    throw CamundaError.bpmnError("REFUSED", "no");
  }

  /** Polls, and completes by itself. */
  @JobWorker(type = "count", autoComplete = false, streamEnabled = false)
  public void count(
      final JobClient jobs, final ActivatedJob job, @VariablesAsType final Order order) {
    jobs.newCompleteCommand(job)
        .variables(Map.of("length", order.text().length(), "of", order.orderId()))
        .send()
        .join();
  }
}
