//! Whether saved heads can be used with the language model at hand.

use thiserror::Error;

use super::{
    head_file::HeadFile,
    recipe::{RecipeLayer, Use},
};

/// The language model at hand.
#[derive(Clone, Copy, Debug)]
pub struct ReaderModel<'a> {
    /// SHA-256 of its file, in hexadecimal digits.
    pub hash: &'a str,
    pub name: &'a str,
    pub layers: u32,
    /// Numbers in a state.
    pub width: usize,
}

/// Heads that cannot be used here.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Misfit {
    #[error(
        "these heads were trained on the states of {heads}, but the reader is {reader}: train heads for it"
    )]
    Model { heads: String, reader: String },
    #[error("these heads read states of {heads} numbers, but the reader's have {reader}")]
    Width { heads: usize, reader: usize },
    #[error("these heads read layer {heads}, but the reader has {reader}")]
    Layer { heads: u32, reader: u32 },
    #[error("these heads are for `{heads:?}`, not for `{wanted:?}`")]
    Use { heads: Use, wanted: Use },
}

impl HeadFile {
    /// Whether the heads can be used with this reader and for this use.
    ///
    /// # Errors
    /// The heads belong to another model, to states that this model does not have, or to another use.
    pub fn check(&self, reader: ReaderModel<'_>, wanted: Use) -> Result<(), Misfit> {
        let about = &self.about;
        let named = |name: &str, hash: &str| {
            format!("{name} ({})", hash.chars().take(12).collect::<String>())
        };
        if !about.model.eq_ignore_ascii_case(reader.hash) {
            return Err(Misfit::Model {
                heads: named(&about.model_name, &about.model),
                reader: named(reader.name, reader.hash),
            });
        }
        if about.width != reader.width {
            return Err(Misfit::Width { heads: about.width, reader: reader.width });
        }
        match about.layer {
            RecipeLayer::After(layer) if layer == 0 || layer > reader.layers => {
                return Err(Misfit::Layer { heads: layer, reader: reader.layers });
            }
            RecipeLayer::After(_) | RecipeLayer::Final => {}
        }
        if about.of != wanted {
            return Err(Misfit::Use { heads: about.of, wanted });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::head_file::tests::file, *};

    const READER: ReaderModel<'_> = ReaderModel { hash: "00ff", name: "tiny", layers: 4, width: 6 };

    #[test]
    fn heads_for_another_model_layer_width_or_use_are_refused() {
        let file = file(Use::Here);
        assert_eq!(file.check(READER, Use::Here), Ok(()));
        let error = file.check(ReaderModel { hash: "0011", name: "other", ..READER }, Use::Here);
        assert_eq!(
            error.unwrap_err().to_string(),
            "these heads were trained on the states of tiny (00FF), but the reader is other (0011): train heads for it"
        );
        let error = file.check(ReaderModel { layers: 2, ..READER }, Use::Here);
        assert_eq!(error, Err(Misfit::Layer { heads: 3, reader: 2 }));
        let error = file.check(ReaderModel { width: 8, ..READER }, Use::Here);
        assert_eq!(error, Err(Misfit::Width { heads: 6, reader: 8 }));
        let error = file.check(READER, Use::Question);
        assert_eq!(error, Err(Misfit::Use { heads: Use::Here, wanted: Use::Question }));
    }
}
