//! How a weight is put into words for a model.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The scale on which a model is shown weights (ToolNet, table 5). In the paper models do worse with
/// decimals and without weights, so integers are the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WeightFormat {
    /// No weights are shown.
    #[serde(rename = "none")]
    None,
    /// 0.00 to 1.00.
    #[serde(rename = "/100")]
    Per100,
    /// 0.0 to 10.0.
    #[serde(rename = "/10")]
    Per10,
    /// 0 to 100.
    #[default]
    #[serde(rename = "integer")]
    Integer,
    /// 0 to 1000.
    #[serde(rename = "x10")]
    X10,
}

impl WeightFormat {
    pub const ALL: [Self; 5] = [Self::None, Self::Per100, Self::Per10, Self::Integer, Self::X10];

    /// The name in configurations, journals and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Per100 => "/100",
            Self::Per10 => "/10",
            Self::Integer => "integer",
            Self::X10 => "x10",
        }
    }

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

impl fmt::Display for WeightFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::WeightFormat;

    #[test]
    fn names_are_those_of_the_files() {
        for format in WeightFormat::ALL {
            let written = serde_json::to_value(format).unwrap();
            assert_eq!(written, format.name());
            assert_eq!(serde_json::from_value::<WeightFormat>(written).unwrap(), format);
        }
    }
}
