//! Hostile blocks, which use as much as they can of a resource. Each has an entry, and an exit if it ends.

use std::fmt::Write as _;

use engine::WorkLimits;

use crate::Random;
use crate::expressions::{doubled, items, large, long, text};
use crate::generator::{Block, Generator, Hostility};

/// Mappings of one element.
const MAX_MAPPINGS: u64 = 60;
/// Conditions of one gateway.
const MAX_CONDITIONS: u64 = 40;

/// Random limits, and models that reach them. Most limits are so small that one is reached within milliseconds.
pub fn limits(random: &mut Random) -> (WorkLimits, Hostility) {
    if random.percent(4) {
        return (WorkLimits::default(), Hostility { size: 1_000_000 });
    }
    let max_fuel_per_step = 500 << random.below(8);
    let work = WorkLimits {
        max_fuel_per_step,
        max_fuel_per_command: max_fuel_per_step / [1, 4, 10, 50][random.below(4) as usize],
        max_record_bytes_per_command: 4_000 << random.below(10),
        max_bytes_per_step: 2_000 << random.below(8),
        max_evaluation_bytes: 8_000 << random.below(10),
        max_variable_bytes: 500 << random.below(8),
        max_collection_bytes: 500 << random.below(8),
        max_instance_variable_bytes: 4_000 << random.below(7),
        max_entries_per_command: 100 << random.below(6),
        max_scope_variables: 20 << random.below(9),
    };
    (work, Hostility { size: [300, 3_000, 30_000][random.below(3) as usize] })
}

impl Generator<'_> {
    pub(crate) fn hostile_block(&mut self, text: &mut String, depth: u32, size: u64) -> Block {
        match self.random.below(20) {
            0 | 1 => self.deep_mappings(text, size),
            2 => self.growing_outputs(text, size),
            3 | 4 => self.heavy_script(text, size),
            5 | 6 => self.wide_body(text, depth, size),
            7 if self.decides => self.heavy_decision(text),
            7 | 8 => self.long_conditions(text, size),
            9 => self.fork_bomb(text),
            10 => self.endless_timer(text, size),
            11 => self.endless_calls(text, size),
            12 => self.endless_sub_process(text, size),
            13 => self.endless_start(text),
            14 => self.endless_error(text, size),
            15 => self.endless_while(text, size),
            16 => self.wide_ad_hoc(text, size),
            17 => self.large_names(text, size),
            18 => self.many_handlers(text, size),
            _ => self.heavy_listeners(text, size),
        }
    }

    fn one(&mut self, text: &mut String, prefix: &str, line: &str) -> Block {
        let id = self.id(prefix);
        let _ = writeln!(text, "{}", line.replace("{id}", &id));
        Block { first: id.clone(), last: id }
    }

    /// Texts, lists and contexts that double with each mapping.
    fn mappings(&mut self, direction: &str, size: u64) -> String {
        let mut all = format!(" {direction}:h0=\"={}\"", large(self.random, size));
        let is_one_name = self.random.percent(50);
        for number in 1..self.random.magnitude(MAX_MAPPINGS) {
            let (before, after) = if is_one_name { (0, 0) } else { (number - 1, number) };
            let before = format!("h{before}");
            let value = match self.random.below(8) {
                0 => long(self.random, size),
                1 => before,
                _ => doubled(self.random, &before),
            };
            let path = if self.random.percent(15) { ".a.b" } else { "" };
            let _ = write!(all, " {direction}:h{after}{path}=\"={value}\"");
        }
        all
    }

    fn deep_mappings(&mut self, text: &mut String, size: u64) -> Block {
        let mappings = self.mappings("in", size);
        let kind = self.random.pick(&[
            "job {id} type=t",
            "user {id}",
            "script {id} expr=h0 result=h",
            "call {id} process=nobody",
        ]);
        let id = self.one(text, "deep", &format!("{kind}{mappings}")).first;
        self.with_boundaries(text, id)
    }

    fn growing_outputs(&mut self, text: &mut String, size: u64) -> Block {
        let mappings = self.mappings("out", size);
        self.one(text, "grow", &format!("job {{id}} type=t{mappings}"))
    }

    fn heavy_script(&mut self, text: &mut String, size: u64) -> Block {
        let expression =
            if self.random.percent(50) { long(self.random, size) } else { large(self.random, size) };
        let result = self.random.pick(&["v", "r", "h0", "list"]);
        self.one(text, "heavy", &format!("script {{id}} expr=\"{expression}\" result={result}"))
    }

    /// A multi-instance activity with many items, large ones, or large outputs, nested as deep as allowed.
    fn wide_body(&mut self, text: &mut String, depth: u32, size: u64) -> Block {
        let mut marker = format!(" each=\"{}\" as=item", items(self.random, size));
        if self.random.percent(40) {
            marker.push_str(" sequential");
        }
        if self.random.percent(60) {
            let gives =
                if self.random.percent(50) { large(self.random, size) } else { "[item, item]".to_owned() };
            let _ = write!(marker, " collect=list gives=\"{gives}\"");
        }
        if self.random.percent(20) {
            let _ = write!(marker, " until=\"{} < 0\"", long(self.random, size));
        }
        if depth > 0 && self.random.percent(40) {
            let [id, start, end] = ["wide", "s", "e"].map(|prefix| self.id(prefix));
            let _ = writeln!(text, "sub {id}{marker} {{\nstart {start}\nend {end}");
            let inner = self.sequence(text, depth - 1);
            let _ = writeln!(text, "{start} -> {}\n{} -> {end}\n}}", inner.first, inner.last);
            return self.with_boundaries(text, id);
        }
        let line = match self.random.below(4) {
            0 => format!("job {{id}} type=t in:copy=\"={}\"{marker}", large(self.random, size)),
            1 => format!("user {{id}} task:creating=t listen:start=t{marker}"),
            2 => format!("script {{id}} expr=\"{}\" result=r{marker}", long(self.random, size)),
            _ => format!("script {{id}} expr=\"{}\" result=r{marker}", large(self.random, size)),
        };
        let id = self.one(text, "wide", &line).first;
        self.with_boundaries(text, id)
    }

    fn heavy_decision(&mut self, text: &mut String) -> Block {
        let decision = self.random.pick(&["heavy", "d0", "='hea'+'vy'"]);
        self.one(text, "rule", &format!("decide {{id}} decision={decision} result=v"))
    }

    fn long_conditions(&mut self, text: &mut String, size: u64) -> Block {
        let [split, merge] = ["split", "merge"].map(|prefix| self.id(prefix));
        let kind = self.random.pick(&["xor", "or"]);
        let _ = writeln!(text, "{kind} {split}\nxor {merge}");
        for _ in 0..self.random.magnitude(MAX_CONDITIONS) {
            let _ = writeln!(text, "{split} -> {merge} if {} = null", long(self.random, size));
        }
        let _ = writeln!(text, "{split} -> {merge} default");
        Block { first: split, last: merge }
    }

    /// Multiplies tokens by gateways alone.
    fn fork_bomb(&mut self, text: &mut String) -> Block {
        let [merge, fork, out] = ["merge", "fork", "out"].map(|prefix| self.id(prefix));
        let kind = self.random.pick(&["and", "or"]);
        let _ = writeln!(text, "xor {merge}\n{kind} {fork}\nxor {out}\n{merge} -> {fork}");
        let condition = if kind == "or" { " if true" } else { "" };
        for _ in 0..=self.random.below(4) {
            let _ = writeln!(text, "{fork} -> {merge}{condition}");
        }
        let _ = writeln!(text, "{fork} -> {out}{condition}");
        Block { first: merge, last: out }
    }

    /// A loop that never waits.
    fn endless_timer(&mut self, text: &mut String, size: u64) -> Block {
        let [merge, wait, more, out] = ["merge", "wait", "more", "out"].map(|prefix| self.id(prefix));
        let kind = self.random.pick(&["xor", "and"]);
        let timer = self.random.pick(&["timer=PT0S", "timer=\"=duration('PT0S')\"", "timer=\"='PT0S'\""]);
        let script = self.heavy_script(text, size);
        let _ = writeln!(
            text,
            "xor {merge}\ncatch {wait} {timer}\n{kind} {more}\nxor {out}\n\
             {merge} -> {} -> {wait} -> {more}\n{more} -> {merge}{}\n{more} -> {out}{}",
            script.last,
            if kind == "xor" { " if r != 'never'" } else { "" },
            if kind == "xor" { " default" } else { "" },
        );
        Block { first: merge, last: out }
    }

    /// A process that calls itself, once or twice. The expression hides it from the check of endless loops.
    fn endless_calls(&mut self, text: &mut String, size: u64) -> Block {
        let [again, start, fork, one, two, end] =
            ["again", "s", "fork", "call", "call", "e"].map(|prefix| self.id(prefix));
        let mappings = if self.random.percent(50) { self.mappings("in", size) } else { String::new() };
        let twice = if self.random.percent(50) {
            format!("{fork} -> {two} -> {end}\n")
        } else {
            format!("{start} -> {two} -> {end}\n")
        };
        let child = format!(
            "process {again}\nstart {start}\nand {fork}\nend {end}\n\
             call {one} process=\"='{again}'\" up=true{mappings}\ncall {two} process=\"='{again}'\"\n\
             {start} -> {fork} -> {one} -> {end}\n{twice}"
        );
        self.children.push(child);
        let id = self.one(text, "call", &format!("call {{id}} process={again}")).first;
        self.with_boundaries(text, id)
    }

    /// An event sub-process that starts itself.
    fn endless_sub_process(&mut self, text: &mut String, size: u64) -> Block {
        let [id, start, first, end, on, event, second, over] =
            ["sub", "s", "first", "e", "on", "s", "second", "e"].map(|prefix| self.id(prefix));
        let (what, event_of) = match self.random.below(4) {
            0 => (format!("throw {{}} escalation={id}"), format!("escalation={id}")),
            1 => ("script {} expr=\"n + 1\" result=n".to_owned(), "condition=\"n > 0\"".to_owned()),
            2 => (format!("throw {{}} message={id} to==key"), format!("message={id} key=key")),
            _ => (
                format!("throw {{}} signal={id} in:h=\"={}\"", text_of(self.random, size)),
                format!("signal={id}"),
            ),
        };
        let interrupting = self.random.percent(30);
        let _ = writeln!(
            text,
            "sub {id} in:n=\"=1\" {{\nstart {start}\n{}\nend {end}\n{start} -> {first} -> {end}\n\
             on {on} {{\nstart {event} {event_of} interrupting={interrupting}\n{}\nend {over}\n{event} -> {second} -> {over}",
            what.replace("{}", &first),
            what.replace("{}", &second),
        );
        if self.random.percent(50) {
            let [third, after] = ["third", "e"].map(|prefix| self.id(prefix));
            let _ =
                writeln!(text, "{}\nend {after}\n{event} -> {third} -> {after}", what.replace("{}", &third));
        }
        text.push_str("}\n}\n");
        self.with_boundaries(text, id)
    }

    /// A process that is started by a message or a signal that it sends.
    fn endless_start(&mut self, text: &mut String) -> Block {
        let [again, start, one, two, end] = ["again", "s", "one", "two", "e"].map(|prefix| self.id(prefix));
        let (event, throw) = if self.random.percent(50) {
            (format!("signal={again}"), format!("signal={again} in:h=\"=[h, h]\""))
        } else {
            (format!("message={again}"), format!("message={again} to=\"=''\" ttl=PT9S in:h=\"=[h, h]\""))
        };
        self.children.push(format!(
            "process {again}\nstart {start} {event}\nthrow {one} {throw}\nthrow {two} {throw}\nend {end}\n\
             {start} -> {one} -> {end}\n{start} -> {two} -> {end}\n"
        ));
        self.one(text, "begin", &format!("throw {{id}} {throw}"))
    }

    /// An error whose boundary event leads back to its source.
    fn endless_error(&mut self, text: &mut String, size: u64) -> Block {
        let [merge, id, start, end, back, out] =
            ["merge", "sub", "s", "e", "b", "out"].map(|prefix| self.id(prefix));
        let _ = writeln!(text, "xor {merge}\nxor {out}\nsub {id} {{\nstart {start}\nend {end} error={id}");
        let script = self.heavy_script(text, size);
        let _ = writeln!(
            text,
            "{start} -> {} -> {end}\n}}\nboundary {back} on={id} error={id}\n{merge} -> {id} -> {out}\n{back} -> {merge}",
            script.first
        );
        Block { first: merge, last: out }
    }

    /// A loop marker without a maximum.
    fn endless_while(&mut self, text: &mut String, size: u64) -> Block {
        let condition = if self.random.percent(50) {
            "true".to_owned()
        } else {
            format!("{} != -1", long(self.random, size))
        };
        let expression = large(self.random, size);
        self.one(
            text,
            "while",
            &format!("script {{id}} expr=\"{expression}\" result=v while=\"{condition}\""),
        )
    }

    fn wide_ad_hoc(&mut self, text: &mut String, size: u64) -> Block {
        let [id, inner] = ["adhoc", "inner"].map(|prefix| self.id(prefix));
        let count = self.random.magnitude(size);
        let expression = large(self.random, size);
        let _ = writeln!(
            text,
            "adhoc {id} elements=\"for i in 1..{count} return '{inner}'\" collect=list gives=\"{expression}\" {{\n\
             script {inner} expr=\"{expression}\" result=r\n}}"
        );
        self.with_boundaries(text, id)
    }

    /// Large values in the place of names or times.
    fn large_names(&mut self, text: &mut String, size: u64) -> Block {
        let value =
            if self.random.percent(70) { text_of(self.random, size) } else { long(self.random, size) };
        let line = match self.random.below(7) {
            0 => format!("job {{id}} type=\"={value}\""),
            1 => format!("user {{id}} assignee=\"={value}\" users=\"={value}\" due=\"={value}\""),
            2 => format!("catch {{id}} message=m0 key=\"{value}\""),
            3 => format!("throw {{id}} message=m0 to=\"={value}\" ttl=\"={value}\" in:h=\"={value}\""),
            4 => format!("catch {{id}} timer=\"={value}\""),
            5 => format!("call {{id}} process=\"={value}\""),
            _ => format!("catch {{id}} condition=\"{value} != null and d > 4\""),
        };
        self.one(text, "name", &line)
    }

    /// Many compensation handlers with large values.
    fn many_handlers(&mut self, text: &mut String, size: u64) -> Block {
        let [job, undo, handler, throw] = ["job", "undo", "handler", "throw"].map(|prefix| self.id(prefix));
        let (list, inner) = (items(self.random, size), items(self.random, size));
        let _ = writeln!(
            text,
            "script {job} expr=item result=h each=\"{list}\" as=item\nboundary {undo} on={job} compensation={handler}\n\
             job {handler} type=t handler each=\"{inner}\" as=n\nthrow {throw} compensate\n{job} -> {throw}"
        );
        Block { first: job, last: throw }
    }

    /// Listeners whose types are expressions, on a multi-instance body.
    fn heavy_listeners(&mut self, text: &mut String, size: u64) -> Block {
        let first = format!("if {} = null then 'u' else 't'", long(self.random, size));
        let second = format!("if {} = null then 'u' else 't'", long(self.random, size));
        let marker = if self.random.percent(50) {
            format!(" each=\"{}\"", items(self.random, size))
        } else {
            String::new()
        };
        let kind = self.random.pick(&["job {id} type=t", "user {id} task:creating=t task:completing=t"]);
        let id = self
            .one(
                text,
                "listen",
                &format!("{kind} listen:start=\"={first}\" listen:end=\"={second}\"{marker}"),
            )
            .first;
        self.with_boundaries(text, id)
    }
}

fn text_of(random: &mut Random, size: u64) -> String {
    let length = random.magnitude(size);
    text(random, length)
}
