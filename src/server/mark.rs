//! How the lab marks what it makes: a comment that names an advisory lock, which its owner holds while it lives.

use super::ServerError;
use super::admin::Admin;

/// How all names of the lab's schemas and databases begin.
pub const PREFIX: &str = "isolab_";

/// The first of the two numbers of the lock ("isol" in ASCII), out of the way of locks that the user's programs take.
const CLASS: i32 = 0x6973_6f6c;

/// An owner of sandboxes, by the second number of its lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    key: i32,
}

impl Mark {
    /// A new owner.
    pub fn new() -> Mark {
        Mark { key: rand::random::<i32>() & i32::MAX }
    }

    /// The statement that takes the lock for as long as the session lasts.
    pub fn hold(self) -> String {
        format!("SELECT pg_advisory_lock({CLASS}, {})", self.key)
    }

    /// The text of the comment.
    pub fn comment(self) -> String {
        format!("temporary, made by isolab; its owner holds the advisory lock ({CLASS}, {})", self.key)
    }

    /// The owner that a comment names.
    pub fn read(comment: &str) -> Option<Mark> {
        let key = comment.rsplit_once(", ")?.1.strip_suffix(')')?.parse().ok()?;
        let mark = Mark { key };
        (mark.comment() == comment).then_some(mark)
    }

    /// Whether the owner is there, in whichever database it took its lock.
    pub fn owner_lives(self, admin: &mut Admin) -> Result<bool, ServerError> {
        // Two-number locks have objsubid 2.
        let query = format!(
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = {CLASS} AND objid = {} AND objsubid = 2",
            self.key
        );
        Ok(!admin.query("look at the advisory locks", &query)?.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_labs_own_comment_is_a_mark() {
        let mark = Mark::new();
        assert_eq!(Mark::read(&mark.comment()), Some(mark));
        assert_eq!(Mark::read("temporary, made by isolab (1, 2)"), None);
        assert_eq!(Mark::read(""), None);
    }
}
