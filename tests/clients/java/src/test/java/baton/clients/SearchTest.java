package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.clients.Server.Model;
import io.camunda.client.CamundaClient;
import io.camunda.client.api.command.FinalCommandStep;
import io.camunda.client.api.search.response.DecisionInstance;
import io.camunda.client.api.search.response.SearchResponse;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Whatever the client can search, over rows of every kind: its model reads each of them, and each of their members. */
class SearchTest extends Connected {
  /** Searches that find nothing in the rows of this server. */
  private static final Set<String> EMPTY = Set.of();

  @Override
  boolean rest() {
    return true;
  }

  @Test
  void readsADecisionThatNoProcessHasEvaluated() throws Exception {
    final Model model = Model.of("rule");
    final long decision =
        client
            .newDeployResourceCommand()
            .addResourceStringUtf8(model.text("rule.dmn"), "rule.dmn")
            .send()
            .join()
            .getDecisions()
            .get(0)
            .getDecisionKey();
    client
        .newEvaluateDecisionCommand()
        .decisionKey(decision)
        .variables(Map.of("total", 150))
        .send()
        .join();
    final Instant end = Instant.now().plus(Duration.ofSeconds(20));
    List<DecisionInstance> found = List.of();
    while (found.isEmpty()) {
      assertTrue(Instant.now().isBefore(end), "the evaluation is found");
      found =
          client
              .newDecisionInstanceSearchRequest()
              .filter(filter -> filter.decisionDefinitionKey(decision))
              .send()
              .join()
              .items();
    }
    final DecisionInstance one = found.get(0);
    assertEquals("10", one.getResult());
    // There is none of these, and the client has no way to say so but this.
    assertEquals(-1L, one.getProcessDefinitionKey());
    assertEquals(-1L, one.getProcessInstanceKey());
    final DecisionInstance alone =
        client.newDecisionInstanceGetRequest(one.getDecisionInstanceId()).send().join();
    assertEquals(-1L, alone.getProcessInstanceKey());
  }

  @Test
  void readsWhateverItsSearchesFind() throws Exception {
    final Map<String, Integer> counts = new TreeMap<>();
    final Set<String> failures = new TreeSet<>();
    for (final Method method : CamundaClient.class.getMethods()) {
      final String name = method.getName();
      if (!name.endsWith("SearchRequest") || method.getParameterCount() > 0) {
        continue;
      }
      final List<?> items;
      try {
        final Object found = ((FinalCommandStep<?>) method.invoke(client)).send().join();
        items = ((SearchResponse<?>) found).items();
      } catch (final Exception problem) {
        failures.add(name + ": " + cause(problem));
        continue;
      }
      counts.put(name, items.size());
      for (final Object item : items) {
        readAll(name, item, failures);
        readAlone(item, failures);
      }
    }
    assertEquals(List.of(), new ArrayList<>(failures));
    final Set<String> empty = new TreeSet<>(counts.keySet());
    empty.removeIf(name -> counts.get(name) > 0);
    assertEquals(EMPTY, empty, "searches that find nothing try nothing: " + counts);
  }

  /** Calls all getters of a row. */
  private static void readAll(final String of, final Object item, final Set<String> failures) {
    for (final Class<?> type : item.getClass().getInterfaces()) {
      for (final Method getter : type.getMethods()) {
        if (getter.getParameterCount() == 0 && getter.getName().matches("(get|is)[A-Z].*")) {
          try {
            getter.invoke(item);
          } catch (final InvocationTargetException | IllegalAccessException problem) {
            failures.add(of + " " + getter.getName() + ": " + cause(problem));
          }
        }
      }
    }
  }

  /** Gets a row alone where the client can, by the key that is named as the row. */
  private void readAlone(final Object item, final Set<String> failures) {
    for (final Class<?> type : item.getClass().getInterfaces()) {
      final String name = type.getSimpleName();
      try {
        final Method getter = type.getMethod("get" + name + "Key");
        final Method request =
            CamundaClient.class.getMethod("new" + name + "GetRequest", long.class);
        final long key = Long.parseLong(String.valueOf(getter.invoke(item)));
        final Object alone = ((FinalCommandStep<?>) request.invoke(client, key)).send().join();
        readAll("alone: " + name, alone, failures);
      } catch (final NoSuchMethodException none) {
        continue;
      } catch (final Exception problem) {
        failures.add("alone: " + name + ": " + cause(problem));
      }
    }
  }

  private static String cause(final Throwable problem) {
    Throwable last = problem;
    while (last.getCause() != null) {
      last = last.getCause();
    }
    return last.toString().lines().findFirst().orElse("");
  }
}
