//! Item definitions.

use super::Compiler;
use crate::types::{Base, ItemDefinition, TypeTable};
use crate::xml::NodeId;
use feel::Expression;

impl Compiler<'_> {
    /// All item definitions. Components become definitions without a name.
    pub(super) fn item_definitions(&mut self) -> TypeTable {
        let mut table = TypeTable {
            imports: self
                .imports
                .iter()
                .map(|import| (import.name.clone(), import.model.types.clone()))
                .collect(),
            ..TypeTable::default()
        };
        let roots: Vec<NodeId> = self.document.named(0, "itemDefinition").collect();
        for (place, node) in roots.iter().enumerate() {
            table.by_name.insert(self.attribute(*node, "name").trim().to_owned(), place);
        }
        table.definitions.resize_with(roots.len(), ItemDefinition::default);
        // Components are appended to the list of definitions to read, so nothing recurses.
        let mut pending: Vec<(usize, NodeId)> = roots.into_iter().enumerate().collect();
        while let Some((place, node)) = pending.pop() {
            let definition = self.item_definition(node, &mut table, &mut pending);
            table.definitions[place] = definition;
        }
        table
    }

    fn item_definition(
        &mut self,
        node: NodeId,
        table: &mut TypeTable,
        pending: &mut Vec<(usize, NodeId)>,
    ) -> ItemDefinition {
        let components: Vec<NodeId> = self.document.named(node, "itemComponent").collect();
        let base = if !components.is_empty() {
            let places = components.into_iter().map(|component| {
                let place = table.definitions.len();
                table.definitions.push(ItemDefinition::default());
                pending.push((place, component));
                (self.name_of(component), place)
            });
            Base::Components(places.collect())
        } else if let Some(reference) = self.document.child(node, "typeRef") {
            Base::Reference(table.resolve(self.document.text(reference)))
        } else if let Some(function) = self.document.child(node, "functionItem") {
            let output = self.document.attribute(function, "outputTypeRef").unwrap_or_default();
            Base::Function(self.document.named(function, "parameters").count(), table.resolve(output))
        } else {
            Base::Any
        };
        ItemDefinition {
            is_collection: self.attribute(node, "isCollection") == "true",
            base,
            allowed: self.tests(node, "allowedValues"),
            constraint: self.tests(node, "typeConstraint"),
        }
    }

    /// The unary tests in a child element.
    pub(super) fn tests(&mut self, node: NodeId, name: &str) -> Option<Expression> {
        let text = self.document.inner_text(self.document.child(node, name)?);
        if text.is_empty() {
            return None;
        }
        match Expression::parse_unary_tests_with_names(text, &self.names.within(text)) {
            Ok(tests) => Some(tests),
            Err(error) => {
                let reason = error.to_string();
                self.strict_problem(Some(name), reason);
                None
            }
        }
    }
}
