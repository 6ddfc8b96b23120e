//! Whether a host is this machine.

use std::net::{IpAddr, TcpListener, ToSocketAddrs};
use std::time::Duration;

use super::{ServerError, background};
use crate::wire::Host;

/// For the name server.
const LIMIT: Duration = Duration::from_secs(20);

/// Whether every address of the host is one of this machine's. A name without an address is not taken for remote: the
/// attempt to connect has the better message.
pub fn is_here(host: &Host) -> Result<bool, ServerError> {
    let name = match host {
        Host::Unix(_) => return Ok(true),
        Host::Tcp(name) => name.clone(),
    };
    if let Ok(address) = name.parse() {
        return Ok(is_own(address));
    }
    let waited_for = format!("the look-up of {name}");
    let addresses = background::run(LIMIT, waited_for, move || (name.as_str(), 0).to_socket_addrs())?;
    Ok(addresses.map_or(true, |mut addresses| addresses.all(|address| is_own(address.ip()))))
}

/// A socket can only be bound to an address that the machine has.
fn is_own(address: IpAddr) -> bool {
    address.is_loopback() || TcpListener::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_sockets_are_here_and_a_documentation_address_is_not() {
        for host in ["127.0.0.1", "127.1.2.3", "::1", "localhost"] {
            assert!(is_here(&Host::Tcp(host.to_owned())).unwrap(), "{host}");
        }
        assert!(is_here(&Host::Unix("/tmp".into())).unwrap());
        assert!(!is_here(&Host::Tcp("192.0.2.1".to_owned())).unwrap());
    }
}
