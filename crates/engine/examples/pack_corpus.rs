//! Puts the logs that scenarios wrote (`tests/scenarios/corpus.rs`) into one file: an array, compressed.
//!
//!     cargo run -p engine --example pack_corpus -- DIRECTORY

use std::error::Error;
use std::fs;
use std::path::Path;

use protocol::ENGINE_VERSION;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("the directory of the logs")?;
    let files = fs::read_dir(directory)?.map(|file| fs::read(file?.path()));
    let mut logs = files.collect::<Result<Vec<Vec<u8>>, _>>()?;
    // The number of a file is that of the thread that was done first.
    logs.sort_unstable();
    let mut array = minicbor::Encoder::new(Vec::new());
    array.array(logs.len() as u64)?;
    let bytes = [array.into_writer(), logs.concat()].concat();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("corpus");
    let file = corpus.join(format!("version-{ENGINE_VERSION}.lz4"));
    if file.exists() {
        return Err(format!("{} stays as it was recorded: raise ENGINE_VERSION", file.display()).into());
    }
    fs::create_dir_all(corpus)?;
    fs::write(file, lz4_flex::compress_prepend_size(&bytes))?;
    println!("{} logs, {} bytes before they were compressed", logs.len(), bytes.len());
    Ok(())
}
