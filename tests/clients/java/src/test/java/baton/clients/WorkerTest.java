package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.clients.Server.Model;
import io.camunda.client.CamundaClient;
import io.camunda.client.api.CamundaFuture;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.response.ProcessInstanceResult;
import io.camunda.client.api.worker.JobWorker;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Job workers, polling and streaming, with either preferred protocol. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkerTest {
  private static final int INSTANCES = 50;
  private static final Duration NEVER = Duration.ofHours(1);

  private final AtomicInteger polls = new AtomicInteger();

  @ParameterizedTest(name = "rest={0}")
  @ValueSource(booleans = {true, false})
  void aPollingWorkerCompletesEveryJobOnce(final boolean rest) {
    try (CamundaClient client = client(rest)) {
      final Model model = Model.of("task").deploy(client);
      final Set<Long> handled = ConcurrentHashMap.newKeySet();
      final AtomicInteger calls = new AtomicInteger();
      try (JobWorker worker =
          client
              .newWorker()
              .jobType(model.id())
              .handler(
                  (jobs, job) -> {
                    calls.incrementAndGet();
                    handled.add(job.getKey());
                    final int n = ((Number) job.getVariable("n")).intValue();
                    jobs.newCompleteCommand(job).variables(Map.of("square", n * n)).send().join();
                  })
              .streamEnabled(false)
              .maxJobsActive(8)
              .open()) {
        final List<CamundaFuture<ProcessInstanceResult>> results = new ArrayList<>();
        for (int n = 0; n < INSTANCES; n++) {
          results.add(createAwaiting(client, model, n));
        }
        for (int n = 0; n < INSTANCES; n++) {
          assertEquals(n * n, results.get(n).join().getVariable("square"));
        }
      }
      assertEquals(INSTANCES, handled.size());
      assertEquals(INSTANCES, calls.get());
    }
  }

  /** Idle for longer than its poll interval, a worker must not have asked again and again. */
  @ParameterizedTest(name = "rest={0}")
  @ValueSource(booleans = {true, false})
  void aPollingWorkerLongPolls(final boolean rest) throws Exception {
    try (CamundaClient client = client(rest)) {
      final Model model = Model.of("task").deploy(client);
      final BlockingQueue<ActivatedJob> received = new LinkedBlockingQueue<>();
      try (JobWorker worker =
          client
              .newWorker()
              .jobType(model.id())
              .handler((jobs, job) -> received.add(job))
              .streamEnabled(false)
              .pollInterval(Duration.ofMillis(20))
              .requestTimeout(Duration.ofSeconds(10))
              .open()) {
        assertEquals(null, received.poll(1_500, TimeUnit.MILLISECONDS));
        assertEquals(1, polls.get(), "polls of an idle worker in 1.5 s");
        final long created = System.nanoTime();
        create(client, model);
        assertNotNull(received.poll(10, TimeUnit.SECONDS));
        final long waitedMs = (System.nanoTime() - created) / 1_000_000;
        assertTrue(waitedMs < 2_000, "woken only after " + waitedMs + " ms");
      }
    }
  }

  @ParameterizedTest(name = "rest={0}")
  @ValueSource(booleans = {true, false})
  void aStreamingWorkerIsPushedItsJobs(final boolean rest) throws Exception {
    try (CamundaClient client = client(rest)) {
      final Model model = Model.of("task").deploy(client);
      final BlockingQueue<ActivatedJob> received = new LinkedBlockingQueue<>();
      try (JobWorker worker =
          client
              .newWorker()
              .jobType(model.id())
              .handler(
                  (jobs, job) -> {
                    received.add(job);
                    jobs.newCompleteCommand(job).variables(Map.of("done", true)).send().join();
                  })
              .streamEnabled(true)
              .timeout(Duration.ofMinutes(1))
              .name("streamer")
              .fetchVariables("n")
              // Only the stream can deliver: the worker's first poll is an hour away.
              .pollInterval(NEVER)
              .open()) {
        awaitFirstPush(client, model, received);
        received.clear();
        final List<CamundaFuture<ProcessInstanceResult>> results = new ArrayList<>();
        for (int n = 0; n < INSTANCES; n++) {
          results.add(createAwaiting(client, model, n));
        }
        for (final CamundaFuture<ProcessInstanceResult> result : results) {
          assertEquals(true, result.join().getVariable("done"));
        }
        final Set<Object> seen = new HashSet<>();
        for (final ActivatedJob job : received) {
          assertEquals("streamer", job.getWorker());
          assertEquals(3, job.getRetries());
          assertEquals(Map.of("queue", "parcels"), job.getCustomHeaders());
          assertEquals(Set.of("n"), job.getVariablesAsMap().keySet());
          assertTrue(job.getDeadline() > System.currentTimeMillis());
          seen.add(job.getVariable("n"));
        }
        assertEquals(INSTANCES, received.size());
        assertEquals(INSTANCES, seen.size());
        assertEquals(0, polls.get());
      }
    }
  }

  @ParameterizedTest(name = "rest={0}")
  @ValueSource(booleans = {true, false})
  void aStreamingWorkerPollsForWhatWasThereBefore(final boolean rest) throws Exception {
    try (CamundaClient client = client(rest)) {
      final Model model = Model.of("task").deploy(client);
      for (int n = 0; n < 5; n++) {
        create(client, model);
      }
      final BlockingQueue<ActivatedJob> received = new LinkedBlockingQueue<>();
      try (JobWorker worker =
          client
              .newWorker()
              .jobType(model.id())
              .handler((jobs, job) -> received.add(job))
              .streamEnabled(true)
              .open()) {
        final Set<Long> keys = new HashSet<>();
        for (int n = 0; n < 5; n++) {
          final ActivatedJob job = received.poll(10, TimeUnit.SECONDS);
          assertNotNull(job, "only " + n + " jobs arrived");
          keys.add(job.getKey());
        }
        assertEquals(5, keys.size());
      }
    }
  }

  @ParameterizedTest(name = "stream={0}")
  @ValueSource(booleans = {true, false})
  void aFailingHandlerGetsItsJobAgainWithOneRetryLess(final boolean stream) throws Exception {
    try (CamundaClient client = client(false)) {
      final Model model = Model.of("task").deploy(client);
      final BlockingQueue<Integer> retries = new LinkedBlockingQueue<>();
      try (JobWorker worker =
          client
              .newWorker()
              .jobType(model.id())
              .handler(
                  (jobs, job) -> {
                    retries.add(job.getRetries());
                    if (job.getRetries() > 1) {
                      throw new IllegalStateException("not yet");
                    }
                    jobs.newCompleteCommand(job).send().join();
                  })
              .streamEnabled(stream)
              .open()) {
        createAwaiting(client, model, 1).join();
        assertEquals(List.of(3, 2, 1), List.copyOf(retries));
      }
    }
  }

  /** A job pushed to a stream that is gone must reach another worker, not wait for its timeout. */
  @ParameterizedTest(name = "stream={0}")
  @ValueSource(booleans = {true, false})
  void aClosedWorkerTakesNoMoreJobs(final boolean stream) throws Exception {
    try (CamundaClient client = client(false)) {
      final Model model = Model.of("task").deploy(client);
      final BlockingQueue<ActivatedJob> first = new LinkedBlockingQueue<>();
      try (CamundaClient other = client(false);
          JobWorker worker =
              other
                  .newWorker()
                  .jobType(model.id())
                  .handler((jobs, job) -> first.add(job))
                  .streamEnabled(stream)
                  .timeout(NEVER)
                  .open()) {
        create(client, model);
        assertNotNull(first.poll(10, TimeUnit.SECONDS));
      }
      first.clear();
      final BlockingQueue<ActivatedJob> second = new LinkedBlockingQueue<>();
      try (JobWorker worker =
          client
              .newWorker()
              .jobType(model.id())
              .handler((jobs, job) -> second.add(job))
              .streamEnabled(stream)
              .open()) {
        for (int n = 0; n < 10; n++) {
          create(client, model);
        }
        for (int n = 0; n < 10; n++) {
          assertNotNull(second.poll(15, TimeUnit.SECONDS), "only " + n + " of 10 jobs arrived");
        }
        assertTrue(first.isEmpty());
      }
    }
  }

  /** No client tells when its stream is registered: offer jobs until one is pushed. */
  private static void awaitFirstPush(
      final CamundaClient client, final Model model, final BlockingQueue<ActivatedJob> received)
      throws InterruptedException {
    for (int attempt = 0; attempt < 50; attempt++) {
      create(client, model);
      if (received.poll(200, TimeUnit.MILLISECONDS) != null) {
        return;
      }
    }
    throw new AssertionError("no job was pushed in 10 s");
  }

  private static void create(final CamundaClient client, final Model model) {
    client.newCreateInstanceCommand().bpmnProcessId(model.id()).latestVersion().send().join();
  }

  private static CamundaFuture<ProcessInstanceResult> createAwaiting(
      final CamundaClient client, final Model model, final int n) {
    return client
        .newCreateInstanceCommand()
        .bpmnProcessId(model.id())
        .latestVersion()
        .variables(Map.of("n", n, "unread", "x"))
        .withResult()
        .requestTimeout(Duration.ofSeconds(30))
        .send();
  }

  private CamundaClient client(final boolean rest) {
    return Server.client()
        .preferRestOverGrpc(rest)
        .numJobWorkerExecutionThreads(4)
        .withInterceptors(new PollCounter())
        .withChainHandlers(
            (request, entity, scope, chain, callback) -> {
              if (request.getPath().endsWith("/jobs/activation")) {
                polls.incrementAndGet();
              }
              chain.proceed(request, entity, scope, callback);
            })
        .build();
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
