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
pub(super) fn line(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        // Output that is split at spaces keeps its columns.
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        other => other.to_string(),
    }
}

/// A value on one line, cut to the width of a cell.
fn cell(value: &Value) -> String {
    let mut text = line(value);
    if let Some((end, _)) = text.char_indices().nth(CELL_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let items = [json!({ "key": "1", "name": "a\nb" }), json!({ "key": "1000", "name": null })];
        assert_eq!(render(&["key", "name"], &items), "key   name\n1     a b\n1000  -\n");
        assert_eq!(cell(&json!("ä".repeat(61))), format!("{}…", "ä".repeat(60)));
        assert_eq!(cell(&json!("x".repeat(60))), "x".repeat(60));
        assert_eq!([line(&json!("")), line(&json!("x".repeat(61)))], ["-".to_owned(), "x".repeat(61)]);
    }
}
