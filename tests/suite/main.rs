//! One test binary: each concern is a module, and the crate is linked once.

mod model_text;
