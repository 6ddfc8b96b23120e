//! An output beside the expected ones.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// Two outputs that have little in common are compared roughly after this.
const DIFF_LIMIT: Duration = Duration::from_secs(5);

/// How an output compares with the expected ones of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// It is one of them, byte for byte.
    Same { matched: String },
    /// The one with the fewest different lines, and a unified diff from there.
    Differs { nearest: String, diff: Vec<u8> },
    /// There is none.
    Missing,
}

/// Compares with `NAME.out` and `NAME_0.out` to `NAME_9.out`, those of them that are in the folder.
pub fn compare(name: &str, folder: &Path, actual: &[u8]) -> io::Result<Comparison> {
    let mut nearest: Option<(usize, Comparison)> = None;
    let numbered = (0..10).map(|number| format!("{name}_{number}.out"));
    for file in std::iter::once(format!("{name}.out")).chain(numbered) {
        let expected = match fs::read(folder.join(&file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            expected => expected?,
        };
        if expected == actual {
            return Ok(Comparison::Same { matched: file });
        }
        let lines = TextDiff::configure().timeout(DIFF_LIMIT).diff_lines(expected.as_slice(), actual);
        let distance = lines.iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal).count();
        if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
            let mut diff = Vec::new();
            let names = (folder.join(&file).display().to_string(), format!("{name}.out as it came"));
            lines.unified_diff().context_radius(3).header(&names.0, &names.1).to_writer(&mut diff)?;
            nearest = Some((distance, Comparison::Differs { nearest: file, diff }));
        }
    }
    Ok(nearest.map_or(Comparison::Missing, |(_, comparison)| comparison))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(files: &[(&str, &[u8])], actual: &[u8]) -> Comparison {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let comparison = compare("x", folder.path(), actual).unwrap();
        let path = format!("{}/", folder.path().display());
        match comparison {
            Comparison::Differs { nearest, diff } => {
                let diff = String::from_utf8(diff).unwrap().replace(&path, "");
                Comparison::Differs { nearest, diff: diff.into_bytes() }
            }
            other => other,
        }
    }

    #[test]
    fn any_of_the_expected_outputs_will_do() {
        let files: [(&str, &[u8]); 3] = [("x.out", b"a\n"), ("x_1.out", b"b\xff\n"), ("x_10.out", b"c\n")];
        assert_eq!(compared(&files, b"b\xff\n"), Comparison::Same { matched: "x_1.out".to_owned() });
        assert!(matches!(compared(&files, b"c\n"), Comparison::Differs { .. }));
        assert_eq!(compared(&[("y.out", b"a\n")], b"a\n"), Comparison::Missing);
    }

    #[test]
    fn otherwise_the_nearest_is_shown() {
        let files: [(&str, &[u8]); 2] = [("x.out", b"a\nb\nc\n"), ("x_2.out", b"1\n2\n3\n")];
        let diff = "--- x_2.out\n+++ x.out as it came\n@@ -1,3 +1,3 @@\n 1\n 2\n-3\n+4\n";
        let expected = Comparison::Differs { nearest: "x_2.out".to_owned(), diff: diff.as_bytes().to_vec() };
        assert_eq!(compared(&files, b"1\n2\n4\n"), expected);
    }
}
