//! Operators by precedence (DMN 1.5 §10.3.1.2), with all operators of one level in one flat node.

use super::level::Level;
use super::{Parse, Parser};
use crate::ast::{Comparison, Node, NodeId, Operator, TypeName};
use crate::lexer::TokenKind;
use std::sync::Arc;

impl Parser<'_> {
    /// Operators of a level or tighter.
    pub(super) fn binary(&mut self, least: Level) -> Parse<NodeId> {
        let mut left = self.unary()?;
        while let Some(level) = self.operator_level() {
            if level < least {
                break;
            }
            left = match level {
                Level::Or | Level::And => self.logic(left, level)?,
                Level::Comparison => self.comparison(left)?,
                _ => self.arithmetic(left, level)?,
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parse<NodeId> {
        if !self.take(TokenKind::Minus) {
            return self.postfix();
        }
        let operand = self.nested(Self::unary)?;
        if let Node::Literal(crate::Value::Number(number)) = self.node(operand) {
            let negated = number.negated();
            return Ok(self.leaf(Node::Literal(negated.into())));
        }
        self.add(Node::Negate(operand), &[operand])
    }

    fn operator_level(&self) -> Option<Level> {
        Some(match self.kind() {
            TokenKind::Plus | TokenKind::Minus => Level::Additive,
            TokenKind::Star | TokenKind::Slash => Level::Multiplicative,
            TokenKind::StarStar => Level::Power,
            TokenKind::Name => match self.source(self.token()) {
                "or" => Level::Or,
                "and" => Level::And,
                "in" | "between" => Level::Comparison,
                "instance" if self.is_word_at(1, "of") => Level::Comparison,
                _ => return None,
            },
            _ => self.comparison_sign().map(|_| Level::Comparison)?,
        })
    }

    pub(super) fn comparison_sign(&self) -> Option<Comparison> {
        Some(match self.kind() {
            TokenKind::Equal => Comparison::Equal,
            TokenKind::NotEqual => Comparison::NotEqual,
            TokenKind::Less => Comparison::Less,
            TokenKind::LessOrEqual => Comparison::LessOrEqual,
            TokenKind::Greater => Comparison::Greater,
            TokenKind::GreaterOrEqual => Comparison::GreaterOrEqual,
            _ => return None,
        })
    }

    fn logic(&mut self, first: NodeId, level: Level) -> Parse<NodeId> {
        let word = if level == Level::Or { "or" } else { "and" };
        let mut operands = vec![first];
        while self.take_word(word) {
            operands.push(self.nested(|parser| parser.binary(level.tighter()))?);
        }
        let node = Node::Logic { conjunction: level == Level::And, operands: operands.clone().into() };
        self.add(node, &operands)
    }

    fn arithmetic(&mut self, first: NodeId, level: Level) -> Parse<NodeId> {
        let mut rest = Vec::new();
        let mut children = vec![first];
        loop {
            let operator = match (level, self.kind()) {
                (Level::Additive, TokenKind::Plus) => Operator::Add,
                (Level::Additive, TokenKind::Minus) => Operator::Subtract,
                (Level::Multiplicative, TokenKind::Star) => Operator::Multiply,
                (Level::Multiplicative, TokenKind::Slash) => Operator::Divide,
                (Level::Power, TokenKind::StarStar) => Operator::Power,
                _ => break,
            };
            self.advance();
            let operand = self.nested(|parser| parser.binary(level.tighter()))?;
            rest.push((operator, operand));
            children.push(operand);
        }
        self.add(Node::Arithmetic { first, rest: rest.into() }, &children)
    }

    fn comparison(&mut self, left: NodeId) -> Parse<NodeId> {
        if let Some(comparison) = self.comparison_sign() {
            self.advance();
            let right = self.operand()?;
            return self.add(Node::Compare { comparison, left, right }, &[left, right]);
        }
        if self.take_word("between") {
            let low = self.operand()?;
            self.expect_word("and")?;
            let high = self.operand()?;
            return self.add(Node::Between { value: left, low, high }, &[left, low, high]);
        }
        if self.take_word("in") {
            return self.membership(left);
        }
        self.expect_word("instance")?;
        self.expect_word("of")?;
        let kind = self.nested(Self::type_name)?;
        self.add(Node::InstanceOf { value: left, kind }, &[left])
    }

    fn operand(&mut self) -> Parse<NodeId> {
        self.nested(|parser| parser.binary(Level::Additive))
    }

    /// The tests behind `in`: one, or several in parentheses.
    fn membership(&mut self, value: NodeId) -> Parse<NodeId> {
        let inputs = self.inputs;
        let tests = if self.kind() == TokenKind::LeftParenthesis {
            self.membership_list()?
        } else {
            vec![self.test(Level::Comparison)?]
        };
        // A `?` in these tests is the value before `in`, not the input of the whole expression.
        self.inputs = inputs;
        let mut children = tests.clone();
        children.push(value);
        self.add(Node::In { value, tests: tests.into() }, &children)
    }

    /// `(test, …)`, which also may turn out to be the range `(a..b]`.
    fn membership_list(&mut self) -> Parse<Vec<NodeId>> {
        self.expect(TokenKind::LeftParenthesis, "'('")?;
        let tests = self.nested(|parser| {
            let first = parser.test(Level::Or)?;
            if let &Node::TestExpression { expression, uses_input } = parser.node(first)
                && parser.kind() == TokenKind::DotDot
            {
                let range = parser.range_from(expression, false)?;
                return Ok(vec![
                    parser.add(Node::TestExpression { expression: range, uses_input }, &[range])?,
                ]);
            }
            let mut tests = vec![first];
            while parser.take(TokenKind::Comma) {
                tests.push(parser.test(Level::Or)?);
            }
            parser.expect(TokenKind::RightParenthesis, "',' or ')'")?;
            Ok(tests)
        })?;
        Ok(tests)
    }

    pub(super) fn type_name(&mut self) -> Parse<TypeName> {
        // `days and time duration` and `date and time` before `date`.
        const PHRASES: [(&[&str], TypeName); 5] = [
            (&["days", "and", "time", "duration"], TypeName::Duration),
            (&["years", "and", "months", "duration"], TypeName::Period),
            (&["date", "and", "time"], TypeName::DateTime),
            (&["date", "time"], TypeName::DateTime),
            (&["dateTime"], TypeName::DateTime),
        ];
        for (words, kind) in PHRASES {
            if words.iter().enumerate().all(|(offset, word)| self.is_word_at(offset, word)) {
                self.position += words.len();
                return Ok(kind);
            }
        }
        let token = self.token();
        if !matches!(token.kind, TokenKind::Name | TokenKind::QuotedName) {
            return Err(self.expected("a type"));
        }
        self.advance();
        Ok(match self.source(token) {
            "Any" => TypeName::Any,
            "null" | "Null" => TypeName::Null,
            "number" => TypeName::Number,
            "boolean" => TypeName::Boolean,
            "string" => TypeName::String,
            "date" => TypeName::Date,
            "time" => TypeName::Time,
            "dayTimeDuration" => TypeName::Duration,
            "yearMonthDuration" => TypeName::Period,
            "day" if self.take_dashed(&["time", "duration"]) => TypeName::Duration,
            "year" if self.take_dashed(&["month", "duration"]) => TypeName::Period,
            "list" => TypeName::List(self.type_parameter()?),
            "range" => TypeName::Range(self.type_parameter()?),
            "context" => self.context_type()?,
            "function" => self.function_type()?,
            _ => TypeName::Named(self.quoted_name(token)),
        })
    }

    /// Takes `-word` for each word, all or nothing.
    fn take_dashed(&mut self, words: &[&str]) -> bool {
        let found = words.iter().enumerate().all(|(index, word)| {
            self.token_at(2 * index).kind == TokenKind::Minus && self.is_word_at(2 * index + 1, word)
        });
        if found {
            self.position += 2 * words.len();
        }
        found
    }

    fn type_parameter(&mut self) -> Parse<Option<Box<TypeName>>> {
        if !self.take(TokenKind::Less) {
            return Ok(None);
        }
        let parameter = self.nested(Self::type_name)?;
        self.expect(TokenKind::Greater, "'>'")?;
        Ok(Some(Box::new(parameter)))
    }

    fn context_type(&mut self) -> Parse<TypeName> {
        let mut entries = Vec::new();
        if self.take(TokenKind::Less) {
            loop {
                let (words, _) = self.words_ahead();
                let key: Arc<str> = Arc::from(self.joined_words(words));
                self.position += words;
                self.expect(TokenKind::Colon, "':'")?;
                entries.push((key, self.nested(Self::type_name)?));
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
            self.expect(TokenKind::Greater, "'>'")?;
        }
        Ok(TypeName::Context(entries.into()))
    }

    fn function_type(&mut self) -> Parse<TypeName> {
        if !self.take(TokenKind::Less) {
            return Ok(TypeName::Function(None));
        }
        let mut count = 0;
        while self.kind() != TokenKind::Greater {
            self.nested(Self::type_name)?;
            count += 1;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Greater, "'>'")?;
        if self.take(TokenKind::Minus) {
            self.expect(TokenKind::Greater, "'->'")?;
            self.nested(Self::type_name)?;
        }
        Ok(TypeName::Function(Some(count)))
    }
}
