//! A file, or a folder with its files, as bytes: a line of JSON with the names, and then the contents.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::files::sha256;
use crate::net::known::without_known;
use crate::ui::text::number;

/// The most bytes of the files of a job.
const MOST: u64 = 256 << 20;
/// Names of what is made again, or belongs to this machine: never sent, wherever it is.
const LEFT_OUT: [&str; 8] = [
    ".git",
    ".venv",
    "__pycache__",
    "node_modules",
    "target",
    "learned.json",
    "experience.sqlite",
    ".DS_Store",
];
/// Names that begin so hold keys.
const KEYS: &str = ".env";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packed {
    /// Below the folder; empty for a file alone.
    path: PathBuf,
    mode: u32,
    len: usize,
}

/// Files that are not sent.
#[derive(Clone, Debug, Default)]
pub struct Excluded {
    /// Names, or paths below a folder that is sent.
    pub names: Vec<PathBuf>,
}

impl Excluded {
    fn has(&self, below: &Path) -> bool {
        let name = below.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let is_named = |it: &PathBuf| *it == below || it.as_os_str() == &*name;
        LEFT_OUT.contains(&&*name) || name.starts_with(KEYS) || self.names.iter().any(is_named)
    }
}

/// The files at this path.
///
/// # Errors
/// A file cannot be read, has a key in it, or all are too many.
pub fn pack(root: &Path, excluded: &Excluded) -> Result<Vec<u8>, String> {
    let mut found = BTreeSet::new();
    if root.is_dir() {
        walk(root, Path::new(""), excluded, &mut found)?;
    } else {
        found.insert(PathBuf::new());
    }
    let (mut list, mut contents, mut all) = (Vec::new(), Vec::new(), 0);
    for path in found {
        let place = if path.as_os_str().is_empty() { root.to_owned() } else { root.join(&path) };
        let wrong = |error: io::Error| format!("{}: {error}", place.display());
        let about = place.metadata().map_err(wrong)?;
        all += about.len();
        // They are counted to the end, so that the size is the whole one.
        if all > MOST {
            continue;
        }
        let bytes = fs::read(&place).map_err(wrong)?;
        if has_key(&bytes) {
            return Err(format!(
                "{}: a key is in it, and no key is sent; use a variable in its place, or --exclude {}",
                place.display(),
                path.display()
            ));
        }
        list.push(Packed { path, mode: about.permissions().mode() & 0o777, len: bytes.len() });
        contents.extend(bytes);
    }
    if all > MOST {
        let (bytes, most) = (number(all), number(MOST));
        return Err(format!(
            "{}: {bytes} bytes of files are too many for a job: at most {most}; leave some out with --exclude NAME",
            root.display()
        ));
    }
    let mut packed = serde_json::to_vec(&list).map_err(|error| error.to_string())?;
    packed.push(b'\n');
    packed.extend(contents);
    Ok(packed)
}

fn walk(
    root: &Path,
    below: &Path,
    excluded: &Excluded,
    found: &mut BTreeSet<PathBuf>,
) -> Result<(), String> {
    let folder = root.join(below);
    let wrong = |error: io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(&folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let path = below.join(entry.file_name());
        if excluded.has(&path) {
            continue;
        }
        let kind = entry.file_type().map_err(wrong)?;
        if kind.is_dir() {
            walk(root, &path, excluded, found)?;
        } else if entry.path().is_file() {
            // A link to a file counts as that file; other links and sockets stay here.
            found.insert(path);
        }
    }
    Ok(())
}

/// Writes packed files to this path, which is a folder, or a file that was packed alone.
///
/// # Errors
/// The bytes are no such files, or cannot be written.
pub fn unpack(bytes: &[u8], root: &Path) -> io::Result<()> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "no packed files of a job");
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(wrong)?;
    let list: Vec<Packed> = serde_json::from_slice(&bytes[..end]).map_err(|_| wrong())?;
    let mut rest = &bytes[end + 1..];
    if !list.iter().any(|packed| packed.path.as_os_str().is_empty()) {
        fs::create_dir_all(root)?;
    }
    for Packed { path, mode, len } in list {
        let own = rest.split_at_checked(len).filter(|_| is_below(&path));
        let (own, after) = own.ok_or_else(wrong)?;
        rest = after;
        let place = if path.as_os_str().is_empty() { root.to_owned() } else { root.join(path) };
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&place, own)?;
        fs::set_permissions(&place, fs::Permissions::from_mode(mode | 0o600))?;
    }
    Ok(())
}

/// Whether a key that this process has read is in a text.
pub fn has_key(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    without_known(&text) != text
}

/// A text as a file that was packed alone.
///
/// # Errors
/// Its list has no form in JSON.
pub fn packed_text(text: &str) -> serde_json::Result<Vec<u8>> {
    let list = [Packed { path: PathBuf::new(), mode: 0o600, len: text.len() }];
    Ok([serde_json::to_vec(&list)?.as_slice(), b"\n", text.as_bytes()].concat())
}

/// Whether a path leads below the folder that it is joined to.
pub fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// The name of packed files.
pub fn hash(bytes: &[u8]) -> String {
    sha256::of_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_out_as_they_went_in_without_what_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for (path, text) in [
            ("tools/a.toml", "name"),
            ("run.sh", "#!/bin/sh\n"),
            (".env", "OPENAI_API_KEY=sk"),
            (".git/HEAD", "x"),
            ("big/data.bin", "0000"),
            ("empty.txt", ""),
        ] {
            let path = from.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::set_permissions(from.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        let excluded = Excluded { names: vec!["big".into()] };
        let bytes = pack(&from, &excluded).unwrap();
        unpack(&bytes, &to).unwrap();
        let mut names = BTreeSet::new();
        walk(&to, Path::new(""), &Excluded::default(), &mut names).unwrap();
        let expected = ["empty.txt", "run.sh", "tools/a.toml"].map(PathBuf::from);
        assert_eq!(names, expected.into());
        assert_eq!(to.join("run.sh").metadata().unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(pack(&to, &excluded).unwrap(), bytes, "the same files have the same hash");
        let alone = pack(&from.join("run.sh"), &excluded).unwrap();
        unpack(&alone, &folder.path().join("other/one.sh")).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("other/one.sh")).unwrap(), "#!/bin/sh\n");
    }

    #[test]
    fn hostile_files_stay_below_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["../out", "/etc/out", "a/../../out"] {
            let list = serde_json::json!([{"path": path, "mode": 0o644, "len": 1}]);
            let bytes = [list.to_string().as_bytes(), b"\nx"].concat();
            assert!(unpack(&bytes, &folder.path().join("in")).is_err(), "{path}");
        }
        for bytes in [&b""[..], b"[]", b"[{\"path\":\"a\",\"mode\":1,\"len\":9}]\nx", b"x\n"] {
            assert!(unpack(bytes, &folder.path().join("in")).is_err());
        }
        assert!(!folder.path().join("out").exists());
    }

    #[test]
    fn files_that_are_too_large_are_refused_with_their_size() {
        let folder = tempfile::tempdir().unwrap();
        fs::File::create(folder.path().join("model.bin")).unwrap().set_len(2 << 30).unwrap();
        let why = pack(folder.path(), &Excluded::default()).unwrap_err();
        assert!(why.contains("2,147,483,648 bytes") && why.contains("--exclude"), "{why}");
    }
}
