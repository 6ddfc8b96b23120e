//! The server that `isolab server start` keeps running, for every later command of the same user.
//!
//! Its folder lies in memory where that can be, else in the cache: not among the temporary files, which systems clear by
//! age. What a later command needs to know lies in the cache; whether the server is there, the processes tell.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::account::Account;
use super::configuration::Extra;
use super::file_lock::FileLock;

use super::postmaster::{self, Home};
use super::{FindOptions, ServerError, ServerVersion, cache, files, find, guardian, memory, template, throwaway};
use crate::wire::{ConnectOptions, Host};

/// For another isolab that starts or stops the server.
const LOCK_LIMIT: Duration = Duration::from_secs(120);

/// A socket's path may have 103 letters on macOS and 107 on Linux; this is without `/.s.PGSQL.65535`.
const LONGEST_FOLDER: usize = 88;

/// The kept server, running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub version: ServerVersion,
    /// The folder of the programs that it runs from.
    pub programs: PathBuf,
    options: ConnectOptions,
}

/// What a later command needs to know.
#[derive(Serialize, Deserialize)]
struct State {
    version: String,
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    password: String,
}

impl Kept {
    /// The kept server of this user, if one is running.
    pub fn find() -> Result<Option<Kept>, ServerError> {
        let place = Place::locate()?;
        let Some(state) = place.read_state()? else { return Ok(None) };
        let Some(version) = ServerVersion::parse(&state.version) else { return Ok(None) };
        let home = place.homes.iter().find(|home| home.folder == state.folder);
        if home.and_then(|home| home.process(place.account.uid())).is_none() {
            return Ok(None);
        }
        let options = throwaway::superuser(&state.folder, state.port);
        let options = ConnectOptions { password: Some(state.password), ..options };
        Ok(Some(Kept { version, programs: state.programs, options }))
    }

    /// Starts one, unless it is running already; whether it was started now.
    pub fn start(options: &FindOptions) -> Result<(Kept, bool), ServerError> {
        let place = Place::locate()?;
        let _lock = place.lock()?;
        if let Some(kept) = Kept::find()? {
            return Ok((kept, false));
        }
        place.clear()?;
        let started = place.start(options);
        if started.is_err() {
            place.clear()?;
        }
        Ok((started?, true))
    }

    /// Stops it and removes its folder. False when there is none.
    pub fn stop() -> Result<bool, ServerError> {
        let place = Place::locate()?;
        let _lock = place.lock()?;
        place.clear()
    }

    /// Clears up after a start that was cut off and a server that died. True if there was something.
    pub fn clean() -> Result<bool, ServerError> {
        let place = Place::locate()?;
        let _lock = place.lock()?;
        if Kept::find()?.is_some() { Ok(false) } else { place.clear() }
    }

    /// The superuser over the Unix socket, which only this user can reach.
    pub fn options(&self) -> &ConnectOptions {
        &self.options
    }

    /// A URL for other programs: over the socket, without a password; or over the loopback port, with it.
    pub fn url(&self, tcp: bool) -> String {
        let ConnectOptions { host, port, user, password, database, .. } = &self.options;
        match host {
            Host::Unix(folder) if !tcp => {
                format!("postgres://{user}@/{database}?host={}&port={port}", folder.display())
            }
            _ => format!("postgres://{user}:{}@127.0.0.1:{port}/{database}", password.as_deref().unwrap_or_default()),
        }
    }
}

/// The kept server's files.
struct Place {
    /// Where the server may be.
    homes: Vec<Home>,
    cache: PathBuf,
    state: PathBuf,
    lock: PathBuf,
    account: Account,
}

impl Place {
    fn locate() -> Result<Place, ServerError> {
        let cache = cache::folder()?;
        let folders = memory::folder().map(|memory| in_memory(&memory, &cache)).into_iter().chain([in_cache(&cache)]);
        Ok(Place {
            homes: folders.map(|folder| Home { folder }).collect(),
            state: cache.join("kept.json"),
            lock: cache.join("kept.lock"),
            cache,
            account: Account::for_server()?,
        })
    }

    fn lock(&self) -> Result<FileLock, ServerError> {
        FileLock::take(&self.lock, "starts or stops the kept server", LOCK_LIMIT)
    }

    fn read_state(&self) -> Result<Option<State>, ServerError> {
        match fs::read(&self.state) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ServerError::file("read", &self.state)(error)),
        }
    }

    fn start(&self, options: &FindOptions) -> Result<Kept, ServerError> {
        let in_memory = memory::folder_with_room().map(|memory| in_memory(&memory, &self.cache));
        let home = Home { folder: in_memory.unwrap_or_else(|| in_cache(&self.cache)) };
        let folder = &home.folder;
        if folder.as_os_str().len() > LONGEST_FOLDER {
            return Err(ServerError::LongPath { path: folder.clone() });
        }
        let bin = find::programs(options)?;
        let template = template::ready(&bin, &self.account)?;
        files::create_private(folder)?;
        throwaway::prepare(&home, &template, &self.account, &Extra::default())?;
        // The process is left to itself: whatever fails from here on, it is found by its folder.
        let (_, port) = postmaster::start(&bin, &self.account, &home, |_| {})?;
        let superuser = throwaway::superuser(folder, port);
        let password = throwaway::set_random_password(&superuser)?;
        let version = bin.version.text.clone();
        let state = State { version, programs: bin.folder, folder: folder.clone(), port, password };
        files::write_private(&self.state, &serde_json::to_vec(&state).unwrap_or_default())?;
        let options = ConnectOptions { password: Some(state.password), ..superuser };
        Ok(Kept { version: bin.version, programs: state.programs, options })
    }

    /// Stops what runs and removes what lies here. False when there was nothing.
    fn clear(&self) -> Result<bool, ServerError> {
        let there = self.state.exists() || self.homes.iter().any(|home| home.folder.exists());
        for home in &self.homes {
            home.stop(self.account.uid())?;
            files::remove(&home.folder)?;
        }
        files::remove(&self.state)?;
        Ok(there)
    }
}

fn in_cache(cache: &Path) -> PathBuf {
    cache.join("kept")
}

/// Each cache has a name of its own there.
fn in_memory(memory: &Path, cache: &Path) -> PathBuf {
    memory.join(format!("{}kept-{}", guardian::PREFIX, files::fingerprint(cache)))
}
