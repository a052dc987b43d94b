//! Opens the reader and heads, and shows progress.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::args::ReaderArgs;
use crate::config::{Config, ReaderSettings, default_states};
use crate::encoder::Encoder;
use crate::encoder::heads;
use crate::encoder::reader_path::{NoReader, VARIABLE, reader_path};
use crate::papers::cotools::{HeadFile, Matrix, Pooling, RecipeLayer, Use};
use crate::shell::{colour::Painted, out, trouble::Trouble};

/// The cancel flag of encodings, which is never set: a command is cancelled by ending the process. States of texts read
/// by then are in the cache.
pub static GOES_ON: AtomicBool = AtomicBool::new(false);

/// Texts that are read at the same time.
const THREADS: usize = 2;

/// Opens the encoder that the arguments name.
///
/// # Errors
/// No file is named, or it cannot be opened.
pub fn encoder(args: &ReaderArgs) -> Result<Encoder, Trouble> {
    let path = model(args)?.map_err(Trouble::usage)?;
    let cache = args.cache.clone().or_else(default_states);
    let encoder = Encoder::open(&path, cache.as_deref()).map_err(Trouble::usage)?;
    Ok(encoder.with_threads(args.threads.map_or(THREADS, usize::from)))
}

/// The model file that the arguments, the variable or the configuration name.
///
/// # Errors
/// The configuration is wrong. The inner error: none of them names a file.
pub fn model(args: &ReaderArgs) -> Result<Result<PathBuf, NoReader>, Trouble> {
    let variable = std::env::var_os(VARIABLE);
    let is_named = args.reader.is_some() || variable.is_some();
    let settings = if is_named { ReaderSettings::default() } else { settings(args)? };
    Ok(reader_path(args.reader.clone(), variable, settings.model))
}

/// The settings of the reader in the configuration.
///
/// # Errors
/// The configuration is wrong.
pub fn settings(args: &ReaderArgs) -> Result<ReaderSettings, Trouble> {
    let config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
    Ok(config.reader)
}

/// Loads heads for one use.
///
/// # Errors
/// The file cannot be used.
pub fn heads(
    path: Option<&Path>,
    encoder: &Encoder,
    of: Use,
) -> Result<Option<Arc<HeadFile>>, Trouble> {
    path.map(|path| heads::load(path, encoder, of)).transpose().map_err(Trouble::usage)
}

/// The states of texts, with progress on a terminal.
///
/// # Errors
/// The texts cannot be read.
pub fn encode(
    encoder: &mut Encoder,
    what: &str,
    texts: &[String],
    at: (RecipeLayer, Pooling),
) -> Result<Matrix<f32>, Trouble> {
    let mut shown = ProgressLine::new(what, texts.len());
    let states = encoder.encode(texts, at, &GOES_ON, &mut |done| shown.show(done));
    shown.clear();
    states.map_err(Trouble::failed)
}

/// Clears the rest of the line.
const CLEARED: &str = "\u{1b}[K";

/// A progress line on a terminal.
pub struct ProgressLine<'a> {
    what: &'a str,
    total: usize,
    is_seen: bool,
}

impl<'a> ProgressLine<'a> {
    pub fn new(what: &'a str, total: usize) -> Self {
        Self { what, total, is_seen: io::stderr().is_terminal() }
    }

    /// Shows the progress. A failure is ignored: without a reader, no progress is needed.
    pub fn show(&mut self, done: usize) {
        if self.is_seen {
            let far = format!("{} {done} of {}", self.what, self.total);
            out::tell(Painted::own("\r") + far + Painted::own(CLEARED));
        }
    }

    pub fn clear(&mut self) {
        if self.is_seen {
            out::tell(Painted::own("\r") + Painted::own(CLEARED));
        }
    }
}
