//! How sections are declared: once, with the type, the default, the bounds and the words for people of each key.

use super::source::{Entry, Problem};
use super::value::Setting;

/// A key as the default file shows it.
pub(crate) struct KeyInfo {
    /// Section and key, such as `state.flush_interval`.
    pub(crate) path: String,
    /// Its purpose.
    pub(crate) docs: &'static [&'static str],
    /// Its default in text form.
    pub(crate) default: String,
}

/// A section as the default file shows it.
pub(crate) struct SectionInfo {
    pub(crate) path: &'static str,
    pub(crate) docs: &'static [&'static str],
    pub(crate) keys: Vec<KeyInfo>,
}

fn unexpected<T: Setting>(entry: &Entry, key: &str, expected: &str) -> Problem {
    let found = if T::IS_SECRET { "something else".to_owned() } else { format!("'{}'", entry.text) };
    Problem::at(entry.origin.clone(), format!("expected {expected} for '{key}', but found {found}"))
}

/// Reads a value.
pub(crate) fn read<T: Setting>(entry: &Entry, key: &str) -> Result<T, Problem> {
    T::parse(&entry.text).ok_or_else(|| unexpected::<T>(entry, key, T::EXPECTED))
}

/// Lets a value within its bounds through.
pub(crate) fn within<T: Setting + PartialOrd>(
    value: T,
    (min, max): (T, T),
    entry: &Entry,
    key: &str,
) -> Result<T, Problem> {
    if value >= min && value <= max {
        return Ok(value);
    }
    Err(unexpected::<T>(entry, key, &format!("{} from {} to {}", T::EXPECTED, min.show(), max.show())))
}

/// Declares the configuration: `path` section: `Type { key: type = default, [min, max]; … }`, each with its
/// documentation. `..field: Type;` at the end are keys that several sections have.
macro_rules! sections {
    ($(
        $(#[doc = $section_doc:literal])*
        $section_path:literal $section:ident: $Section:ident {
            $(
                $(#[doc = $doc:literal])*
                $key:ident: $type:ty = $default:expr $(, [$min:expr, $max:expr])?;
            )*
            $(..$shared:ident: $Shared:ident;)?
        }
    )*) => {
        $(
            $(#[doc = $section_doc])*
            #[derive(Debug, Clone, PartialEq)]
            #[allow(clippy::struct_field_names)]
            pub struct $Section {
                $($(#[doc = $doc])* pub $key: $type,)*
                $(/// Keys that several sections have.
                pub $shared: $Shared,)?
            }

            impl Default for $Section {
                fn default() -> Self {
                    Self { $($key: $default,)* $($shared: $Shared::default(),)? }
                }
            }
        )*

        /// Everything that can be configured.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Config {
            $($(#[doc = $section_doc])* pub $section: $Section,)*
        }

        impl Config {
            /// Sets one key. `None` when there is no such key.
            pub(crate) fn set(&mut self, key: &str, entry: &$crate::config::source::Entry)
                -> Option<Result<(), $crate::config::source::Problem>>
            {
                $($(
                    if key == concat!($section_path, ".", stringify!($key)) {
                        let value = $crate::config::schema::read::<$type>(entry, key);
                        $(let value = value.and_then(|value| {
                            $crate::config::schema::within(value, ($min, $max), entry, key)
                        });)?
                        return Some(value.map(|value| self.$section.$key = value));
                    }
                )*
                $(if let Some(name) = key.strip_prefix(concat!($section_path, "."))
                    && let Some(set) = self.$section.$shared.set(name, key, entry)
                {
                    return Some(set);
                })?)*
                None
            }

            /// The values of all keys as texts, but for secrets and for files of certificates.
            pub(crate) fn shown(&self) -> Vec<(&'static str, String)> {
                let all = [$($(
                    (!<$type as $crate::config::value::Setting>::IS_SECRET).then(|| (
                        concat!($section_path, ".", stringify!($key)),
                        $crate::config::value::Setting::show(&self.$section.$key),
                    )),
                )*)*];
                all.into_iter().flatten().collect()
            }

            /// All sections and keys, in the order of the file.
            pub(crate) fn describe() -> Vec<$crate::config::schema::SectionInfo> {
                let config = Self::default();
                vec![$(
                    $crate::config::schema::SectionInfo {
                        path: $section_path,
                        docs: &[$($section_doc),*],
                        keys: [vec![$(
                            $crate::config::schema::KeyInfo {
                                path: concat!($section_path, ".", stringify!($key)).to_owned(),
                                docs: &[$($doc),*],
                                default: $crate::config::value::Setting::show(&config.$section.$key),
                            },
                        )*] $(, $Shared::describe($section_path))?].into_iter().flatten().collect(),
                    },
                )*]
            }
        }
    };
}
pub(crate) use sections;
