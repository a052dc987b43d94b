//! Importance of dimensions (CoTools, section 4.3.4), with as many random dimensions as a control.

use serde::Serialize;

use super::answer::{Question, RetrieverMeasures};
use crate::app::compare::table::{PlainTable, percent};
use crate::app::shell::trouble::Trouble;
use crate::app::encoder::Encoder;
use crate::cotools::open;
use crate::domain::Chance;
use crate::papers::cotools::{Heads, rank_of};
use crate::training::{Figures, above_mean, heaviest, random, scores_on, weight_z_scores};

/// Random choices of dimensions, whose worst and best figures are shown.
const CONTROLS: u64 = 3;

/// The steps of the curve of weights.
const CURVE: usize = 40;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Weights, and figures on parts of the dimensions.
#[derive(Clone, Debug, Serialize)]
pub struct Dimensions {
    pub count: usize,
    /// Number of weights above the mean.
    pub above_mean: usize,
    pub least: f64,
    pub mean: f64,
    pub most: f64,
    /// The least and the greatest z-score.
    pub z: (f64, f64),
    /// Samples of the weights, from the greatest to the least.
    pub curve: Vec<f64>,
    /// Figures over all tools, for parts of the dimensions.
    pub parts: Vec<DimensionFigures>,
}

/// Figures on these dimensions alone.
#[derive(Clone, Debug, Serialize)]
pub struct DimensionFigures {
    pub kept: String,
    #[serde(flatten)]
    pub figures: Figures,
}

/// # Errors
/// The heads are those of a judge, or texts cannot be read.
pub fn dimensions(
    encoder: &mut Encoder,
    question: &Question,
    answer: &RetrieverMeasures,
) -> Result<Dimensions, Trouble> {
    let Some(heads) = &question.heads else {
        return Err(Trouble::Usage("--dimensions needs --heads".to_owned()));
    };
    let Heads::Retriever { retriever, query_mean, .. } = &heads.heads else {
        return Err(Trouble::Usage("--dimensions needs the heads of a retriever".to_owned()));
    };
    let at = (heads.about.layer, heads.about.pooling);
    let mut tools = open::encode(encoder, "tools", &answer.catalogue.texts(), at)?;
    let mut queries = open::encode(encoder, "queries", &answer.lesson.texts, at)?;
    let preparation = heads.about.preparation;
    let tool_mean = tools.mean();
    preparation.apply(&mut tools, Some(&tool_mean)).map_err(Trouble::failed)?;
    preparation.apply(&mut queries, Some(query_mean)).map_err(Trouble::failed)?;
    let queries = retriever.query_vectors(&queries).map_err(Trouble::failed)?;
    let tools = retriever.tool_vectors(&tools).map_err(Trouble::failed)?;
    let w = retriever.w();
    let part = |kept: String, places: &[usize]| {
        let scores = scores_on(&queries, &tools, places).map_err(Trouble::failed)?;
        let ranks = scores.lines().zip(answer.lesson.tools()).filter_map(|(line, gold)| {
            let line: Vec<f64> = line.iter().map(|x| f64::from(*x)).collect();
            rank_of(&line, gold)
        });
        Ok::<_, Trouble>(DimensionFigures { kept, figures: Figures::of_ranks(ranks) })
    };
    let all: Vec<usize> = (0..w.len()).collect();
    let above = above_mean(w);
    let others: Vec<usize> =
        all.iter().copied().filter(|i| above.binary_search(i).is_err()).collect();
    let quarter = heaviest(w, w.len() / 4);
    let mut parts = vec![
        part(format!("all {}", all.len()), &all)?,
        part(format!("the {} above the mean", above.len()), &above)?,
        part(format!("the {} others", others.len()), &others)?,
        part(format!("the {} heaviest", quarter.len()), &quarter)?,
    ];
    for seed in 0..CONTROLS {
        let chosen = random(w.len(), above.len(), Chance::new(seed));
        parts.push(part(format!("{} at random ({})", chosen.len(), seed + 1), &chosen)?);
    }
    let mut sorted: Vec<f64> = w.iter().map(|w| f64::from(*w)).collect();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let z = weight_z_scores(w);
    let fold = |of: fn(f64, f64) -> f64, start| z.iter().copied().fold(start, of);
    Ok(Dimensions {
        count: w.len(),
        above_mean: above.len(),
        least: sorted.last().copied().unwrap_or(0.0),
        mean: sorted.iter().sum::<f64>() / sorted.len().max(1) as f64,
        most: sorted.first().copied().unwrap_or(0.0),
        z: (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY)),
        curve: (0..CURVE).filter_map(|n| sorted.get(n * sorted.len() / CURVE).copied()).collect(),
        parts,
    })
}

impl Dimensions {
    pub fn text(&self) -> String {
        let Self { count, least, mean, most, z, .. } = self;
        let bar = |w: &f64| {
            let share = (w - least) / (most - least).max(f64::MIN_POSITIVE);
            BARS[((share * 7.0).round() as usize).min(7)]
        };
        let curve: String = self.curve.iter().map(bar).collect();
        let title = format!(
            "Dimensions: {count} weights from {least:.2} to {most:.2}, mean {mean:.2}, z-scores {:.1} to {:.1}\n\
             {curve}",
            z.0, z.1
        );
        let mut table = PlainTable::new(title, 1, &["kept", "top-1", "top-5", "MRR"]);
        for DimensionFigures { kept, figures } in &self.parts {
            table.row(vec![
                kept.clone(),
                percent(figures.top_1),
                percent(figures.top_5),
                format!("{:.3}", figures.mrr),
            ]);
        }
        table.text()
    }
}
