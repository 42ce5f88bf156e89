//! Values and their bytes on disk.

use crate::StateError;

/// A value of a table. Equal values encode to equal bytes: state hashes of replicas are compared.
pub trait TableValue: Send + Sync + 'static + Sized {
    /// Appends the bytes to be stored.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads a value back; `input` is what `encode` wrote, to the end.
    fn decode(input: &[u8]) -> Result<Self, StateError>;

    /// Memory the value takes, in bytes, for the size of the overlay and of the cache.
    fn weight(&self) -> usize {
        size_of::<Self>()
    }
}

impl TableValue for () {
    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(input: &[u8]) -> Result<Self, StateError> {
        if input.is_empty() { Ok(()) } else { Err(StateError::Decode("bytes in an empty value".to_owned())) }
    }
}

macro_rules! integer_value {
    ($($type:ty),*) => {$(
        impl TableValue for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn decode(input: &[u8]) -> Result<Self, StateError> {
                let bytes = input.try_into().map_err(|_| {
                    StateError::Decode(format!("{} bytes where {} belong", input.len(), size_of::<Self>()))
                })?;
                Ok(Self::from_le_bytes(bytes))
            }
        }
    )*};
}
integer_value!(u32, u64, i64);

/// Stores a type by its minicbor derive, which allows fields to be added later.
///
/// `minicbor_value!(Job)`, or `minicbor_value!(Job, weight = |job| 64 + job.variables.len())` where values own
/// memory outside themselves.
#[macro_export]
macro_rules! minicbor_value {
    ($type:ty) => {
        $crate::minicbor_value!($type, weight = |_value| ::core::mem::size_of::<$type>());
    };
    ($type:ty, weight = $weight:expr) => {
        impl $crate::TableValue for $type {
            fn encode(&self, out: &mut ::std::vec::Vec<u8>) {
                $crate::hidden::encode_minicbor(self, out);
            }

            fn decode(input: &[u8]) -> ::core::result::Result<Self, $crate::StateError> {
                $crate::hidden::decode_minicbor(input)
            }

            fn weight(&self) -> usize {
                let weight: fn(&Self) -> usize = $weight;
                weight(self)
            }
        }
    };
}

/// Used by [`minicbor_value!`].
#[doc(hidden)]
pub fn encode_minicbor<V: minicbor::Encode<()>>(value: &V, out: &mut Vec<u8>) {
    minicbor::encode(value, out).expect("a value encodes into memory without an error");
}

/// Used by [`minicbor_value!`].
#[doc(hidden)]
pub fn decode_minicbor<V: for<'b> minicbor::Decode<'b, ()>>(input: &[u8]) -> Result<V, StateError> {
    let mut decoder = minicbor::Decoder::new(input);
    let value = decoder.decode().map_err(|error| StateError::Decode(error.to_string()))?;
    if decoder.position() == input.len() {
        Ok(value)
    } else {
        Err(StateError::Decode("bytes after the value".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, minicbor::Encode, minicbor::Decode)]
    struct Note {
        #[n(0)]
        text: String,
        #[n(1)]
        stars: Option<u8>,
    }
    minicbor_value!(Note, weight = |note| size_of::<Note>() + note.text.len());

    #[test]
    fn values_return_as_they_were() {
        let note = Note { text: "hello".to_owned(), stars: Some(3) };
        let mut out = Vec::new();
        note.encode(&mut out);
        assert_eq!(Note::decode(&out).unwrap(), note);
        assert_eq!(note.weight(), size_of::<Note>() + 5);

        out.push(0);
        assert!(matches!(Note::decode(&out), Err(StateError::Decode(_))));
        assert!(matches!(Note::decode(&out[..3]), Err(StateError::Decode(_))));
    }

    #[test]
    fn integers_have_their_width() {
        let mut out = Vec::new();
        (-5i64).encode(&mut out);
        assert_eq!(i64::decode(&out).unwrap(), -5);
        assert!(u32::decode(&out).is_err());
        assert!(<()>::decode(&out).is_err());
    }
}
