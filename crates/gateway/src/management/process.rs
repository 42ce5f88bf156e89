//! Cost of the process: CPU, memory, files, disk. Read from the system at each scrape; what it does not tell is
//! left out.

use std::fmt::{Display, Write};
use std::fs;

/// Appends the metrics in the text format of Prometheus.
pub(super) fn write(text: &mut String) {
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let cpu_seconds = cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9;
    metric(text, "process_cpu_seconds_total", "counter", "CPU time used, user and system.", cpu_seconds);

    if let Some(pages) = field::<u64>("/proc/self/statm", 0) {
        let bytes = pages * rustix::param::page_size() as u64;
        metric(text, "process_virtual_memory_bytes", "gauge", "Virtual memory.", bytes);
    }
    if let Some(pages) = field::<u64>("/proc/self/statm", 1) {
        let bytes = pages * rustix::param::page_size() as u64;
        metric(text, "process_resident_memory_bytes", "gauge", "Resident memory.", bytes);
    }
    if let Some(seconds) = start_seconds() {
        metric(text, "process_start_time_seconds", "gauge", "Start, Unix time.", seconds);
    }
    if let Some(threads) = stat_field::<u64>(17) {
        metric(text, "process_threads", "gauge", "Threads.", threads);
    }
    if let Ok(entries) = fs::read_dir("/proc/self/fd") {
        let open = entries.count();
        metric(text, "process_open_fds", "gauge", "Open file descriptors.", open);
        // The name that dashboards of the compatible system know.
        metric(text, "process_files_open_files", "gauge", "Open file descriptors.", open);
    }
    if let Some(most) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        metric(text, "process_files_max_files", "gauge", "File descriptors that may be open.", most);
    }
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    if let Some(bytes) = line_value(&io, "write_bytes:") {
        let help = "Bytes that this process had written to disks.";
        metric(text, "baton_process_disk_written_bytes_total", "counter", help, bytes);
    }
    if let Some(bytes) = line_value(&io, "read_bytes:") {
        let help = "Bytes that this process had read from disks.";
        metric(text, "baton_process_disk_read_bytes_total", "counter", help, bytes);
    }
}

fn metric(text: &mut String, name: &str, kind: &str, help: &str, value: impl Display) {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n")
        .expect("writing to memory does not fail");
}

fn field<T: std::str::FromStr>(path: &str, index: usize) -> Option<T> {
    fs::read_to_string(path).ok()?.split_ascii_whitespace().nth(index)?.parse().ok()
}

/// A field of `/proc/self/stat`, counted after the program's name (proc(5) counts it as 3).
fn stat_field<T: std::str::FromStr>(index: usize) -> Option<T> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name may hold spaces and brackets; the last bracket ends it.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(index)?.parse().ok()
}

fn start_seconds() -> Option<f64> {
    let since_boot = stat_field::<u64>(19)? as f64 / rustix::param::clock_ticks_per_second() as f64;
    let stat = fs::read_to_string("/proc/stat").ok()?;
    Some(line_value(&stat, "btime")? as f64 + since_boot)
}

fn line_value(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn value(text: &str, name: &str) -> f64 {
        let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name} in {text}")).rsplit(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn the_process_tells_what_it_costs() {
        let mut text = String::new();
        write(&mut text);
        assert!(value(&text, "process_cpu_seconds_total") > 0.0);
        assert!(value(&text, "process_resident_memory_bytes") > 100_000.0);
        assert!(value(&text, "process_open_fds") >= 3.0);
        assert!(value(&text, "process_files_open_files") >= 3.0);
        assert!(value(&text, "process_files_max_files") >= value(&text, "process_open_fds"));
        assert!(value(&text, "process_threads") >= 1.0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
        let age = now - value(&text, "process_start_time_seconds");
        assert!((-2.0..600.0).contains(&age), "{age}");
    }
}
