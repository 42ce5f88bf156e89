package baton.records;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.camunda.zeebe.protocol.jackson.ZeebeProtocolModule;
import io.camunda.zeebe.protocol.record.Record;
import io.camunda.zeebe.protocol.record.ValueType;
import io.camunda.zeebe.protocol.record.intent.ErrorIntent;
import io.camunda.zeebe.protocol.record.intent.JobBatchIntent;
import io.camunda.zeebe.protocol.record.value.ErrorRecordValue;
import io.camunda.zeebe.protocol.record.value.JobBatchRecordValue;
import io.camunda.zeebe.protocol.record.value.deployment.Process;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Every record that a server has exported, read with the library of the reference. */
class RecordsTest {
  /** What a record does not have is not written again. */
  private static final ObjectMapper MAPPER =
      new ObjectMapper()
          .registerModule(new ZeebeProtocolModule())
          .setDefaultPropertyInclusion(JsonInclude.Include.NON_NULL);

  private static final TypeReference<Record<?>> RECORD = new TypeReference<>() {};

  /** Values of enumerations that came after this version of the library. */
  private static final Set<String> LATER =
      Set.of(
          "AGENT_DEFINITION",
          "AGENT_INSTANCE",
          "AGENT_HISTORY",
          "BACKUP",
          "EXPORTER",
          "SECRET",
          "SUSPEND_PROCESS_INSTANCE",
          "CREATE_BATCH_OPERATION_SUSPEND_PROCESS_INSTANCE",
          "SUSPENDED",
          "RESUMED");

  /** No client can make the engine fail; a test of the exporter writes the line of such a failure. */
  private static final Path FAILURE = Path.of("error.ndjson");

  private static List<String> lines() throws IOException {
    try (var files = Files.list(Path.of(System.getenv("BATON_RECORDS")))) {
      final List<String> lines = new ArrayList<>();
      for (final Path file : files.filter(file -> file.toString().endsWith(".ndjson")).sorted().toList()) {
        lines.addAll(Files.readAllLines(file));
      }
      lines.addAll(Files.readAllLines(FAILURE));
      return lines;
    }
  }

  private static boolean isLater(final JsonNode line) {
    return LATER.contains(line.get("valueType").asText())
        || LATER.contains(line.get("intent").asText())
        || line.get("value").toString().transform(value -> LATER.stream().anyMatch(name -> value.contains("\"" + name + "\"")));
  }

  private static List<Record<?>> records() throws IOException {
    final List<Record<?>> records = new ArrayList<>();
    for (final String line : lines()) {
      if (!isLater(MAPPER.readTree(line))) {
        records.add(MAPPER.readValue(line, RECORD));
      }
    }
    return records;
  }

  @Test
  void everyRecordIsRead() throws IOException {
    final List<String> failures = new ArrayList<>();
    for (final String line : lines()) {
      final JsonNode tree = MAPPER.readTree(line);
      if (isLater(tree)) {
        continue;
      }
      final String name = tree.get("valueType").asText() + " " + tree.get("intent").asText();
      try {
        final Record<?> record = MAPPER.readValue(line, RECORD);
        assertEquals(name, record.getValueType() + " " + record.getIntent());
        // Written again, and read from that.
        final Record<?> again = MAPPER.readValue(MAPPER.writeValueAsString(record), RECORD);
        assertEquals(record.getValue(), again.getValue());
        assertTrue(record.getBrokerVersion().matches("8\\.\\d+\\.\\d+"), record.getBrokerVersion());
      } catch (final Exception | AssertionError problem) {
        failures.add(name + ": " + problem.getMessage().lines().findFirst().orElse(""));
      }
    }
    assertEquals(List.of(), failures.stream().distinct().limit(20).toList());
  }

  @Test
  void everyValueTypeOfTheServerIsThere() throws IOException {
    final Set<String> seen = new TreeSet<>();
    for (final String line : lines()) {
      seen.add(MAPPER.readTree(line).get("valueType").asText());
    }
    final Set<String> wanted = new TreeSet<>(Arrays.asList(System.getenv("BATON_VALUE_TYPES").split(",")));
    assertEquals(wanted, seen);
  }

  @Test
  void aFailureOfTheEngineIsRead() throws IOException {
    final Record<?> record = MAPPER.readValue(Files.readString(FAILURE), RECORD);
    final ErrorRecordValue failure = (ErrorRecordValue) record.getValue();
    assertEquals(ErrorIntent.CREATED, record.getIntent());
    assertEquals("a fault at 'work'\nof an instance", failure.getExceptionMessage());
    assertEquals(2251799813685250L, failure.getProcessInstanceKey());
    assertEquals(6, failure.getErrorEventPosition());
  }

  @Test
  void filesAndActivationsAreWhatTheyWere() throws IOException {
    final List<Record<?>> records = records();
    final Process process =
        records.stream()
            .filter(record -> record.getValueType() == ValueType.PROCESS)
            .map(record -> (Process) record.getValue())
            .findFirst()
            .orElseThrow();
    assertTrue(new String(process.getResource(), StandardCharsets.UTF_8).contains("<"));
    final List<JobBatchRecordValue> batches =
        records.stream()
            .filter(record -> record.getIntent() == JobBatchIntent.ACTIVATED)
            .map(record -> (JobBatchRecordValue) record.getValue())
            .collect(Collectors.toList());
    assertTrue(!batches.isEmpty());
    for (final JobBatchRecordValue batch : batches) {
      assertEquals(batch.getJobKeys().size(), batch.getJobs().size());
      assertEquals(batch.getType(), batch.getJobs().get(0).getType());
    }
  }
}
