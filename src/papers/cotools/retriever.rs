//! The retriever: two encoders that map the need of a query and the description of a tool to
//! vectors of length 1.

use super::{
    matrix::{BadShape, Matrix},
    mlp::{Mlp, Pass},
    product::by_rows,
    real::{Real, length},
};
use crate::domain::Chance;

/// The encoders of queries and tools (CoTools, eq. 6 to 10):
///
/// ```text
/// V = v / max(‖v‖, 1e-12)     v = w ⊙ (h + mlp(h))     score = V_Q · V_T
/// ```
///
/// Both share the weights `w` of the dimensions. An untrained retriever is close to the cosine of
/// the states, because of the residual.
#[derive(Clone, Debug, PartialEq)]
pub struct Retriever<R> {
    query: Mlp<R>,
    tool: Mlp<R>,
    w: Vec<R>,
}

/// A forward pass of one encoder, with the values that the gradient needs.
pub struct Encoded<R> {
    pub pass: Pass<R>,
    /// h + mlp(h).
    pub sum: Matrix<R>,
    /// ‖v‖ of each row, before the lower bound.
    pub lengths: Vec<f64>,
    /// V.
    pub vectors: Matrix<R>,
}

/// The smallest length by which a vector is divided.
pub const SHORTEST: f64 = 1e-12;

impl<R: Real> Retriever<R> {
    /// # Errors
    /// The encoders do not map states of one width to vectors of the same width, or `w` has a different width.
    pub fn new(query: Mlp<R>, tool: Mlp<R>, w: Vec<R>) -> Result<Self, BadShape> {
        let width = query.width();
        BadShape::check("outputs of the query encoder", query.out(), width)?;
        BadShape::check("inputs of the tool encoder", tool.width(), width)?;
        BadShape::check("outputs of the tool encoder", tool.out(), width)?;
        BadShape::check("weights of dimensions", w.len(), width)?;
        Ok(Self { query, tool, w })
    }

    /// An untrained retriever for states of `width` numbers. `w` is 1 everywhere.
    pub fn start(width: usize, hidden: usize, chance: Chance) -> Self {
        Self {
            query: Mlp::start(width, hidden, width, chance.with(b"query")),
            tool: Mlp::start(width, hidden, width, chance.with(b"tool")),
            w: vec![R::of(1.0); width],
        }
    }

    /// Numbers in a state and in a vector.
    pub fn width(&self) -> usize {
        self.w.len()
    }

    pub fn query(&self) -> &Mlp<R> {
        &self.query
    }

    pub fn tool(&self) -> &Mlp<R> {
        &self.tool
    }

    /// The weight of each dimension.
    pub fn w(&self) -> &[R] {
        &self.w
    }

    /// Query encoder, tool encoder and `w`.
    pub fn parts_mut(&mut self) -> (&mut Mlp<R>, &mut Mlp<R>, &mut [R]) {
        (&mut self.query, &mut self.tool, &mut self.w)
    }

    /// V_Q of each state, [n, width].
    ///
    /// # Errors
    /// The states have another width.
    pub fn query_vectors(&self, states: &Matrix<R>) -> Result<Matrix<R>, BadShape> {
        BadShape::check("width of a query's state", states.cols(), self.width())?;
        Ok(self.encode(&self.query, states).vectors)
    }

    /// V_T of each state, [m, width]. They only change with the heads, so a caller keeps them.
    ///
    /// # Errors
    /// The states have another width.
    pub fn tool_vectors(&self, states: &Matrix<R>) -> Result<Matrix<R>, BadShape> {
        BadShape::check("width of a tool's state", states.cols(), self.width())?;
        Ok(self.encode(&self.tool, states).vectors)
    }

    pub fn encode(&self, mlp: &Mlp<R>, states: &Matrix<R>) -> Encoded<R> {
        let pass = mlp.pass(states);
        let mut sum = pass.out.clone();
        sum.data_mut().iter_mut().zip(states.data()).for_each(|(x, h)| *x += *h);
        let mut vectors = sum.clone();
        let mut lengths = Vec::with_capacity(vectors.rows());
        for line in vectors.lines_mut() {
            line.iter_mut().zip(&self.w).for_each(|(x, w)| *x *= *w);
            lengths.push(normalise(line));
        }
        Encoded { pass, sum, lengths, vectors }
    }
}

/// Scores of all queries and tools, [n, m], each −1 to 1 for vectors of length 1 (CoTools, eq. 9).
///
/// # Errors
/// The vectors have different widths.
pub fn scores<R: Real>(queries: &Matrix<R>, tools: &Matrix<R>) -> Result<Matrix<R>, BadShape> {
    BadShape::check("width of a tool's vector", tools.cols(), queries.cols())?;
    Ok(by_rows(queries, tools))
}

/// Cosines of states, [n, m]: the retriever without heads.
///
/// # Errors
/// The states have different widths.
pub fn untrained<R: Real>(queries: &Matrix<R>, tools: &Matrix<R>) -> Result<Matrix<R>, BadShape> {
    let unit = |states: &Matrix<R>| {
        let mut states = states.clone();
        states.lines_mut().for_each(|line| {
            normalise(line);
        });
        states
    };
    scores(&unit(queries), &unit(tools))
}

/// Divides by the length, and returns it.
fn normalise<R: Real>(line: &mut [R]) -> f64 {
    let length = length(line);
    let divisor = R::of(length.max(SHORTEST));
    line.iter_mut().for_each(|x| *x = *x / divisor);
    length
}
