//! Rows of JSON objects as a table for people.

use serde_json::Value;

/// Longer cells are cut.
const CELL_CHARS_MAX: usize = 60;

/// A line of titles, then a line for each item.
pub(super) fn render(columns: &[&str], items: &[Value]) -> String {
    let mut lines: Vec<Vec<String>> = vec![columns.iter().map(|column| (*column).to_owned()).collect()];
    lines.extend(items.iter().map(|item| columns.iter().map(|column| cell(&item[*column])).collect()));
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let padded: Vec<_> =
            line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
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
