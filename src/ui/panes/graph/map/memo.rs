//! What was laid out before. Laying out sixty nodes takes longer than a frame may, and the shape of a
//! graph seldom changes; as a plan depends on nothing but its key, remembering it changes nothing but
//! time.

use std::{cell::RefCell, rc::Rc};

use super::layers::{Layer, Shape, layers};
use super::plan::Plan;

/// A few values by their keys, the one used last at the end.
struct Recent<K, V> {
    known: Vec<(K, Rc<V>)>,
}

/// How many are kept: the ways to draw the present graph, and those of a few moments before.
const KEPT: usize = 16;

impl<K: PartialEq, V> Recent<K, V> {
    const fn new() -> Self {
        Self { known: Vec::new() }
    }

    fn get(&mut self, key: K, make: impl FnOnce(&K) -> V) -> Rc<V> {
        let entry = match self.known.iter().position(|(known, _)| *known == key) {
            Some(i) => self.known.remove(i),
            None => {
                let value = Rc::new(make(&key));
                (key, value)
            }
        };
        if self.known.len() >= KEPT {
            self.known.remove(0);
        }
        let value = Rc::clone(&entry.1);
        self.known.push(entry);
        value
    }
}

type PlanKey = (Shape, Vec<usize>, usize);

thread_local! {
    static LAYERS: RefCell<Recent<Shape, Vec<Layer>>> = const { RefCell::new(Recent::new()) };
    static PLANS: RefCell<Recent<PlanKey, Plan>> = const { RefCell::new(Recent::new()) };
}

/// [`Plan::new`] of the shape's layers, or what it gave before.
pub fn plan(shape: Shape, widths: Vec<usize>, spacing: usize) -> Rc<Plan> {
    let make = |(shape, widths, spacing): &PlanKey| {
        let layers = LAYERS.with_borrow_mut(|known| known.get(shape.clone(), layers));
        Plan::new(shape, &layers, widths, *spacing)
    };
    PLANS.with_borrow_mut(|known| known.get((shape, widths, spacing), make))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_used_are_kept() {
        let mut recent = Recent::new();
        let mut made = 0;
        for key in 0..100 {
            recent.get(key, |_| made += 1);
            recent.get(0, |_| made += 1);
        }
        assert_eq!(made, 100, "what is used all the time is never forgotten");
        assert_eq!(recent.known.len(), KEPT);
    }
}
