//! Keys and their order-preserving bytes: comparing two encoded keys byte by byte gives the order of the keys.

use std::sync::Arc;

use crate::StateError;

/// A key of a table.
pub trait TableKey: Ord + Clone + Send + Sync + 'static {
    /// Appends bytes whose order is the order of the keys, also when other keys follow in a tuple.
    fn encode(&self, out: &mut Vec<u8>);

    /// Takes one key off the front of `input`.
    fn decode(input: &mut &[u8]) -> Result<Self, StateError>;

    /// Memory the key takes in the overlay, in bytes.
    fn weight(&self) -> usize {
        size_of::<Self>()
    }
}

/// Decodes a key that must fill `input` to its end.
pub(crate) fn decode_whole<K: TableKey>(mut input: &[u8]) -> Result<K, StateError> {
    let key = K::decode(&mut input)?;
    if input.is_empty() { Ok(key) } else { Err(invalid("bytes after the key")) }
}

fn invalid(reason: &str) -> StateError {
    StateError::Decode(reason.to_owned())
}

fn take<const N: usize>(input: &mut &[u8]) -> Result<[u8; N], StateError> {
    let (head, rest) = input.split_first_chunk::<N>().ok_or_else(|| invalid("the key is cut short"))?;
    *input = rest;
    Ok(*head)
}

macro_rules! unsigned_key {
    ($($type:ty),*) => {$(
        impl TableKey for $type {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }

            #[inline]
            fn decode(input: &mut &[u8]) -> Result<Self, StateError> {
                Ok(Self::from_be_bytes(take(input)?))
            }
        }
    )*};
}
unsigned_key!(u8, u16, u32, u64, u128);

macro_rules! signed_key {
    ($($type:ty => $unsigned:ty),*) => {$(
        // Flipping the sign bit puts the negative numbers first.
        impl TableKey for $type {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&(self.cast_unsigned() ^ (1 << (<$type>::BITS - 1))).to_be_bytes());
            }

            #[inline]
            fn decode(input: &mut &[u8]) -> Result<Self, StateError> {
                let flipped = <$unsigned>::from_be_bytes(take(input)?);
                Ok((flipped ^ (1 << (<$type>::BITS - 1))).cast_signed())
            }
        }
    )*};
}
signed_key!(i32 => u32, i64 => u64);

impl TableKey for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn decode(input: &mut &[u8]) -> Result<Self, StateError> {
        match take(input)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(invalid("neither true nor false")),
        }
    }
}

impl<K: TableKey> TableKey for Option<K> {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            None => out.push(0),
            Some(key) => {
                out.push(1);
                key.encode(out);
            }
        }
    }

    fn decode(input: &mut &[u8]) -> Result<Self, StateError> {
        match take(input)? {
            [0] => Ok(None),
            [1] => K::decode(input).map(Some),
            _ => Err(invalid("neither none nor some")),
        }
    }

    fn weight(&self) -> usize {
        size_of::<Self>() - size_of::<K>() + self.as_ref().map_or(size_of::<K>(), TableKey::weight)
    }
}

/// Text ends with two zero bytes; a zero byte inside is followed by 255, so that the end sorts before it.
fn encode_text(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    let mut parts = text.as_bytes().split(|byte| *byte == 0);
    out.extend_from_slice(parts.next().unwrap_or_default());
    for part in parts {
        out.extend_from_slice(&[0, 255]);
        out.extend_from_slice(part);
    }
    out.extend_from_slice(&[0, 0]);
}

fn decode_text(input: &mut &[u8]) -> Result<String, StateError> {
    let mut text = Vec::new();
    let mut rest = *input;
    loop {
        let end = rest.iter().position(|byte| *byte == 0).ok_or_else(|| invalid("the text has no end"))?;
        text.extend_from_slice(&rest[..end]);
        match rest.get(end + 1) {
            Some(0) => {
                *input = &rest[end + 2..];
                return String::from_utf8(text).map_err(|_| invalid("the text is not UTF-8"));
            }
            Some(255) => text.push(0),
            _ => return Err(invalid("an unknown escape in a text")),
        }
        rest = &rest[end + 2..];
    }
}

macro_rules! text_key {
    ($($type:ty),*) => {$(
        impl TableKey for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                encode_text(self, out);
            }

            fn decode(input: &mut &[u8]) -> Result<Self, StateError> {
                decode_text(input).map(Self::from)
            }

            fn weight(&self) -> usize {
                size_of::<Self>() + self.len()
            }
        }
    )*};
}
text_key!(String, Arc<str>, Box<str>);

impl TableKey for () {
    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(_input: &mut &[u8]) -> Result<Self, StateError> {
        Ok(())
    }
}

macro_rules! tuple_key {
    ($($name:ident),+) => {
        impl<$($name: TableKey),+> TableKey for ($($name,)+) {
            #[inline]
            #[allow(non_snake_case)]
            fn encode(&self, out: &mut Vec<u8>) {
                let ($($name,)+) = self;
                $($name.encode(out);)+
            }

            #[inline]
            fn decode(input: &mut &[u8]) -> Result<Self, StateError> {
                Ok(($($name::decode(input)?,)+))
            }

            #[inline]
            #[allow(non_snake_case)]
            fn weight(&self) -> usize {
                let ($($name,)+) = self;
                0 $(+ $name.weight())+
            }
        }
    };
}
tuple_key!(A);
tuple_key!(A, B);
tuple_key!(A, B, C);
tuple_key!(A, B, C, D);
tuple_key!(A, B, C, D, E);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes<K: TableKey>(key: &K) -> Vec<u8> {
        let mut out = Vec::new();
        key.encode(&mut out);
        out
    }

    fn check<K: TableKey + std::fmt::Debug>(left: &K, right: &K) {
        let (left_bytes, right_bytes) = (bytes(left), bytes(right));
        assert_eq!(left.cmp(right), left_bytes.cmp(&right_bytes), "{left:?} against {right:?}");
        assert_eq!(&decode_whole::<K>(&left_bytes).unwrap(), left);
        assert_eq!(&decode_whole::<K>(&right_bytes).unwrap(), right);
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![".{0,6}", "[\u{0}\u{1}a\u{7f}ÿ]{0,5}"]
    }

    proptest! {
        #[test]
        fn numbers_keep_their_order(left: (u8, u16, u32, u64, i64), right: (u8, u16, u32, u64, i64)) {
            check(&left, &right);
            check(&left.4, &right.4);
            check(&(left.3, left.4), &(left.3, right.4));
        }

        #[test]
        fn texts_keep_their_order(a in text(), b in text(), c in text(), d in text(), n: i32, m: i32) {
            check(&(a.clone(), c.clone()), &(b.clone(), d.clone()));
            check(&(a.clone(), n), &(a.clone(), m));
            check(&(Arc::<str>::from(a.as_str()), true), &(Arc::<str>::from(b.as_str()), false));
            check(&(a.into_boxed_str(), Some(n), ()), &(b.into_boxed_str(), None, ()));
        }

        #[test]
        fn decoding_anything_never_panics(input: Vec<u8>) {
            let _ = decode_whole::<(String, Option<u32>, bool)>(&input);
            let _ = decode_whole::<(i64, Arc<str>)>(&input);
        }
    }

    #[test]
    fn damaged_keys_are_refused() {
        assert!(decode_whole::<u64>(&[1, 2, 3]).is_err());
        assert!(decode_whole::<u8>(&[1, 2]).is_err());
        assert!(decode_whole::<bool>(&[2]).is_err());
        assert!(decode_whole::<String>(b"open").is_err());
        assert!(decode_whole::<String>(&[0, 7]).is_err());
        assert!(decode_whole::<String>(&[0xc3, 0, 0]).is_err());
        assert!(decode_whole::<Option<u8>>(&[2, 0]).is_err());
    }
}
