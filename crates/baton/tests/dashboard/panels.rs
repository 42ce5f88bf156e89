//! Facts about a dashboard: what its panels ask for.

use std::collections::BTreeMap;

/// One metric that a panel asks for.
#[derive(Debug)]
#[allow(dead_code, reason = "shown where it fails")]
pub(crate) struct Panel {
    row: &'static str,
    title: &'static str,
    /// Names of the same series, of which one is enough.
    pub(crate) names: Vec<&'static str>,
    /// Labels that series must have, with their value after `=` if the expression names one.
    pub(crate) labels: Vec<String>,
    pub(crate) here: Here,
}

/// Where there is data after a load.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Here {
    Any,
    /// At one that is alone.
    Alone,
    Cluster,
    /// With the reason.
    Nowhere(&'static str),
}

pub(crate) fn read() -> Vec<Panel> {
    let text = include_str!("panels.txt");
    let lines = || text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let shared: BTreeMap<_, _> =
        lines().filter_map(|line| line.strip_prefix('@')?.split_once(" = ")).collect();
    lines().filter(|line| !line.starts_with('@')).map(|line| panel(line, &shared)).collect()
}

fn panel(line: &'static str, shared: &BTreeMap<&'static str, &'static str>) -> Panel {
    let columns: Vec<_> = line.split('|').map(str::trim).collect();
    let [row, title, names, labels, here] = columns[..] else { panic!("five columns: {line}") };
    let here = match here {
        "any" => Here::Any,
        "alone" => Here::Alone,
        "cluster" => Here::Cluster,
        other => {
            let reason = other.strip_prefix("no: ").unwrap_or_else(|| panic!("{line}"));
            let known =
                |name| *shared.get(name).unwrap_or_else(|| panic!("no reason is called {name}: {line}"));
            Here::Nowhere(reason.strip_prefix('@').map_or(reason, known))
        }
    };
    let labels = labels.split_whitespace().map(ToOwned::to_owned).collect();
    Panel { row, title, names: names.split('/').collect(), labels, here }
}

#[test]
fn each_metric_without_data_has_a_reason_in_words() {
    let panels = read();
    assert!(panels.len() > 250, "{} facts", panels.len());
    for panel in &panels {
        assert!(panel.names.iter().all(|name| !name.is_empty() && !name.contains(' ')), "{panel:?}");
        if let Here::Nowhere(reason) = panel.here {
            assert!(reason.split_whitespace().count() >= 7, "{panel:?}");
        }
    }
    let with_data = panels.iter().filter(|panel| !matches!(panel.here, Here::Nowhere(_))).count();
    assert!(with_data >= 110, "{with_data}");
}
