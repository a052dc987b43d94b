//! A model in a local file.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak, atomic::AtomicBool};
use std::{collections::BTreeMap, time::SystemTime};

use super::error::{ModelFileFault, ReaderError};
use super::facts::Facts;
use super::forward::{Cache, Pass, PassStates, Weights};
use super::gguf::{GgufSource, Header};
use super::kernel::Kernel;
use super::shape::Shape;
use super::states::{Collector, StateLayer, StateRequest, States};
use super::{Reader, tokenizer::Tokenizer};

/// A llama model from a GGUF file. It reads with one thread.
///
/// Clones share the weights, and each has a cache of its own: two threads read with a clone each.
pub struct LocalReader {
    model: Arc<Model>,
    cache: Cache,
    kernel: Kernel,
}

struct Model {
    facts: Facts,
    shape: Shape,
    tokenizer: Tokenizer,
    weights: Weights,
}

/// A file in its current form: its full path, its size, and the time of its last change.
type Identity = (PathBuf, u64, Option<SystemTime>);

/// The models that this process uses.
static IN_USE: Mutex<BTreeMap<Identity, Weak<Model>>> = Mutex::new(BTreeMap::new());

impl Clone for LocalReader {
    fn clone(&self) -> Self {
        Self { kernel: self.kernel, ..Self::of(Arc::clone(&self.model)) }
    }
}

impl LocalReader {
    /// Opens a model file, and reads all of it.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or has a model that is not supported.
    pub fn open(path: &Path) -> Result<Self, ReaderError> {
        let io = |source| ReaderError::Io { path: path.to_owned(), source };
        // A pipe would block when it is opened.
        if !fs::metadata(path).map_err(io)?.is_file() {
            let error =
                io::Error::other("this is not a regular file; expected a model file (.gguf)");
            return Err(io(error));
        }
        Self::read(File::open(path).map_err(io)?).map_err(|fault| fault.in_file(path))
    }

    /// Like [`LocalReader::open`], but shares the weights with a reader of this file that is in use.
    ///
    /// # Errors
    /// As [`LocalReader::open`].
    pub fn shared(path: &Path) -> Result<Self, ReaderError> {
        let identity = || -> io::Result<Identity> {
            let known = fs::metadata(path)?;
            Ok((fs::canonicalize(path)?, known.len(), known.modified().ok()))
        };
        let Ok(identity) = identity() else { return Self::open(path) };
        // While one thread opens a file, others wait for the result instead of opening it again.
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = in_use.get(&identity).and_then(Weak::upgrade) {
            return Ok(Self::of(model));
        }
        let reader = Self::open(path)?;
        in_use.retain(|_, model| model.strong_count() > 0);
        in_use.insert(identity, Arc::downgrade(&reader.model));
        Ok(reader)
    }

    /// Reads a model file that is already open, or in memory.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or has a model that is not supported.
    pub fn read(file: impl Read + Seek) -> Result<Self, ModelFileFault> {
        let mut source = GgufSource::new(file)?;
        let header = Header::read(&mut source)?;
        let shape = Shape::read(&header.metadata)?;
        let tensors = header.tensors(&mut source)?;
        let tokenizer = Tokenizer::read(&header.metadata)?;
        let vocabulary = tokenizer.size();
        let facts = Facts::read(&header.metadata, &shape, vocabulary, source.size())?;
        drop(header);
        let weights = Weights::read(&mut source, tensors, &shape, vocabulary)?;
        Ok(Self::of(Arc::new(Model { facts, shape, tokenizer, weights })))
    }

    fn of(model: Arc<Model>) -> Self {
        let cache = Cache::new(&model.shape);
        Self { model, cache, kernel: Kernel::fastest() }
    }

    /// The same model with plain Rust instead of vector instructions.
    #[must_use]
    pub fn plain(&self) -> Self {
        Self { kernel: Kernel::Plain, ..self.clone() }
    }

    /// Forgets the last sequence, and returns its memory.
    pub fn forget(&mut self) {
        self.cache.clear();
    }

    /// Refuses sequences that cannot be read.
    fn check(&self, tokens: &[u32]) -> Result<(), ReaderError> {
        let (most, vocabulary) = (self.model.shape.context, self.model.tokenizer.size());
        if tokens.is_empty() {
            return Err(ReaderError::NoTokens);
        }
        if tokens.len() > most {
            return Err(ReaderError::LongContext { tokens: tokens.len(), most });
        }
        match tokens.iter().find(|token| **token as usize >= vocabulary) {
            Some(token) => Err(ReaderError::UnknownToken { token: *token, last: vocabulary - 1 }),
            None => Ok(()),
        }
    }
}

impl Reader for LocalReader {
    fn facts(&self) -> &Facts {
        &self.model.facts
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.model.tokenizer
    }

    fn states(
        &mut self,
        tokens: &[u32],
        wanted: &[StateRequest],
        cancelled: &AtomicBool,
    ) -> Result<Vec<States>, ReaderError> {
        self.check(tokens)?;
        let (Model { shape, weights, .. }, kernel) = (&*self.model, self.kernel);
        let depths = wanted.iter().map(|wanted| wanted.depth(shape.layers));
        let depths = depths.collect::<Result<Vec<_>, _>>()?;
        let depth = depths.iter().copied().max().unwrap_or(0);
        let first = wanted.iter().map(|wanted| wanted.first(tokens.len())).min();
        let start = first.unwrap_or(tokens.len()).min(self.cache.known(tokens, depth));
        let collector = |wanted: &StateRequest| Collector::new(*wanted, tokens.len(), shape.width);
        let mut collectors: Vec<_> = wanted.iter().map(collector).collect();
        let mut pass = Pass::new(shape, weights, self.kernel);
        let seen = |seen: PassStates<'_>| {
            for (collector, wanted) in collectors.iter_mut().zip(wanted) {
                let is_final = wanted.layer == StateLayer::Final && seen.layer == shape.layers;
                let rows = collector.cut(seen.at, seen.states);
                if is_final {
                    collector.take(&weights.finish(kernel, rows, shape.epsilon));
                } else if wanted.layer == StateLayer::After(seen.layer) {
                    collector.take(rows);
                }
            }
        };
        pass.read(&mut self.cache, tokens, start, depth, cancelled, seen)?;
        collectors.into_iter().map(Collector::finish).collect()
    }
}
