//! Trained heads with all data needed to use them.

use serde::{Deserialize, Serialize};

use super::{
    judge::Judge,
    matrix::BadShape,
    recipe::{Pooling, Preparation, Recipe, RecipeLayer, Use},
    retriever::Retriever,
    tensors::{BadHeadFile, Tensors},
    texts::QueryTemplate,
};

/// The name of the description in the file's metadata.
const ABOUT: &str = "toolyard-heads";

/// Saved heads of one use.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadFile {
    pub about: HeadAbout,
    pub heads: Heads,
}

/// Where heads come from, and the states that they read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadAbout {
    /// SHA-256 of the language model's file, in hexadecimal digits.
    pub model: String,
    /// A name for people.
    pub model_name: String,
    /// Numbers in a state.
    pub width: usize,
    /// The use of the heads.
    pub of: Use,
    pub layer: RecipeLayer,
    pub pooling: Pooling,
    pub preparation: Preparation,
    pub recipe: Recipe,
    /// How a query is written; `None` for a judge.
    pub template: Option<QueryTemplate>,
    /// The name of the training data, with its licence.
    pub data: String,
    /// Training examples: questions, or texts of a judge.
    pub examples: usize,
    pub epochs: usize,
    pub seed: u64,
    /// Names of the tools that occur in training. The heads must generalise to all others.
    pub seen: Vec<String>,
}

/// The weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Heads {
    Judge(Judge<f32>),
    Retriever {
        retriever: Retriever<f32>,
        /// Means of the queries and tools in training. They fit only the domain of the training: see
        /// [`super::RunningMean`].
        query_mean: Vec<f32>,
        tool_mean: Vec<f32>,
    },
}

impl HeadFile {
    /// The file's bytes.
    ///
    /// # Errors
    /// None, in practice: the description always becomes JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BadHeadFile> {
        let mut tensors = Tensors::default();
        match &self.heads {
            Heads::Judge(judge) => tensors.insert_mlp("judge", judge.mlp()),
            Heads::Retriever { retriever, query_mean, tool_mean } => {
                tensors.insert_mlp("query", retriever.query());
                tensors.insert_mlp("tool", retriever.tool());
                tensors.insert_row("w", retriever.w())?;
                tensors.insert_row("query_mean", query_mean)?;
                tensors.insert_row("tool_mean", tool_mean)?;
            }
        }
        let about = serde_json::to_string(&self.about);
        let about = about.map_err(|error| BadHeadFile::About(error.to_string()))?;
        Ok(tensors.to_bytes(ABOUT, about))
    }

    /// Heads from the bytes of a file, which may come from anyone.
    ///
    /// # Errors
    /// The bytes are not such a file, or its parts do not fit together.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, BadHeadFile> {
        let (mut tensors, about) = Tensors::of_bytes(bytes, ABOUT)?;
        let about: HeadAbout =
            serde_json::from_str(&about).map_err(|error| BadHeadFile::About(error.to_string()))?;
        let heads = match about.of {
            Use::Judge => Heads::Judge(Judge::new(tensors.take_mlp("judge")?)?),
            Use::Question | Use::Here => {
                let (query, tool) = (tensors.take_mlp("query")?, tensors.take_mlp("tool")?);
                let retriever = Retriever::new(query, tool, tensors.take_row("w")?)?;
                let query_mean = tensors.take_row("query_mean")?;
                let tool_mean = tensors.take_row("tool_mean")?;
                BadShape::check("numbers in query_mean", query_mean.len(), about.width)?;
                BadShape::check("numbers in tool_mean", tool_mean.len(), about.width)?;
                Heads::Retriever { retriever, query_mean, tool_mean }
            }
        };
        BadShape::check("width of a state", heads.width(), about.width)?;
        Ok(Self { about, heads })
    }
}

impl Heads {
    /// Numbers in a state.
    pub fn width(&self) -> usize {
        match self {
            Self::Judge(judge) => judge.mlp().width(),
            Self::Retriever { retriever, .. } => retriever.width(),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::Chance;

    pub(in crate::cotools) fn file(of: Use) -> HeadFile {
        let heads = match of {
            Use::Judge => Heads::Judge(Judge::start(6, 5, Chance::new(1))),
            Use::Question | Use::Here => Heads::Retriever {
                retriever: Retriever::start(6, 5, Chance::new(1)),
                query_mean: vec![0.5; 6],
                tool_mean: vec![-0.5; 6],
            },
        };
        let about = HeadAbout {
            model: "00FF".to_owned(),
            model_name: "tiny".to_owned(),
            width: 6,
            of,
            layer: RecipeLayer::After(3),
            pooling: Pooling::Mean,
            preparation: Recipe::Ours.preparation(of),
            recipe: Recipe::Ours,
            template: (of != Use::Judge).then_some(QueryTemplate::Knowledge),
            data: "made (MIT)".to_owned(),
            examples: 3,
            epochs: 2,
            seed: 1,
            seen: vec!["add".to_owned(), "süm".to_owned()],
        };
        HeadFile { about, heads }
    }

    #[test]
    fn saved_heads_come_back_as_they_were() {
        for of in [Use::Judge, Use::Question, Use::Here] {
            let bytes = file(of).to_bytes().unwrap();
            assert_eq!(HeadFile::of_bytes(&bytes).unwrap(), file(of));
        }
    }

    /// A file whose header has some text replaced.
    fn changed(from: &str, to: &str) -> String {
        let bytes = file(Use::Question).to_bytes().unwrap();
        let length = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        let header = str::from_utf8(&bytes[8..8 + length]).unwrap();
        assert!(header.contains(from), "{header}");
        let header = header.replacen(from, to, 1);
        let mut changed = (header.len() as u64).to_le_bytes().to_vec();
        changed.extend_from_slice(header.as_bytes());
        changed.extend_from_slice(&bytes[8 + length..]);
        HeadFile::of_bytes(&changed).unwrap_err().to_string()
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_reason() {
        let bytes = file(Use::Question).to_bytes().unwrap();
        let error = |bytes: &[u8]| HeadFile::of_bytes(bytes).unwrap_err().to_string();
        assert_eq!(error(b""), "the file ends early");
        assert_eq!(error(&bytes[..50]), "the file ends early");
        assert!(error(&[255; 20]).starts_with("the header has 18446744073709551615 bytes"));
        assert!(error(&bytes[..bytes.len() - 1]).ends_with("it lies beyond the end of the file"));
        let mut infinite = bytes.clone();
        let end = infinite.len();
        infinite[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
        assert_eq!(error(&infinite), "tensor `w`: a number is not finite");

        assert_eq!(changed("query.up", "query.op"), "there is no tensor `query.up`");
        assert_eq!(changed("F32", "F16"), "tensor `query.down`: its numbers are not F32");
        assert!(changed("[6,5]", "[6,6]").ends_with("its shape does not fit its bytes"));
        let shares = changed("[120,240]", "[0,120]");
        assert!(shares.ends_with("it does not start where the one before it ends"), "{shares}");
        let huge = changed("[6,5]", "[18446744073709551615,2]");
        assert!(huge.ends_with("its shape does not fit its bytes"), "{huge}");
        assert!(changed("toolyard-heads", "another").contains("there is no `toolyard-heads`"));
        assert!(changed("\\\"width\\\":6", "\\\"width\\\":7").contains("expected 7"));
    }

    proptest! {
        #[test]
        fn no_bytes_stop_the_program(
            start in any::<u64>(), place in 0_usize..400, byte in any::<u8>(), cut in 0_usize..2000,
        ) {
            let mut bytes = file(Use::Judge).to_bytes().unwrap();
            bytes[place] = byte;
            bytes.truncate(cut.max(1));
            drop(HeadFile::of_bytes(&bytes));
            let mut bytes = start.to_le_bytes().to_vec();
            bytes.extend_from_slice(b"{\"__metadata__\":{}}");
            prop_assert!(HeadFile::of_bytes(&bytes).is_err());
        }
    }
}
