//! Public keys of an issuer (RFC 7517, RFC 7518, RFC 8037) and the signatures made with them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};
use serde::Deserialize;

use super::algorithm::Algorithm;
use super::token::Token;
use crate::refusal::TokenFault;

/// The most keys of a set that are looked at.
const KEYS_MAX: usize = 64;

/// A key as it is published.
#[derive(Deserialize)]
struct Published {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The numbers of a key, by its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    id: Option<String>,
    /// If the issuer says so, the key is for this algorithm alone.
    only: Option<Algorithm>,
    material: Material,
}

/// The keys of an issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeySet(Vec<Key>);

impl KeySet {
    /// Reads a set. Keys that are of no use here are passed over.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<serde_json::Value>,
        }
        let set: Set = serde_json::from_slice(json).map_err(|error| format!("the key set: {error}"))?;
        let keys: Vec<_> = set
            .keys
            .into_iter()
            .take(KEYS_MAX)
            .filter_map(|key| Key::from_published(serde_json::from_value(key).ok()?))
            .collect();
        if keys.is_empty() { Err("the key set has no key for signatures".to_owned()) } else { Ok(Self(keys)) }
    }

    /// Checks the signature of a token.
    ///
    /// # Errors
    /// [`TokenFault::UnknownKey`], if newer keys may help, [`TokenFault::Signature`] otherwise.
    pub fn check(&self, token: &Token<'_>) -> Result<(), TokenFault> {
        let mut is_known = false;
        for key in self.0.iter().filter(|key| key.may_have_signed(token)) {
            if key.is_signature(token) {
                return Ok(());
            }
            is_known |= key.id.is_some() && key.id == token.key_id;
        }
        Err(if is_known { TokenFault::Signature } else { TokenFault::UnknownKey })
    }
}

impl Key {
    fn from_published(key: Published) -> Option<Self> {
        let is_for_signatures = key.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
            && key.key_ops.as_ref().is_none_or(|uses| uses.iter().any(|one| one == "verify"));
        if !is_for_signatures {
            return None;
        }
        let decode = |number: Option<&String>| URL_SAFE_NO_PAD.decode(number?).ok();
        let material = match (key.kty.as_str(), key.crv.as_deref()) {
            ("RSA", _) => Material::Rsa {
                n: without_zeros(decode(key.n.as_ref())?),
                e: without_zeros(decode(key.e.as_ref())?),
            },
            ("EC", Some("P-256")) => {
                Material::P256(point(32, &decode(key.x.as_ref())?, &decode(key.y.as_ref())?)?)
            }
            ("EC", Some("P-384")) => {
                Material::P384(point(48, &decode(key.x.as_ref())?, &decode(key.y.as_ref())?)?)
            }
            ("OKP", Some("Ed25519")) => Material::Ed25519(decode(key.x.as_ref())?),
            _ => return None,
        };
        let only = match key.alg {
            Some(name) => Some(Algorithm::from_name(&name)?),
            None => None,
        };
        Some(Self { id: key.kid, only, material })
    }

    /// A key that has an ID signs only what names it, if it names any.
    fn may_have_signed(&self, token: &Token<'_>) -> bool {
        let is_named = match (&self.id, &token.key_id) {
            (Some(ours), Some(wanted)) => ours == wanted,
            _ => true,
        };
        is_named && self.only.is_none_or(|only| only == token.algorithm)
    }

    /// The kind of the key and the algorithm must fit: what is signed cannot choose to be checked in another way.
    fn is_signature(&self, token: &Token<'_>) -> bool {
        use Algorithm as A;
        let of_curve = |algorithm: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(algorithm, key).verify(token.message, &token.signature).is_ok()
        };
        match (&self.material, token.algorithm) {
            (Material::Rsa { n, e }, algorithm) => {
                let parameters = match algorithm {
                    A::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
                    A::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
                    A::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
                    A::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
                    A::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
                    A::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
                    A::Es256 | A::Es384 | A::EdDsa => return false,
                };
                RsaPublicKeyComponents { n, e }.verify(parameters, token.message, &token.signature).is_ok()
            }
            (Material::P256(key), A::Es256) => of_curve(&signature::ECDSA_P256_SHA256_FIXED, key),
            (Material::P384(key), A::Es384) => of_curve(&signature::ECDSA_P384_SHA384_FIXED, key),
            (Material::Ed25519(key), A::EdDsa) => of_curve(&signature::ED25519, key),
            _ => false,
        }
    }
}

fn without_zeros(number: Vec<u8>) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number[zeros..].to_vec()
}

/// A point as SEC 1 §2.3.3 writes it without compression.
fn point(width: usize, x: &[u8], y: &[u8]) -> Option<Vec<u8>> {
    (x.len() == width && y.len() == width).then(|| [&[4], x, y].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7515 appendix A.3.
    const ES256_KEY: &str = r#"{"keys":[{"kty":"EC","crv":"P-256",
        "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#;
    const ES256_TOKEN: &str = concat!(
        "eyJhbGciOiJFUzI1NiJ9.",
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.",
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
    );

    #[test]
    fn the_example_of_the_standard_is_signed() {
        let keys = KeySet::parse(ES256_KEY.as_bytes()).unwrap();
        let mut token = Token::parse(ES256_TOKEN).unwrap();
        keys.check(&token).unwrap();
        token.signature[5] ^= 1;
        assert_eq!(keys.check(&token), Err(TokenFault::UnknownKey));
    }

    /// The example of RFC 8037 appendix A.4, whose content is no JSON.
    #[test]
    fn the_example_of_the_standard_for_ed25519_is_signed() {
        let json =
            br#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
        let keys = KeySet::parse(json).unwrap();
        let signature =
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
        let token = Token {
            algorithm: Algorithm::EdDsa,
            key_id: None,
            claims: serde_json::Map::new(),
            message: b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
            signature: URL_SAFE_NO_PAD.decode(signature).unwrap(),
        };
        keys.check(&token).unwrap();
    }

    #[test]
    fn keys_that_are_not_for_signatures_are_passed_over() {
        let of = |key: &str| KeySet::parse(format!("{{\"keys\":[{key}]}}").as_bytes());
        assert!(of(r#"{"kty":"oct","k":"AAAA"}"#).is_err(), "a shared secret");
        assert!(of(r#"{"kty":"RSA","use":"enc","n":"AQAB","e":"AQAB"}"#).is_err());
        assert!(of(r#"{"kty":"RSA","key_ops":["encrypt"],"n":"AQAB","e":"AQAB"}"#).is_err());
        assert!(of(r#"{"kty":"RSA","alg":"RSA-OAEP","n":"AQAB","e":"AQAB"}"#).is_err());
        assert!(of(r#"{"kty":"RSA","n":"AQAB"}"#).is_err());
        assert!(of(r#"{"kty":"EC","crv":"P-256","x":"AQAB","y":"AQAB"}"#).is_err());
        assert!(of(r#"{"kty":"oct"},7,{"kty":"RSA","use":"sig","n":"AQAB","e":"AQAB"}"#).is_ok());
    }

    #[test]
    fn a_key_is_for_what_the_issuer_says() {
        let with = |more: &str| ES256_KEY.replace("\"kty\"", &format!("{more},\"kty\""));
        let token = Token::parse(ES256_TOKEN).unwrap();
        let check = |json: String| KeySet::parse(json.as_bytes()).unwrap().check(&token);
        assert_eq!(check(with(r#""alg":"ES256","kid":"a""#)), Ok(()));
        assert_eq!(check(with(r#""alg":"ES384""#)), Err(TokenFault::UnknownKey));
    }
}
