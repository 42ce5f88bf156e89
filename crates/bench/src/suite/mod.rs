//! The measurements that the project promises, each against a freshly started server on a scratch directory.
//!
//! [`run`] takes the path of the `baton` program and gives a [`Table`] with a row for each promise: target,
//! measured value, verdict. `server` starts and ends processes, `disk` measures the disk itself, `measure`, `cost`
//! and `backlog` hold one function per row or group of rows.

mod access;
mod backlog;
mod cost;
mod disk;
mod exporting;
mod issuer;
mod large;
mod measure;
mod name;
mod options;
mod server;
mod table;

pub use access::{AccessWay, AccessWays};
pub use options::SuiteOptions;
pub use table::{Row, Table, Verdict};

use crate::Error;
use table::Target;

/// Runs all measurements. A measurement that cannot be taken becomes a row that says so; the others go on.
pub async fn run(options: &SuiteOptions) -> Result<Table, Error> {
    let mut table = Table { machine: machine(), ..Table::default() };
    let names = name::NAMES;
    for (index, name) in names.iter().enumerate().filter(|(_, name)| options.wants(name)) {
        eprintln!("[{}/{}] {name}", index + 1, names.len());
        if let Err(error) = measure::one(name, options, &mut table).await {
            eprintln!("  {error}");
            table.add(name, &format!("failed: {error}"), Target::None, None, |_| String::new());
        }
    }
    write_files(options, &table)?;
    Ok(table)
}

fn write_files(options: &SuiteOptions, table: &Table) -> Result<(), Error> {
    if let Some(path) = &options.json {
        std::fs::write(path, table.json()).map_err(Error::file(path))?;
    }
    if let Some(path) = &options.markdown {
        std::fs::write(path, table.markdown()).map_err(Error::file(path))?;
    }
    if let Some(directory) = &options.html {
        std::fs::create_dir_all(directory).map_err(Error::file(directory))?;
        for (index, report) in table.reports.iter().enumerate() {
            let path = directory.join(format!("{:02}.html", index + 1));
            std::fs::write(&path, report.html()).map_err(Error::file(path))?;
        }
    }
    Ok(())
}

/// The machine in a line: processor, cores, memory, kernel.
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let after_colon = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor =
        after_colon(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory = after_colon(&read("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(String::new, |kibibytes| format!(", {:.0} GiB", kibibytes / 1024.0 / 1024.0));
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{processor}, {cores} cores{memory}, Linux {}; server and load generator share it", kernel.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_named() {
        assert!(machine().contains("cores"));
    }
}
