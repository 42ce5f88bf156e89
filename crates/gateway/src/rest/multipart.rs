//! Forms with files, checked against the contract: which parts there may be, how often, and which are files.

use std::convert::Infallible;

use bytes::Bytes;
use futures::stream;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use multer::{Field, Multipart};

use super::contract::{Format, Kind, Object, Property, Schema};
use super::problem::Failure;
use super::validate::{Echo, check_text};

/// How many parts a form may have.
const MAX_PARTS: usize = 1000;
/// Properties of a file in the head of its part.
const METADATA: &str = "x-document-metadata";
/// The longest file name, in bytes.
const MAX_FILE_NAME: usize = 1024;

/// Why the body of a form does not come to its end.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.detail)]
pub(super) struct Broken(pub(super) Failure);

/// The parts of a form.
#[derive(Default)]
pub(crate) struct Form {
    /// Parts with a file, in their order.
    pub(crate) files: Vec<File>,
    texts: Vec<(&'static str, String)>,
}

pub(crate) struct File {
    /// Empty, if the part has none; only forms with documents have such files.
    pub(crate) name: String,
    /// Nothing, if it is on its way to where it is kept.
    pub(crate) content: Bytes,
    pub(crate) content_type: Option<String>,
    /// Metadata in the head of the part, as JSON.
    pub(crate) metadata: Option<String>,
}

impl Form {
    /// The texts of a part that may be there several times.
    pub(crate) fn all_texts<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.texts.iter().filter(move |(part, _)| *part == name).map(|(_, text)| text.as_str())
    }

    /// The text of a part.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts.iter().find(|(part, _)| *part == name).map(|(_, text)| text.as_str())
    }
}

/// Destinations of the files of a form.
pub(super) trait Files {
    /// Whether a file without a name is refused.
    const NEED_NAMES: bool;

    /// Takes the content of a file, and returns what of it shall be in the form. `form` is what came before it.
    async fn take(&mut self, form: &Form, file: &File, content: Field<'_>) -> Result<Bytes, Failure>;
}

/// All of each file in the form.
struct InForm;

impl Files for InForm {
    const NEED_NAMES: bool = true;

    async fn take(&mut self, _: &Form, _: &File, content: Field<'_>) -> Result<Bytes, Failure> {
        content.bytes().await.map_err(malformed)
    }
}

/// Splits and checks a form that is there as a whole.
pub(crate) async fn parse(
    headers: &HeaderMap,
    body: Bytes,
    schema: &'static Schema,
) -> Result<Form, Failure> {
    let texts_bytes_max = body.len();
    let whole = stream::once(async { Ok::<_, Infallible>(body) });
    let parts = Multipart::new(whole, boundary(headers)?);
    read(parts, schema, texts_bytes_max, &mut InForm).await
}

/// The boundary between parts.
pub(super) fn boundary(headers: &HeaderMap) -> Result<String, Failure> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    multer::parse_boundary(content_type)
        .map_err(|_| Failure::unsupported_media_type("multipart/form-data needs a boundary"))
}

/// Checks a form part by part. Its texts have so many bytes at the most.
pub(super) async fn read<F: Files>(
    mut parts: Multipart<'_>,
    schema: &'static Schema,
    texts_bytes_max: usize,
    files: &mut F,
) -> Result<Form, Failure> {
    let Kind::Object(object) = &schema.kind else {
        return Err(Failure::internal("the contract has no form here"));
    };
    let mut texts_bytes = 0;
    let mut form = Form::default();
    let mut seen = 0u64;
    for count in 0.. {
        let Some(mut part) = parts.next_field().await.map_err(malformed)? else { break };
        if count == MAX_PARTS {
            return Err(Failure::invalid(format!("the form has more than {MAX_PARTS} parts")));
        }
        let at = position(object, &part)?;
        let property = &object.properties[at];
        let (is_list, is_file) = shape(property);
        if seen & (1 << at) != 0 && !is_list {
            return Err(Failure::invalid(format!("{}: occurs twice", property.name)));
        }
        seen |= 1 << at;
        if is_file {
            let mut file = file(property.name, form.files.len(), &part)?;
            if F::NEED_NAMES && file.name.is_empty() {
                let index = form.files.len();
                return Err(Failure::invalid(format!("{}[{index}]: needs a file name", property.name)));
            }
            file.content = files.take(&form, &file, part).await?;
            form.files.push(file);
        } else {
            let mut content = Vec::new();
            while let Some(piece) = part.chunk().await.map_err(malformed)? {
                texts_bytes += piece.len();
                if texts_bytes > texts_bytes_max {
                    return Err(Failure::too_large(None, texts_bytes_max));
                }
                content.extend_from_slice(&piece);
            }
            let text = String::from_utf8(content)
                .map_err(|_| Failure::invalid(format!("{}: is not UTF-8", property.name)))?;
            if let Some(problem) = check_text(property.schema, &text) {
                return Err(Failure::invalid(format!("{}: {problem}", property.name)));
            }
            form.texts.push((property.name, text));
        }
    }
    let missing = object.alternatives[0].required & !seen;
    if missing != 0 {
        let name = object.properties[missing.trailing_zeros() as usize].name;
        return Err(Failure::invalid(format!("{name}: is required, but missing")));
    }
    Ok(form)
}

/// The property that a part is for.
fn position(object: &Object, part: &Field<'_>) -> Result<usize, Failure> {
    let Some(name) = part.name() else { return Err(Failure::invalid("the form has a part without a name")) };
    let known = object.properties.iter().position(|property| property.name == name);
    known.ok_or_else(|| Failure::invalid(format!("{}: unknown part of the form", Echo(name))))
}

/// Whether a part may be repeated, and whether it is a file.
fn shape(property: &Property) -> (bool, bool) {
    match &property.schema.kind {
        Kind::Array(array) => (true, is_file(array.items)),
        _ => (false, is_file(property.schema)),
    }
}

fn is_file(schema: &Schema) -> bool {
    matches!(&schema.kind, Kind::Text(text) if text.format == Format::Binary)
}

fn file(part_name: &str, index: usize, part: &Field<'_>) -> Result<File, Failure> {
    let name = part.file_name().unwrap_or_default().to_owned();
    if name.len() > MAX_FILE_NAME {
        let name = Echo(&name);
        return Err(Failure::invalid(format!(
            "{part_name}[{index}]: the file name {name} has more than {MAX_FILE_NAME} bytes"
        )));
    }
    let content_type = part.content_type().map(ToString::to_string);
    let metadata = match part.headers().get(METADATA) {
        None => None,
        Some(value) => Some(String::from_utf8(value.as_bytes().to_vec()).map_err(|_| {
            Failure::invalid(format!("{part_name}[{index}]: X-Document-Metadata is not UTF-8"))
        })?),
    };
    Ok(File { name, content_type, metadata, content: Bytes::new() })
}

pub(super) fn malformed(error: multer::Error) -> Failure {
    if let multer::Error::StreamReadFailed(error) = &error
        && let Some(Broken(failure)) = error.downcast_ref()
    {
        return failure.clone();
    }
    Failure::invalid(format!("malformed form: {error}"))
}
