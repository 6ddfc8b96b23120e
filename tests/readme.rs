//! What the README shows is what the program reads: every scenario in it is checked and staged.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

/// The blocks between ```` ```sql ```` and ```` ``` ````, each with the line that it begins in.
fn sql_blocks(readme: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (index, line) in readme.lines().enumerate() {
        match (inside, line) {
            (false, "```sql") => {
                inside = true;
                blocks.push((index + 2, String::new()));
            }
            (true, "```") => inside = false,
            (true, _) => {
                if let Some((_, text)) = blocks.last_mut() {
                    *text += line;
                    text.push('\n');
                }
            }
            _ => {}
        }
    }
    assert!(!inside, "a block that does not end");
    blocks
}

#[test]
fn every_scenario_is_free_of_mistakes_and_gives_what_it_expects() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    let blocks = sql_blocks(&readme);
    assert!(!blocks.is_empty());
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    for (line, text) in blocks {
        assert!(text.contains("-- @title"), "README.md:{line}: no whole scenario");
        let path = folder.path().join(format!("readme-line-{line}.sql"));
        fs::write(&path, text).expect("a file");
        files.push(path);
    }
    let isolab = |args: &[&str]| {
        let mut command = Command::cargo_bin("isolab").expect("the program");
        command.args(args).args(&files).env("ISOLAB_FETCH", "1");
        command.assert().success().get_output().stdout.clone()
    };
    let linted = String::from_utf8(isolab(&["lint"])).expect("UTF-8");
    assert!(linted.ends_with("no mistakes\n"), "{linted}");
    isolab(&["run", "--isolation", "all", "--fix", "all", "--quiet"]);
}
