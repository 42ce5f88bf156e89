//! Parses tokens into nodes: recursive descent with one token of look-ahead; names of several words need look-ahead
//! up to their parenthesis or colon. Never backtracks. Knows the scopes of names, not the values of variables.

mod control;
mod level;
mod literals;
mod operators;
mod primary;
mod scope;

use crate::ast::{Node, NodeId};
use crate::diagnostics::ParseError;
use crate::lexer::{Token, TokenKind, is_space, tokenize};
use level::Level;
use scope::Scope;
use std::sync::Arc;

/// Longest text of an expression in bytes.
const TEXT_BYTES_MAX: usize = 4 << 20;
/// Deepest nesting of brackets and keywords; the parser recurses this deep.
const NESTING_MAX: u32 = 150;
/// Highest tree of nodes; the evaluator recurses this deep without calls.
const HEIGHT_MAX: u16 = 300;
/// Most words of one name without back-ticks.
const NAME_WORDS_MAX: usize = 8;

/// The result of the parser.
pub(crate) struct Parsed {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeId,
    /// Root variables in the order of their slots.
    pub(crate) variables: Vec<Arc<str>>,
}

/// Parses an expression, or unary tests.
pub(crate) fn parse(text: &str, names: &[&str], unary: bool) -> Result<Parsed, ParseError> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("expression of {} bytes is longer than {TEXT_BYTES_MAX}", text.len());
        return Err(ParseError::at(text, TEXT_BYTES_MAX, message));
    }
    let mut parser = Parser {
        text,
        tokens: tokenize(text, names),
        position: 0,
        nodes: Vec::new(),
        heights: Vec::new(),
        nesting: 0,
        inputs: 0,
        unary,
        scope: Scope::default(),
    };
    let root = if unary { parser.unary_tests()? } else { parser.expression()? };
    if parser.kind() != TokenKind::End {
        return Err(parser.expected("an operator or the end"));
    }
    Ok(Parsed { nodes: parser.nodes, root, variables: parser.scope.into_variables() })
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    position: usize,
    nodes: Vec<Node>,
    /// Height of the tree below each node, in step with `nodes`.
    heights: Vec<u16>,
    nesting: u32,
    /// Number of `?` so far.
    inputs: usize,
    unary: bool,
    scope: Scope,
}

type Parse<T> = Result<T, ParseError>;

impl<'a> Parser<'a> {
    fn token(&self) -> Token {
        self.token_at(0)
    }

    /// The token at an offset ahead; the last token is the end.
    fn token_at(&self, offset: usize) -> Token {
        self.tokens[(self.position + offset).min(self.tokens.len() - 1)]
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    fn source(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    fn advance(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len() - 1);
    }

    fn take(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, kind: TokenKind, what: &str) -> Parse<()> {
        if self.take(kind) { Ok(()) } else { Err(self.expected(what)) }
    }

    fn is_word_at(&self, offset: usize, word: &str) -> bool {
        let token = self.token_at(offset);
        token.kind == TokenKind::Name && self.source(token) == word
    }

    fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect_word(&mut self, word: &str) -> Parse<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.expected(&format!("'{word}'"))) }
    }

    fn expected(&self, what: &str) -> ParseError {
        let token = self.token();
        let message = match token.kind {
            TokenKind::End => format!("expected {what}, but the expression ends"),
            TokenKind::Unterminated => "a string, name or comment is not closed".to_owned(),
            _ => {
                let found: String = self.source(token).chars().take(40).collect();
                format!("expected {what}, but found '{found}'")
            }
        };
        ParseError::at(self.text, token.start as usize, message)
    }

    fn error(&self, token: Token, message: &str) -> ParseError {
        ParseError::at(self.text, token.start as usize, message.to_owned())
    }

    /// Adds a node whose children are given.
    fn add(&mut self, node: Node, children: &[NodeId]) -> Parse<NodeId> {
        let below = children.iter().map(|child| self.heights[*child as usize]).max().unwrap_or(0);
        if below >= HEIGHT_MAX {
            return Err(self.too_deep());
        }
        self.nodes.push(node);
        self.heights.push(below + 1);
        Ok((self.nodes.len() - 1) as NodeId)
    }

    fn leaf(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.heights.push(1);
        (self.nodes.len() - 1) as NodeId
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    fn too_deep(&self) -> ParseError {
        self.error(self.token(), "the expression is nested too deeply")
    }

    /// Every recursion of the parser comes through here.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting >= NESTING_MAX {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn expression(&mut self) -> Parse<NodeId> {
        self.nested(|parser| parser.binary(Level::Or))
    }

    /// `-`, or tests separated by commas, or `not(…)` around them.
    fn unary_tests(&mut self) -> Parse<NodeId> {
        let only_minus = self.kind() == TokenKind::Minus && self.token_at(1).kind == TokenKind::End;
        if only_minus || self.kind() == TokenKind::End {
            self.advance();
            return Ok(self.leaf(Node::AnyInput));
        }
        let negated = self.is_word("not")
            && self.token_at(1).kind == TokenKind::LeftParenthesis
            && self.closing(self.position + 1) == Some(self.tokens.len() - 2);
        if negated {
            self.advance();
            self.advance();
        }
        let tests = self.tests()?;
        if negated {
            self.expect(TokenKind::RightParenthesis, "')'")?;
        }
        self.add(Node::Tests { negated, tests: tests.clone().into() }, &tests)
    }

    /// The place of the parenthesis that closes the one at a place.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (index, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                TokenKind::LeftParenthesis => depth += 1,
                // A range may close with a parenthesis what it opened with a bracket.
                TokenKind::RightParenthesis if depth <= 1 => return Some(index),
                TokenKind::RightParenthesis => depth -= 1,
                _ => {}
            }
        }
        None
    }

    fn tests(&mut self) -> Parse<Vec<NodeId>> {
        let mut tests = vec![self.test(Level::Or)?];
        while self.take(TokenKind::Comma) {
            tests.push(self.test(Level::Or)?);
        }
        Ok(tests)
    }

    /// One unary test; `level` is that of the expressions allowed.
    fn test(&mut self, level: Level) -> Parse<NodeId> {
        if let Some(comparison) = self.comparison_sign() {
            self.advance();
            let value = self.nested(|parser| parser.binary(Level::Additive))?;
            return self.add(Node::CompareInput { comparison, value }, &[value]);
        }
        let inputs = self.inputs;
        let expression = self.nested(|parser| parser.binary(level))?;
        let uses_input = self.inputs > inputs;
        self.add(Node::TestExpression { expression, uses_input }, &[expression])
    }

    /// Returns the number of name words from here, and the token that follows them.
    fn words_ahead(&self) -> (usize, TokenKind) {
        let mut count = 0;
        while count < NAME_WORDS_MAX && self.token_at(count).kind == TokenKind::Name {
            count += 1;
        }
        (count, self.token_at(count).kind)
    }

    /// The words from here, joined by single spaces.
    fn joined_words(&self, count: usize) -> String {
        let words: Vec<&str> = (0..count).map(|offset| self.source(self.token_at(offset))).collect();
        words.join(" ")
    }

    fn quoted_name(&self, token: Token) -> Arc<str> {
        let source = self.source(token);
        if let Some(name) = source.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            Arc::from(name)
        } else {
            let words: Vec<&str> = source.split(is_space).filter(|word| !word.is_empty()).collect();
            Arc::from(words.join(" "))
        }
    }
}

/// Words that cannot be names.
const RESERVED: [&str; 12] =
    ["null", "true", "false", "function", "in", "return", "then", "else", "satisfies", "and", "or", "if"];

fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

#[cfg(test)]
mod tests;
