//! Times by kind of fault.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::fault::Fault;

#[derive(Default)]
struct Times {
    /// From the loss of the leader to the next creation.
    fail_overs: Vec<Duration>,
    /// From the repair, or the start, until all brokers are well and agree.
    recoveries: Vec<Duration>,
}

#[derive(Default)]
pub(crate) struct Tally(BTreeMap<Fault, Times>);

impl Tally {
    pub(crate) fn add(&mut self, fault: Fault, fail_over: Option<Duration>, recovery: Duration) {
        let times = self.0.entry(fault).or_default();
        times.fail_overs.extend(fail_over);
        times.recoveries.push(recovery);
    }

    pub(crate) fn print(&mut self) {
        println!("{:<24}rounds  next creation, p50 and worst  all are well, p50 and worst", "");
        for (fault, times) in &mut self.0 {
            let (rounds, creation) = (times.recoveries.len(), spread(&mut times.fail_overs));
            let recovery = spread(&mut times.recoveries);
            println!("{:<24}{rounds:>6}  {creation:>28}  {recovery:>27}", format!("{fault:?}"));
        }
    }
}

fn spread(times: &mut [Duration]) -> String {
    times.sort();
    let seconds = |time: &Duration| format!("{:.2} s", time.as_secs_f64());
    match times.last() {
        None => "-".to_owned(),
        Some(worst) => format!("{}, {}", seconds(&times[(times.len() - 1) / 2]), seconds(worst)),
    }
}
