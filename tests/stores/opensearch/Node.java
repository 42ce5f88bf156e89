import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.codelibs.opensearch.runner.OpenSearchRunner;
import org.opensearch.http.HttpServerTransport;

/**
 * One OpenSearch node for tests: {@code Node DIRECTORY PORT}. Port 0 takes any that is free. Says which one on a line
 * of its own, and ends when its standard input does. Started again with the same directory, it has what it had.
 */
public final class Node {
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]).toAbsolutePath();
    Files.createDirectories(directory);
    PrintStream answer = System.out;
    // Whatever else is said goes to a file.
    PrintStream log = new PrintStream(new FileOutputStream(directory.resolve("node.log").toFile(), true), true);
    System.setOut(log);
    System.setErr(log);
    OpenSearchRunner runner = new OpenSearchRunner();
    runner.onBuild(
        (number, settings) -> {
          settings.put("http.port", arguments[1]);
          settings.put("transport.port", "0");
          settings.put("network.host", "127.0.0.1");
          settings.put("discovery.type", "single-node");
          // Room on the disk is nothing that these tests are about.
          settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
          settings.putList("discovery.seed_hosts");
        });
    runner.build(
        OpenSearchRunner.newConfigs()
            .basePath(directory.toString())
            .numOfNode(1)
            .clusterName("baton-test")
            .disableESLogger());
    HttpServerTransport http =
        ((org.codelibs.opensearch.runner.node.OpenSearchRunnerNode) runner.getNode(0))
            .injector()
            .getInstance(HttpServerTransport.class);
    answer.println("port " + http.boundAddress().publishAddress().getPort());
    answer.flush();
    while (System.in.read() >= 0) {
      // Only the end counts.
    }
    runner.close();
    System.exit(0);
  }
}
