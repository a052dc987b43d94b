//! The seam to the stage: the simulated model, the sample tools and the demos. A program built without them says so
//! when one is requested; nothing else in this room knows whether they exist.

#[cfg(not(feature = "stage"))]
mod absent;
#[cfg(feature = "stage")]
mod present;

#[cfg(not(feature = "stage"))]
pub use self::absent::*;
#[cfg(feature = "stage")]
pub use self::present::*;
