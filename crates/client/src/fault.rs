//! Causes of connections that cannot be made.

use std::{error::Error as StdError, fmt, io};

use tokio_rustls::rustls::{AlertDescription, CertificateError, Error as TlsFailure};

/// The reason why there is no connection, as far as a user can do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectFault {
    /// No such host, or nothing listens there.
    NothingAnswers,
    /// None of the trusted authorities signed the certificate of the server.
    UntrustedCertificate,
    /// The server shows the certificate of an authority as its own.
    AuthorityCertificate,
    /// The certificate is for another host name.
    OtherName,
    /// The certificate has expired, is not valid yet, or cannot be read.
    UnusableCertificate,
    /// The server does not speak TLS.
    NoTls,
    /// The server wants to see a certificate of the client, or another one.
    ClientCertificate,
    /// Anything else: the server answered, but not as expected.
    Other,
}

/// An error of a connection with its fault, carried through errors of other libraries.
#[derive(Debug)]
pub(crate) struct FaultyConnection {
    pub(crate) fault: ConnectFault,
    reason: String,
}

impl fmt::Display for FaultyConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl StdError for FaultyConnection {}

/// The error of a TCP connection: nothing is known of a server.
pub(crate) fn unreachable(error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        FaultyConnection { fault: ConnectFault::NothingAnswers, reason: error.to_string() },
    )
}

/// The error of a TLS handshake.
pub(crate) fn handshake(error: &io::Error) -> io::Error {
    let fault = match error.get_ref().and_then(|inner| inner.downcast_ref::<TlsFailure>()) {
        Some(failure) => fault_of(failure),
        // Servers that do not speak TLS hang up, often before they answer.
        None if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            ConnectFault::NoTls
        }
        None => ConnectFault::Other,
    };
    io::Error::new(error.kind(), FaultyConnection { fault, reason: error.to_string() })
}

fn fault_of(failure: &TlsFailure) -> ConnectFault {
    match failure {
        TlsFailure::InvalidCertificate(error) => match error {
            CertificateError::UnknownIssuer => ConnectFault::UntrustedCertificate,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                ConnectFault::OtherName
            }
            // The library has no variant for it.
            error if format!("{error:?}").contains("CaUsedAsEndEntity") => ConnectFault::AuthorityCertificate,
            _ => ConnectFault::UnusableCertificate,
        },
        TlsFailure::InvalidMessage(_) => ConnectFault::NoTls,
        TlsFailure::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown,
        ) => ConnectFault::ClientCertificate,
        _ => ConnectFault::Other,
    }
}

/// The fault somewhere in a chain of errors.
pub(crate) fn fault_in(error: &(dyn StdError + 'static)) -> ConnectFault {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(io) = error.downcast_ref::<io::Error>()
            && let Some(inner) = io.get_ref()
        {
            if let Some(faulty) = inner.downcast_ref::<FaultyConnection>() {
                return faulty.fault;
            }
            // Servers refuse certificates of clients after the handshake, in the place of the first answer.
            if let Some(failure) = inner.downcast_ref::<TlsFailure>() {
                return fault_of(failure);
            }
        }
        next = error.source();
    }
    ConnectFault::Other
}

/// An error with the errors that caused it, outermost first, each named once.
pub(crate) fn whole(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let part = error.to_string();
        if !text.ends_with(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        next = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(failure: TlsFailure) -> ConnectFault {
        let wrapped = handshake(&io::Error::new(io::ErrorKind::InvalidData, failure));
        // As libraries wrap it once more.
        fault_in(&io::Error::other(wrapped.into_inner().unwrap()))
    }

    #[test]
    fn faults_are_told_apart() {
        let certificate = TlsFailure::InvalidCertificate;
        assert_eq!(of(certificate(CertificateError::UnknownIssuer)), ConnectFault::UntrustedCertificate);
        assert_eq!(of(certificate(CertificateError::NotValidForName)), ConnectFault::OtherName);
        assert_eq!(of(certificate(CertificateError::Expired)), ConnectFault::UnusableCertificate);
        let alert = TlsFailure::AlertReceived(AlertDescription::CertificateRequired);
        assert_eq!(of(alert), ConnectFault::ClientCertificate);
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(fault_in(&unreachable(&refused)), ConnectFault::NothingAnswers);
        let closed = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert_eq!(fault_in(&handshake(&closed)), ConnectFault::NoTls);
        assert_eq!(fault_in(&io::Error::other("else")), ConnectFault::Other);
    }
}
