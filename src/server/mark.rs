//! How the lab marks what it makes: a comment that names an advisory lock, which its owner holds while it lives.

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
}
