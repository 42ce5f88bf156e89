//! The process that is run: built in, or read from a BPMN file.

use std::path::Path;

use quick_xml::{Reader, events::Event};

use crate::{Error, Options};

/// One task: start event, service task of type `benchmark-task`, end event.
pub const BENCHMARK_BPMN: &str = include_str!("../models/benchmark.bpmn");
/// The demonstration's order process: exclusive and parallel gateways, tasks `check-stock`, `charge-payment`,
/// `ship-order`.
pub const ORDER_BPMN: &str = include_str!("../models/order.bpmn");
/// Ten service tasks of type `benchmark-task` with an exclusive and a parallel gateway.
pub const TEN_TASKS_BPMN: &str = include_str!("../models/ten_tasks.bpmn");

/// Start event, a message to wait for, a service task of type `benchmark-task`, end event. The message's correlation
/// key is the variable `key`.
pub const MESSAGE_BPMN: &str = include_str!("../models/message.bpmn");
/// Name of that message.
pub(crate) const MESSAGE_NAME: &str = "benchmark-message";

/// Start variables of an order that takes every task of the order process.
pub const ORDER_VARIABLES: &str = r#"{"orderId":"A-1047","customer":{"name":"Ada Example","level":"gold"},"items":[{"sku":"tea-50","quantity":2,"price":7.95},{"sku":"pot-1","quantity":1,"price":34.50}]}"#;

/// A process to run and how its jobs are done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) process_id: String,
    pub(crate) file_name: String,
    pub(crate) xml: String,
    pub(crate) jobs: Vec<JobKind>,
    /// An instance has ended when so many of its jobs are done.
    pub(crate) jobs_per_instance: u32,
    /// Start variables where the options give none.
    pub(crate) variables: Option<&'static str>,
    /// Each instance waits for a message.
    pub(crate) waits_for_message: bool,
}

/// A job type and what its worker answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JobKind {
    pub(crate) name: String,
    pub(crate) result: Option<&'static str>,
}

impl Model {
    /// The model that the options name, or one of their mix.
    pub(crate) fn of(process: &str, options: &Options) -> Result<Self, Error> {
        match process {
            "message" => {
                Ok(Self { waits_for_message: true, ..Self::read("message.bpmn", MESSAGE_BPMN, options)? })
            }
            "benchmark" => Self::read("benchmark.bpmn", BENCHMARK_BPMN, options),
            "ten-tasks" => {
                let model = Self::read("ten_tasks.bpmn", TEN_TASKS_BPMN, options)?;
                // Its gateway asks for the amount.
                Ok(Self { jobs_per_instance: 10, variables: Some(r#"{"amount":1500}"#), ..model })
            }
            "order" => Self::order(options),
            file => {
                let xml = std::fs::read_to_string(file).map_err(Error::file(file))?;
                let name =
                    Path::new(file).file_name().map_or_else(|| file.into(), |name| name.to_string_lossy());
                Self::read(&name, &xml, options)
            }
        }
    }

    fn order(options: &Options) -> Result<Self, Error> {
        let mut model = Self::read("order.bpmn", ORDER_BPMN, options)?;
        for job in &mut model.jobs {
            job.result = match job.name.as_str() {
                "check-stock" => Some(r#"{"inStock":true}"#),
                "charge-payment" => Some(r#"{"paid":true}"#),
                _ => Some(r#"{"trackingNumber":"BT-20417"}"#),
            };
        }
        model.variables = Some(ORDER_VARIABLES);
        Ok(model)
    }

    /// Finds process ID and job types in `xml`.
    fn read(file_name: &str, xml: &str, options: &Options) -> Result<Self, Error> {
        let invalid = |reason: String| Error::Model { name: file_name.to_owned(), reason };
        let (ids, types) = scan(xml).map_err(|error| invalid(error.to_string()))?;
        let process_id = match &options.process_id {
            Some(id) if ids.contains(id) => id.clone(),
            Some(id) => return Err(invalid(format!("there is no process '{id}', only: {}", ids.join(", ")))),
            None => ids.first().cloned().ok_or_else(|| invalid("there is no process in it".to_owned()))?,
        };
        let mut jobs: Vec<JobKind> = Vec::new();
        for name in &types {
            if jobs.iter().all(|job| job.name != *name) {
                jobs.push(JobKind { name: name.clone(), result: None });
            }
        }
        let jobs_per_instance = options.jobs_per_instance.unwrap_or(types.len() as u32);
        if !options.no_workers && jobs_per_instance == 0 {
            return Err(invalid(
                "no task has a job type, so no worker can see its end; use --no-workers".to_owned(),
            ));
        }
        Ok(Self {
            process_id,
            file_name: file_name.to_owned(),
            xml: xml.to_owned(),
            jobs,
            jobs_per_instance,
            variables: None,
            waits_for_message: false,
        })
    }
}

/// The IDs of all processes, and the job type of each task.
fn scan(xml: &str) -> Result<(Vec<String>, Vec<String>), quick_xml::Error> {
    let mut reader = Reader::from_str(xml);
    let (mut ids, mut types) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event()? {
            Event::Eof => return Ok((ids, types)),
            Event::Start(tag) | Event::Empty(tag) => {
                let (list, attribute) = match tag.local_name().as_ref() {
                    "process" => (&mut ids, "id"),
                    "taskDefinition" => (&mut types, "type"),
                    _ => continue,
                };
                if let Some(value) = tag.try_get_attribute(attribute)? {
                    list.push(value.value.into_owned());
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(process: &str) -> Model {
        Model::of(process, &Options::default()).unwrap()
    }

    fn types(model: &Model) -> Vec<&str> {
        model.jobs.iter().map(|job| job.name.as_str()).collect()
    }

    #[test]
    fn built_in_models() {
        let benchmark = model("benchmark");
        assert_eq!((benchmark.process_id.as_str(), benchmark.jobs_per_instance), ("benchmark", 1));
        assert_eq!(types(&benchmark), ["benchmark-task"]);

        let order = model("order");
        assert_eq!((order.process_id.as_str(), order.jobs_per_instance), ("order", 3));
        assert_eq!(types(&order), ["check-stock", "charge-payment", "ship-order"]);
        for document in order.jobs.iter().filter_map(|job| job.result).chain(order.variables) {
            assert!(serde_json::from_str::<serde_json::Value>(document).unwrap().is_object());
        }

        let ten = model("ten-tasks");
        assert_eq!((ten.process_id.as_str(), ten.jobs_per_instance), ("ten-tasks", 10));
        assert_eq!(types(&ten), ["benchmark-task"]);
    }

    #[test]
    fn every_flow_of_the_built_in_models_has_a_shape() {
        for xml in [BENCHMARK_BPMN, ORDER_BPMN, TEN_TASKS_BPMN, MESSAGE_BPMN] {
            let flows = xml.matches("<bpmn:sequenceFlow ").count();
            assert!(flows > 0);
            assert_eq!(xml.matches("<bpmndi:BPMNEdge ").count(), flows);
            assert_eq!(xml.matches("<bpmn:incoming>").count(), flows);
            assert_eq!(xml.matches("<bpmn:outgoing>").count(), flows);
        }
    }

    #[test]
    fn a_file_without_jobs_needs_no_workers() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), r#"<definitions><process id="a"/><process id="b"/></definitions>"#)
            .unwrap();
        let path = file.path().display().to_string();
        let mut options = Options::default();
        assert!(matches!(Model::of(&path, &options), Err(Error::Model { .. })));
        options.no_workers = true;
        assert_eq!(Model::of(&path, &options).unwrap().process_id, "a");
        options.process_id = Some("b".to_owned());
        assert_eq!(Model::of(&path, &options).unwrap().process_id, "b");
        options.process_id = Some("c".to_owned());
        assert!(matches!(Model::of(&path, &options), Err(Error::Model { .. })));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Model::of("nowhere.bpmn", &Options::default()).unwrap_err();
        assert!(error.to_string().starts_with("nowhere.bpmn: "), "{error}");
    }
}
