//! An experiment: the parts of its report, and how it is run.

use std::pin::Pin;
use std::sync::Arc;

use crate::error::LabError;
use crate::lab::{Lab, Surroundings};
use crate::progress::Progress;
use crate::result::ExperimentResult;

/// The work of an experiment.
pub(crate) type Work<'a> = Pin<Box<dyn Future<Output = Result<(), LabError>> + 'a>>;

/// An experiment: the text of its report, and its work.
pub(crate) struct Experiment {
    /// Such as `E5`.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// The sentence that the experiment may prove wrong.
    pub(crate) hypothesis: &'static str,
    pub(crate) set_up: &'static str,
    pub(crate) steady_state: &'static str,
    /// The change that is made to the system.
    pub(crate) action: &'static str,
    pub(crate) measurement: &'static str,
    /// Figures that the reference system's team has published.
    pub(crate) reference: &'static str,
    /// About how long it takes in quick and in full size.
    pub(crate) seconds: (u32, u32),
    pub(crate) body: Body,
}

/// The work, or the reason why there is none yet.
pub(crate) enum Body {
    Run(fn(&mut Lab) -> Work<'_>),
    /// Requirements that are not met.
    NotRun(&'static str),
}

impl Experiment {
    /// Runs it to its end, whatever that is. Fails only if nothing can be known here.
    pub(crate) async fn run(
        &self,
        surroundings: Arc<Surroundings>,
        progress: Arc<Progress>,
    ) -> Result<ExperimentResult, LabError> {
        let work = match self.body {
            Body::Run(work) => work,
            Body::NotRun(needs) => {
                let mut result = ExperimentResult::new(self.id, self.title);
                result.reason = Some(format!("needs {needs}"));
                return Ok(result);
            }
        };
        let mut lab = Lab::open(self.id, self.title, surroundings, progress)?;
        let outcome = work(&mut lab).await;
        lab.close(outcome)
    }
}
