//! The password file, `~/.pgpass`: <https://www.postgresql.org/docs/current/libpq-pgpass.html>.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::wire::Host;

/// Whose password is wanted.
pub struct Login<'a> {
    pub host: &'a Host,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// The password in the file, if there is one. Like libpq, this does not trust a file that others may read.
pub fn look_up(file: &Path, login: &Login) -> Option<String> {
    let metadata = fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.mode() & 0o077 != 0 {
        return None;
    }
    find(&fs::read_to_string(file).ok()?, login)
}

fn find(text: &str, login: &Login) -> Option<String> {
    let port = login.port.to_string();
    let host = match login.host {
        Host::Tcp(name) => name.clone(),
        // In this file the folder of a socket goes by the name of localhost as well.
        Host::Unix(folder) => folder.to_string_lossy().into_owned(),
    };
    let is_socket = matches!(login.host, Host::Unix(_));
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = fields(line).into_iter();
        let wanted = fields.next()?;
        let host_fits = wanted == "*" || wanted == host || (is_socket && wanted == "localhost");
        let others = [port.as_str(), login.database, login.user];
        let rest_fits = others.into_iter().all(|own| fields.next().is_some_and(|field| field == "*" || field == own));
        (host_fits && rest_fits).then(|| fields.next()).flatten()
    })
}

/// The fields between colons; a backslash takes the next letter as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![];
    let mut field = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => field.extend(letters.next()),
            ':' => fields.push(std::mem::take(&mut field)),
            letter => field.push(letter),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const FILE: &str = "# comment\nother:5432:*:*:no\n::1\nlocalhost:*:shop:alice:it\\:s \\\\ me\n*:5433:*:alice:any\n";

    fn password(host: &Host, port: u16, database: &str) -> Option<String> {
        find(FILE, &Login { host, port, database, user: "alice" })
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let (tcp, unix) = (Host::Tcp("localhost".to_owned()), Host::Unix("/run/postgresql".into()));
        assert_eq!(password(&tcp, 5432, "shop").as_deref(), Some(r"it:s \ me"));
        assert_eq!(password(&unix, 5432, "shop").as_deref(), Some(r"it:s \ me"));
        assert_eq!(password(&tcp, 5433, "else").as_deref(), Some("any"));
        assert_eq!(password(&tcp, 5432, "else"), None);
    }

    #[test]
    fn a_file_that_others_may_read_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        fs::write(&file, FILE).unwrap();
        let host = Host::Tcp("h".to_owned());
        for (mode, found) in [(0o600, true), (0o640, false)] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let login = Login { host: &host, port: 5433, database: "d", user: "alice" };
            assert_eq!(look_up(&file, &login).is_some(), found);
        }
    }
}
