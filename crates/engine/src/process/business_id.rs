//! Business IDs of root instances: at most one of a process has one at a time, if the creation asks for it.

use protocol::{BusinessIdClaim, Intent, Key, Name, Rejection};

use crate::core::context::CommandContext;
use crate::core::failure::Failure;
use crate::core::step::Step;
use crate::entity::{Instance, Phase};

/// Tenant, process ID, business ID.
type Claim = (std::sync::Arc<str>, std::sync::Arc<str>, std::sync::Arc<str>);

/// Business IDs of root instances; called instances share that of their root.
fn claim(instance: &Instance) -> Option<Claim> {
    let business_id = instance.business_id.as_ref().filter(|_| instance.parent.is_none())?;
    Some((instance.tenant_id.0.clone(), instance.process_id.0.clone(), business_id.0.clone()))
}

impl CommandContext<'_> {
    /// Gives a root instance without a business ID one.
    pub fn assign_business_id(
        &mut self,
        key: Key,
        BusinessIdClaim { business_id, is_unique }: &BusinessIdClaim,
    ) -> Result<(), Failure> {
        let purpose = format!("assign business ID '{business_id}' to process instance with key '{key}'");
        let Some((at, row)) = self.at(key)?.filter(|(at, _)| at.scope_key == 0) else {
            let reason = format!("Expected to {purpose}, but no such process instance was found");
            return Err(Rejection::not_found(reason).into());
        };
        self.blame(key);
        let refused = |reason: String| -> Failure {
            Rejection::invalid_state(format!("Expected to {purpose}, but {reason}")).into()
        };
        if let Some(halt) = self.tables.halt_of(key)? {
            return Err(refused(format!("it is {halt}")));
        }
        if let Some(parent) = at.instance.parent {
            let root = at.instance.root_key;
            let caller = parent.process_instance_key;
            return Err(refused(format!(
                "it is called by process instance '{caller}'. Assign it to the root process instance '{root}' instead."
            )));
        }
        if row.phase == Phase::Terminating {
            return Err(refused("it is about to be terminated".to_owned()));
        }
        if let Some(other) = &at.instance.business_id {
            return Err(refused(format!("it has the business ID '{other}'")));
        }
        let mut instance = (*at.instance).clone();
        instance.business_id = Some(business_id.clone());
        if *is_unique {
            self.claim_business_id(key, &instance)?;
        }
        self.tables.instances.put(key, instance);
        self.forget_cached();
        if let Some((at, _)) = self.at(key)? {
            self.record_element(&at, Intent::BusinessIdAssigned);
        }
        Ok(())
    }

    /// Claims the business ID of a new instance. Instances that were created without a claim are not seen.
    pub(super) fn claim_business_id(&mut self, key: Key, instance: &Instance) -> Result<(), Failure> {
        let Some(claim) = claim(instance) else { return Ok(()) };
        if let Some(other) = self.tables.business_ids.get(&claim)? {
            let (_, process_id, business_id) = claim;
            return Err(Rejection::new(
                protocol::RejectionType::AlreadyExists,
                format!(
                    "Expected to create instance of process '{process_id}' with business ID '{business_id}', but \
                     process instance '{other}' of this process runs with the same business ID"
                ),
            )
            .into());
        }
        self.tables.business_ids.put(claim, key);
        Ok(())
    }

    /// Gives the business ID of an instance free that has ended or leaves its process. True if it had a claim.
    pub(super) fn release_business_id(&mut self, key: Key, instance: &Instance) -> Result<bool, Failure> {
        let Some(claim) = claim(instance) else { return Ok(false) };
        let is_its_own = self.tables.business_ids.get(&claim)?.is_some_and(|owner| *owner == key);
        if is_its_own {
            self.tables.business_ids.delete(&claim);
            let (tenant_id, process_id, business_id) = claim;
            let awaited = |key| (tenant_id.clone(), business_id.clone(), key);
            let range = awaited(0)..=awaited(Key::MAX);
            if !self.tables.message_by_business_id.keys(range, 1)?.is_empty() {
                // Not here: whatever happens to the new instance must not undo the end of this one.
                self.leave_step(Step::StartByBusinessId {
                    tenant_id: Name(tenant_id),
                    process_id: Name(process_id),
                    business_id: Name(business_id),
                })?;
            }
        }
        Ok(is_its_own)
    }

    /// An instance now belongs to another process. It is never refused there, so it may find its business ID taken.
    pub(super) fn move_business_id(
        &mut self,
        key: Key,
        before: &Instance,
        after: &Instance,
    ) -> Result<(), Failure> {
        if before.process_id != after.process_id
            && self.release_business_id(key, before)?
            && let Some(claim) = claim(after)
            && !self.tables.business_ids.contains(&claim)?
        {
            self.tables.business_ids.put(claim, key);
        }
        Ok(())
    }
}
