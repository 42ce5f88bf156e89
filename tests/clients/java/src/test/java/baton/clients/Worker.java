package baton.clients;

import io.camunda.client.CamundaClient;
import io.camunda.client.api.command.ProblemException;
import io.camunda.client.api.worker.JobClient;
import io.camunda.client.api.response.ActivatedJob;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A worker for the experiments of crates/baton/tests/workers, which start it as a process, freeze it and read its counts. Takes
 * name=value arguments and tells its counts ten times a second until nobody reads them.
 */
final class Worker {
  private static final int HTTP_NOT_FOUND = 404;

  private final Map<String, String> knobs;
  private final AtomicLong polls = new AtomicLong();
  private final AtomicLong completed = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();

  private Worker(final Map<String, String> knobs) {
    this.knobs = knobs;
  }

  public static void main(final String[] arguments) throws InterruptedException {
    final Map<String, String> knobs = new HashMap<>();
    for (final String argument : arguments) {
      final int at = argument.indexOf('=');
      knobs.put(argument.substring(0, at), argument.substring(at + 1));
    }
    new Worker(knobs).run();
    // Handlers in work are not waited for.
    Runtime.getRuntime().halt(0);
  }

  private long number(final String name) {
    return Long.parseLong(knobs.get(name));
  }

  private void run() throws InterruptedException {
    final CamundaClient client =
        CamundaClient.newClientBuilder()
            .restAddress(URI.create("http://" + knobs.get("rest")))
            .grpcAddress(URI.create("http://" + knobs.get("grpc")))
            .preferRestOverGrpc(Boolean.parseBoolean(knobs.get("prefers_rest")))
            .numJobWorkerExecutionThreads((int) number("threads"))
            .withInterceptors(new PollCounter())
            .withChainHandlers(
                (request, entity, scope, chain, callback) -> {
                  if (request.getPath().endsWith("/jobs/activation")) {
                    polls.incrementAndGet();
                  }
                  chain.proceed(request, entity, scope, callback);
                })
            .build();
    client
        .newWorker()
        .jobType(knobs.get("type"))
        .handler(this::handle)
        .name("worker")
        .maxJobsActive((int) number("capacity"))
        .timeout(Duration.ofMillis(number("timeout_ms")))
        .streamEnabled(Boolean.parseBoolean(knobs.get("streams")))
        .open();
    do {
      System.out.printf(
          "polled=0 polls=%d completed=%d refused=%d failed=%d dropped=0%n",
          polls.get(), completed.get(), refused.get(), failed.get());
      Thread.sleep(100);
    } while (!System.out.checkError());
  }

  private void handle(final JobClient jobs, final ActivatedJob job) throws InterruptedException {
    Thread.sleep(length(job.getKey()));
    try {
      jobs.newCompleteCommand(job).send().join();
      completed.incrementAndGet();
    } catch (final RuntimeException e) {
      (isNotFound(e) ? refused : failed).incrementAndGet();
      throw e;
    }
  }

  /** How long a job takes: the same job always the same. */
  private long length(final long key) {
    final long shortest = number("work_min_ms");
    final long longest = number("work_max_ms");
    return shortest + (long) ((longest - shortest) * (((key * 0x9e3779b97f4a7c15L) >>> 48) / 65536.0));
  }

  private static boolean isNotFound(final Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof ProblemException problem && problem.code() == HTTP_NOT_FOUND) {
        return true;
      }
      if (cause instanceof StatusRuntimeException status
          && status.getStatus().getCode() == io.grpc.Status.Code.NOT_FOUND) {
        return true;
      }
    }
    return false;
  }

  private final class PollCounter implements ClientInterceptor {
    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        final MethodDescriptor<Q, A> method, final CallOptions options, final Channel next) {
      if (method.getBareMethodName().equals("ActivateJobs")) {
        polls.incrementAndGet();
      }
      return next.newCall(method, options);
    }
  }
}
