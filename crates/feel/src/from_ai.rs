//! Calls of `fromAi` in an expression: the parameters of a tool, which its activation must provide.

use crate::ast::{Arguments, Call, Name, Node, NodeId};
use crate::expression::Expression;
use crate::program::Program;
use crate::value::Value;

/// The name of the function.
const FUNCTION: &str = "fromAi";
/// The root variable of every parameter.
const ROOT: &str = "toolCall";
/// Parameters of the function, in order.
const PARAMETERS: [&str; 5] = ["value", "description", "type", "schema", "options"];
/// Deepest nesting of constant schemas and options.
const DEPTH_MAX: usize = 64;

/// One call of `fromAi`.
#[derive(Debug, Clone)]
pub struct AiParameter {
    /// Last name of the path in `value`.
    pub name: String,
    /// Description, or null.
    pub description: Value,
    /// Its type, or null.
    pub type_name: Value,
    /// Its JSON schema as a context, or null.
    pub schema: Value,
    /// Options as a context, or null.
    pub options: Value,
}

impl Expression {
    /// The calls of `fromAi` in document order. The error names the argument that is not a constant of the right
    /// type, or the value that is not a path that starts with `toolCall`.
    pub fn ai_parameters(&self) -> Result<Vec<AiParameter>, String> {
        let program = self.program();
        let calls = program.nodes.iter().filter_map(|node| match node {
            Node::Call(call) if *call.name == *FUNCTION => Some(call),
            _ => None,
        });
        calls.map(|call| parameter(program, call)).collect()
    }
}

fn parameter(program: &Program, call: &Call) -> Result<AiParameter, String> {
    let argument = |at: usize| match &call.arguments {
        Arguments::Positional(arguments) => arguments.get(at).copied(),
        Arguments::Named(arguments) => {
            arguments.iter().find(|(name, _)| **name == *PARAMETERS[at]).map(|(_, node)| *node)
        }
    };
    let name = argument(0).and_then(|node| path_of(program, node)).ok_or_else(|| {
        format!("the value of {FUNCTION} must be a path that starts with '{ROOT}', such as {ROOT}.name")
    })?;
    let text = |at: usize| optional(program, argument(at), at, "string", |value| value.as_str().is_some());
    let context =
        |at: usize| optional(program, argument(at), at, "context", |value| value.as_context().is_some());
    Ok(AiParameter {
        name,
        description: text(1)?,
        type_name: text(2)?,
        schema: context(3)?,
        options: context(4)?,
    })
}

fn optional(
    program: &Program,
    node: Option<NodeId>,
    at: usize,
    wanted: &str,
    fits: impl Fn(&Value) -> bool,
) -> Result<Value, String> {
    let Some(node) = node else { return Ok(Value::Null) };
    match constant(program, node, 0) {
        Some(value) if value.is_null() || fits(&value) => Ok(value),
        _ => Err(format!("the {} of {FUNCTION} must be a constant {wanted} or null", PARAMETERS[at])),
    }
}

/// The last name of a path `toolCall.….name`.
fn path_of(program: &Program, node: NodeId) -> Option<String> {
    let Node::Postfix { base, steps } = program.node(node) else { return None };
    let Node::Variable(Name::Global(slot)) = program.node(*base) else { return None };
    if *program.variables[*slot as usize] != *ROOT || !steps.iter().all(|step| step.name().is_some()) {
        return None;
    }
    steps.last()?.name().map(ToOwned::to_owned)
}

/// The value of a literal, list or context of such.
fn constant(program: &Program, node: NodeId, depth: usize) -> Option<Value> {
    if depth > DEPTH_MAX {
        return None;
    }
    match program.node(node) {
        Node::Literal(value) => Some(value.clone()),
        Node::List(items) => {
            let items: Option<Vec<Value>> =
                items.iter().map(|&item| constant(program, item, depth + 1)).collect();
            items.map(Value::list)
        }
        Node::Context(entries) => {
            let entries: Option<Vec<_>> = entries
                .iter()
                .map(|(key, value)| Some((key.clone(), constant(program, *value, depth + 1)?)))
                .collect();
            entries.map(Value::context)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_with_their_constants() {
        let text = r#"{ a: fromAi(toolCall.url, "Where", "string"),
            b: fromAi(options: {required: false}, value: toolCall.x.y, schema: {enum: ["p", 1]}) }"#;
        let found = Expression::parse(text).unwrap().ai_parameters().unwrap();
        let [a, b] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (a.name.as_str(), a.description.as_str(), a.type_name.as_str()),
            ("url", Some("Where"), Some("string"))
        );
        assert!(a.schema.is_null() && a.options.is_null());
        assert_eq!((b.name.as_str(), b.schema.to_json_string().as_str()), ("y", r#"{"enum":["p",1]}"#));
        assert_eq!(b.options.to_json_string(), r#"{"required":false}"#);
        assert!(b.description.is_null());
        assert!(Expression::parse("a + 1").unwrap().ai_parameters().unwrap().is_empty());
    }

    #[test]
    fn what_is_no_constant_is_refused() {
        for (text, reason) in [
            ("fromAi(x.y)", "must be a path that starts with 'toolCall'"),
            ("fromAi(toolCall)", "must be a path that starts with 'toolCall'"),
            ("fromAi(toolCall.a, b)", "the description of fromAi must be a constant string or null"),
            ("fromAi(toolCall.a, null, 1)", "the type of fromAi must be a constant string or null"),
            (
                "fromAi(toolCall.a, null, null, {a: b})",
                "the schema of fromAi must be a constant context or null",
            ),
        ] {
            let error = Expression::parse(text).unwrap().ai_parameters().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
