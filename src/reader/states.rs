//! Requests for states of a pass, and the states.

use super::error::ReaderError;

/// The layer after which states are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateLayer {
    /// After this many layers, from 1.
    After(usize),
    /// After the last layer and the final normalisation.
    Final,
}

/// The tokens whose states are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// A state for each token from this position on.
    Each { from: usize },
    /// The mean over all tokens but the first, which is independent of the text. For a single token, its state.
    Mean,
    /// The last token.
    Last,
}

/// A request for states of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRequest {
    pub layer: StateLayer,
    pub pooling: Pooling,
}

impl StateRequest {
    pub fn new(layer: StateLayer, pooling: Pooling) -> Self {
        Self { layer, pooling }
    }

    /// The number of layers, out of `layers`, that are needed.
    ///
    /// # Errors
    /// There is no such layer.
    pub fn depth(&self, layers: usize) -> Result<usize, ReaderError> {
        match self.layer {
            StateLayer::Final => Ok(layers),
            StateLayer::After(layer) if (1..=layers).contains(&layer) => Ok(layer),
            StateLayer::After(layer) => Err(ReaderError::NoLayer { layer, layers }),
        }
    }

    /// The first of `tokens` tokens whose state is needed.
    pub fn first(&self, tokens: usize) -> usize {
        match self.pooling {
            Pooling::Each { from } => from.min(tokens),
            Pooling::Mean => usize::from(tokens > 1),
            Pooling::Last => tokens.saturating_sub(1),
        }
    }
}

/// Rows of states.
#[derive(Clone, Debug, PartialEq)]
pub struct States {
    width: usize,
    numbers: Vec<f32>,
}

impl States {
    /// States from their numbers, row by row.
    pub fn new(width: usize, numbers: Vec<f32>) -> Self {
        Self { width, numbers }
    }

    /// Numbers of a state.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The states in order of their tokens.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.width.max(1))
    }

    /// All numbers, row by row.
    pub fn numbers(&self) -> &[f32] {
        &self.numbers
    }

    pub fn into_numbers(self) -> Vec<f32> {
        self.numbers
    }
}

/// Collects the requested states during a pass.
pub struct Collector {
    wanted: StateRequest,
    tokens: usize,
    width: usize,
    numbers: Vec<f32>,
    /// The sums for a mean, in double precision because a long text has many numbers.
    sums: Vec<f64>,
}

impl Collector {
    pub fn new(wanted: StateRequest, tokens: usize, width: usize) -> Self {
        let sums = if wanted.pooling == Pooling::Mean { vec![0.0; width] } else { Vec::new() };
        Self { wanted, tokens, width, numbers: Vec::new(), sums }
    }

    /// The requested rows of these states; `at` is the position of the first.
    pub fn cut<'a>(&self, at: usize, states: &'a [f32]) -> &'a [f32] {
        let before = self.wanted.first(self.tokens).saturating_sub(at);
        states.get(before * self.width..).unwrap_or(&[])
    }

    /// Adds requested rows.
    pub fn take(&mut self, rows: &[f32]) {
        if self.sums.is_empty() {
            return self.numbers.extend_from_slice(rows);
        }
        for row in rows.chunks_exact(self.width) {
            self.sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(*x));
        }
    }

    /// # Errors
    /// A number is not finite.
    pub fn finish(mut self) -> Result<States, ReaderError> {
        let count = (self.tokens - self.wanted.first(self.tokens)) as f64;
        self.numbers.extend(self.sums.iter().map(|sum| (sum / count) as f32));
        match self.numbers.iter().all(|number| number.is_finite()) {
            true => Ok(States::new(self.width, self.numbers)),
            false => Err(ReaderError::NotFinite),
        }
    }
}
