//! From method and path to operation, over the static tree of the contract.

use smallvec::SmallVec;

use super::contract::{METHODS, Operation, ROUTES};

/// The values of the placeholders as they stand in the path, still percent-encoded.
pub(crate) type RawParameters<'a> = SmallVec<[&'a str; 4]>;

/// Where a request leads.
#[derive(Debug)]
pub(crate) enum Route<'a> {
    Operation(Operation, RawParameters<'a>),
    /// To a path that has other methods, in the order of [`METHODS`].
    WrongMethod([bool; METHODS.len()]),
    Unknown,
}

/// Finds the operation. `HEAD` goes where `GET` goes. A literal segment wins over a placeholder, if it has the method.
pub(crate) fn route<'a>(method: &str, path: &'a str) -> Route<'a> {
    let method = if method == "HEAD" { "GET" } else { method };
    let Some(rest) = path.strip_prefix('/') else { return Route::Unknown };
    let mut search = Search {
        method: METHODS.iter().position(|m| *m == method),
        parameters: SmallVec::new(),
        allowed: [false; METHODS.len()],
    };
    match search.descend(0, Some(rest)) {
        Some(operation) => Route::Operation(operation, search.parameters),
        None if search.allowed.contains(&true) => Route::WrongMethod(search.allowed),
        None => Route::Unknown,
    }
}

struct Search<'a> {
    method: Option<usize>,
    parameters: RawParameters<'a>,
    allowed: [bool; METHODS.len()],
}

impl<'a> Search<'a> {
    /// As deep as the tree at the most.
    fn descend(&mut self, node: usize, rest: Option<&'a str>) -> Option<Operation> {
        let node = &ROUTES[node];
        let Some(rest) = rest else {
            for (allowed, operation) in self.allowed.iter_mut().zip(&node.operations) {
                *allowed |= operation.is_some();
            }
            return node.operations[self.method?];
        };
        let (segment, rest) = match rest.split_once('/') {
            Some((segment, rest)) => (segment, Some(rest)),
            None => (rest, None),
        };
        if let Ok(at) = node.literals.binary_search_by(|(name, _)| (*name).cmp(segment))
            && let Some(operation) = self.descend(node.literals[at].1, rest)
        {
            return Some(operation);
        }
        let parameter = node.parameter.filter(|_| !segment.is_empty())?;
        self.parameters.push(segment);
        let found = self.descend(parameter, rest);
        if found.is_none() {
            self.parameters.pop();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::contract::OPERATIONS;

    #[test]
    fn every_operation_is_found_at_its_path() {
        for spec in &OPERATIONS {
            let path = spec.path.replace(['{', '}'], "");
            let Route::Operation(operation, parameters) = route(spec.method, &path) else {
                panic!("{} {path} leads nowhere", spec.method);
            };
            assert_eq!(operation.spec().id, spec.id);
            let names: Vec<_> = spec.path_parameters.iter().map(|p| p.name).collect();
            assert_eq!(parameters.to_vec(), names, "{path}");
        }
    }

    #[test]
    fn other_methods_and_paths_are_refused() {
        let Route::WrongMethod(allowed) = route("DELETE", "/v2/process-instances/5") else { panic!("found") };
        assert_eq!(allowed, [true, false, false, false, false]);
        assert!(matches!(route("TRACE", "/v2/topology"), Route::WrongMethod(_)));
        for path in
            ["/", "/v2", "/v2/", "/v1/topology", "/v2/topology/", "/v2//topology", "/v2/jobs//completion"]
        {
            assert!(matches!(route("POST", path), Route::Unknown), "{path}");
        }
        assert!(matches!(route("HEAD", "/v2/topology"), Route::Operation(Operation::GetTopology, _)));
    }
}
