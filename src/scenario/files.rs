//! Where the files of a scenario are read from.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// No file of a scenario is larger, in bytes; more is not read into memory.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("no such file")]
    NotFound,
    #[error("it is a folder")]
    Folder,
    #[error("it is larger than {} MiB", LARGEST / 1024 / 1024)]
    TooLarge,
    #[error("it is not UTF-8: the first bad byte is in line {line}")]
    NotUtf8 { line: usize },
    #[error(transparent)]
    Io(io::Error),
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

/// Reads a scenario and the files that it names, by their paths.
pub trait FileReader {
    fn read(&self, path: &Path) -> Result<String, ReadError>;
}

/// The files of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Disk;

impl FileReader for Disk {
    fn read(&self, path: &Path) -> Result<String, ReadError> {
        let file = File::open(path).map_err(from_io)?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(ReadError::Folder);
        }
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(from_io)?;
        if bytes.len() as u64 > LARGEST {
            return Err(ReadError::TooLarge);
        }
        String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            ReadError::NotUtf8 { line: good.iter().filter(|byte| **byte == b'\n').count() + 1 }
        })
    }
}

fn from_io(error: io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound,
        _ => ReadError::Io(error),
    }
}
