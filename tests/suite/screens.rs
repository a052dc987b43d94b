//! Whole screens.
use crate::{stage::Stage, story};

#[test]
fn look() {
    for (w, h) in [(80, 24), (120, 40), (200, 60)] {
        println!("{}", Stage::of(&story::demo()).sized(w, h).text());
    }
}
