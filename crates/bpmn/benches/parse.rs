//! How long it takes to read a model of 200 elements with its diagram.

use std::fmt::Write;
use std::hint::black_box;

use bpmn::{Limits, parse};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// A chain of service tasks and exclusive gateways as a modeler would save it.
fn generate(elements: usize) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<bpmn:definitions \
         xmlns:bpmn=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" xmlns:zeebe=\"http://camunda.org/schema/zeebe/1.0\" \
         xmlns:bpmndi=\"http://www.omg.org/spec/BPMN/20100524/DI\" xmlns:dc=\"http://www.omg.org/spec/DD/20100524/DC\">\n\
         <bpmn:process id=\"generated\" isExecutable=\"true\">\n<bpmn:startEvent id=\"e0\" />\n",
    );
    let mut diagram = String::new();
    let mut write = |index: usize| -> std::fmt::Result {
        if index.is_multiple_of(5) {
            writeln!(xml, "<bpmn:exclusiveGateway id=\"e{index}\" default=\"f{}\" />", index + 1)?;
        } else {
            writeln!(
                xml,
                "<bpmn:serviceTask id=\"e{index}\" name=\"Task {index}\">\n  <bpmn:extensionElements>\n    \
                 <zeebe:taskDefinition type=\"work-{index}\" retries=\"3\" />\n    <zeebe:taskHeaders>\n      \
                 <zeebe:header key=\"number\" value=\"{index}\" />\n    </zeebe:taskHeaders>\n    <zeebe:ioMapping>\n      \
                 <zeebe:input source=\"=order.items[{index}].price * (1 + tax)\" target=\"price\" />\n      \
                 <zeebe:output source=\"=if price &gt; 100 then &quot;high&quot; else &quot;low&quot;\" target=\"level\" />\n    \
                 </zeebe:ioMapping>\n  </bpmn:extensionElements>\n  <bpmn:incoming>f{index}</bpmn:incoming>\n  \
                 <bpmn:outgoing>f{}</bpmn:outgoing>\n</bpmn:serviceTask>",
                index + 1
            )?;
        }
        writeln!(
            xml,
            "<bpmn:sequenceFlow id=\"f{index}\" sourceRef=\"e{}\" targetRef=\"e{index}\" />",
            index - 1
        )?;
        writeln!(
            diagram,
            "<bpmndi:BPMNShape id=\"e{index}_di\" bpmnElement=\"e{index}\">\n  \
             <dc:Bounds x=\"{}\" y=\"100\" width=\"100\" height=\"80\" />\n  <bpmndi:BPMNLabel />\n</bpmndi:BPMNShape>",
            index * 150
        )
    };
    for index in 1..elements {
        write(index).expect("writing to a string does not fail");
    }
    xml + "</bpmn:process>\n<bpmndi:BPMNDiagram id=\"diagram\"><bpmndi:BPMNPlane id=\"plane\">\n"
        + &diagram
        + "</bpmndi:BPMNPlane></bpmndi:BPMNDiagram>\n</bpmn:definitions>\n"
}

fn benchmark(criterion: &mut Criterion) {
    let limits = Limits::default();
    let mut group = criterion.benchmark_group("parse");
    for elements in [10, 200] {
        let xml = generate(elements);
        if let Err(problems) = parse(xml.as_bytes(), &limits) {
            panic!("the generated model is not valid: {problems}");
        }
        group.throughput(Throughput::Bytes(xml.len() as u64));
        group.bench_function(format!("{elements} elements"), |bencher| {
            bencher.iter(|| parse(black_box(xml.as_bytes()), &limits));
        });
    }
    group.finish();
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
