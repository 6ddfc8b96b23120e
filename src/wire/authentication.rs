//! Logging in: trust, cleartext, MD5 and SCRAM-SHA-256, with channel binding where TLS offers it.

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use super::WireError;
use super::startup::Startup;

/// Answers what the server asks until it says that the user is who it claims to be.
pub(super) fn authenticate(startup: &mut Startup<'_>) -> Result<(), WireError> {
    loop {
        match startup.receive()? {
            Message::AuthenticationOk => return Ok(()),
            Message::AuthenticationCleartextPassword => {
                let password = password(startup)?;
                startup.send(|buffer| frontend::password_message(password.as_bytes(), buffer))?;
            }
            Message::AuthenticationMd5Password(body) => {
                let user = startup.options.user.as_bytes();
                let hash = md5_hash(user, password(startup)?.as_bytes(), body.salt());
                startup.send(|buffer| frontend::password_message(hash.as_bytes(), buffer))?;
            }
            Message::AuthenticationSasl(body) => scram(startup, &body)?,
            Message::AuthenticationGss | Message::AuthenticationSspi | Message::AuthenticationKerberosV5 => {
                return Err(startup.cannot_log_in("the server asks for Kerberos, which is not supported"));
            }
            _ => return Err(startup.cannot_log_in("the server asks for a way to log in that is not supported")),
        }
    }
}

fn password<'a>(startup: &Startup<'a>) -> Result<&'a str, WireError> {
    startup.options.password.as_deref().ok_or_else(|| {
        startup.cannot_log_in("the server asks for a password, and none was given (PGPASSWORD, or in the URL)")
    })
}

/// RFC 5802 and RFC 7677; the server's signature is checked, so that both sides know whom they talk to.
fn scram(startup: &mut Startup<'_>, body: &AuthenticationSaslBody) -> Result<(), WireError> {
    let offered: Vec<&str> = body.mechanisms().collect().map_err(WireError::protocol)?;
    let offers = |mechanism| offered.contains(&mechanism);
    let (mechanism, binding) = match startup.channel.channel_binding() {
        Some(end_point) if offers(SCRAM_SHA_256_PLUS) => {
            (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(end_point))
        }
        Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
        None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
    };
    if !offers(mechanism) {
        return Err(startup.cannot_log_in(&format!("the server offers only {}", offered.join(", "))));
    }

    let mut scram = ScramSha256::new(password(startup)?.as_bytes(), binding);
    startup.send(|buffer| frontend::sasl_initial_response(mechanism, scram.message(), buffer))?;
    let Message::AuthenticationSaslContinue(challenge) = startup.receive()? else {
        return Err(WireError::protocol("no SCRAM challenge where one was due"));
    };
    scram.update(challenge.data()).map_err(|error| startup.cannot_log_in(&error.to_string()))?;
    startup.send(|buffer| frontend::sasl_response(scram.message(), buffer))?;
    let Message::AuthenticationSaslFinal(signature) = startup.receive()? else {
        return Err(WireError::protocol("no SCRAM signature where one was due"));
    };
    scram.finish(signature.data()).map_err(|error| startup.cannot_log_in(&error.to_string()))
}
