//! Requests as clients of several languages write them: members that are not set are `null`, and values of
//! enumerations have any case. The reference takes both. The validator does not; a body that it refuses is tried once
//! more in the usual form.

use json::{Cursor, Error, Token};

use super::contract::{Additional, Array, Kind, Object, Schema};

/// The body without optional members that are `null`, and with enumerations as the contract writes them. `None` if it
/// has this form already, or is no JSON.
pub(super) fn usual_form(schema: &'static Schema, text: &str) -> Option<String> {
    let mut rewrite = Rewrite { cursor: Cursor::new(text), text, copied: 0, usual: String::new() };
    rewrite.value(schema).and_then(|()| rewrite.cursor.finish()).ok()?;
    if rewrite.copied == 0 {
        return None;
    }
    rewrite.copy_to(text.len());
    Some(rewrite.usual)
}

struct Rewrite<'a> {
    cursor: Cursor<'a>,
    text: &'a str,
    /// Up to here the text is rewritten; 0 while nothing is changed.
    copied: usize,
    usual: String,
}

impl Rewrite<'_> {
    fn copy_to(&mut self, at: usize) {
        self.usual.push_str(&self.text[self.copied..at]);
        self.copied = at;
    }

    /// Leaves out the text from a place up to the cursor.
    fn leave_out(&mut self, from: usize) {
        self.copy_to(from);
        self.copied = self.cursor.at();
    }

    fn value(&mut self, schema: &'static Schema) -> Result<(), Error> {
        let token = self.cursor.token()?;
        match (&schema.kind, token) {
            (Kind::Enum(values), Token::String) => self.name_of(values.iter().copied()),
            (Kind::Array(array), Token::Array) => self.array(array),
            (Kind::Object(object), Token::Object) if !object.is_free() => self.object(object),
            (Kind::Choice(alternatives), _) => match alternatives.iter().find(|a| takes(&a.kind, token)) {
                Some(alternative) => self.value(alternative),
                None => self.cursor.skip(),
            },
            _ => self.cursor.skip(),
        }
    }

    /// A string that is one of some names, but for its case.
    fn name_of(&mut self, names: impl IntoIterator<Item = &'static str>) -> Result<(), Error> {
        let start = self.cursor.at();
        let given = self.cursor.string()?.text();
        let name = names.into_iter().find(|name| name.eq_ignore_ascii_case(&given));
        if let Some(name) = name.filter(|name| *name != given) {
            self.leave_out(start);
            self.usual.push('"');
            self.usual.push_str(name);
            self.usual.push('"');
        }
        Ok(())
    }

    fn array(&mut self, array: &'static Array) -> Result<(), Error> {
        self.cursor.open();
        let mut is_first = true;
        while self.cursor.element(is_first)? {
            is_first = false;
            self.value(array.items)?;
        }
        Ok(())
    }

    fn object(&mut self, object: &'static Object) -> Result<(), Error> {
        self.cursor.open();
        let (mut is_first, mut has_any) = (true, false);
        loop {
            // The comma belongs to the member after it.
            let before = self.cursor.at();
            let Some(name) = self.cursor.member(is_first)? else { return Ok(()) };
            let name = name.text();
            let at = object.properties.iter().position(|property| property.name == name);
            let token = self.cursor.token()?;
            if token == Token::Null && at.is_some_and(|at| is_left_out(object, at)) {
                self.cursor.word()?;
                self.leave_out(before);
                is_first = false;
                continue;
            }
            if !is_first && !has_any {
                // The members before it were left out.
                let comma =
                    self.text[before..].find(',').expect("a member that is not the first follows a comma");
                self.copy_to(before);
                self.copied = before + comma + 1;
            }
            (is_first, has_any) = (false, true);
            self.member(object, at, token)?;
        }
    }

    fn member(&mut self, object: &'static Object, at: Option<usize>, token: Token) -> Result<(), Error> {
        let Some(at) = at else {
            return match object.additional {
                Additional::Each(schema) => self.value(schema),
                Additional::Any | Additional::None => self.cursor.skip(),
            };
        };
        match object.discriminator.as_ref().filter(|discriminator| discriminator.property == at) {
            Some(discriminator) if token == Token::String => {
                self.name_of(discriminator.values.iter().map(|(name, _)| *name))
            }
            _ => self.value(object.properties[at].schema),
        }
    }
}

/// Whether a member that is `null` counts as left out: some alternative does not require it, and `null` is no value.
pub(super) fn is_left_out(object: &Object, at: usize) -> bool {
    let schema = object.properties[at].schema;
    let is_value = schema.nullable || matches!(schema.kind, Kind::Any);
    !is_value && object.alternatives.iter().any(|alternative| alternative.required & (1 << at) == 0)
}

/// Whether a kind can take a value that starts so.
pub(super) fn takes(kind: &Kind, token: Token) -> bool {
    match kind {
        Kind::Any => true,
        Kind::Boolean => token == Token::Boolean,
        Kind::Integer { .. } | Kind::Number => token == Token::Number,
        Kind::Text(_) | Kind::Enum(_) => token == Token::String,
        Kind::Array(_) => token == Token::Array,
        Kind::Object(_) => token == Token::Object,
        Kind::Choice(alternatives) => alternatives.iter().any(|a| takes(&a.kind, token)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::{Body, Operation};
    use super::super::validate::validate;
    use super::*;

    fn schema(operation: Operation) -> &'static Schema {
        let Some(Body { schema, .. }) = &operation.spec().body else { panic!("it has a body") };
        schema
    }

    #[track_caller]
    fn is(operation: Operation, text: &str, usual: Option<&str>) {
        let schema = schema(operation);
        assert_eq!(usual_form(schema, text).as_deref(), usual, "{text}");
        if let Some(usual) = usual {
            assert!(validate(schema, text).is_err(), "{text} is refused");
            assert_eq!(validate(schema, usual).err(), None, "{usual}");
            assert_eq!(usual_form(schema, usual), None, "{usual}");
        }
    }

    #[test]
    fn optional_members_that_are_null_are_left_out() {
        let create = Operation::CreateProcessInstance;
        is(create, r#"{"processDefinitionId": "p", "variables": {"a": null}}"#, None);
        let (set, null) = (r#""processDefinitionId":"p""#, r#""processDefinitionKey":null"#);
        is(create, &format!("{{{set},{null}}}"), Some(&format!("{{{set}}}")));
        is(create, &format!("{{{null},{set}}}"), Some(&format!("{{{set}}}")));
        is(
            create,
            &format!(
                "{{ {null} , \"tags\" : null, {set}, \"tenantId\":null , \"awaitCompletion\": true, \"startInstructions\": null}}"
            ),
            Some(&format!("{{ {set} , \"awaitCompletion\": true}}")),
        );
        let nested = r#"{"processDefinitionId":"p","startInstructions":[{"elementId":"a","x":1}]}"#;
        assert_eq!(usual_form(schema(create), nested), None, "what is unknown stays, and is refused");
        assert_eq!(usual_form(schema(create), r#"{"tags": null"#), None, "it is no JSON");
    }

    #[test]
    fn enumerations_have_any_case() {
        let search = Operation::SearchProcessInstances;
        is(
            search,
            r#"{"sort":[{"field":"startDate","order":"desc"}],"filter":{"state":"active"}}"#,
            Some(r#"{"sort":[{"field":"startDate","order":"DESC"}],"filter":{"state":"ACTIVE"}}"#),
        );
        is(
            search,
            r#"{"filter":{"state":{"$in":["Active","COMPLETED"],"$neq":null}},"page":null}"#,
            Some(r#"{"filter":{"state":{"$in":["ACTIVE","COMPLETED"]}}}"#),
        );
        assert_eq!(
            usual_form(schema(search), r#"{"filter":{"state":"actve"}}"#),
            None,
            "no name of any case"
        );
    }
}
