//! Names of functions, from the table of symbols of a program: no debug information, and no more of the file than that.

use std::fs::File;
use std::io;
use std::path::Path;

use object::{Object as _, ObjectSegment as _, ObjectSymbol as _, ReadCache, SymbolKind};

/// Symbols that are kept; a program of this size has some 200,000.
const SYMBOLS_MAX: usize = 4_000_000;

struct Symbol {
    start: u64,
    end: u64,
    name: String,
}

/// The functions of a program.
#[derive(Default)]
pub(crate) struct Symbols {
    all: Vec<Symbol>,
    /// Where in the file segments are, where in memory, and how long.
    segments: Vec<(u64, u64, u64)>,
}

impl Symbols {
    /// Reads them. A program without any has none.
    pub(crate) fn of(program: &Path) -> io::Result<Self> {
        let cache = ReadCache::new(File::open(program)?);
        let file = object::File::parse(&cache).map_err(io::Error::other)?;
        let segments = file.segments().map(|segment| {
            let (offset, bytes) = segment.file_range();
            (offset, segment.address(), bytes)
        });
        let segments = segments.collect();
        let symbols = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
        let symbols = symbols.filter_map(|symbol| {
            let start = symbol.address();
            Some(Symbol {
                start,
                end: start.saturating_add(symbol.size()),
                name: symbol.name().ok()?.to_owned(),
            })
        });
        let mut all: Vec<_> = symbols.take(SYMBOLS_MAX).collect();
        all.sort_unstable_by_key(|symbol| symbol.start);
        Ok(Self { all, segments })
    }

    /// The name of the function at an offset into the file, as it is written in source code.
    pub(crate) fn name(&self, offset: u64) -> Option<String> {
        let within =
            |(start, _, bytes): &&(u64, u64, u64)| (*start..start.saturating_add(*bytes)).contains(&offset);
        let (start, address, _) = self.segments.iter().find(within)?;
        let address = address + (offset - start);
        let behind = self.all.partition_point(|symbol| symbol.start <= address);
        let symbol = self.all[..behind].last().filter(|symbol| address < symbol.end)?;
        Some(format!("{:#}", rustc_demangle::demangle(&symbol.name)))
    }
}
