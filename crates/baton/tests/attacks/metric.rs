//! Reading one metric of the exposition format.

/// Sum of a metric over the lines whose labels have a text.
pub(crate) fn metric(text: &str, name: &str, label: &str) -> u64 {
    let lines = text.lines().filter_map(|line| line.strip_prefix(name));
    let lines = lines.filter(|rest| rest.starts_with(['{', ' ']) && rest.contains(label));
    let values = lines.filter_map(|rest| rest.rsplit(' ').next()?.parse::<f64>().ok());
    values.sum::<f64>() as u64
}
