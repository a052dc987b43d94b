//! The retriever's loss: each query of a batch must find its tool among those of the batch.

use std::collections::HashMap;

use super::gradient::gradient;
use crate::papers::cotools::product::{by_columns, by_rows, plain};
use crate::papers::cotools::{BadShape, Encoded, Matrix, Mlp, Real, Retriever, SHORTEST, dot};

/// The loss on a batch, and its gradient.
#[derive(Clone, Debug)]
pub struct RetrieverLoss<R> {
    /// The mean over the queries, in nats.
    pub loss: f64,
    pub gradient: RetrieverGradient<R>,
}

/// The gradient with respect to the weights of a retriever.
#[derive(Clone, Debug)]
pub struct RetrieverGradient<R> {
    pub query: Mlp<R>,
    pub tool: Mlp<R>,
    pub w: Vec<R>,
}

impl<R: Real> RetrieverGradient<R> {
    /// Adds the gradient of another batch.
    pub fn add(&mut self, other: &Self) {
        self.query.add(&other.query);
        self.tool.add(&other.tool);
        self.w.iter_mut().zip(&other.w).for_each(|(x, y)| *x += *y);
    }
}

/// The tools of a batch without repetition, in order of first appearance, and for each query the
/// place of its tool in that list.
pub fn tools_of_batch(gold: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut tools = Vec::new();
    let mut places = HashMap::new();
    let mut place_of = |tool: usize| {
        *places.entry(tool).or_insert_with(|| {
            tools.push(tool);
            tools.len() - 1
        })
    };
    let labels = gold.iter().map(|tool| place_of(*tool)).collect();
    (tools, labels)
}

/// The contrastive loss in a batch:
///
/// ```text
/// loss = mean over queries of −ln softmax(V_Q·V_Tᵀ / T)[label]
/// ```
///
/// `queries` are states, [n, width]; `tools` the states of the batch's tools, [m, width]; a label
/// is a row of `tools`. The temperature T is above 0; the paper has none, which is 1.
///
/// # Errors
/// A width differs, there are not as many labels as queries, or a label names no tool.
pub fn contrastive_loss<R: Real>(
    heads: &Retriever<R>,
    queries: &Matrix<R>,
    tools: &Matrix<R>,
    labels: &[usize],
    temperature: f64,
) -> Result<RetrieverLoss<R>, BadShape> {
    BadShape::check("width of a query's state", queries.cols(), heads.width())?;
    BadShape::check("width of a tool's state", tools.cols(), heads.width())?;
    BadShape::check("labels of the queries", labels.len(), queries.rows())?;
    BadShape::check_rows("label of a query", labels, tools.rows())?;
    let query = heads.encode(heads.query(), queries);
    let tool = heads.encode(heads.tool(), tools);
    let scores = by_rows(&query.vectors, &tool.vectors);
    let (loss, by_score) = cross_entropy(&scores, labels, temperature);
    let by_query = plain(&by_score, &tool.vectors);
    let by_tool = by_columns(&by_score, &query.vectors);
    let mut w = vec![R::default(); heads.width()];
    let query = by_encoder(heads, heads.query(), queries, &query, by_query, &mut w);
    let tool = by_encoder(heads, heads.tool(), tools, &tool, by_tool, &mut w);
    Ok(RetrieverLoss { loss, gradient: RetrieverGradient { query, tool, w } })
}

/// The gradient of one encoder, and its part of that of `w`. `by_vector` is the gradient with
/// respect to the vectors V. With s = h + mlp(h) and v = w ⊙ s:
///
/// ```text
/// ∂v = (∂V − V·(V·∂V)) / ‖v‖      ∂w += ∂v ⊙ s      ∂mlp(h) = ∂v ⊙ w
/// ```
fn by_encoder<R: Real>(
    heads: &Retriever<R>,
    mlp: &Mlp<R>,
    states: &Matrix<R>,
    encoded: &Encoded<R>,
    mut by_vector: Matrix<R>,
    by_w: &mut [R],
) -> Mlp<R> {
    let lines = by_vector.lines_mut().zip(encoded.vectors.lines());
    for ((by, vector), (sum, length)) in lines.zip(encoded.sum.lines().zip(&encoded.lengths)) {
        // Below the bound, the divisor does not depend on the vector.
        let along = if *length < SHORTEST { R::default() } else { dot(by, vector) };
        let divisor = R::of(length.max(SHORTEST));
        for (i, by) in by.iter_mut().enumerate() {
            let by_v = (*by - vector[i] * along) / divisor;
            by_w[i] += by_v * sum[i];
            *by = by_v * heads.w()[i];
        }
    }
    gradient(mlp, states, &encoded.pass, &by_vector)
}

/// The mean cross-entropy of softmax(scores / T) and the labels, and its gradient with respect to
/// the scores.
fn cross_entropy<R: Real>(
    scores: &Matrix<R>,
    labels: &[usize],
    temperature: f64,
) -> (f64, Matrix<R>) {
    let mut by_score = scores.clone();
    let count = labels.len().max(1) as f64;
    let mut loss = 0.0;
    for (line, label) in by_score.lines_mut().zip(labels) {
        let best = line.iter().fold(f64::NEG_INFINITY, |best, x| best.max(x.to_f64()));
        // The best exponent is 0, so nothing overflows.
        let exps: Vec<f64> =
            line.iter().map(|x| ((x.to_f64() - best) / temperature).exp()).collect();
        let total: f64 = exps.iter().sum();
        loss += total.ln() - (line[*label].to_f64() - best) / temperature;
        for (i, (by, exp)) in line.iter_mut().zip(&exps).enumerate() {
            let gold = f64::from(u8::from(i == *label));
            *by = R::of((exp / total - gold) / (count * temperature));
        }
    }
    (loss / count, by_score)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Chance;

    const WIDTH: usize = 4;
    const HIDDEN: usize = 3;

    fn states(rows: usize, seed: u64) -> Matrix<f64> {
        let chance = Chance::new(seed).with(b"states");
        let number = |n: usize| 2.0 * chance.with(&n.to_le_bytes()).unit() - 1.0;
        Matrix::new(rows, WIDTH, (0..rows * WIDTH).map(number).collect()).unwrap()
    }

    fn heads(seed: u64) -> Retriever<f64> {
        let heads = Retriever::start(WIDTH, HIDDEN, Chance::new(seed));
        let w = states(1, seed + 1).data().iter().map(|x| 1.0 + x / 2.0).collect();
        Retriever::new(heads.query().clone(), heads.tool().clone(), w).unwrap()
    }

    /// All weights, in the order of [`all`].
    fn weight(heads: &mut Retriever<f64>, i: usize) -> &mut f64 {
        let (query, tool, w) = heads.parts_mut();
        let parts = query.weights_mut().into_iter().chain(tool.weights_mut()).chain([w]);
        parts.flatten().nth(i).unwrap()
    }

    fn all(gradient: &RetrieverGradient<f64>) -> Vec<f64> {
        let RetrieverGradient { query, tool, w } = gradient;
        let parts = query.weights().into_iter().chain(tool.weights()).chain([w.as_slice()]);
        parts.flatten().copied().collect()
    }

    #[test]
    fn a_repeated_tool_is_listed_once_in_order_of_first_appearance() {
        assert_eq!(tools_of_batch(&[7, 2, 7, 5, 2]), (vec![7, 2, 5], vec![0, 1, 0, 2, 1]));
        assert_eq!(tools_of_batch(&[]), (vec![], vec![]));
    }

    #[test]
    fn a_label_without_a_tool_is_refused() {
        let error =
            contrastive_loss(&heads(1), &states(1, 1), &states(2, 2), &[2], 1.0).unwrap_err();
        assert_eq!(error.to_string(), "label of a query: there is no row 2, only 2");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_gradient_is_the_slope_of_the_loss(
            seed in any::<u32>(), labels in prop::collection::vec(0_usize..3, 1..5),
            temperature in 0.1_f64..2.0,
        ) {
            let seed = u64::from(seed);
            let (queries, tools) = (states(labels.len(), seed), states(3, seed + 7));
            let mut heads = heads(seed);
            let loss = |heads: &Retriever<f64>| {
                contrastive_loss(heads, &queries, &tools, &labels, temperature).unwrap()
            };
            let gradient = all(&loss(&heads).gradient);
            let step = 1e-5;
            for (i, slope) in gradient.into_iter().enumerate() {
                let middle = *weight(&mut heads, i);
                *weight(&mut heads, i) = middle + step;
                let above = loss(&heads).loss;
                *weight(&mut heads, i) = middle - step;
                let below = loss(&heads).loss;
                *weight(&mut heads, i) = middle;
                let measured = (above - below) / (2.0 * step);
                let tolerance = 1e-5 * (1.0 + slope.abs());
                prop_assert!((measured - slope).abs() < tolerance, "{i}: {slope}, not {measured}");
            }
        }

        #[test]
        fn the_size_of_w_and_the_order_of_a_batch_do_not_matter(
            seed in any::<u32>(), factor in 0.01_f64..100.0,
        ) {
            let seed = u64::from(seed);
            let (queries, tools) = (states(3, seed), states(3, seed + 7));
            let heads = heads(seed);
            let found = contrastive_loss(&heads, &queries, &tools, &[0, 2, 1], 0.1).unwrap();
            let other = contrastive_loss(&heads, &queries.taken(&[2, 0, 1]), &tools.taken(&[1, 2, 0]), &[0, 2, 1], 0.1);
            let other = other.unwrap();
            prop_assert!((found.loss - other.loss).abs() < 1e-9);
            for (x, y) in all(&found.gradient).into_iter().zip(all(&other.gradient)) {
                prop_assert!((x - y).abs() < 1e-9 * (1.0 + x.abs()));
            }
            let w = heads.w().iter().map(|w| w * factor).collect();
            let scaled = Retriever::new(heads.query().clone(), heads.tool().clone(), w).unwrap();
            for (x, y) in heads.query_vectors(&queries).unwrap().data().iter()
                .zip(scaled.query_vectors(&queries).unwrap().data()) {
                prop_assert!((x - y).abs() < 1e-12);
            }
            // So the loss does not change along w.
            let along: f64 = found.gradient.w.iter().zip(heads.w()).map(|(by, w)| by * w).sum();
            prop_assert!(along.abs() < 1e-9 * (1.0 + found.gradient.w.iter().map(|x| x.abs()).sum::<f64>()));
        }
    }
}
