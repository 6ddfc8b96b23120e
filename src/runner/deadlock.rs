//! What the server says of a deadlock, in words that are the same in every run.

/// The detail of a deadlock's error with the sessions' names in place of their process numbers, and a transaction that is
/// waited for named by its owner, whose number is another one in every run.
pub fn with_names<Pid: std::fmt::Display>(detail: &str, sessions: &[(Pid, String)]) -> String {
    let mut detail = detail.to_owned();
    for (pid, name) in sessions {
        detail = detail.replace(&format!("Process {pid} "), &format!("{name} "));
        detail = detail.replace(&format!("process {pid}."), &format!("{name}."));
    }
    detail.lines().map(with_owner).collect::<Vec<_>>().join("\n")
}

fn with_owner(line: &str) -> String {
    let owned = line.split_once(" on transaction ").and_then(|(wait, rest)| {
        let (_number, owner) = rest.split_once("; blocked by ")?;
        Some(format!("{wait} on {0}'s transaction; blocked by {0}.", owner.strip_suffix('.')?))
    });
    owned.unwrap_or_else(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_numbers() {
        let sessions = [(11, "ann".to_owned()), (112, "ben".to_owned())];
        let detail = "Process 112 waits for ShareLock on transaction 861; blocked by process 11.\n\
                      Process 11 waits for AccessShareLock on relation 5 of database 1; blocked by process 112.";
        let told = "ben waits for ShareLock on ann's transaction; blocked by ann.\n\
                    ann waits for AccessShareLock on relation 5 of database 1; blocked by ben.";
        assert_eq!(with_names(detail, &sessions), told);
    }
}
