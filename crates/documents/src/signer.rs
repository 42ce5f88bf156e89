//! Where no bucket is built in, nothing makes links.

use std::fmt::Debug;
use std::time::Duration;

use futures::future::BoxFuture;
use http::Method;
use object_store::path::Path as Place;

/// Makes links; nothing implements it. The link has another type than String, as the one of buckets.
pub(crate) trait Signer: Debug + Send + Sync {
    /// A URL that is good for a while.
    fn signed_url<'a>(
        &'a self,
        method: Method,
        place: &'a Place,
        life: Duration,
    ) -> BoxFuture<'a, object_store::Result<Box<str>>>;
}
