//! For the tests of this module.

use super::{SpecFile, parse};

/// A file that has no mistakes.
pub fn spec(text: &str) -> SpecFile {
    parse("test.spec", text.to_owned()).expect("a spec without mistakes")
}
