//! The outside of a token: three parts of base64url (RFC 7515 §3.1).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::algorithm::Algorithm;
use crate::refusal::TokenFault;

/// The relevant part of the header (RFC 7515 §4.1).
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<Value>,
}

/// A token that can be read. Nothing in it is true before its signature is checked.
#[derive(Debug)]
pub(super) struct Token<'a> {
    pub algorithm: Algorithm,
    pub key_id: Option<String>,
    pub claims: Map<String, Value>,
    pub message: &'a [u8],
    pub signature: Vec<u8>,
}

impl<'a> Token<'a> {
    pub fn parse(text: &'a str) -> Result<Self, TokenFault> {
        let mut parts = text.split('.');
        let (Some(header), Some(claims), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(TokenFault::Malformed("it has not three parts"));
        };
        let message = &text.as_bytes()[..header.len() + 1 + claims.len()];
        let header: Header = serde_json::from_slice(&decode(header)?)
            .map_err(|_| TokenFault::Malformed("its header is not that of a signed token"))?;
        let algorithm = Algorithm::from_name(&header.alg).ok_or(TokenFault::Algorithm)?;
        if header.crit.is_some() {
            return Err(TokenFault::Critical);
        }
        // Other tokens of the same issuer, such as those that end sessions, are no passes (RFC 8725 §3.11).
        if let Some(kind) = &header.typ {
            let kind = kind.to_ascii_lowercase();
            if !matches!(kind.strip_prefix("application/").unwrap_or(&kind), "jwt" | "at+jwt") {
                return Err(TokenFault::Type);
            }
        }
        let claims = serde_json::from_slice(&decode(claims)?)
            .map_err(|_| TokenFault::Malformed("its claims are no JSON object"))?;
        Ok(Self { algorithm, key_id: header.kid, claims, message, signature: decode(signature)? })
    }
}

fn decode(part: &str) -> Result<Vec<u8>, TokenFault> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenFault::Malformed("a part is not base64url"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(header: &str, rest: &str) -> TokenFault {
        Token::parse(&format!("{}{rest}", URL_SAFE_NO_PAD.encode(header))).unwrap_err()
    }

    #[test]
    fn only_what_is_surely_meant_for_us_is_read() {
        assert_eq!(fault("{}", ".e30"), TokenFault::Malformed("it has not three parts"));
        assert_eq!(fault("{}", ".e30.e30.e30.e30"), TokenFault::Malformed("it has not three parts"));
        assert_eq!(fault("{}", ".e30.AA"), TokenFault::Malformed("its header is not that of a signed token"));
        let rs256 = |more: &str| format!("{{\"alg\":\"RS256\"{more}}}");
        assert_eq!(fault(&rs256(""), ".W10.AA"), TokenFault::Malformed("its claims are no JSON object"));
        assert_eq!(fault(&rs256(""), ".e30=.AA"), TokenFault::Malformed("a part is not base64url"));
        assert_eq!(fault(&rs256(",\"crit\":[\"b64\"],\"b64\":false"), ".e30.AA"), TokenFault::Critical);
        assert_eq!(fault(&rs256(",\"typ\":\"logout+jwt\""), ".e30.AA"), TokenFault::Type);
        for algorithm in ["none", "None", "HS256", "HS384", "HS512", "ES512", "dir", ""] {
            assert_eq!(fault(&format!("{{\"alg\":\"{algorithm}\"}}"), ".e30.AA"), TokenFault::Algorithm);
        }
    }

    #[test]
    fn types_of_access_tokens_are_accepted() {
        for kind in ["JWT", "at+jwt", "application/at+JWT"] {
            let header = URL_SAFE_NO_PAD.encode(format!("{{\"alg\":\"ES256\",\"typ\":\"{kind}\"}}"));
            Token::parse(&format!("{header}.e30.AA")).unwrap();
        }
    }
}
