//! Running other programs to their end, with a limit and an eye on signals.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::ServerError;
use crate::interrupt;

/// How often a wait looks again.
pub const POLL: Duration = Duration::from_millis(5);

/// Runs `command` and returns what it wrote to standard output and error. It runs in a process group of its own, so
/// that Ctrl-C reaches us alone, and is killed when we are interrupted or `limit` has passed.
pub fn run(command: &mut Command, limit: Duration) -> Result<String, ServerError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |reason: String| ServerError::Program { program: program.clone(), reason };
    let io_failed = |error: io::Error| failed(error.to_string());
    // A file takes any amount of output without a thread that reads it meanwhile.
    let mut output = tempfile::tempfile().map_err(io_failed)?;
    let writer = || output.try_clone().map(Stdio::from);
    command.stdin(Stdio::null()).stdout(writer().map_err(io_failed)?).stderr(writer().map_err(io_failed)?);
    let mut child = command.process_group(0).spawn().map_err(io_failed)?;
    let status = match wait(&mut child, &program, limit) {
        Ok(status) => status,
        Err(error) => {
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let _ = child.wait();
            return Err(error);
        }
    };
    let text = read_all(&mut output).map_err(io_failed)?;
    if status.success() { Ok(text) } else { Err(failed(format!("{status}\n{}", tail(&text)))) }
}

/// The last lines of a text, for an error.
pub fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

fn wait(child: &mut Child, program: &str, limit: Duration) -> Result<ExitStatus, ServerError> {
    let start = Instant::now();
    loop {
        let status = child.try_wait();
        match status.map_err(|error| ServerError::Program { program: program.to_owned(), reason: error.to_string() })? {
            Some(status) => return Ok(status),
            None if start.elapsed() > limit => return Err(ServerError::TooSlow { what: program.to_owned(), limit }),
            None => interrupt::check()?,
        }
        thread::sleep(POLL);
    }
}

fn read_all(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_failure_are_told() {
        let limit = Duration::from_secs(10);
        assert_eq!(run(Command::new("sh").args(["-c", "echo out; echo err >&2"]), limit).unwrap(), "out\nerr\n");
        let error = run(Command::new("sh").args(["-c", "echo broken; exit 3"]), limit).unwrap_err().to_string();
        assert!(error.contains("sh failed") && error.contains("3\nbroken"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let error = run(Command::new("sleep").arg("100"), Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.to_string(), "sleep took longer than 20ms");
    }
}
