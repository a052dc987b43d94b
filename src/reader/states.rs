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
    /// The mean over all tokens but the first, which says nothing about the text. For a single token, its state.
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

    /// How many of `layers` layers are needed.
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

    /// The first token whose state is needed, of `tokens` tokens.
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

/// Collects the states that are wanted while a pass goes on.
pub struct Collector {
    wanted: StateRequest,
    tokens: usize,
    width: usize,
    numbers: Vec<f32>,
    /// Sums of a mean. They are in double precision: the numbers of a long text are many.
    sums: Vec<f64>,
}

impl Collector {
    pub fn new(wanted: StateRequest, tokens: usize, width: usize) -> Self {
        let sums = if wanted.pooling == Pooling::Mean { vec![0.0; width] } else { Vec::new() };
        Self { wanted, tokens, width, numbers: Vec::new(), sums }
    }

    /// The rows of these states that are wanted; `at` is the position of the first.
    pub fn cut<'a>(&self, at: usize, states: &'a [f32]) -> &'a [f32] {
        let before = self.wanted.first(self.tokens).saturating_sub(at);
        states.get(before * self.width..).unwrap_or(&[])
    }

    /// Takes rows that are wanted.
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
