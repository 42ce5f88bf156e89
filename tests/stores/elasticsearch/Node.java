import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.http.HttpServerTransport;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.painless.PainlessPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.plugins.ScriptPlugin;
import org.elasticsearch.reindex.ReindexPlugin;
import org.elasticsearch.script.ScriptContext;
import org.elasticsearch.script.ScriptEngine;
import org.elasticsearch.transport.Netty4Plugin;

/**
 * One Elasticsearch node for tests: {@code Node DIRECTORY PORT}. Port 0 takes any that is free. Says which one on a
 * line of its own, and ends when its standard input does. Started again with the same directory, it has what it had.
 */
public final class Node extends org.elasticsearch.node.Node {
  /** The language of scripts, which is of another release, without its requests, which need that one's server. */
  public static final class Scripts extends Plugin implements ScriptPlugin {
    @Override
    public ScriptEngine getScriptEngine(Settings settings, Collection<ScriptContext<?>> contexts) {
      return new PainlessPlugin().getScriptEngine(settings, contexts);
    }
  }

  private Node(Environment environment) {
    super(environment, List.of(Netty4Plugin.class, Scripts.class, ReindexPlugin.class), true);
  }

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]).toAbsolutePath();
    Files.createDirectories(directory);
    PrintStream answer = System.out;
    // Whatever else is said goes to a file.
    PrintStream log = new PrintStream(new FileOutputStream(directory.resolve("node.log").toFile(), true), true);
    System.setOut(log);
    System.setErr(log);
    Settings settings =
        Settings.builder()
            .put("path.home", directory)
            .put("cluster.name", "baton-test")
            .put("http.port", arguments[1])
            .put("transport.port", "0")
            .put("network.host", "127.0.0.1")
            .put("discovery.type", "single-node")
            // Room on the disk is nothing that these tests are about.
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
    LogConfigurator.configureWithoutConfig(Settings.builder().put("logger.level", "WARN").build());
    Node node =
        new Node(
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "test"));
    node.start();
    HttpServerTransport http = node.injector().getInstance(HttpServerTransport.class);
    answer.println("port " + http.boundAddress().publishAddress().getPort());
    answer.flush();
    while (System.in.read() >= 0) {
      // Only the end counts.
    }
    node.close();
    System.exit(0);
  }
}
