//! A run: its rows, one after the other or some at a time, and those again that a busy machine may have spoiled.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::StreamExt as _;

use crate::arguments::RunArguments;
use crate::error::LabError;
use crate::experiment::Experiment;
use crate::lab::{Size, Surroundings};
use crate::output::print;
use crate::plan::{self, TimeBudget};
use crate::progress::Progress;
use crate::result::{ExperimentResult, Judgement, LabRun};
use crate::{page, table};

/// The results of a run.
pub(crate) const JSON_FILE: &str = "lab.json";
const PAGE_FILE: &str = "lab.html";
/// Experiments at a time in quick size.
pub(crate) const QUICK_LANES: u32 = 3;
/// Time between two drawings of the progress.
const PROGRESS_PACE: Duration = Duration::from_secs(1);
/// Time for rows that run again in quick size: on a machine that is too busy for all of them the rest stays as it is.
const QUICK_AGAIN_MAX: Duration = Duration::from_secs(180);
/// An expectation failed, or a row is void.
const FAILED: u8 = 1;

/// Runs rows as they were chosen; the exit code.
pub(crate) async fn run_rows(
    arguments: &RunArguments,
    rows: &[&'static Experiment],
    surroundings: Surroundings,
    version: &str,
) -> Result<u8, LabError> {
    let lanes = arguments.lanes.unwrap_or(if arguments.quick { QUICK_LANES } else { 1 });
    let budget = arguments.time_budget.map(|all| TimeBudget { began: Instant::now(), all, lanes });
    let size = budget.and_then(|budget| budget.size(rows)).unwrap_or(surroundings.size);
    let progress = Arc::new(Progress::new(rows.len(), plan::seconds_of_all(rows, size) as u32, lanes));
    let results = LabRun {
        machine: bench::suite::machine(),
        version: version.to_owned(),
        size: match (surroundings.size, arguments.time_budget) {
            (Size::Quick, _) => format!("quick size, {lanes} rows at a time"),
            (_, Some(budget)) => format!("full size, shortened to {} min", budget.as_secs().div_ceil(60)),
            (Size::Full(scale), None) => format!("full size, scale {scale}"),
        },
        command: std::env::args().collect::<Vec<_>>().join(" "),
        began: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        results: Vec::new(),
    };
    let mut run = RowsRun { arguments, surroundings, rows, progress, budget, ended: Vec::new(), results };
    let mut done = run.all(lanes).await;
    if arguments.again && done.is_ok() {
        done = run.again().await;
    }
    run.progress.clear();
    let results = &run.results;
    print(&if arguments.json { results.json() } else { table::summary(results) });
    done?;
    let fails = |result: &ExperimentResult| {
        matches!(result.judgement, Judgement::Missed | Judgement::Void)
            && !(arguments.spoiled_passes && result.may_be_the_machine())
    };
    Ok(if results.results.iter().any(fails) { FAILED } else { 0 })
}

/// A run under way.
struct RowsRun<'a> {
    arguments: &'a RunArguments,
    surroundings: Surroundings,
    rows: &'a [&'static Experiment],
    progress: Arc<Progress>,
    budget: Option<TimeBudget>,
    /// Rows that have ended, by their places.
    ended: Vec<(usize, ExperimentResult)>,
    results: LabRun,
}

impl RowsRun<'_> {
    /// Runs all rows, some at a time.
    async fn all(&mut self, lanes: u32) -> Result<(), LabError> {
        let (rows, budget) = (self.rows, self.budget);
        let (surroundings, progress) = (self.surroundings.clone(), Arc::clone(&self.progress));
        let works = (0..rows.len()).map(|place| {
            let (surroundings, progress) = (&surroundings, &progress);
            async move {
                // As late as this: the time that others have left counts.
                let size = size_of(budget, &rows[place..], surroundings);
                (place, run_row(rows[place], size, surroundings, progress).await)
            }
        });
        let mut works = futures::stream::iter(works).buffer_unordered(lanes as usize);
        let mut ticks = tokio::time::interval(PROGRESS_PACE);
        loop {
            tokio::select! {
                next = works.next() => match next {
                    None => return Ok(()),
                    Some((place, result)) => {
                        let result = result?;
                        self.show(&result);
                        self.ended.push((place, result));
                        // Results so far are kept, whatever comes next.
                        self.keep()?;
                    }
                },
                _ = ticks.tick() => progress.draw(),
            }
        }
    }

    /// Runs rows again, alone, that a busy machine may have spoiled.
    async fn again(&mut self) -> Result<(), LabError> {
        let spoiled: Vec<usize> =
            (0..self.ended.len()).filter(|place| self.ended[*place].1.may_be_the_machine()).collect();
        let began = Instant::now();
        for (number, at) in spoiled.iter().enumerate() {
            if self.surroundings.size == Size::Quick && began.elapsed() > QUICK_AGAIN_MAX {
                return Ok(());
            }
            let left: Vec<_> = spoiled[number..].iter().map(|at| self.rows[self.ended[*at].0]).collect();
            let Some(size) = size_of(self.budget, &left, &self.surroundings) else { return Ok(()) };
            let second = run_row(left[0], Some(size), &self.surroundings, &self.progress).await?;
            let second = second.after(&self.ended[*at].1);
            self.show(&second);
            self.ended[*at].1 = second;
            self.keep()?;
        }
        Ok(())
    }

    fn show(&self, result: &ExperimentResult) {
        self.progress.clear();
        if !self.arguments.json && result.judgement != Judgement::NotRun {
            print(&table::experiment(result));
        }
    }

    /// Writes the results, in the order in which the rows were chosen.
    fn keep(&mut self) -> Result<(), LabError> {
        let mut all: Vec<_> = self.ended.iter().collect();
        all.sort_by_key(|(place, _)| *place);
        self.results.results = all.into_iter().map(|(_, result)| result.clone()).collect();
        write_files(&self.surroundings.directory, &self.results)
    }
}

/// The size of the first of the rows that are left; `None` if the time is over.
fn size_of(budget: Option<TimeBudget>, left: &[&Experiment], surroundings: &Surroundings) -> Option<Size> {
    budget.map_or(Some(surroundings.size), |budget| budget.size(left))
}

async fn run_row(
    row: &'static Experiment,
    size: Option<Size>,
    surroundings: &Surroundings,
    progress: &Arc<Progress>,
) -> Result<ExperimentResult, LabError> {
    let Some(size) = size else {
        let mut result = ExperimentResult::new(row.id, row.title);
        result.reason = Some("the time budget was over".to_owned());
        return Ok(result);
    };
    progress.begins(row.id, plan::seconds(row, size) as u32);
    let surroundings = Arc::new(Surroundings { size, ..surroundings.clone() });
    let mut result = row.run(surroundings, Arc::clone(progress)).await?;
    if let (Size::Full(scale), true) = (size, result.judgement != Judgement::NotRun)
        && (scale - 1.0).abs() > f64::EPSILON
    {
        result.notes.push(format!("scale {scale:.2} of the full size"));
    }
    progress.ends(row.id);
    Ok(result)
}

/// Writes the results and their page to a directory.
pub(crate) fn write_files(directory: &Path, run: &LabRun) -> Result<(), LabError> {
    for (name, text) in [(JSON_FILE, run.json()), (PAGE_FILE, page::page(run))] {
        let path = directory.join(name);
        std::fs::write(&path, text)
            .map_err(|error| LabError::environment(&format!("write {}", path.display()), error))?;
    }
    Ok(())
}
