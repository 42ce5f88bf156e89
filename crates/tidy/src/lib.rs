//! The repository checks itself. There is no code to use here; `tests/tidy` reads the sources, the documents and
//! the dependency graph.
