package baton.clients;

/** The features over gRPC. */
class GrpcFeaturesTest extends Features {
  @Override
  boolean rest() {
    return false;
  }
}
