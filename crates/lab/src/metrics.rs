//! The metrics of a server, as an operator would read them.

/// Metrics in the text format.
pub struct Metrics(pub String);

impl Metrics {
    /// Sum of a metric over all its series.
    pub fn sum(&self, name: &str) -> f64 {
        bench::metric(&self.0, name).unwrap_or(0.0)
    }

    /// Sum over the series whose labels have a text, such as `action="created"`.
    pub fn labelled(&self, name: &str, label: &str) -> f64 {
        let lines = self.0.lines().filter_map(|line| line.strip_prefix(name));
        let lines = lines.filter(|rest| rest.starts_with('{') && rest.contains(label));
        lines.filter_map(|rest| rest.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }

    /// Jobs that something has happened to, such as `created`.
    pub fn job_events(&self, action: &str) -> f64 {
        self.labelled("zeebe_job_events_total", &format!("action=\"{action}\""))
    }

    /// Jobs by their events so far.
    pub fn jobs(&self) -> JobCounts {
        let action = |name: &str| self.job_events(name);
        JobCounts {
            created: action("created"),
            activated: action("activated"),
            completed: action("completed"),
            failed: action("failed"),
            timed_out: action("timed out"),
            yielded: action("yielded"),
            polled: self.sum("baton_jobs_polled_total"),
            refused: self.sum("baton_job_answers_refused_total"),
        }
    }
}

/// Jobs, counted by the server since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "names say what is held")]
pub struct JobCounts {
    pub created: f64,
    pub activated: f64,
    pub completed: f64,
    pub failed: f64,
    pub timed_out: f64,
    pub yielded: f64,
    /// Handed to polls.
    pub polled: f64,
    /// Answers for jobs that had ended.
    pub refused: f64,
}

impl JobCounts {
    /// With some worker now.
    pub fn outstanding(&self) -> f64 {
        (self.activated - self.completed - self.failed - self.timed_out - self.yielded).max(0.0)
    }

    /// Changes since then.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            created: self.created - earlier.created,
            activated: self.activated - earlier.activated,
            completed: self.completed - earlier.completed,
            failed: self.failed - earlier.failed,
            timed_out: self.timed_out - earlier.timed_out,
            yielded: self.yielded - earlier.yielded,
            polled: self.polled - earlier.polled,
            refused: self.refused - earlier.refused,
        }
    }

    /// Activations for each job that was activated at all: one, unless jobs come back.
    pub fn activations_per_job(&self) -> f64 {
        let again = self.timed_out + self.yielded + self.failed;
        self.activated / (self.activated - again).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_read_from_the_metrics() {
        let metrics = Metrics(
            "zeebe_job_events_total{action=\"created\",type=\"a\"} 10\n\
             zeebe_job_events_total{action=\"activated\",type=\"a\"} 9\n\
             zeebe_job_events_total{action=\"timed out\",type=\"a\"} 2\n\
             zeebe_job_events_total{action=\"completed\",type=\"a\"} 4\n\
             baton_jobs_polled_total{type=\"a\"} 1\nbaton_jobs_polled_total{type=\"b\"} 2\n"
                .to_owned(),
        );
        let jobs = metrics.jobs();
        assert_eq!((jobs.created, jobs.timed_out, jobs.polled, jobs.outstanding()), (10.0, 2.0, 3.0, 3.0));
        assert!((jobs.activations_per_job() - 9.0 / 7.0).abs() < 1e-9);
        assert_eq!(jobs.since(&jobs), JobCounts::default());
    }
}
