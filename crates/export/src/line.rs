//! A record as one line of JSON.

use protocol::Record;

use crate::exporter::ExportError;

/// Appends a record as JSON without a line break. A record that cannot be written leaves nothing.
pub fn write_line(record: &Record, out: &mut Vec<u8>) -> Result<(), ExportError> {
    let from = out.len();
    serde_json::to_writer(&mut *out, record).map_err(|error| {
        out.truncate(from);
        ExportError::Record { position: record.position, reason: error.to_string() }
    })?;
    // Variables keep the bytes they came with; a line break can only stand between two tokens there.
    let line = &mut out[from..];
    if memchr::memchr2(b'\n', b'\r', line).is_some() {
        line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    Ok(())
}
