//! The default configuration file, made from the declarations.

use std::fmt::Write;

use super::Config;
use super::schema::SectionInfo;

const HEAD: &str = "\
Configuration of Baton. Every key is shown with its default; a file needs only those that differ.

What stands here is replaced by environment variables (BATON_ and the key in capitals, such as
BATON_STATE_FLUSH_INTERVAL for state.flush_interval), and those by flags of `baton start`.
Durations are written as 200ms, 5s, 1.5m or 1h, sizes as 64KiB, 4MiB or 2GiB.
";
/// Lines of comments end here.
const LINE_CHARS: usize = 100;

/// The commented default file.
pub fn default_file() -> String {
    let mut text = String::new();
    comment(&mut text, "", HEAD.lines());
    for section in Config::describe() {
        write_section(&mut text, &section);
    }
    text
}

fn write_section(text: &mut String, section: &SectionInfo) {
    let depth = section.path.matches('.').count();
    let indent = "  ".repeat(depth);
    let name = section.path.rsplit('.').next().unwrap_or(section.path);
    text.push('\n');
    comment(text, &indent, section.docs.iter().copied());
    line(text, &format!("{indent}{name}:"));
    for key in &section.keys {
        let name = key.path.rsplit('.').next().unwrap_or(&key.path);
        comment(text, &format!("{indent}  "), key.docs.iter().copied());
        line(text, &format!("{indent}  {name}: {}", quoted(&key.default)));
    }
}

fn line(text: &mut String, content: &str) {
    writeln!(text, "{content}").expect("writing to memory does not fail");
}

/// Values that YAML would read as something else than their text.
fn quoted(value: &str) -> String {
    let plain = value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "._:/-".contains(c));
    if plain { value.to_owned() } else { format!("'{}'", value.replace('\'', "''")) }
}

fn comment<'a>(text: &mut String, indent: &str, paragraphs: impl Iterator<Item = &'a str>) {
    for paragraph in paragraphs {
        let mut current = format!("{indent}#");
        for word in paragraph.split_whitespace() {
            if current.len() + 1 + word.len() > LINE_CHARS {
                line(text, &current);
                current = format!("{indent}#");
            }
            current.push(' ');
            current.push_str(word);
        }
        line(text, &current);
    }
}
