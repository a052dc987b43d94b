//! Weights as text for a model.

use strum::{VariantArray, VariantNames};

/// The scale on which a model sees weights (ToolNet, table 5). In the paper, models do worse with
/// decimals and without weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum WeightFormat {
    /// No weights are shown.
    None,
    /// 0.00 to 1.00.
    #[strum(serialize = "/100")]
    Per100,
    /// 0.0 to 10.0.
    #[strum(serialize = "/10")]
    Per10,
    /// 0 to 100.
    Integer,
    /// 0 to 1000.
    X10,
}

impl WeightFormat {
    /// A weight from 0 to 1 as the model reads it; empty for [`WeightFormat::None`].
    pub fn show(self, weight: f64) -> String {
        match self {
            Self::None => String::new(),
            Self::Per100 => format!("{weight:.2}"),
            Self::Per10 => format!("{:.1}", weight * 10.0),
            Self::Integer => format!("{:.0}", weight * 100.0),
            Self::X10 => format!("{:.0}", weight * 1000.0),
        }
    }
}
