//! Files of trained heads.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Encoder;
use crate::files::whole_file;
use crate::papers::cotools::{BadHeadFile, HeadFile, Misfit, Use};

/// The most bytes of a file. The heads of the paper's 7B model have 540 MB, those of small ones 28 MB or less.
const LARGEST: u64 = 1 << 30;

/// Heads for each use, of one model.
#[derive(Clone, Debug, Default)]
pub struct LoadedHeads {
    pub question: Option<Arc<HeadFile>>,
    pub here: Option<Arc<HeadFile>>,
    pub judge: Option<Arc<HeadFile>>,
}

/// Why heads cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HeadsError {
    #[error(
        "{path}: cannot read the heads: {source}; train some with `toolyard-lab cotools train`"
    )]
    Io { path: PathBuf, source: io::Error },
    #[error("{path}: larger than {LARGEST} bytes; expected a file of `toolyard-lab cotools train`")]
    Large { path: PathBuf },
    #[error(
        "{path}: {source}; expected a file of `toolyard-lab cotools train`: train the heads again"
    )]
    Bad { path: PathBuf, source: BadHeadFile },
    #[error("{path}: {source}; `toolyard-lab cotools train` trains heads for this reader")]
    Misfit { path: PathBuf, source: Misfit },
    #[error("{path}: these are second heads for `{of:?}`; name one file for each use")]
    Twice { path: PathBuf, of: Use },
    #[error("{path}: cannot write the heads: {source}")]
    Write { path: PathBuf, source: io::Error },
}

impl LoadedHeads {
    /// Loads files of heads that fit this model, one for each use at most.
    ///
    /// # Errors
    /// A file cannot be read, has no heads, does not fit the model, or is the second one for its use.
    pub fn load(files: &[PathBuf], encoder: &Encoder) -> Result<Self, HeadsError> {
        let mut loaded = Self::default();
        for path in files {
            let heads = read(path)?;
            let of = heads.about.of;
            check(path, &heads, encoder, of)?;
            let place = match of {
                Use::Question => &mut loaded.question,
                Use::Here => &mut loaded.here,
                Use::Judge => &mut loaded.judge,
            };
            if place.replace(Arc::new(heads)).is_some() {
                return Err(HeadsError::Twice { path: path.clone(), of });
            }
        }
        Ok(loaded)
    }
}

/// Loads heads for this use.
///
/// # Errors
/// The file cannot be read, has no heads, or does not fit the model or the use.
pub fn load(path: &Path, encoder: &Encoder, wanted: Use) -> Result<Arc<HeadFile>, HeadsError> {
    let heads = read(path)?;
    check(path, &heads, encoder, wanted)?;
    Ok(Arc::new(heads))
}

/// Saves heads, replacing the file's content.
///
/// # Errors
/// The file cannot be written.
pub fn save(path: &Path, heads: &HeadFile) -> Result<(), HeadsError> {
    let write = |source| HeadsError::Write { path: path.to_owned(), source };
    let bad = |source| HeadsError::Bad { path: path.to_owned(), source };
    let bytes = heads.to_bytes().map_err(bad)?;
    whole_file::write(path, |out| out.write_all(&bytes)).map_err(write)
}

fn check(path: &Path, heads: &HeadFile, encoder: &Encoder, wanted: Use) -> Result<(), HeadsError> {
    let misfit = |source| HeadsError::Misfit { path: path.to_owned(), source };
    heads.check(encoder.as_reader(), wanted).map_err(misfit)
}

fn read(path: &Path) -> Result<HeadFile, HeadsError> {
    let io = |source| HeadsError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(io)?;
    // A pipe may have no end, and a folder cannot be read.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > LARGEST {
        return Err(HeadsError::Large { path: path.to_owned() });
    }
    HeadFile::of_bytes(&bytes).map_err(|source| HeadsError::Bad { path: path.to_owned(), source })
}
