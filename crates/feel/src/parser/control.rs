//! `if`, loops, quantifiers, and function definitions.

use super::scope::Captures;
use super::{Parse, Parser};
use crate::ast::{Definition, Iterator, Node, NodeId, Source, TypeName};
use crate::lexer::TokenKind;
use std::sync::Arc;

/// Most iterators of one loop; the evaluator recurses over them.
const ITERATORS_MAX: usize = 32;

impl Parser<'_> {
    /// Behind `if`. A ladder of `else if` is one node, so its length costs no depth.
    pub(super) fn if_expression(&mut self) -> Parse<NodeId> {
        let mut branches = Vec::new();
        let mut children = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect_word("then")?;
            let result = self.expression()?;
            self.expect_word("else")?;
            branches.push((condition, result));
            children.extend([condition, result]);
            if !self.take_word("if") {
                break;
            }
        }
        let otherwise = self.expression()?;
        children.push(otherwise);
        self.add(Node::If { branches: branches.into(), otherwise }, &children)
    }

    /// Behind `for`.
    pub(super) fn for_expression(&mut self) -> Parse<NodeId> {
        let depth = self.scope.depth();
        let (iterators, mut children) = self.iterators()?;
        self.expect_word("return")?;
        let partial: Arc<str> = Arc::from("partial");
        self.scope.bind(partial);
        let start = self.position;
        let body = self.expression()?;
        // Only a body that reads `partial` pays for it.
        let partial = self.tokens[start..self.position]
            .iter()
            .any(|token| token.kind == TokenKind::Name && self.source(*token) == "partial");
        self.scope.truncate(depth);
        children.push(body);
        self.add(Node::For { iterators, body, partial }, &children)
    }

    /// Behind `some` or `every`.
    pub(super) fn quantified(&mut self, every: bool) -> Parse<NodeId> {
        let depth = self.scope.depth();
        let (iterators, mut children) = self.iterators()?;
        self.expect_word("satisfies")?;
        let condition = self.expression()?;
        self.scope.truncate(depth);
        children.push(condition);
        self.add(Node::Quantified { every, iterators, condition }, &children)
    }

    fn iterators(&mut self) -> Parse<(Box<[Iterator]>, Vec<NodeId>)> {
        let mut iterators = Vec::new();
        let mut children = Vec::new();
        let mut names: Vec<Arc<str>> = Vec::new();
        loop {
            if iterators.len() == ITERATORS_MAX {
                return Err(self.error(self.token(), "too many iterators"));
            }
            let name = self.iterator_name()?;
            self.expect_word("in")?;
            let start = self.position;
            let first = self.expression()?;
            children.push(first);
            let source = if self.take(TokenKind::DotDot) {
                let last = self.expression()?;
                children.push(last);
                Source::Range(first, last)
            } else {
                Source::Value(first)
            };
            let dependent = self.tokens[start..self.position].iter().any(|token| match token.kind {
                TokenKind::Name => names.iter().any(|name| **name == *self.source(*token)),
                TokenKind::QuotedName => names.contains(&self.quoted_name(*token)),
                _ => false,
            });
            names.push(name.clone());
            self.scope.bind(name.clone());
            iterators.push(Iterator { name, source, dependent });
            if !self.take(TokenKind::Comma) {
                return Ok((iterators.into(), children));
            }
        }
    }

    fn iterator_name(&mut self) -> Parse<Arc<str>> {
        let token = self.token();
        match token.kind {
            TokenKind::QuotedName => {
                self.advance();
                Ok(self.quoted_name(token))
            }
            TokenKind::Name if !self.is_word("in") => {
                // Up to `in`, so that the name may have several words.
                let mut count = 1;
                while count < super::NAME_WORDS_MAX
                    && self.token_at(count).kind == TokenKind::Name
                    && !self.is_word_at(count, "in")
                {
                    count += 1;
                }
                let name = Arc::from(self.joined_words(count));
                self.position += count;
                Ok(name)
            }
            _ => Err(self.expected("a name")),
        }
    }

    /// Behind `function`.
    pub(super) fn function_definition(&mut self) -> Parse<NodeId> {
        self.expect(TokenKind::LeftParenthesis, "'('")?;
        let mut parameters: Vec<Arc<str>> = Vec::new();
        let mut types = Vec::new();
        while self.kind() != TokenKind::RightParenthesis {
            let (name, kind) = self.parameter()?;
            parameters.push(name);
            types.push(kind);
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightParenthesis, "',' or ')'")?;
        if self.is_word("external") {
            return Err(self.error(self.token(), "external functions are not supported"));
        }
        let depth = self.scope.depth();
        self.scope.open_function();
        for parameter in &parameters {
            self.scope.bind(parameter.clone());
        }
        let body = self.expression()?;
        self.scope.truncate(depth);
        let Captures { free, roots } = self.scope.close_function();
        let parameters = parameters.into();
        let definition = Definition { parameters, types: types.into(), body, free, roots };
        self.add(Node::Function(Box::new(definition)), &[body])
    }

    fn parameter(&mut self) -> Parse<(Arc<str>, Option<TypeName>)> {
        let token = self.token();
        let name = if token.kind == TokenKind::QuotedName {
            self.advance();
            self.quoted_name(token)
        } else {
            let (count, _) = self.words_ahead();
            if count == 0 {
                return Err(self.expected("a parameter"));
            }
            let name = Arc::from(self.joined_words(count));
            self.position += count;
            name
        };
        let kind = if self.take(TokenKind::Colon) { Some(self.nested(Self::type_name)?) } else { None };
        Ok((name, kind))
    }
}
