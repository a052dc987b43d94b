//! The requests that were read last. A request that continues one of them is read from there.

use std::cell::RefCell;
use std::collections::VecDeque;

use crate::wire::{Earlier, IncomingRequest, NotRead, WireFormat};

/// The most requests that are kept, and their bytes.
const MOST: usize = 32;
const SIZE: usize = 16 << 20;

/// Requests that others may continue, the newest last.
#[derive(Default)]
pub struct Recent(RefCell<VecDeque<Earlier>>);

impl Recent {
    /// Reads a request.
    ///
    /// # Errors
    /// The body is not a request of this format.
    pub fn read(&self, format: WireFormat, body: &[u8]) -> Result<IncomingRequest, NotRead> {
        let mut known = self.0.borrow_mut();
        let saves = |at: usize| known.get(at).map_or(0, |it| it.saves(format, body));
        let best = (0..known.len()).map(|at| (saves(at), at)).max().filter(|(saved, _)| *saved > 0);
        let earlier = best.and_then(|(_, at)| known.remove(at));
        let read = earlier.and_then(|earlier| earlier.read(body));
        let asked = read.unwrap_or_else(|| format.read_request(body))?;
        known.extend(Earlier::new(format, body, &asked));
        let mut size: usize = known.iter().map(Earlier::size).sum();
        while known.len() > MOST || size > SIZE {
            size -= known.pop_front().map_or(0, |oldest| oldest.size());
        }
        Ok(asked)
    }
}
