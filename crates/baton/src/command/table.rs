//! Rows of JSON objects as a table for people.

use serde_json::Value;

/// Longer cells are cut.
const CELL_CHARS_MAX: usize = 60;

/// A line of titles, then a line for each item.
pub(super) fn render(columns: &[&str], items: &[Value]) -> String {
    let mut table = bench::plain_table(columns);
    for item in items {
        table.add_row(columns.iter().map(|column| cell(&item[*column])));
    }
    table.lines().flat_map(|line| [line.trim_end().to_owned(), "\n".to_owned()]).collect()
}

/// A value on one line.
pub(super) fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => return "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut cut: String = chars.by_ref().take(CELL_CHARS_MAX).collect();
    if chars.next().is_some() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let items = [json!({ "key": "1", "name": "a\nb" }), json!({ "key": "1000", "name": null })];
        assert_eq!(render(&["key", "name"], &items), "key   name\n1     a b\n1000  -\n");
        assert_eq!(cell(&json!("x".repeat(61))), format!("{}…", "x".repeat(60)));
    }
}
