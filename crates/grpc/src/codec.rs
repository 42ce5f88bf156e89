//! The codec of the service: requests are counted before they are decoded, since an entry of a list may take two bytes
//! and twenty times as much memory.

use std::marker::PhantomData;

use prost::Message;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

/// Fields of a request, those of messages in it included: some four for each entry that a command may have.
pub const FIELDS_MAX: usize = 100_000;
/// Fields of a message whose messages have lists of their own, with the same of these.
struct Within(&'static [(u64, Within)]);

/// Where the lists of a request are, beside its own fields. Other texts and messages are one field, whatever they have.
fn lists_within(request: &str) -> Within {
    const NOTHING: Within = Within(&[]);
    match request {
        "CreateProcessInstanceWithResultRequest" => Within(&[(1, NOTHING)]),
        "ModifyProcessInstanceRequest" | "MigrateProcessInstanceRequest" => Within(&[(2, NOTHING)]),
        // The result, in it the corrections, and in these the candidates.
        "CompleteJobRequest" => Within(&[(3, Within(&[(2, Within(&[(4, NOTHING), (5, NOTHING)]))]))]),
        _ => NOTHING,
    }
}

/// Protobuf, with a bound of the fields of requests. Answers, which the client reads, have none.
#[derive(Debug)]
pub struct BoundedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for BoundedCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for BoundedCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = BoundedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<T, U>::default().encoder()
    }

    fn decoder(&mut self) -> Self::Decoder {
        BoundedDecoder(ProstCodec::<T, U>::default().decoder())
    }
}

/// The half that reads.
#[derive(Debug)]
pub struct BoundedDecoder<U>(ProstDecoder<U>);

// The names of the trait's types are no types of this crate.
#[rustfmt::skip]
impl<U: Message + Default> Decoder for BoundedDecoder<U> { type Item = U; type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let name = std::any::type_name::<U>().rsplit("::").next().unwrap_or_default();
        if name.ends_with("Request") && has_too_many_fields(name, bytes::Buf::chunk(buffer)) {
            return Err(Status::invalid_argument(format!(
                "Expected a request with at most {FIELDS_MAX} fields, the most that limits.max_entries_per_command may \
                 allow, but it has more"
            )));
        }
        self.0.decode(buffer)
    }
}

/// Whether a request of this name has more fields than any may have. Other bytes are left to the decoder.
pub fn has_too_many_fields(name: &str, request: &[u8]) -> bool {
    let mut found = 0;
    // A field takes two bytes at least.
    if request.len() / 2 > FIELDS_MAX {
        count(request, &lists_within(name), &mut found);
    }
    found > FIELDS_MAX
}

/// Counts fields, until there are too many. `None`: the bytes end in the midst of one, or are none.
fn count(mut bytes: &[u8], within: &Within, found: &mut usize) -> Option<()> {
    while !bytes.is_empty() && *found <= FIELDS_MAX {
        let tag = varint(&mut bytes)?;
        *found += 1;
        match tag & 7 {
            0 => drop(varint(&mut bytes)?),
            1 => bytes = bytes.get(8..)?,
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                let (inner, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                if let Some((_, within)) = within.0.iter().find(|(field, _)| *field == tag >> 3) {
                    count(inner, within, found);
                }
            }
            // The ends of groups, whose fields follow each other like others.
            3 | 4 => {}
            5 => bytes = bytes.get(4..)?,
            _ => return None,
        }
    }
    Some(())
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CompleteJobRequest, CreateProcessInstanceRequest, DeployResourceRequest, JobResult,
        JobResultCorrections, MigrateProcessInstanceRequest, ModifyProcessInstanceRequest, Resource,
        StringList, migrate_process_instance_request as migrate, modify_process_instance_request as modify,
    };

    fn is_refused<T: Message>(message: &T) -> bool {
        let name = std::any::type_name::<T>().rsplit("::").next().unwrap();
        has_too_many_fields(name, &message.encode_to_vec())
    }

    #[test]
    fn empty_entries_are_counted_wherever_they_are() {
        let mut create = CreateProcessInstanceRequest::default();
        create.start_instructions = vec![Default::default(); FIELDS_MAX];
        assert!(!is_refused(&create));
        create.tags = vec![String::new(); 1];
        assert!(is_refused(&create));
        let mut plan = migrate::MigrationPlan::default();
        plan.mapping_instructions = vec![Default::default(); FIELDS_MAX];
        let migrate = MigrateProcessInstanceRequest { migration_plan: Some(plan), ..Default::default() };
        assert!(is_refused(&migrate));
        let activate = modify::ActivateInstruction {
            variable_instructions: vec![Default::default(); 5_000],
            ..Default::default()
        };
        let mut modify = ModifyProcessInstanceRequest::default();
        modify.activate_instructions = vec![activate; 25];
        assert!(is_refused(&modify));
        modify.activate_instructions.truncate(15);
        assert!(!is_refused(&modify));
    }

    #[test]
    fn candidates_are_counted_beside_fields_that_nobody_knows() {
        let list = StringList { values: vec![String::new(); FIELDS_MAX] };
        let corrections =
            JobResultCorrections { candidate_users: Some(list), priority: Some(50), ..Default::default() };
        let result = JobResult { corrections: Some(corrections), ..Default::default() };
        let complete = CompleteJobRequest { result: Some(result), ..Default::default() };
        let mut bytes = vec![0x7a, 1, b'x'];
        bytes.extend(complete.encode_to_vec());
        assert!(has_too_many_fields("CompleteJobRequest", &bytes));
    }

    #[test]
    fn texts_and_files_are_no_lists() {
        for text in ["{\"a\": 1}", "<definitions>", "some words, and more of them", "ab", "x", "0", " ", "("]
        {
            let content = text.repeat(4_000_000 / text.len());
            let resource = Resource { name: content.clone(), content: content.clone().into() };
            let deploy = DeployResourceRequest { resources: vec![resource], ..Default::default() };
            let create = CreateProcessInstanceRequest { variables: content, ..Default::default() };
            assert!(!is_refused(&deploy) && !is_refused(&create), "{text}");
        }
    }
}
