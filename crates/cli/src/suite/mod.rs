//! `warpfft bench --suite`: a list of problems measured one after the other, written down as they come, drawn,
//! compared and reported.

mod case;
mod compare;
mod mean;
mod record;
mod report;
mod run;

pub use case::{Case, chosen};
pub use compare::compare;
pub use record::Record;
pub use report::report;
pub use run::{Options, name_peers, run};

#[cfg(test)]
pub use record::tests;
