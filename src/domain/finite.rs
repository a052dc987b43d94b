//! Numbers that a journal can hold. JSON has no infinity: an infinite sum would be written as `null`.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Deref, Div, Mul, Neg, Sub};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A finite number. Every float of an event and of the state has this type; arithmetic on it gives plain floats,
/// which become finite again where they are stored. A number that is too large becomes the largest one, and what is
/// not a number becomes 0.
///
/// It reads `null`, which earlier versions wrote for an infinite sum, as 0: an unknown amount adds nothing.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Finite<N = f64>(N);

macro_rules! finite {
    ($float:ident) => {
        impl Finite<$float> {
            /// Clamps a number to the finite ones; NaN becomes 0.
            pub const fn new(number: $float) -> Self {
                match number.is_nan() {
                    true => Self(0.0),
                    false => Self(number.clamp($float::MIN, $float::MAX)),
                }
            }
        }

        impl From<$float> for Finite<$float> {
            fn from(number: $float) -> Self {
                Self::new(number)
            }
        }

        impl From<Finite<$float>> for $float {
            fn from(finite: Finite<$float>) -> Self {
                finite.0
            }
        }

        impl Deref for Finite<$float> {
            type Target = $float;

            fn deref(&self) -> &$float {
                &self.0
            }
        }

        impl PartialEq<$float> for Finite<$float> {
            fn eq(&self, other: &$float) -> bool {
                self.0 == *other
            }
        }

        impl PartialEq<Finite<$float>> for $float {
            fn eq(&self, other: &Finite<$float>) -> bool {
                *self == other.0
            }
        }

        impl PartialOrd<$float> for Finite<$float> {
            fn partial_cmp(&self, other: &$float) -> Option<Ordering> {
                self.0.partial_cmp(other)
            }
        }

        impl PartialOrd<Finite<$float>> for $float {
            fn partial_cmp(&self, other: &Finite<$float>) -> Option<Ordering> {
                self.partial_cmp(&other.0)
            }
        }

        impl Neg for Finite<$float> {
            type Output = $float;

            fn neg(self) -> $float {
                -self.0
            }
        }

        impl AddAssign<$float> for Finite<$float> {
            fn add_assign(&mut self, more: $float) {
                *self = (self.0 + more).into();
            }
        }

        impl AddAssign for Finite<$float> {
            fn add_assign(&mut self, more: Self) {
                *self += more.0;
            }
        }

        impl AddAssign<Finite<$float>> for $float {
            fn add_assign(&mut self, more: Finite<$float>) {
                *self += more.0;
            }
        }

        impl Sum for Finite<$float> {
            fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
                numbers.map(|number| number.0).sum::<$float>().into()
            }
        }

        impl<'de> Deserialize<'de> for Finite<$float> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let number = Option::<$float>::deserialize(deserializer)?;
                Ok(number.unwrap_or_default().into())
            }
        }

        finite!($float: Add add, Sub sub, Mul mul, Div div);
    };
    ($float:ident: $($operator:ident $method:ident),*) => { $(
        impl $operator for Finite<$float> {
            type Output = $float;

            fn $method(self, other: Self) -> $float {
                self.0.$method(other.0)
            }
        }

        impl $operator<$float> for Finite<$float> {
            type Output = $float;

            fn $method(self, other: $float) -> $float {
                self.0.$method(other)
            }
        }

        impl $operator<Finite<$float>> for $float {
            type Output = $float;

            fn $method(self, other: Finite<$float>) -> $float {
                self.$method(other.0)
            }
        }
    )* };
}

finite!(f32);
finite!(f64);

impl From<Finite<f32>> for f64 {
    fn from(finite: Finite<f32>) -> Self {
        finite.0.into()
    }
}

impl From<Finite> for Value {
    fn from(finite: Finite) -> Self {
        finite.0.into()
    }
}

impl<N: fmt::Debug> fmt::Debug for Finite<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<N: fmt::Display> fmt::Display for Finite<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_beyond_all_numbers_is_the_largest_number_and_reads_back() {
        let mut sum = Finite::from(1e308);
        sum += 1e308;
        assert_eq!(sum, f64::MAX);
        sum += f64::INFINITY;
        sum += Finite::from(-5.0);
        assert_eq!(sum, f64::MAX);
        let written = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<Finite>(&written).unwrap(), sum);
        assert_eq!([Finite::from(f64::MAX); 3].into_iter().sum::<Finite>(), f64::MAX);
        assert_eq!(Finite::from(f64::NEG_INFINITY), f64::MIN);
        assert_eq!((Finite::from(f64::NAN), Finite::from(f32::NAN)), (0.0.into(), 0.0.into()));
    }

    #[test]
    fn null_reads_as_unknown() {
        assert_eq!(serde_json::from_str::<Finite>("null").unwrap(), 0.0);
        assert_eq!(serde_json::from_str::<[Finite<f32>; 2]>("[null,1.5]").unwrap(), [0.0, 1.5]);
        assert!(serde_json::from_str::<Finite>("\"1\"").is_err());
    }
}
