//! A walk over text that was checked before.

/// Bytes of a string that are compared one by one.
const SHORT_STRING: usize = 24;

/// A position in text that is valid JSON. Other text gives some answer, without a panic.
pub struct Scanner<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Bytes from the start.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The bytes from `start` to here.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.position).unwrap_or_default()
    }

    /// The number or word that begins here.
    pub(crate) fn plain(&mut self) -> &'a [u8] {
        let start = self.position;
        self.skip_plain();
        self.since(start)
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// Moves behind white space.
    pub fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.position += 1;
        }
    }

    /// Takes one byte if it is the expected one.
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    /// The content of the string that begins here, escapes unread, and whether there are escapes.
    pub fn string(&mut self) -> Option<(&'a [u8], bool)> {
        if !self.take(b'"') {
            return None;
        }
        let start = self.position;
        // Most strings are short: compare a few bytes before the call of memchr.
        let near = &self.bytes[start..self.bytes.len().min(start + SHORT_STRING)];
        for (length, byte) in near.iter().enumerate() {
            match byte {
                b'"' => {
                    self.position = start + length + 1;
                    return Some((&near[..length], false));
                }
                b'\\' => break,
                _ => {}
            }
        }
        let mut escaped = false;
        loop {
            let offset = memchr::memchr2(b'"', b'\\', self.bytes.get(self.position..)?)?;
            self.position += offset + 1;
            if self.bytes[self.position - 1] == b'"' {
                return Some((&self.bytes[start..self.position - 1], escaped));
            }
            escaped = true;
            self.position += 1;
        }
    }

    /// Moves behind the value that begins here; the text is known to be valid.
    pub fn skip_value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' | b'[' => {
                let mut depth = 0usize;
                loop {
                    match self.peek()? {
                        b'"' => {
                            self.string()?;
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth = depth.checked_sub(1)?,
                        _ => {}
                    }
                    self.position += 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
            }
            _ => {
                self.skip_plain();
                Some(())
            }
        }
    }

    /// The number or word that begins here.
    fn skip_plain(&mut self) {
        while let Some(byte) = self.peek() {
            if matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\t' | b'\r' | b':') {
                break;
            }
            self.position += 1;
        }
    }
}
