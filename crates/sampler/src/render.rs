//! Samples with names: one stack in a line, or a flame graph of them. Reads what [`crate::Samples`] writes.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};
use std::path::Path;

use inferno::flamegraph;

use crate::Format;
use crate::symbols::Symbols;

/// The picture of a process that did nothing: no samples were taken.
const IDLE: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"40\">\
    <text x=\"10\" y=\"25\" font-family=\"monospace\">no samples: the process used no CPU</text></svg>\n";

/// Why there is no picture.
#[derive(Debug)]
pub enum RenderError {
    /// It cannot be read or written.
    Io(io::Error),
    /// A line is none of [`crate::Samples`].
    Line(String),
}

impl std::fmt::Display for RenderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Line(line) => {
                write!(f, "no line of samples: '{}'", line.chars().take(100).collect::<String>())
            }
        }
    }
}

impl std::error::Error for RenderError {}

impl From<io::Error> for RenderError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Where code is mapped.
struct Map {
    start: u64,
    end: u64,
    /// The offset of its start into the file.
    offset: u64,
    path: String,
}

/// Sources of names for addresses.
#[derive(Default)]
struct Names {
    program: String,
    maps: Vec<Map>,
    threads: HashMap<String, String>,
    symbols: Symbols,
    known: HashMap<u64, String>,
}

/// Finds the names of the functions of a program in samples, and writes them in a format. `program` is the file
/// that took them.
pub fn render(
    program: &Path,
    input: impl BufRead,
    format: Format,
    out: &mut impl Write,
) -> Result<(), RenderError> {
    let mut names = Names { symbols: Symbols::of(program)?, ..Names::default() };
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for line in input.lines() {
        let line = line?;
        let wrong = || RenderError::Line(line.clone());
        let (kind, rest) = line.split_once(' ').ok_or_else(wrong)?;
        match kind {
            "program" => rest.clone_into(&mut names.program),
            "map" => names.maps.push(map(rest).ok_or_else(wrong)?),
            "thread" => {
                let (id, name) = rest.split_once(' ').unwrap_or((rest, ""));
                names.threads.insert(id.to_owned(), plain(name));
            }
            "stack" => *counts.entry(names.stack(rest).ok_or_else(wrong)?).or_default() += 1,
            "lost" => match rest.parse::<u64>() {
                Ok(0) => {}
                Ok(lost) => *counts.entry("[lost, for want of memory]".to_owned()).or_default() += lost,
                Err(_) => return Err(wrong()),
            },
            _ => return Err(wrong()),
        }
    }
    let lines: Vec<String> = counts.into_iter().map(|(stack, count)| format!("{stack} {count}")).collect();
    match format {
        Format::Svg if lines.is_empty() => out.write_all(IDLE)?,
        Format::Svg => {
            let mut options = flamegraph::Options::default();
            "CPU time of baton".clone_into(&mut options.title);
            flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)
                .map_err(io::Error::other)?;
        }
        Format::Collapsed => lines.iter().try_for_each(|line| writeln!(out, "{line}"))?,
    }
    Ok(())
}

/// A line of the kernel's list of what is mapped.
fn map(line: &str) -> Option<Map> {
    let mut parts = line.splitn(6, ' ');
    let (start, end) = parts.next()?.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = number(parts.nth(1)?)?;
    let path = parts.nth(2).unwrap_or("").trim().to_owned();
    Some(Map { start: number(start)?, end: number(end)?, offset, path })
}

/// A name without what separates names and ends lines.
fn plain(name: &str) -> String {
    name.replace(';', ",").replace(['\n', '\r'], " ")
}

impl Names {
    /// A stack as a line, from its thread and its addresses, the innermost first.
    fn stack(&mut self, line: &str) -> Option<String> {
        let mut parts = line.split(' ');
        let thread = parts.next()?;
        let mut out = match self.threads.get(thread).filter(|name| !name.is_empty()) {
            Some(name) => name.clone(),
            None => format!("thread {thread}"),
        };
        let frames: Option<Vec<u64>> = parts.map(|part| u64::from_str_radix(part, 16).ok()).collect();
        for (depth, frame) in frames?.into_iter().enumerate().rev() {
            // An address to return to is behind its call, and may be in the next function.
            let address = if depth == 0 { frame } else { frame.saturating_sub(1) };
            out.push(';');
            out.push_str(self.name(address));
        }
        Some(out)
    }

    fn name(&mut self, address: u64) -> &str {
        let (maps, symbols, program) = (&self.maps, &self.symbols, &self.program);
        self.known.entry(address).or_insert_with(|| {
            let Some(map) = maps.iter().find(|map| (map.start..map.end).contains(&address)) else {
                return "[unknown]".to_owned();
            };
            let offset = address - map.start + map.offset;
            let file = map.path.rsplit('/').next().unwrap_or(&map.path);
            if map.path != *program {
                return if file.starts_with('[') { plain(file) } else { plain(&format!("[{file}]")) };
            }
            // Of a program without symbols, tools find them with the one that has them.
            symbols.name(offset).map_or_else(|| plain(&format!("{file}+{offset:#x}")), |name| plain(&name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(input: &str, format: Format) -> Result<String, RenderError> {
        let mut out = Vec::new();
        render(Path::new("/proc/self/exe"), input.as_bytes(), format, &mut out)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn stacks_have_names_of_threads_and_libraries() {
        let input = "program /opt/baton\nmap 1000-2000 r-xp 00000000 fe:00 12                  /lib/libc.so.6\n\
                     map 3000-4000 r-xp 00000000 00:00 0 [vdso]\nthread 7 apply;1\nthread 8 \n\
                     stack 7 1005 3010\nstack 7 1005 3010\nstack 8 9\nlost 3\n";
        assert_eq!(
            rendered(input, Format::Collapsed).expect("stacks"),
            "[lost, for want of memory] 3\napply,1;[vdso];[libc.so.6] 2\nthread 8;[unknown] 1\n"
        );
        assert!(rendered(input, Format::Svg).expect("a picture").contains("libc.so.6"));
        assert!(rendered("lost 0\n", Format::Svg).expect("a picture").contains("no samples"));
        assert_eq!(rendered("lost 0\n", Format::Collapsed).expect("nothing"), "");
    }

    #[test]
    fn what_is_no_sample_is_refused() {
        for wrong in ["x", "stack 1 zz", "map 1", "lost x", "other 1"] {
            assert!(matches!(rendered(wrong, Format::Collapsed), Err(RenderError::Line(_))), "{wrong}");
        }
    }
}
