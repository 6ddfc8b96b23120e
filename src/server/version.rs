//! PostgreSQL's version, as its programs and `server_version` write it.

use std::fmt;

/// A version such as 18.6 or 19beta1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerVersion {
    pub major: u32,
    pub text: String,
}

impl ServerVersion {
    /// Reads `18.6 (Debian 18.6-1)` and `postgres (PostgreSQL) 18.6`.
    pub fn parse(text: &str) -> Option<ServerVersion> {
        let text = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        let (major, _) = leading_number(text)?;
        Some(ServerVersion { major, text: text.to_owned() })
    }

    /// For comparing: major and minor; a beta or release candidate comes before its release.
    pub fn rank(&self) -> (u32, u32) {
        let minor = leading_number(&self.text).and_then(|(_, rest)| rest.strip_prefix('.')).and_then(leading_number);
        (self.major, minor.map_or(0, |(number, _)| number + 1))
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn leading_number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        let parse = |text| ServerVersion::parse(text).unwrap();
        let debian = parse("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n");
        assert_eq!(debian, ServerVersion { major: 15, text: "15.18".to_owned() });
        assert_eq!(parse("18.6 (Homebrew)").to_string(), "18.6");
        assert!(parse("18.10").rank() > parse("18.9").rank());
        assert!(parse("19beta1").rank() > debian.rank() && parse("19beta1").rank() < parse("19.0").rank());
        assert_eq!(ServerVersion::parse("command not found"), None);
    }
}
