//! Watches: expressions whose values are shown, with their earlier values.

use std::collections::VecDeque;

use crate::domain::State;
use crate::domain::expression::{Evaluator, Expression, ExpressionValue, Resolver};
use crate::papers::facts::Facts;

/// How many values of a watch are kept: more than the width of a curve.
const KEPT: usize = 240;

/// An expression that is watched.
#[derive(Clone, Debug)]
pub struct Watch {
    pub expression: Expression,
    /// Numeric values of the expression, each with the event that changed it.
    values: VecDeque<(u64, f64)>,
}

impl Watch {
    /// Begins to watch.
    pub fn new(expression: Expression, live: &State) -> Self {
        let mut watch = Self { expression, values: VecDeque::new() };
        watch.note(live);
        watch
    }

    /// Adds the present value, if it is a number and has changed.
    pub fn note(&mut self, live: &State) {
        let number = match value(&self.expression, live) {
            Ok(answer) => answer.flag().map(|is| f64::from(u8::from(is))).or(answer.number()),
            Err(_) => None,
        };
        let Some(number) = number else { return };
        if self.values.back().is_some_and(|(_, last)| *last == number) {
            return;
        }
        if self.values.len() == KEPT {
            self.values.pop_front();
        }
        self.values.push_back((live.n, number));
    }

    /// Returns the values up to this event.
    pub fn until(&self, n: u64) -> impl DoubleEndedIterator<Item = f64> + Clone {
        let end = self.values.partition_point(|(at, _)| *at <= n);
        self.values.range(..end).map(|(_, value)| *value)
    }
}

/// The value of an expression in a state.
///
/// # Errors
/// Why the expression has no value.
pub fn value(expression: &Expression, state: &State) -> Result<ExpressionValue, String> {
    let facts = Facts::of_session(state);
    let resolver = Resolver(&facts);
    Evaluator::new(&resolver).value(expression)
}
