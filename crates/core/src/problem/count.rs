//! How many times a problem is repeated, where that is said at each run.

use super::{Dim, Problem};
use crate::error::Error;

/// Times at most that a dimension is repeated whose count is given at each run: kernels count in 32 bits.
pub const COUNT_LIMIT: u64 = (1 << 31) - 1;

impl Problem {
    /// The repeated dimension of which each run takes as many points as it is told; `None` where every run takes all.
    pub fn at_run(&self) -> Option<&Dim> {
        self.batch.iter().find(|dim| dim.at_run)
    }

    /// What a run with that count does, as a problem of its own.
    ///
    /// ```
    /// use warpfft_core::request::Fft;
    /// let problem = Fft::new([1024]).batch(64).any_batch().build()?;
    /// assert_eq!(problem.at_count(5)?, Fft::new([1024]).batch(5).build()?);
    /// assert!(problem.at_count(65).is_err());
    /// # Ok::<(), warpfft_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// No dimension has its count given at each run; it has fewer points; or the count is 0, which leaves nothing to
    /// be a problem.
    pub fn at_count(&self, count: u64) -> Result<Self, Error> {
        let Some(most) = self.at_run().map(|dim| dim.n) else {
            return Err(Error::CountFixed { count, n: self.batch_count() });
        };
        self.check_at_run()?;
        if !(1..=most).contains(&count) {
            return Err(Error::Count { count, most });
        }
        let mut problem = self.clone();
        for dim in problem.batch.iter_mut().filter(|dim| dim.at_run) {
            (dim.n, dim.at_run) = (count, false);
        }
        problem.canonicalise();
        Ok(problem)
    }

    /// Whether a dimension has its count given at each run that cannot.
    pub(crate) fn check_at_run(&self) -> Result<(), Error> {
        let own = self.kind.dims().map(|(dim, _)| dim);
        if self.transform.iter().copied().chain(own).any(|dim| dim.at_run) {
            return Err(Error::CountTransform);
        }
        let counted = self.batch.iter().filter(|dim| dim.at_run).count();
        if counted > 1 {
            return Err(Error::CountTwice { dims: counted });
        }
        match self.at_run() {
            Some(dim) if dim.n > COUNT_LIMIT => Err(Error::CountLimit { n: dim.n, limit: COUNT_LIMIT }),
            _ => Ok(()),
        }
    }
}
