package baton.records;

import org.junit.jupiter.api.Test;

/** What the runner starts to have all packages fetched. */
class NothingTest {
  @Test
  void nothing() {}
}
