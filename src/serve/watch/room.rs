//! Memory for the bodies of requests and answers that are kept while they are on their way. All listeners of a process
//! share it, so that several large bodies at once cost no more than the largest one.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// The most bytes of a request or an answer that are kept. Larger ones pass unread.
pub const LONGEST: usize = 32 << 20;
/// The bytes that any body may have without asking.
const SMALL: usize = 64 << 10;
/// The unit in which room is counted.
const UNIT: usize = 1 << 10;
/// How long a body waits for room. Bodies that wait for each other's room go on unread after it.
const WAIT: Duration = Duration::from_secs(10);

static FREE: Semaphore = Semaphore::const_new(LONGEST / UNIT);

/// The room that a body has.
#[derive(Debug)]
pub struct Room {
    free: &'static Semaphore,
    taken: Option<SemaphorePermit<'static>>,
}

impl Default for Room {
    fn default() -> Self {
        Self { free: &FREE, taken: None }
    }
}

impl Room {
    /// The units that a body of this length still needs.
    fn needs(&self, length: usize) -> usize {
        let all = if length <= SMALL { 0 } else { length.div_ceil(UNIT) };
        all.saturating_sub(self.taken.as_ref().map_or(0, SemaphorePermit::num_permits))
    }

    /// Takes room for a body of this length. Returns whether there is room, now or soon.
    pub async fn wait(&mut self, length: usize) -> bool {
        let needs = self.needs(length);
        if needs == 0 || self.take(needs) {
            return true;
        }
        if length > LONGEST {
            // No other body could make room for it.
            return false;
        }
        let Ok(units) = u32::try_from(needs) else { return false };
        let taken = timeout(WAIT, self.free.acquire_many(units)).await;
        taken.ok().and_then(Result::ok).map(|taken| self.add(taken)).is_some()
    }

    /// The same without waiting, where the rest of the session would wait too.
    pub fn has(&mut self, length: usize) -> bool {
        let needs = self.needs(length);
        needs == 0 || self.take(needs)
    }

    fn take(&mut self, units: usize) -> bool {
        let units = u32::try_from(units).ok();
        let taken = units.and_then(|units| self.free.try_acquire_many(units).ok());
        taken.map(|taken| self.add(taken)).is_some()
    }

    fn add(&mut self, more: SemaphorePermit<'static>) {
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            None => self.taken = Some(more),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bodies_share_the_room_and_give_it_back() {
        let free: &Semaphore = Box::leak(Box::new(Semaphore::new(LONGEST / UNIT)));
        let [mut one, mut other, mut large] = [(); 3].map(|()| Room { free, taken: None });
        assert!(other.has(SMALL), "small ones need none");
        assert!(one.has(LONGEST / 2) && one.has(LONGEST - UNIT));
        assert!(other.has(SMALL) && !other.has(2 * SMALL) && !other.wait(2 * SMALL).await);
        let (wait, give) = tokio::join!(other.wait(2 * SMALL), async { drop(one) });
        assert_eq!((wait, give), (true, ()));
        let begun = tokio::time::Instant::now();
        assert!(!large.wait(LONGEST + UNIT).await);
        assert_eq!(begun.elapsed(), Duration::ZERO, "it does not wait in vain");
    }
}
