//! IDs that stand in the paths of addresses. Clients, proxies and servers take `.` and `..` for steps up a path,
//! encoded or not, and go them: what was meant for a group of this name would happen to another entity.

/// Whether no part of an ID is a step up a path.
pub fn is_kept_in_paths(id: &str) -> bool {
    // Some decode twice.
    let decoded = id.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    !id.is_empty() && decoded.split(['/', '\\']).all(|part| !matches!(part, "." | ".."))
}

/// Whether an ID is one part of a path, as it stands.
pub fn is_path_part(id: &str) -> bool {
    let is_plain = |one: char| !matches!(one, '/' | '\\' | '%' | '?' | '#') && !one.is_control();
    is_kept_in_paths(id) && id.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_steps_or_several_parts_are_told_from_others() {
        for id in ["a", "<default>", "a.b", "...", "..a", "ann@example.org", "größe", "a b"] {
            assert!(is_path_part(id) && is_kept_in_paths(id), "{id}");
        }
        for id in
            ["", ".", "..", "%2e%2E", ".%2e", "a/../b", "../a", "a/.", "a\\..\\b", "%2e%2e%2fa", "a%5c.."]
        {
            assert!(!is_path_part(id) && !is_kept_in_paths(id), "{id}");
        }
        for id in ["/sales", "a/b", "50%", "a?b", "a#b", "a\nb", "a\\b"] {
            assert!(!is_path_part(id) && is_kept_in_paths(id), "{id}");
        }
    }
}
