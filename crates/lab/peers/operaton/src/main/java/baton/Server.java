package baton;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Operaton's engine with its REST API, as its Spring Boot starter sets it up. */
@SpringBootApplication
public class Server {
  public static void main(String[] words) {
    SpringApplication.run(Server.class, words);
  }
}
