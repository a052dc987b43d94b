//! The seam to the stage: the simulated model, the sample tools and the demos. A program that was built without them says
//! so where somebody asks for one; nothing else in this room knows whether they are there.

#[cfg(not(feature = "stage"))]
mod absent;
#[cfg(feature = "stage")]
mod present;

#[cfg(not(feature = "stage"))]
pub use self::absent::*;
#[cfg(feature = "stage")]
pub use self::present::*;
