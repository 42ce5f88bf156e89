package baton.clients;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import org.junit.jupiter.api.Test;

/** Needs no server: the runner lets Maven fetch what a test takes by it. */
class NothingTest {
  @Test
  void theProcessIsThere() {
    assertNotNull(getClass().getResource("/spring.bpmn"));
  }
}
