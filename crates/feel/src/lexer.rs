//! Splits text into tokens. Never fails: unknown characters become [`TokenKind::Unknown`], because keys of context
//! literals may hold any character; the parser refuses them elsewhere.

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a keyword.
    Name,
    /// A name in back-ticks, or one of the names that the caller gave.
    QuotedName,
    Number,
    String,
    LeftParenthesis,
    RightParenthesis,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Colon,
    Dot,
    DotDot,
    Plus,
    Minus,
    Star,
    StarStar,
    Slash,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    At,
    Question,
    /// An unterminated string or comment.
    Unterminated,
    Unknown,
    End,
}

/// Splits a text. `names` may contain spaces or symbols without back-ticks; longest first.
pub(crate) fn tokenize(text: &str, names: &[&str]) -> Vec<Token> {
    let mut lexer = Lexer { text, position: 0, names };
    let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
    loop {
        let token = lexer.next();
        tokens.push(token);
        if token.kind == TokenKind::End {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    position: usize,
    names: &'a [&'a str],
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    /// Moves behind space and comments; false if a comment does not end.
    fn skip_space(&mut self) -> bool {
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.position += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(length) => self.position += length + 4,
                    None => return false,
                }
            } else {
                match rest.chars().next() {
                    Some(space) if is_space(space) => self.position += space.len_utf8(),
                    _ => return true,
                }
            }
        }
    }

    fn next(&mut self) -> Token {
        if !self.skip_space() {
            let start = self.position;
            self.position = self.text.len();
            return Token { kind: TokenKind::Unterminated, start: start as u32, end: self.position as u32 };
        }
        let start = self.position;
        let kind = match self.peek() {
            None => TokenKind::End,
            Some(first) => self.token(first),
        };
        Token { kind, start: start as u32, end: self.position as u32 }
    }

    fn token(&mut self, first: char) -> TokenKind {
        if let Some(length) = self.known_name() {
            self.position += length;
            return TokenKind::QuotedName;
        }
        if is_name_start(first) {
            let rest = self.rest();
            self.position += rest.find(|next| !is_name_part(next)).unwrap_or(rest.len());
            return TokenKind::Name;
        }
        if first.is_ascii_digit() || (first == '.' && self.digit_at(1)) {
            self.number();
            return TokenKind::Number;
        }
        match first {
            '"' => return self.quoted('"', TokenKind::String),
            '`' => return self.quoted('`', TokenKind::QuotedName),
            _ => {}
        }
        let (kind, length) = self.symbol(first);
        self.position += length;
        kind
    }

    fn symbol(&self, first: char) -> (TokenKind, usize) {
        let second = self.text.as_bytes().get(self.position + 1).copied();
        match (first, second) {
            ('.', Some(b'.')) => (TokenKind::DotDot, 2),
            ('*', Some(b'*')) => (TokenKind::StarStar, 2),
            ('!', Some(b'=')) => (TokenKind::NotEqual, 2),
            ('<', Some(b'=')) => (TokenKind::LessOrEqual, 2),
            ('>', Some(b'=')) => (TokenKind::GreaterOrEqual, 2),
            ('(', _) => (TokenKind::LeftParenthesis, 1),
            (')', _) => (TokenKind::RightParenthesis, 1),
            ('[', _) => (TokenKind::LeftBracket, 1),
            (']', _) => (TokenKind::RightBracket, 1),
            ('{', _) => (TokenKind::LeftBrace, 1),
            ('}', _) => (TokenKind::RightBrace, 1),
            (',', _) => (TokenKind::Comma, 1),
            (':', _) => (TokenKind::Colon, 1),
            ('.', _) => (TokenKind::Dot, 1),
            ('+', _) => (TokenKind::Plus, 1),
            ('-', _) => (TokenKind::Minus, 1),
            ('*', _) => (TokenKind::Star, 1),
            ('/', _) => (TokenKind::Slash, 1),
            ('=', _) => (TokenKind::Equal, 1),
            ('<', _) => (TokenKind::Less, 1),
            ('>', _) => (TokenKind::Greater, 1),
            ('@', _) => (TokenKind::At, 1),
            ('?', _) => (TokenKind::Question, 1),
            (other, _) => (TokenKind::Unknown, other.len_utf8()),
        }
    }

    fn digit_at(&self, offset: usize) -> bool {
        self.text.as_bytes().get(self.position + offset).is_some_and(u8::is_ascii_digit)
    }

    fn number(&mut self) {
        let digits = |lexer: &mut Self| {
            while lexer.digit_at(0) {
                lexer.position += 1;
            }
        };
        digits(self);
        // `1..3` is a range, not `1.` and `.3`.
        if self.rest().starts_with('.') && self.digit_at(1) {
            self.position += 1;
            digits(self);
        }
        let exponent =
            self.text.as_bytes().get(self.position).is_some_and(|byte| matches!(byte, b'e' | b'E'));
        let sign =
            self.text.as_bytes().get(self.position + 1).is_some_and(|byte| matches!(byte, b'+' | b'-'));
        if exponent && self.digit_at(1 + usize::from(sign)) {
            self.position += 1 + usize::from(sign);
            digits(self);
        }
    }

    fn quoted(&mut self, end: char, kind: TokenKind) -> TokenKind {
        self.position += 1;
        let mut escaped = false;
        for (offset, next) in self.rest().char_indices() {
            if escaped {
                escaped = false;
            } else if next == end {
                self.position += offset + 1;
                return kind;
            } else {
                escaped = next == '\\' && end == '"';
            }
        }
        self.position = self.text.len();
        TokenKind::Unterminated
    }

    /// The length of the longest of the given names that begins here and ends with its word.
    fn known_name(&self) -> Option<usize> {
        self.names.iter().find_map(|name| {
            let length = matching_length(self.rest(), name)?;
            let ends_in_word = name.chars().next_back().is_some_and(is_name_part);
            let goes_on = self.rest()[length..].chars().next().is_some_and(is_name_part);
            (!(ends_in_word && goes_on)).then_some(length)
        })
    }
}

/// Length of the name in the text; any two runs of white space are equal.
fn matching_length(text: &str, name: &str) -> Option<usize> {
    let mut rest = text;
    for (index, word) in name.split(is_space).filter(|word| !word.is_empty()).enumerate() {
        let trimmed = rest.trim_start_matches(is_space);
        if index > 0 && trimmed.len() == rest.len() {
            return None;
        }
        rest = trimmed.strip_prefix(word)?;
    }
    (rest.len() < text.len()).then_some(text.len() - rest.len())
}

/// White space of DMN 1.5 §10.3.1.2, rules 61 and 62.
pub(crate) fn is_space(character: char) -> bool {
    matches!(
        character,
        '\u{9}'..='\u{d}'
            | ' '
            | '\u{85}'
            | '\u{a0}'
            | '\u{1680}'
            | '\u{180e}'
            | '\u{2000}'..='\u{200b}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

fn is_name_start(character: char) -> bool {
    character == '_' || character == '$' || character.is_alphabetic()
}

fn is_name_part(character: char) -> bool {
    is_name_start(character) || character.is_numeric() || matches!(character, '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, names: &[&str]) -> Vec<(TokenKind, String)> {
        tokenize(text, names)
            .into_iter()
            .map(|token| (token.kind, text[token.start as usize..token.end as usize].to_owned()))
            .collect()
    }

    #[test]
    fn ranges_and_numbers() {
        let texts: Vec<String> =
            kinds("[1..10] 1.5 .5 1e3 x1.y", &[]).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["[", "1", "..", "10", "]", "1.5", ".5", "1e3", "x1", ".", "y", ""]);
    }

    #[test]
    fn comments_and_strings() {
        let found = kinds("/* a */ \"x\\\"y\" // end\n`a b` /*", &[]);
        assert_eq!(found[0], (TokenKind::String, "\"x\\\"y\"".to_owned()));
        assert_eq!(found[1], (TokenKind::QuotedName, "`a b`".to_owned()));
        assert_eq!(found[2].0, TokenKind::Unterminated);
    }

    #[test]
    fn names_that_the_caller_knows() {
        let found = kinds("Full  Name + Full Names + a-b", &["Full Name", "a-b"]);
        assert_eq!(found[0], (TokenKind::QuotedName, "Full  Name".to_owned()));
        assert_eq!(found[2], (TokenKind::Name, "Full".to_owned()));
        assert_eq!(found[5], (TokenKind::QuotedName, "a-b".to_owned()));
    }
}
