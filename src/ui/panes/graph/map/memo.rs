//! The cache of layouts. Laying out sixty nodes takes longer than a frame may, and the shape of a graph
//! seldom changes. A layout depends only on its key, so the cache changes nothing but time.

use std::{cell::RefCell, rc::Rc};

use super::layers::{MapLayer, Shape, layers};
use super::plan::{MapContent, MapLayout};

/// A few values by key, the most recently used one at the end.
type Recent<K, V> = Vec<(K, Rc<V>)>;

/// The number of values kept: the layouts of the present graph, and those of a few earlier moments.
const KEPT: usize = 24;

fn get<K: PartialEq, V>(recent: &mut Recent<K, V>, key: K, make: impl FnOnce(&K) -> V) -> Rc<V> {
    let known = recent.iter().position(|(known, _)| *known == key).map(|i| recent.remove(i).1);
    let value = known.unwrap_or_else(|| Rc::new(make(&key)));
    if recent.len() >= KEPT {
        recent.remove(0);
    }
    recent.push((key, Rc::clone(&value)));
    value
}

thread_local! {
    static LAYERS: RefCell<Recent<Shape, Vec<MapLayer>>> = const { RefCell::new(Vec::new()) };
    static PLANS: RefCell<Recent<MapContent, MapLayout>> = const { RefCell::new(Vec::new()) };
}

/// [`MapLayout::new`] of these parts, from the cache if it is there.
pub fn plan(parts: MapContent) -> Rc<MapLayout> {
    let make = |parts: &MapContent| {
        let shape = parts.shape.clone();
        let layers = LAYERS.with_borrow_mut(|known| get(known, shape, layers));
        MapLayout::new(parts, &layers)
    };
    PLANS.with_borrow_mut(|known| get(known, parts, make))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_used_are_kept() {
        let mut recent = Vec::new();
        let mut made = 0;
        for key in 0..100 {
            get(&mut recent, key, |_| made += 1);
            get(&mut recent, 0, |_| made += 1);
        }
        assert_eq!(made, 100, "what is used all the time is never forgotten");
        assert_eq!(recent.len(), KEPT);
    }
}
