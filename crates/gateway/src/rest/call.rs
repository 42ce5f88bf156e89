//! A validated request, and its ways to the broker and to secondary storage.

use super::checks::TenantIn;
use super::contract::{Media, Operation};
use super::download::Download;
use super::fields::{Fields, parse_key};
use super::gateway::Gateway;
use super::multipart::Form;
use super::parameter::decode;
use super::problem::Failure;
use super::reply::Reply;
use super::storage::{Reads, Storage};
use super::writer::{Digits, object};
use crate::AccessOptions;
use crate::access::PrincipalGrants;
use crate::idempotency;
use auth::Principal;
use broker_api::{Answer, Positions, SubmitError};
use bytes::Bytes;
use documents::Staged;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use protocol::{
    BusinessIdClaim, Caller, Command, Document, FileView, Idempotency, Key, Name, Query, QueryReply, SourceOf,
};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::OnceCell;

/// The work of a call on its operation.
pub(crate) type Served<'a> = BoxFuture<'a, Result<Reply, Failure>>;

pub(crate) struct Call<'a> {
    pub(super) gateway: &'a Gateway,
    pub(super) principal: &'a Arc<Principal>,
    pub(super) operation: Operation,
    /// Values of the placeholders, in the order of the path.
    pub(super) parameters: &'a [Cow<'a, str>],
    /// The body, if it is JSON.
    pub(super) fields: Fields<'a>,
    /// The body, if it is a form.
    pub(super) form: Form,
    /// The files of the form, if they are documents, until they are taken.
    pub(super) staged: Mutex<Vec<Result<Staged, Failure>>>,
    /// The query, checked and still encoded.
    pub(super) query: &'a str,
    /// The buffer behind `fields`.
    pub(super) body: &'a Bytes,
    /// The idempotency key of the request, if it has one.
    pub(super) idempotency_key: Option<&'a [u8]>,
    /// Commands that were submitted.
    pub(super) commands: AtomicU32,
    /// How far the log was after what it did.
    pub(super) positions: Mutex<Positions>,
    /// Whether it follows a hint of changes, whose rows secondary storage shows.
    pub(super) follows_hint: bool,
    /// Whether an answer that another call got will do, if no change was told since.
    pub(super) shares_answers: bool,
    /// How far secondary storage was behind when it was waited for, if it was.
    pub(super) lag: OnceCell<Option<Duration>>,
}

impl<'a> Call<'a> {
    /// A call without the properties of its body yet.
    pub(super) fn new(
        gateway: &'a Gateway,
        principal: &'a Arc<Principal>,
        operation: Operation,
        parameters: &'a [Cow<'a, str>],
        body: &'a Bytes,
    ) -> Self {
        let fields =
            operation.spec().body.as_ref().map_or_else(Fields::none, |body| Fields::new(body.schema));
        Self {
            gateway,
            principal,
            operation,
            parameters,
            fields,
            form: Form::default(),
            staged: Mutex::default(),
            query: "",
            body,
            idempotency_key: None,
            commands: AtomicU32::new(0),
            positions: Mutex::default(),
            follows_hint: false,
            shares_answers: false,
            lag: OnceCell::new(),
        }
    }

    /// Whether the tenants that the request names, or leaves out, are as this gateway has it. A test finds in the
    /// contract all that name one in their bodies; of those in paths, the tenant is the subject, or the owner of one.
    pub(super) fn check_tenants(&self) -> Result<(), Failure> {
        let (tenancy, id) = (self.gateway.options.tenancy, self.operation.spec().id);
        match self.operation.checks().tenant {
            TenantIn::Nothing => Ok(()),
            TenantIn::Body => tenancy.check(id, self.fields.text("tenantId").as_deref()),
            TenantIn::BodyAtWill => {
                self.fields.text("tenantId").map_or(Ok(()), |tenant_id| tenancy.check_named(id, &tenant_id))
            }
            TenantIn::Form => tenancy.check(id, self.form.text("tenantId")),
            TenantIn::List if self.fields.text("tenantFilter").as_deref() == Some("ASSIGNED") => Ok(()),
            TenantIn::List => tenancy.check_list(id, &self.fields.names("tenantIds")),
        }
        .map_err(Failure::invalid)
    }

    /// The files of the form, if they are documents.
    pub(super) fn take_staged(&self) -> Vec<Result<Staged, Failure>> {
        std::mem::take(&mut *self.staged.lock())
    }

    pub(super) fn query_parameter(&self, name: &str) -> Result<Option<String>, Failure> {
        let found =
            self.query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
        let Some((_, value)) = found else { return Ok(None) };
        Ok(Some(decode(name, &value.replace('+', " "))?.into_owned()))
    }

    pub(super) fn parameter(&self) -> &str {
        &self.parameters[0]
    }

    /// The key that is the first placeholder.
    pub(super) fn key(&self) -> Result<Key, Failure> {
        parse_key(self.operation.spec().path_parameters[0].name, &self.parameters[0])
    }

    /// A free object of the body as variables.
    pub(super) fn document(&self, name: &str) -> Result<Document, Failure> {
        self.fields.document(name, self.body)
    }

    /// The caller of commands.
    pub(super) async fn caller(&self) -> Result<Option<Caller>, Failure> {
        let caller = self.gateway.options.access.caller(&self.gateway.broker, self.principal).await;
        caller.map_err(Failure::read)
    }

    /// Memberships and authorizations of the principal.
    pub(super) async fn known(&self) -> Result<Arc<PrincipalGrants>, Failure> {
        let known = self.gateway.options.access.known(&self.gateway.broker, self.principal).await;
        known.map_err(Failure::read)
    }

    /// The idempotency key of the next command, if the request has one. Forms may be written in several ways, so of
    /// them the command counts, which is encoded only then.
    pub(super) fn idempotency(&self, encode: impl FnOnce() -> Vec<u8>) -> Option<Idempotency> {
        let key = self.idempotency_key?;
        let spec = self.operation.spec();
        let is_form = spec.body.as_ref().is_some_and(|body| body.media == Media::Multipart);
        let content = if is_form { Cow::Owned(encode()) } else { Cow::Borrowed(&self.body[..]) };
        let parameters = self.parameters.iter().map(|parameter| parameter.as_bytes());
        let request = [spec.id.as_bytes(), self.query.as_bytes(), &content].into_iter().chain(parameters);
        let number = self.commands.fetch_add(1, Ordering::Relaxed);
        Some(idempotency::of(Some(self.principal), key, number, request))
    }

    /// Submits a command; `intent` is its name in refusals.
    pub(super) async fn submit(&self, intent: &str, command: Command) -> Result<Answer, Failure> {
        let idempotency = self.idempotency(|| command.encode());
        let command = command.asked_by(self.caller().await?).once(idempotency);
        let answer =
            self.gateway.broker.submit(command).await.map_err(|error| Failure::submit(error, intent))?;
        self.reached(&answer.positions());
        Ok(answer)
    }

    /// Submits a command that listeners may have a say in, so the answer may take long.
    pub(super) async fn submit_to_listeners(&self, intent: &str, command: Command) -> Result<Reply, Failure> {
        let timeout = self.gateway.options.await_timeout;
        let answer = tokio::time::timeout(timeout, self.submit(intent, command)).await.unwrap_or_else(|_| {
            let reason = format!(
                "Expected listeners to be done within {} ms, but they were not; the command is not taken back",
                timeout.as_millis()
            );
            Err(Failure::submit(SubmitError::Timeout(reason), intent))
        })?;
        Ok(Reply::no_content(answer.timing))
    }

    /// Remembers how far the log was after a command.
    pub(super) fn reached(&self, positions: &Positions) {
        let mut reached = self.positions.lock();
        positions.iter().for_each(|(partition, position)| reached.reach(partition, position));
    }

    /// How far the log was after the commands of this call, if something waits for that.
    pub(super) fn positions(&self) -> Positions {
        if self.gateway.options.storage.is_none() {
            return Positions::default();
        }
        std::mem::take(&mut *self.positions.lock())
    }

    pub(super) fn storage(&self) -> Result<Reads<'a>, Failure> {
        let storage = self.gateway.options.storage.as_ref().ok_or_else(Failure::no_storage)?;
        Ok(Reads { storage, shares_answers: self.shares_answers })
    }

    /// The store, once it shows everything that was answered before or the time for that is over; waits once a call.
    /// Behind a hint, the store shows what the hint is about.
    pub(super) async fn fresh_storage(&self) -> Result<Reads<'a>, Failure> {
        let storage = self.storage()?;
        if self.follows_hint {
            return Ok(storage);
        }
        self.lag.get_or_init(|| storage.storage.freshen(&*self.gateway.broker)).await;
        Ok(storage)
    }

    /// Lag of secondary storage behind the records that the search should show.
    pub(super) fn lag(&self) -> Option<Duration> {
        self.lag.get().copied().flatten()
    }

    /// Spans of records that secondary storage lacks, if it was asked.
    pub(super) fn gaps(&self) -> Vec<(u64, u64)> {
        let storage = self.gateway.options.storage.as_ref().filter(|_| self.lag.initialized());
        storage.map(Storage::gaps).unwrap_or_default()
    }

    /// Asks for running entities, as far as the caller may see them.
    pub(super) async fn read(&self, query: Query) -> Result<QueryReply, Failure> {
        let reply = self.read_unseen(query.clone()).await?;
        self.visible(&query, reply).await
    }

    /// Asks for running entities, without a check of permissions: the answer must not be shown.
    pub(super) async fn read_unseen(&self, query: Query) -> Result<QueryReply, Failure> {
        self.gateway.broker.read(query).await.map_err(Failure::read)
    }

    /// Checks of the principal.
    pub(super) fn access_options(&self) -> &AccessOptions {
        self.gateway.options.access.options()
    }

    /// The model that a definition came from, as it was deployed.
    pub(super) async fn source(&self, of: SourceOf) -> Result<Reply, Failure> {
        let key = self.key()?;
        let reply = self.read(Query::Source { of, key }).await?;
        let QueryReply::Source(xml) = reply else { return Err(unexpected(&reply)) };
        let extension = if of == SourceOf::Process { "bpmn" } else { "dmn" };
        Ok(Reply::file(xml, Download::new("text/xml", &format!("{key}.{extension}"))))
    }

    /// The business ID of the body, for an instance that has none or for a message.
    pub(super) fn business_id_claim(&self) -> Option<BusinessIdClaim> {
        self.fields.name("businessId").map(BusinessIdClaim::of)
    }

    /// The lease of the body, by the name of clients of 8.10 or by that of its published contract.
    pub(super) fn lease(&self) -> Option<Name> {
        self.fields.name("jobLeaseToken").or_else(|| self.fields.name("leaseToken"))
    }

    /// Submits a command that answers with nothing but its success.
    pub(super) async fn submit_for_nothing(&self, intent: &str, command: Command) -> Result<Reply, Failure> {
        let answer = self.submit(intent, command).await?;
        Ok(Reply::no_content(answer.timing))
    }
}

/// A form as people's clients draw it.
pub(super) fn form_reply(form: &FileView) -> Reply {
    let mut out = Vec::with_capacity(256 + form.content.len());
    object(&mut out)
        .with("tenantId", &form.tenant_id)
        .with("formId", &form.id)
        .with("schema", String::from_utf8_lossy(&form.content))
        .with("version", form.version)
        .with("formKey", Digits(form.key))
        .end();
    Reply::json(out)
}

/// A broker's answer of a kind that its command or query never gets.
pub(super) fn unexpected(response: &impl std::fmt::Debug) -> Failure {
    let text = format!("{response:?}");
    let kind = text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    Failure::submit(
        SubmitError::Internal(format!("the broker returned a response of the wrong type: {kind}")),
        "",
    )
}
