//! Mapping rules. No two are for the same value of the same claim.

use std::sync::Arc;

use protocol::{EntityType, Intent, Key, MappingRule, MappingRuleRecord, Name, Rejection};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::identity::Forgotten;
use crate::identity::row::{ClaimedRule, StoredMappingRule};

fn claim(rule: &MappingRule) -> (Arc<str>, Arc<str>) {
    (Arc::clone(&rule.claim_name.0), Arc::clone(&rule.claim_value.0))
}

impl CommandContext<'_> {
    pub(super) fn create_mapping_rule(&mut self, rule: &MappingRule) -> Result<(), Failure> {
        self.check_new_id("mapping rule", &rule.id)?;
        if self.tables.mapping_rules.contains(&rule.id.0)? {
            return Err(Rejection::already_exists(format!(
                "Expected to create a mapping rule with ID '{}', but there is one already",
                rule.id
            ))
            .into());
        }
        self.check_claim(rule, "create")?;
        self.check_forgotten(&Forgotten::entity(EntityType::MappingRule, &rule.id))?;
        let key = self.next_key();
        self.store_mapping_rule(key, Intent::Created, rule);
        Ok(())
    }

    pub(super) fn update_mapping_rule(&mut self, rule: &MappingRule) -> Result<(), Failure> {
        let stored = self.find_mapping_rule(&rule.id, "update")?;
        self.check_claim(rule, "update")?;
        self.tables.mapping_rule_by_claim.delete(&claim(&stored.rule));
        self.store_mapping_rule(stored.key, Intent::Updated, rule);
        Ok(())
    }

    pub(super) fn delete_mapping_rule(&mut self, id: &Name) -> Result<(), Failure> {
        let stored = self.find_mapping_rule(id, "delete")?;
        self.tables.mapping_rule_by_claim.delete(&claim(&stored.rule));
        self.tables.mapping_rules.delete(&id.0);
        self.record_mapping_rule(stored.key, Intent::Deleted, &stored.rule);
        self.forget(Forgotten::entity(EntityType::MappingRule, id));
        Ok(())
    }

    fn check_claim(&self, rule: &MappingRule, purpose: &str) -> Result<(), Failure> {
        match self.tables.mapping_rule_by_claim.get(&claim(rule))? {
            Some(other) if other.id != rule.id => Err(Rejection::already_exists(format!(
                "Expected to {purpose} the mapping rule with ID '{}' for the value '{}' of claim '{}', but '{}' is for that",
                rule.id, rule.claim_value, rule.claim_name, other.id
            ))
            .into()),
            _ => Ok(()),
        }
    }

    fn find_mapping_rule(&self, id: &Name, purpose: &str) -> Result<Arc<StoredMappingRule>, Failure> {
        let stored = self.tables.mapping_rules.get(&id.0)?;
        Ok(stored.ok_or_else(|| {
            Rejection::not_found(format!(
                "Expected to {purpose} the mapping rule with ID '{id}', but there is no such mapping rule"
            ))
        })?)
    }

    fn store_mapping_rule(&mut self, key: Key, intent: Intent, rule: &MappingRule) {
        self.record_mapping_rule(key, intent, rule);
        self.tables.mapping_rule_by_claim.put(claim(rule), ClaimedRule { id: rule.id.clone() });
        self.tables.mapping_rules.put(rule.id.0.clone(), StoredMappingRule { key, rule: rule.clone() });
    }

    fn record_mapping_rule(&mut self, key: Key, intent: Intent, rule: &MappingRule) {
        self.emit(key, intent, |_| MappingRuleRecord {
            mapping_rule_key: key,
            mapping_rule_id: rule.id.clone(),
            claim_name: rule.claim_name.clone(),
            claim_value: rule.claim_value.clone(),
            name: rule.name.clone(),
        });
    }
}
