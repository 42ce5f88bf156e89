//! `baton profile-picture FORMAT`: what a server starts to make a picture of its samples. No user calls it.

use std::io::{self, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use sampler::INPUT_BYTES_MAX;

use crate::cli::ProfilePicture;
use crate::failure::Failure;

/// How long it may take. Then it ends, whatever it does: the server waits for it.
const TIME_MAX: Duration = Duration::from_secs(60);

pub(crate) fn run(arguments: &ProfilePicture) -> Result<ExitCode, Failure> {
    std::thread::spawn(|| {
        std::thread::sleep(TIME_MAX);
        std::process::exit(1);
    });
    let format = arguments
        .format
        .parse()
        .map_err(|()| Failure::new(format!("there is no format '{}'", arguments.format)))?;
    let input = BufReader::new(io::stdin().lock().take(INPUT_BYTES_MAX));
    let mut picture = Vec::new();
    sampler::render(Path::new("/proc/self/exe"), input, format, &mut picture)
        .map_err(|error| Failure::new(error.to_string()))?;
    io::stdout().lock().write_all(&picture).map_err(|error| Failure::new(error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}
