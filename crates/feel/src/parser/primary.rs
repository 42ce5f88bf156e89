//! Literals, names, brackets, calls, and postfix operations.

use super::level::Level;
use super::{Parse, Parser, is_reserved, literals};
use crate::ast::{Arguments, Call, FilterKind, Node, NodeId, Plan, Step};
use crate::builtins;
use crate::lexer::{Token, TokenKind};
use crate::value::Value;
use std::sync::Arc;

/// Words that only the names of built-in functions may contain among several words.
const OPERATOR_WORDS: [&str; 8] = ["between", "instance", "of", "for", "some", "every", "not", "satisfies"];

/// Properties whose names have spaces.
const SPACED_PROPERTIES: [(&str, &str); 3] = [("time", "offset"), ("start", "included"), ("end", "included")];

impl Parser<'_> {
    /// A value with its paths, filters, and calls.
    pub(super) fn postfix(&mut self) -> Parse<NodeId> {
        let base = self.primary()?;
        let mut steps = Vec::new();
        let mut children = vec![base];
        loop {
            match self.kind() {
                TokenKind::Dot => {
                    self.advance();
                    steps.push(self.path_step(&mut children)?);
                }
                // In `[1..10[.start` the bracket ends a range.
                TokenKind::LeftBracket if self.is_before_path() => break,
                TokenKind::LeftBracket => {
                    self.advance();
                    steps.push(self.filter_step(&mut children)?);
                }
                TokenKind::LeftParenthesis if self.is_callable(base, &steps) => {
                    self.advance();
                    steps.push(Step::Invoke(self.arguments(&mut children)?));
                }
                _ => break,
            }
        }
        if steps.is_empty() {
            return Ok(base);
        }
        self.add(Node::Postfix { base, steps: steps.into() }, &children)
    }

    /// Whether a dot and a name follow the token.
    fn is_before_path(&self) -> bool {
        self.token_at(1).kind == TokenKind::Dot
            && matches!(self.token_at(2).kind, TokenKind::Name | TokenKind::QuotedName)
    }

    /// Whether a parenthesis is a call of the preceding value.
    fn is_callable(&self, base: NodeId, steps: &[Step]) -> bool {
        match steps.last() {
            Some(Step::Path(_)) => false,
            Some(_) => true,
            None => matches!(self.node(base), Node::Function(_) | Node::Call(_)),
        }
    }

    fn path_step(&mut self, children: &mut Vec<NodeId>) -> Parse<Step> {
        let token = self.token();
        let name: Arc<str> = match token.kind {
            TokenKind::QuotedName => {
                self.advance();
                self.quoted_name(token)
            }
            TokenKind::Name => {
                let source = self.source(token);
                let spaced = SPACED_PROPERTIES
                    .iter()
                    .find(|(first, second)| *first == source && self.is_word_at(1, second));
                if is_reserved(source) {
                    return Err(self.expected("a name"));
                }
                self.advance();
                if let Some((first, second)) = spaced {
                    self.advance();
                    Arc::from(format!("{first} {second}"))
                } else {
                    Arc::from(source)
                }
            }
            _ => return Err(self.expected("a name")),
        };
        if self.take(TokenKind::LeftParenthesis) {
            let arguments = self.arguments(children)?;
            return Ok(Step::Method { name, arguments });
        }
        Ok(Step::Path(name))
    }

    fn filter_step(&mut self, children: &mut Vec<NodeId>) -> Parse<Step> {
        self.scope.open_filter();
        let condition = self.expression()?;
        self.scope.close_filter();
        self.expect(TokenKind::RightBracket, "']'")?;
        children.push(condition);
        let kind = match self.node(condition) {
            Node::Literal(Value::Number(_)) | Node::Arithmetic { .. } | Node::Negate(_) => FilterKind::Index,
            Node::Variable(_) => FilterKind::Name,
            _ => FilterKind::Condition,
        };
        Ok(Step::Filter { condition, kind })
    }

    fn primary(&mut self) -> Parse<NodeId> {
        let token = self.token();
        match token.kind {
            TokenKind::Number => {
                self.advance();
                let value = literals::number(self.source(token));
                let value = value.ok_or_else(|| self.error(token, "the number is out of range"))?;
                Ok(self.leaf(Node::Literal(value)))
            }
            TokenKind::String => {
                self.advance();
                Ok(self.leaf(Node::Literal(Value::String(literals::string(self.source(token))))))
            }
            TokenKind::At => {
                self.advance();
                let text = self.token();
                self.expect(TokenKind::String, "a string")?;
                let value = literals::temporal(&literals::string(self.source(text)));
                Ok(self.leaf(Node::Literal(value)))
            }
            TokenKind::Question => {
                self.advance();
                self.inputs += 1;
                Ok(self.leaf(Node::Input))
            }
            TokenKind::LeftParenthesis => {
                self.advance();
                self.parenthesis()
            }
            TokenKind::LeftBracket => {
                self.advance();
                self.list()
            }
            TokenKind::RightBracket => {
                self.advance();
                let start = self.nested(|parser| parser.binary(Level::Additive))?;
                self.range_from(start, false)
            }
            TokenKind::LeftBrace => {
                self.advance();
                self.context()
            }
            TokenKind::QuotedName => {
                let name = self.quoted_name(token);
                self.advance();
                if self.take(TokenKind::LeftParenthesis) {
                    return self.call(&name);
                }
                let name = self.scope.resolve(&name);
                Ok(self.leaf(Node::Variable(name)))
            }
            TokenKind::Name => self.word(token),
            _ => Err(self.expected("an expression")),
        }
    }

    fn word(&mut self, token: Token) -> Parse<NodeId> {
        let word = self.source(token);
        match word {
            "if" => return self.keyword(Self::if_expression),
            "for" => return self.keyword(Self::for_expression),
            "some" => return self.keyword(|parser| parser.quantified(false)),
            "every" => return self.keyword(|parser| parser.quantified(true)),
            "function" => return self.keyword(Self::function_definition),
            _ => {}
        }
        if let Some((name, words)) = self.function_name() {
            self.position += words + 1;
            return self.call(&name);
        }
        let literal = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ if is_reserved(word) => return Err(self.expected("an expression")),
            _ => {
                self.advance();
                if self.unary && word == "cellInput" && !self.scope.is_bound(word) {
                    self.inputs += 1;
                    return Ok(self.leaf(Node::Input));
                }
                let name = self.scope.resolve(word);
                return Ok(self.leaf(Node::Variable(name)));
            }
        };
        self.advance();
        Ok(self.leaf(Node::Literal(literal)))
    }

    fn keyword(&mut self, parse: impl FnOnce(&mut Self) -> Parse<NodeId>) -> Parse<NodeId> {
        self.advance();
        self.nested(parse)
    }

    /// The name of several words up to a parenthesis, if such a function may be meant.
    fn function_name(&self) -> Option<(String, usize)> {
        let (words, next) = self.words_ahead();
        if words == 0 || next != TokenKind::LeftParenthesis {
            return None;
        }
        let name = self.joined_words(words);
        if builtins::find(&name).is_some() {
            return Some((name, words));
        }
        let plain = (0..words).all(|offset| {
            let word = self.source(self.token_at(offset));
            !is_reserved(word) && (words == 1 || !OPERATOR_WORDS.contains(&word))
        });
        plain.then_some((name, words))
    }

    /// Behind `name(`.
    fn call(&mut self, name: &str) -> Parse<NodeId> {
        let mut children = Vec::new();
        let arguments = self.arguments(&mut children)?;
        let builtin = builtins::find(name);
        // A function value shadows a built-in only where the text binds its name.
        let variable = (builtin.is_none() || self.scope.is_bound(name)).then(|| self.scope.resolve(name));
        let builtin = builtin.map(|id| (id, plan(builtins::get(id), &arguments)));
        let call = Call { name: Arc::from(name), variable, builtin, arguments };
        self.add(Node::Call(Box::new(call)), &children)
    }

    /// Behind `(`, up to and with `)`.
    fn arguments(&mut self, children: &mut Vec<NodeId>) -> Parse<Arguments> {
        if self.take(TokenKind::RightParenthesis) {
            return Ok(Arguments::Positional(Box::new([])));
        }
        let named = matches!(self.words_ahead(), (1.., TokenKind::Colon))
            || (self.kind() == TokenKind::QuotedName && self.token_at(1).kind == TokenKind::Colon);
        let mut names = Vec::new();
        let mut values = Vec::new();
        loop {
            if named {
                names.push(self.argument_name()?);
            }
            values.push(self.expression()?);
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightParenthesis, "',' or ')'")?;
        children.extend(&values);
        Ok(if named {
            Arguments::Named(names.into_iter().zip(values).collect())
        } else {
            Arguments::Positional(values.into())
        })
    }

    fn argument_name(&mut self) -> Parse<Arc<str>> {
        let token = self.token();
        let name = if token.kind == TokenKind::QuotedName {
            self.advance();
            self.quoted_name(token)
        } else {
            let (words, _) = self.words_ahead();
            let name = Arc::from(self.joined_words(words));
            self.position += words;
            name
        };
        self.expect(TokenKind::Colon, "':'")?;
        Ok(name)
    }

    /// Behind `(`: an expression in parentheses or a range with an open start.
    fn parenthesis(&mut self) -> Parse<NodeId> {
        if let Some(comparison) = self.comparison_sign() {
            // `(< 10)` is the range below ten.
            self.advance();
            return self.half_range(comparison);
        }
        let inner = self.expression()?;
        if self.kind() == TokenKind::DotDot {
            return self.range_from(inner, false);
        }
        self.expect(TokenKind::RightParenthesis, "')'")?;
        Ok(inner)
    }

    fn half_range(&mut self, comparison: crate::ast::Comparison) -> Parse<NodeId> {
        use crate::ast::Comparison as C;
        let value = self.nested(|parser| parser.binary(Level::Additive))?;
        self.expect(TokenKind::RightParenthesis, "')'")?;
        let none = self.leaf(Node::AnyInput);
        let (start, start_included, end, end_included) = match comparison {
            C::Less => (none, false, value, false),
            C::LessOrEqual => (none, false, value, true),
            C::Greater => (value, false, none, false),
            C::GreaterOrEqual => (value, true, none, false),
            C::Equal => (value, true, value, true),
            C::NotEqual => return Err(self.expected("a range")),
        };
        self.add(Node::Range { start, start_included, end, end_included }, &[start, end])
    }

    /// At the `..` of a range.
    pub(super) fn range_from(&mut self, start: NodeId, start_included: bool) -> Parse<NodeId> {
        self.expect(TokenKind::DotDot, "'..'")?;
        let end = self.nested(super::Parser::binary_without_filter)?;
        let end_included = match self.kind() {
            TokenKind::RightBracket => true,
            TokenKind::RightParenthesis | TokenKind::LeftBracket => false,
            _ => return Err(self.expected("']', ')', or '['")),
        };
        self.advance();
        self.add(Node::Range { start, start_included, end, end_included }, &[start, end])
    }

    /// The end of a range. `[1..n[` would read as a filter, so a bracket without a match is the end of the range.
    fn binary_without_filter(&mut self) -> Parse<NodeId> {
        let simple = matches!(self.kind(), TokenKind::Number | TokenKind::Name | TokenKind::QuotedName)
            && self.token_at(1).kind == TokenKind::LeftBracket
            && matches!(
                self.token_at(2).kind,
                TokenKind::End | TokenKind::RightParenthesis | TokenKind::Comma | TokenKind::RightBracket
            );
        if simple { self.primary() } else { self.binary(Level::Additive) }
    }

    /// Behind `[`: a list or a range with a closed start.
    fn list(&mut self) -> Parse<NodeId> {
        let mut items = Vec::new();
        if !self.take(TokenKind::RightBracket) {
            loop {
                items.push(self.expression()?);
                if items.len() == 1 && self.kind() == TokenKind::DotDot {
                    return self.range_from(items[0], true);
                }
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
            self.expect(TokenKind::RightBracket, "',' or ']'")?;
        }
        self.add(Node::List(items.clone().into()), &items)
    }

    /// Behind `{`.
    fn context(&mut self) -> Parse<NodeId> {
        let depth = self.scope.depth();
        let mut entries = Vec::new();
        let mut children = Vec::new();
        if !self.take(TokenKind::RightBrace) {
            loop {
                let key = self.key()?;
                if self.is_word("function") {
                    // So that a function can call itself.
                    self.scope.bind(key.clone());
                }
                let value = self.expression()?;
                self.scope.bind(key.clone());
                entries.push((key, value));
                children.push(value);
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
            self.expect(TokenKind::RightBrace, "',' or '}'")?;
        }
        self.scope.truncate(depth);
        self.add(Node::Context(entries.into()), &children)
    }

    /// A key and its colon: a string, a name, or any text before the colon.
    fn key(&mut self) -> Parse<Arc<str>> {
        let first = self.token();
        if matches!(first.kind, TokenKind::String | TokenKind::QuotedName)
            && self.token_at(1).kind == TokenKind::Colon
        {
            let key = if first.kind == TokenKind::String {
                literals::string(self.source(first))
            } else {
                self.quoted_name(first)
            };
            self.advance();
            self.advance();
            return Ok(key);
        }
        if self.token_at(1).kind == TokenKind::Colon && is_reserved(self.source(first)) {
            return Err(self.expected("a key"));
        }
        let mut last = first;
        while self.kind() != TokenKind::Colon {
            last = self.token();
            if is_no_key(last.kind) {
                return Err(self.expected("a key and ':'"));
            }
            self.advance();
        }
        if first.kind == TokenKind::Colon {
            return Err(self.expected("a key"));
        }
        self.advance();
        Ok(Arc::from(&self.text[first.start as usize..last.end as usize]))
    }
}

fn is_no_key(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::End
            | TokenKind::Unterminated
            | TokenKind::String
            | TokenKind::Comma
            | TokenKind::LeftBrace
            | TokenKind::RightBrace
            | TokenKind::LeftBracket
            | TokenKind::RightBracket
            | TokenKind::LeftParenthesis
            | TokenKind::RightParenthesis
    )
}

/// How the arguments of a call fill the parameters of a built-in.
fn plan(builtin: &builtins::Builtin, arguments: &Arguments) -> Plan {
    match arguments {
        Arguments::Positional(values) => {
            for signature in builtin.signatures {
                if signature.variadic {
                    if values.len() >= signature.parameters.len().saturating_sub(1).max(1) {
                        return Plan::Variadic(signature.parameters.len() - 1);
                    }
                } else if signature.parameters.len() == values.len() {
                    return Plan::Direct(values.iter().copied().map(Some).collect());
                }
            }
            Plan::Mismatch
        }
        Arguments::Named(named) => {
            let fits = |signature: &&builtins::Signature| {
                named.iter().all(|(name, _)| signature.parameters.contains(&&**name))
            };
            // The shortest signature with all the names.
            let Some(signature) =
                builtin.signatures.iter().filter(fits).min_by_key(|signature| signature.parameters.len())
            else {
                return Plan::Mismatch;
            };
            let values = signature.parameters.iter().map(|parameter| {
                named.iter().find(|(name, _)| **name == **parameter).map(|(_, value)| *value)
            });
            Plan::Direct(values.collect())
        }
    }
}
