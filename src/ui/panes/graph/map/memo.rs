//! Drawings that were laid out before. Laying out sixty nodes takes longer than a frame may, and the
//! shape of a graph seldom changes; as a plan depends on nothing but its key, remembering it changes
//! nothing but time.

use std::{cell::RefCell, rc::Rc};

use super::{layers::Shape, plan::Plan};

/// Plans that are kept: the ways to draw the present graph, and those of a few moments before.
const KEPT: usize = 16;

type Key = (Shape, usize);

thread_local! {
    /// The one used last is the last.
    static PLANS: RefCell<Vec<(Key, Rc<Plan>)>> = const { RefCell::new(Vec::new()) };
}

/// [`Plan::new`], or what it gave before.
pub fn plan(shape: &Shape, spacing: usize) -> Rc<Plan> {
    PLANS.with_borrow_mut(|plans| {
        let known = plans.iter().position(|((old, space), _)| old == shape && *space == spacing);
        let entry = match known {
            Some(i) => plans.remove(i),
            None => ((shape.clone(), spacing), Rc::new(Plan::new(shape, spacing))),
        };
        if plans.len() >= KEPT {
            plans.remove(0);
        }
        let plan = Rc::clone(&entry.1);
        plans.push(entry);
        plan
    })
}
