//! Figures for people.

/// A time with its unit.
pub fn micros(value: f64) -> String {
    match value {
        value if value < 1000.0 => format!("{value:.0} µs"),
        value if value < 1_000_000.0 => format!("{:.2} ms", value / 1000.0),
        value => format!("{:.2} s", value / 1_000_000.0),
    }
}

/// A size with its unit.
pub fn bytes(value: f64) -> String {
    match value {
        value if value < 1024.0 => format!("{value:.0} B"),
        value if value < 1024.0 * 1024.0 => format!("{:.1} KiB", value / 1024.0),
        value if value < 1024.0 * 1024.0 * 1024.0 => format!("{:.1} MiB", value / 1024.0 / 1024.0),
        value => format!("{:.2} GiB", value / 1024.0 / 1024.0 / 1024.0),
    }
}

/// A number with its thousands apart.
pub fn number(value: f64) -> String {
    let decimals = usize::from(value < 100.0 && value.fract() != 0.0);
    let plain = format!("{value:.decimals$}");
    let (whole, fraction) = plain.split_once('.').map_or((plain.as_str(), None), |(a, b)| (a, Some(b)));
    let mut text = String::with_capacity(plain.len() + 4);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

pub(crate) fn percent(value: f64) -> String {
    format!("{value:.1} %")
}
