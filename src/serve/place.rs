//! The place of a session's socket.
//!
//! Paths of sockets are limited to about a hundred bytes, so it cannot be beside the journal. It is in a private folder
//! of this machine, named after the device and the number of the journal's file. Such a name fits, and does not depend
//! on how the journal's path is written.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, io, process};

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType};
use rustix::process::geteuid;
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};

/// The longest path of a socket on the systems supported, without its end.
const LONGEST: usize = 103;

/// The folders in which sockets can be, in order of preference. Two programs of one user may see different variables,
/// so a program that looks for a socket looks in each of them.
pub fn folders() -> Vec<PathBuf> {
    let uid = geteuid().as_raw();
    let own = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let system = Path::new("/run/user").join(uid.to_string());
    let mut folders: Vec<_> = own
        .into_iter()
        .chain(system.is_dir().then_some(system))
        .map(|own| own.join("toolyard"))
        .collect();
    // The variable TMPDIR may differ between programs.
    folders.push(Path::new("/tmp").join(format!("toolyard-{uid}")));
    folders.dedup();
    folders
}

/// The home folder that this process is given: sessions of another one are somebody else's, such as those of tests.
pub fn home() -> String {
    env::var_os("HOME").unwrap_or_default().to_string_lossy().into_owned()
}

/// The name of the socket of a session with this journal.
fn name_of(journal: &Path) -> io::Result<String> {
    let about = journal.metadata()?;
    Ok(format!("{:x}-{:x}.sock", about.dev(), about.ino()))
}

/// The socket of the session that writes this journal; `None` if there is none.
///
/// # Errors
/// The journal cannot be accessed, or the socket belongs to somebody else.
pub fn socket_of(journal: &Path) -> io::Result<Option<PathBuf>> {
    let name = name_of(journal)?;
    for folder in folders() {
        let path = folder.join(&name);
        let Ok(about) = path.symlink_metadata() else { continue };
        expect_private(&folder)?;
        if !about.file_type().is_socket() || about.uid() != geteuid().as_raw() {
            return Err(wrong(&path, "expected a socket of yours; delete it"));
        }
        return Ok(Some(path));
    }
    Ok(None)
}

/// The place for a new socket: the first folder that is private. What killed sessions left there is deleted.
///
/// # Errors
/// There is no private folder, or the journal cannot be accessed.
pub(super) fn place_for(journal: &Path) -> io::Result<PathBuf> {
    let name = name_of(journal)?;
    let mut last = None;
    for folder in folders() {
        let path = folder.join(&name);
        if path.as_os_str().len() + ADDED > LONGEST {
            last = Some(wrong(&path, "the path is too long for a socket"));
            continue;
        }
        match prepare(&folder) {
            Ok(()) => return Ok(path),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| wrong(journal, "no folder for its socket")))
}

/// Listens where screens look for the session that writes this journal. The socket ends with the folder's next session.
///
/// # Errors
/// There is no place for it, or it is taken.
pub fn listen_for(journal: &Path) -> io::Result<UnixListener> {
    UnixListener::bind(place_for(journal)?)
}

/// Reaches the session on this machine that writes this journal.
///
/// # Errors
/// There is no such session.
pub async fn dial(journal: &Path) -> io::Result<UnixStream> {
    let socket = socket_of(journal)?.ok_or(io::ErrorKind::NotFound)?;
    UnixStream::connect(socket).await
}

/// Makes a folder that is private, or checks it, and deletes what killed sessions left in it.
fn prepare(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    expect_private(folder)?;
    delete_stale(folder);
    Ok(())
}

/// Beginning of the names of folders with files of a session; the number of its process follows.
const FILES: &str = "files-";

/// A private folder for files with keys, deleted with this value. The next session deletes what a killed one leaves.
#[derive(Debug)]
pub struct SessionFolder {
    folder: TempDir,
    /// Locked as long as the process runs. A number of a process would say nothing about one in another container.
    _lock: File,
}

impl SessionFolder {
    /// # Errors
    /// There is no private folder.
    pub fn new() -> io::Result<Self> {
        let mut last = io::Error::other("no private folder");
        for place in folders() {
            match prepare(&place).and_then(|()| Self::within(&place)) {
                Ok(made) => return Ok(made),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn within(place: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let name = format!("{FILES}{}-", process::id());
        builder.prefix(&name).permissions(Permissions::from_mode(0o700));
        loop {
            let folder = builder.tempdir_in(place)?;
            // Another session may delete a folder before it is locked.
            let Ok(lock) = File::open(folder.path()) else { continue };
            lock.lock()?;
            if folder.path().is_dir() {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Suffix of a socket's name before it is served, behind the number of the process.
pub(super) const NEW: &str = ".new";
/// The most letters that such a name adds.
const ADDED: usize = 8;
/// Age from which such a socket counts as abandoned: no process takes so long to serve a new one.
const OLD: Duration = Duration::from_secs(60);

/// Checks that nobody else can put files into a folder.
pub(super) fn expect_private(folder: &Path) -> io::Result<()> {
    let about = folder.symlink_metadata()?;
    match why_not_private(&about, geteuid().as_raw()) {
        Some(why) => Err(wrong(folder, why)),
        None => Ok(()),
    }
}

fn why_not_private(about: &Metadata, uid: u32) -> Option<&'static str> {
    if !about.is_dir() {
        return Some("expected a folder and no link; delete it");
    }
    if about.uid() != uid {
        return Some("expected a folder of yours; it belongs to somebody else");
    }
    (about.mode() & 0o077 != 0).then_some("others can read this folder; set its mode to 0700")
}

fn wrong(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("{}: {why}", path.display()))
}

/// Deletes the sockets and the files of sessions that were killed.
fn delete_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_of_session = entry.file_name().to_string_lossy().starts_with(FILES);
        if is_of_session && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // The lock is held until all is deleted.
            if let Ok(lock) = File::open(&path)
                && lock.try_lock().is_ok()
            {
                let _ = fs::remove_dir_all(&path);
            }
            continue;
        }
        let is_socket = entry.file_type().is_ok_and(|kind| kind.is_socket());
        // A socket with another name is about to be served, unless its process was just killed.
        let has_name = path.extension().is_some_and(|extension| extension == "sock");
        let made = entry.metadata().and_then(|about| about.modified()).ok();
        let is_old = made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age > OLD);
        if is_socket && (has_name || is_old) && is_stale(&path) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Whether nobody serves a socket. This does not wait: a stopped session does not answer.
pub(super) fn is_stale(socket: &Path) -> bool {
    let tried = net::socket(AddressFamily::UNIX, SocketType::STREAM, None).and_then(|probe| {
        ioctl_fionbio(&probe, true)?;
        net::connect(&probe, &SocketAddrUnix::new(socket)?)
    });
    matches!(tried, Err(Errno::CONNREFUSED))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_a_folder_that_is_private_is_used() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("own");
        DirBuilder::new().mode(0o700).create(&folder).unwrap();
        assert!(expect_private(&folder).is_ok());
        let uid = geteuid().as_raw();
        let about = folder.symlink_metadata().unwrap();
        assert!(why_not_private(&about, uid + 1).unwrap().contains("somebody else"));
        symlink(&folder, home.path().join("link")).unwrap();
        let why = expect_private(&home.path().join("link")).unwrap_err().to_string();
        assert!(why.contains("no link"), "{why}");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).unwrap();
        let why = expect_private(&folder).unwrap_err().to_string();
        assert!(why.ends_with("own: others can read this folder; set its mode to 0700"), "{why}");
    }

    #[test]
    fn only_sockets_that_nobody_serves_are_deleted() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        let served = UnixListener::bind(path("a.sock")).unwrap();
        drop(UnixListener::bind(path("b.sock")).unwrap());
        fs::write(path("c.sock"), "a file").unwrap();
        drop(UnixListener::bind(path("d")).unwrap());
        delete_stale(home.path());
        let there = |name| path(name).symlink_metadata().is_ok();
        assert_eq!(
            [there("a.sock"), there("b.sock"), there("c.sock"), there("d")],
            [true, false, true, true]
        );
        drop(served);
    }

    #[test]
    fn only_files_of_sessions_that_have_ended_are_deleted() {
        let home = tempfile::tempdir().unwrap();
        let left = home.path().join("files-1-x");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("servers.json"), "a key").unwrap();
        let used = SessionFolder::within(home.path()).unwrap();
        assert_eq!(used.path().metadata().unwrap().mode() & 0o777, 0o700);
        fs::create_dir(home.path().join("else")).unwrap();
        symlink("else", home.path().join("files-2-x")).unwrap();
        delete_stale(home.path());
        assert!(!left.exists() && used.path().is_dir());
        assert!(home.path().join("else").is_dir() && home.path().join("files-2-x").is_symlink());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
