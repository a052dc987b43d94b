//! Values that one key goes through.

use strum::VariantArray;

/// Values that one key goes through, going round.
pub trait Round: VariantArray + PartialEq + Copy + Into<&'static str> {
    #[must_use]
    fn next(self) -> Self {
        let mut round = Self::VARIANTS.iter().cycle().copied();
        round.find(|other| *other == self);
        round.next().unwrap_or(self)
    }

    fn name(self) -> &'static str {
        self.into()
    }
}
