//! Encodes texts.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use super::passes::{self, Passed, TextBatch};
use super::tokens::tokens;
use super::{Encoder, EncoderError, EncoderWork};
use crate::papers::cotools::{Matrix, Pooling, RecipeLayer, RunningMean};
use crate::reader::{self, Reader, StateRequest, Tokens};
use crate::store::states::{SharedStates, StatePlace, TextKey};

/// Texts whose states are looked up or stored in one step. Other sessions wait that long.
const AT_ONCE: usize = 256;
/// States that are stored at once. A killed encoding loses fewer than these.
const KEPT_AT_ONCE: usize = 32;

/// The states of all distinct texts at each place; `None` until they are known.
struct TextStates {
    places: Vec<StatePlace>,
    keys: Vec<TextKey>,
    /// States by place, then by text.
    rows: Vec<Vec<Option<Vec<f32>>>>,
    /// Texts whose states must be stored.
    fresh: Vec<usize>,
}

impl Encoder {
    /// The states of texts at one place, a row each. See [`Encoder::encode_with`].
    ///
    /// # Errors
    /// Those of [`Encoder::encode_with`].
    pub fn encode(
        &mut self,
        texts: &[String],
        at: (RecipeLayer, Pooling),
        cancelled: &AtomicBool,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Matrix<f32>, EncoderError> {
        let states = self.encode_with(texts, &[at], cancelled, progress)?;
        Ok(states.into_iter().next().unwrap_or_default())
    }

    /// The states of texts at several places from one pass: for each place a matrix with a row for each text.
    ///
    /// The end token is appended. A text longer than the model's context is cut there ([`EncoderWork::cut`] counts
    /// them). `progress` gets the number of finished texts after each one. States computed before an error or a
    /// cancellation are in the cache.
    ///
    /// # Errors
    /// A text cannot be read, the cache fails, or it was cancelled.
    pub fn encode_with(
        &mut self,
        texts: &[String],
        at: &[(RecipeLayer, Pooling)],
        cancelled: &AtomicBool,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Matrix<f32>>, EncoderError> {
        let wanted: Vec<StateRequest> =
            at.iter().map(|at| wanted(*at)).collect::<Result<_, _>>()?;
        let mut order = HashMap::new();
        let mut distinct: Vec<&str> = Vec::new();
        let places: Vec<usize> = texts
            .iter()
            .map(|text| {
                *order.entry(text.as_str()).or_insert_with(|| {
                    distinct.push(text);
                    distinct.len() - 1
                })
            })
            .collect();
        let mut found = self.known(&distinct, at)?;
        let missing: Vec<usize> =
            (0..distinct.len()).filter(|i| found.rows.iter().any(|at| at[*i].is_none())).collect();
        let mut done = texts.len() - missing.len();
        progress(done);
        let unread: Vec<&str> = missing.iter().map(|i| distinct[*i]).collect();
        let reading = TextBatch { texts: &unread, wanted: &wanted, cancelled };
        let Self { reader, threads, cache, work, .. } = self;
        let read = passes::read(reader, *threads, reading, |passed| {
            work.add(&passed);
            found.take(missing[passed.text], passed);
            if found.fresh.len() >= KEPT_AT_ONCE {
                found.keep(cache)?;
            }
            done += 1;
            progress(done);
            Ok::<_, EncoderError>(())
        });
        found.keep(cache)?;
        read?;
        found.rows.iter().map(|rows| matrix(rows, &places, self.facts().width)).collect()
    }

    /// The states of texts that are in the cache; `None` for a text that must be encoded first. Reads no text.
    ///
    /// # Errors
    /// The cache fails.
    pub fn cached(
        &self,
        texts: &[String],
        at: (RecipeLayer, Pooling),
    ) -> Result<Vec<Option<Vec<f32>>>, EncoderError> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Ok(self.known(&texts, &[at])?.rows.pop().unwrap_or_default())
    }

    /// The tokens of a text and the state of each, without an end token: for the judge. They are not cached. A text
    /// with the beginning of the previous one is read only from where it differs.
    ///
    /// # Errors
    /// The text cannot be read, or it was cancelled.
    pub fn token_states(
        &mut self,
        text: &str,
        layer: RecipeLayer,
        cancelled: &AtomicBool,
    ) -> Result<(Tokens, Matrix<f32>), EncoderError> {
        self.token_states_after(text, 0, layer, cancelled)
    }

    /// Like [`Encoder::token_states`], but only with the states of tokens that end after byte `from`.
    ///
    /// # Errors
    /// Those of [`Encoder::token_states`].
    pub fn token_states_after(
        &mut self,
        text: &str,
        from: usize,
        layer: RecipeLayer,
        cancelled: &AtomicBool,
    ) -> Result<(Tokens, Matrix<f32>), EncoderError> {
        let cut = tokens(&self.reader, text)?;
        let width = self.facts().width;
        let from = cut.tokens.ends.partition_point(|end| *end <= from);
        if from == cut.tokens.ids.len() {
            return Ok((cut.tokens, Matrix::zeros(0, width)));
        }
        let wanted = StateRequest::new(layer_of(layer), reader::Pooling::Each { from });
        let states = self.reader.states(&cut.tokens.ids, &[wanted], cancelled)?;
        self.work.texts += 1;
        self.work.tokens += cut.tokens.ids.len() as u64;
        self.work.cut += u64::from(cut.is_cut);
        let rows = cut.tokens.ids.len() - from;
        let numbers = states.into_iter().next().map(reader::States::into_numbers);
        let states = Matrix::new(rows, width, numbers.unwrap_or_default())?;
        Ok((cut.tokens, states))
    }

    /// The mean of a domain's queries before this one, which counts from now on with its text and its state, unless it
    /// is a repeated one.
    ///
    /// # Errors
    /// The cache fails.
    pub fn ask(
        &self,
        domain: &str,
        at: (RecipeLayer, Pooling),
        query: &str,
        state: &[f32],
    ) -> Result<RunningMean, EncoderError> {
        let (place, query) = (self.place(at), TextKey::of(query));
        Ok(self.cache().lock().ask(domain, &place, &query, state)?)
    }

    /// The place of this model's states in a cache.
    pub fn place(&self, (layer, pooling): (RecipeLayer, Pooling)) -> StatePlace {
        StatePlace { model: self.hash().to_owned(), layer, pooling }
    }

    /// Looks up the states of these texts in the cache.
    fn known(
        &self,
        texts: &[&str],
        at: &[(RecipeLayer, Pooling)],
    ) -> Result<TextStates, EncoderError> {
        let keys: Vec<TextKey> = texts.iter().map(|text| TextKey::of(text)).collect();
        let places: Vec<StatePlace> = at.iter().map(|at| self.place(*at)).collect();
        let mut rows = Vec::with_capacity(places.len());
        for place in &places {
            let mut found = Vec::with_capacity(keys.len());
            for keys in keys.chunks(AT_ONCE) {
                found.extend(self.cache().lock().get(place, keys)?);
            }
            // A manipulated cache must not give another width.
            let width = self.facts().width;
            found.iter_mut().for_each(|row| *row = row.take().filter(|row| row.len() == width));
            rows.push(found);
        }
        Ok(TextStates { places, keys, rows, fresh: Vec::new() })
    }
}

impl EncoderWork {
    fn add(&mut self, passed: &Passed) {
        self.texts += 1;
        self.tokens += passed.tokens;
        self.cut += u64::from(passed.is_cut);
    }
}

impl TextStates {
    fn take(&mut self, text: usize, passed: Passed) {
        for (rows, states) in self.rows.iter_mut().zip(passed.states) {
            rows[text] = Some(states.into_numbers());
        }
        self.fresh.push(text);
    }

    fn keep(&mut self, cache: &SharedStates) -> Result<(), EncoderError> {
        let fresh = std::mem::take(&mut self.fresh);
        if fresh.is_empty() {
            return Ok(());
        }
        for (place, rows) in self.places.iter().zip(&self.rows) {
            let state = |i: &usize| Some((self.keys[*i].clone(), rows[*i].as_deref()?));
            let states: Vec<_> = fresh.iter().filter_map(state).collect();
            cache.lock().put(place, &states)?;
        }
        Ok(())
    }
}

/// The rows of all texts, from those of the distinct ones.
fn matrix(
    rows: &[Option<Vec<f32>>],
    places: &[usize],
    width: usize,
) -> Result<Matrix<f32>, EncoderError> {
    let data: Vec<f32> =
        places.iter().flat_map(|place| rows[*place].iter().flatten()).copied().collect();
    Ok(Matrix::new(places.len(), width, data)?)
}

fn layer_of(layer: RecipeLayer) -> reader::StateLayer {
    match layer {
        RecipeLayer::After(layer) => reader::StateLayer::After(layer as usize),
        RecipeLayer::Final => reader::StateLayer::Final,
    }
}

fn wanted((layer, pooling): (RecipeLayer, Pooling)) -> Result<StateRequest, EncoderError> {
    let pooling = match pooling {
        Pooling::Mean => reader::Pooling::Mean,
        Pooling::End => reader::Pooling::Last,
        Pooling::Token => return Err(EncoderError::SingleTokens),
    };
    Ok(StateRequest::new(layer_of(layer), pooling))
}
