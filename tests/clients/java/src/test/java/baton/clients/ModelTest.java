package baton.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import baton.clients.Server.Model;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.xml.sax.SAXParseException;

/**
 * The models are what the other tests take them for. Needs no server, so the runner also uses it to
 * fetch what running tests takes.
 */
class ModelTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"straight", "task", "error", "message", "malformed-expression", "missing-type", "rule", "multi",
        "signal", "user-task", "two-steps", "ad-hoc"})
  void holdsOneProcessUnderItsOwnId(final String name) throws Exception {
    final Model model = Model.of(name);
    final var processes = parse(model).getElementsByTagNameNS("*", "process");
    assertEquals(1, processes.getLength());
    assertEquals(
        model.id(), processes.item(0).getAttributes().getNamedItem("id").getNodeValue());
  }

  @Test
  void isNotWellFormedWhereItSaysSo() {
    assertThrows(SAXParseException.class, () -> parse(Model.of("not-well-formed")));
  }

  private static Document parse(final Model model) throws Exception {
    final DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    final DocumentBuilder builder = factory.newDocumentBuilder();
    builder.setErrorHandler(null);
    return builder.parse(
        new ByteArrayInputStream(model.xml().getBytes(StandardCharsets.UTF_8)));
  }
}
