//! Random models, structured so that every token can reach an end.
//!
//! Each block has one entry and one exit. An interrupting boundary event leads back to the exit of its host, a
//! non-interrupting one to an end of its own, so joins always get their tokens. Hostile parts (`hostile.rs`) break
//! these rules.

use std::fmt::Write as _;

use crate::{Random, decisions};

/// Size of hostile blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hostility {
    /// The largest number in an expression: rounds, characters, items.
    pub size: u64,
}

/// Deepest nesting of blocks.
const MAX_DEPTH: u32 = 4;
/// The process that messages `b…`, signals `i…` and conditions on `r` start.
pub const STARTED: &str = "started";
/// Error codes that workers and end events throw.
pub const CODES: [&str; 3] = ["E1", "E2", "E3"];

/// Share of hostile blocks in a hostile model, in percent.
const HOSTILE_PERCENT: u64 = 25;

/// Processes as lines of text, and decisions that they may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Processes; the one to create is `main`.
    pub text: String,
    /// A DMN file.
    pub decisions: Option<String>,
}

/// A model and the approximate number of its elements.
pub(crate) struct Generator<'a> {
    pub(crate) random: &'a mut Random,
    elements: usize,
    size: usize,
    /// Whether the last sub-process has a compensation event sub-process: then it may have no other handler.
    is_undone: bool,
    /// Whether elements may start instances of the process [`STARTED`]: not in itself, or that would never end.
    may_start: bool,
    /// Processes that may be called, with their text.
    pub(crate) children: Vec<String>,
    pub(crate) hostility: Option<Hostility>,
    /// Whether there is a decision `heavy`.
    pub(crate) decides: bool,
}

/// Entry and exit of a block.
pub(crate) struct Block {
    pub(crate) first: String,
    pub(crate) last: String,
}

/// The processes of a model that ends with the help of workers and messages; the one to create is `main`. Sometimes
/// there is [`STARTED`], too.
pub fn generate(random: &mut Random, size: usize) -> String {
    Generator::new(random, size).model()
}

/// A model with hostile blocks at random places.
pub fn generate_hostile(random: &mut Random, size: usize, hostility: Hostility) -> Model {
    let decides = random.percent(35);
    let decisions = decides.then(|| decisions::heavy(random, hostility.size));
    let mut generator = Generator { hostility: Some(hostility), decides, ..Generator::new(random, size) };
    let text = generator.model();
    Model { text, decisions }
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random, size: usize) -> Self {
        Self {
            random,
            elements: 0,
            size,
            is_undone: false,
            may_start: true,
            children: Vec::new(),
            hostility: None,
            decides: false,
        }
    }

    fn model(&mut self) -> String {
        let main = self.process("main", MAX_DEPTH);
        if self.random.percent(40) {
            self.may_start = false;
            self.size = self.elements + self.size / 3;
            let started = self.started();
            self.children.push(started);
        }
        self.children.insert(0, main);
        self.children.join("")
    }
}

impl Generator<'_> {
    fn process(&mut self, id: &str, depth: u32) -> String {
        let more = ["", "", "", "", " listen:cancel=t"][self.random.below(5) as usize];
        let mut text = format!("process {id}{more}\n");
        self.scope(&mut text, depth);
        text
    }

    /// Several ways to start, a block, end.
    fn started(&mut self) -> String {
        let (merge, end) = (self.id("merge"), self.id("e"));
        let mut text = format!("process {STARTED}\nxor {merge}\nend {end}\n");
        for number in 0..2 + self.random.below(3) {
            let start = match self.random.below(6) {
                0..=2 => {
                    let id = self.id("get");
                    let more = ["", " listen:start=t", " out:r=\"=r\" out:key=\"=key\""]
                        [self.random.below(3) as usize];
                    let _ = writeln!(text, "receive {id} message=b{number} starts{more}");
                    self.with_boundaries(&mut text, id).last
                }
                other => {
                    let id = self.id("s");
                    let _ = match other {
                        3 => writeln!(text, "start {id} message=b{number}"),
                        4 => writeln!(text, "start {id} signal=i{number}"),
                        _ => writeln!(text, "start {id} condition=\"r > {}\"", 5 + number),
                    };
                    id
                }
            };
            let _ = writeln!(text, "{start} -> {merge}");
        }
        let block = self.sequence(&mut text, 2);
        let _ = writeln!(text, "{merge} -> {}\n{} -> {end}", block.first, block.last);
        text
    }

    /// Start, a block, end.
    fn scope(&mut self, text: &mut String, depth: u32) {
        let (start, end) = (self.id("s"), self.id("e"));
        let block = self.sequence(text, depth);
        if depth > 0 && self.elements < self.size && self.random.percent(40) {
            self.event_sub_processes(text, depth);
        }
        let _ = writeln!(text, "start {start}\nend {end}\n{start} -> {} ", block.first);
        let _ = writeln!(text, "{} -> {end}", block.last);
    }

    pub(crate) fn id(&mut self, prefix: &str) -> String {
        self.elements += 1;
        format!("{prefix}{}", self.elements)
    }

    pub(crate) fn sequence(&mut self, text: &mut String, depth: u32) -> Block {
        let mut all = self.block(text, depth);
        for _ in 0..self.random.below(3) {
            let next = self.block(text, depth);
            let _ = writeln!(text, "{} -> {}", all.last, next.first);
            all.last = next.last;
        }
        all
    }

    fn block(&mut self, text: &mut String, depth: u32) -> Block {
        if let Some(hostility) = self.hostility
            && self.random.percent(HOSTILE_PERCENT)
        {
            return self.hostile_block(text, depth, hostility.size);
        }
        let simple = depth == 0 || self.elements >= self.size;
        match self.random.below(if simple { 8 } else { 20 }) {
            0..=3 => self.job(text),
            4 => {
                let id = self.id("script");
                if self.random.percent(40) {
                    let decision = ["season", "dish", "='sea'+'son'"][self.random.below(3) as usize];
                    let _ =
                        writeln!(text, "decide {id} decision={decision} result=v in:month==r in:guests==2");
                    return Block { first: id.clone(), last: id };
                }
                // Also heavy expressions, and some with large results.
                let expression = match self.random.below(4) {
                    0 => "count(for i in 1..400 return 1)",
                    1 => "string join(for i in 1..100 return string(1000000000000000 + i))",
                    _ => "if r = null then 0 else r + 1",
                };
                let _ = writeln!(text, "script {id} expr=\"{expression}\" result=v");
                Block { first: id.clone(), last: id }
            }
            5 => {
                let id = self.id("wait");
                let _ = writeln!(text, "catch {id} {}{}", self.event(), self.parts("out"));
                Block { first: id.clone(), last: id }
            }
            6 => {
                let (id, name) = (self.id("get"), self.message());
                let each = self.each();
                let _ = writeln!(text, "receive {id} message={name} key=key{each}");
                self.with_boundaries(text, id)
            }
            7 => {
                let id = self.id("pass");
                let what = match self.random.below(10) {
                    0 | 1 => "task {id}".to_owned(),
                    7 | 8 => self.publish(),
                    9 if self.may_start => {
                        format!("throw {{id}} signal=i{} in:r=\"=r\" in:key=\"=key\"", self.random.below(4))
                    }
                    2 => format!("throw {{id}} signal=g{} in:r=\"=r\"", self.random.below(3)),
                    3 => format!("throw {{id}} escalation={}", CODES[self.random.below(3) as usize]),
                    4 | 5 => "throw {id} compensate".to_owned(),
                    _ => "throw {id}".to_owned(),
                };
                let _ = writeln!(text, "{}", what.replace("{id}", &id));
                if self.random.percent(20) {
                    return self.link(text, id);
                }
                Block { first: id.clone(), last: id }
            }
            8..=10 => self.exclusive(text, depth),
            11 | 12 => self.parallel(text, depth),
            13 if self.random.percent(50) => self.transaction(text, depth),
            13 if self.random.percent(50) => self.ad_hoc(text),
            13 | 14 => self.sub_process(text, depth),
            15 => self.call(text, depth),
            16 => self.events(text, depth),
            17 if self.random.percent(40) => self.complex(text, depth),
            17 | 18 => self.inclusive(text, depth),
            _ => self.counted_loop(text, depth),
        }
    }

    fn job(&mut self, text: &mut String) -> Block {
        let id = self.id("job");
        let mapping = match self.random.below(4) {
            0 => " in:x=\"=r\"",
            1 => " out:r=\"=r\" out:o.p=\"=key\"",
            _ => "",
        };
        let mapping = format!("{mapping}{}", self.in_and_out());
        let each = self.each();
        let listeners = match self.random.below(10) {
            0 => " listen:start=t",
            1 => " listen:start=t listen:end=t",
            2 => " listen:end=t listen:end==\"'t'\"",
            _ => "",
        };
        if self.random.percent(20) {
            let tasks = [
                "",
                " task:creating=t",
                " task:assigning=t task:updating=t",
                " task:completing=t task:canceling=t",
            ];
            let task = tasks[self.random.below(4) as usize];
            let each = if each.is_empty() && self.random.percent(30) {
                let how = ["", " sequential"][self.random.below(2) as usize];
                format!(" each=[1,2,3] as=item{how} collect=list gives=item priority=\"=item\"")
            } else {
                each
            };
            let _ = writeln!(text, "user {id} assignee=ann{task}{mapping}{listeners}{each}");
        } else {
            let agent = ["", "", " agent=aiAgentTask", " agent=external"][self.random.below(4) as usize];
            let _ = writeln!(text, "job {id} type=t{mapping}{listeners}{each}{agent}");
        }
        self.with_boundaries(text, id)
    }

    /// An element that publishes a message. It skips messages with a subscription that does not end its instance:
    /// that might publish the message again.
    fn publish(&mut self) -> String {
        let name = if self.may_start && self.random.percent(40) {
            format!("b{}", self.random.below(4))
        } else {
            self.message()
        };
        let kind = ["throw", "send"][self.random.below(2) as usize];
        let more = ["", " ttl=PT5S", " ttl=PT9S dedupe=once"][self.random.below(3) as usize];
        format!("{kind} {{id}} message={name} to==key in:r=\"=r\" in:key=\"=key\"{more}")
    }

    /// A link after an element.
    fn link(&mut self, text: &mut String, first: String) -> Block {
        let [to, from] = ["to", "from"].map(|prefix| self.id(prefix));
        let _ = writeln!(text, "throw {to} link={to}\ncatch {from} link={to}\n{first} -> {to}");
        Block { first, last: from }
    }

    /// Sometimes the marker of a multi-instance activity, or of a loop.
    fn each(&mut self) -> String {
        if !self.random.percent(18) {
            return String::new();
        }
        if self.random.percent(20) {
            let when = ["", " before=true"][self.random.below(2) as usize];
            let most = ["", " most=2"][self.random.below(2) as usize];
            return format!(" while=\"loopCounter < 3\"{when}{most}");
        }
        let list = ["[]", "[1]", "[1,2,3]", "[1,2,3,4,5]"][self.random.below(4) as usize];
        let how = ["", " sequential", " listen:beforeAll=t"][self.random.below(3) as usize];
        let (output, filled) = match self.random.below(4) {
            0 | 1 => ("", ""),
            2 => (" collect=list gives=r", " until=\"count(list[item != null]) >= 2\""),
            _ => (" collect=list gives=r in:seen=\"=list[-1]\"", " until=\"list[2] != null\""),
        };
        let until =
            ["", "", " until=\"numberOfCompletedInstances >= 2\"", filled][self.random.below(4) as usize];
        format!(" each={list} as=item{how}{output}{until}")
    }

    fn ad_hoc(&mut self, text: &mut String) -> Block {
        let (id, a, b, c) = (self.id("adhoc"), self.id("job"), self.id("script"), self.id("job"));
        let listed = format!("elements=\"['{a}', '{b}', '{a}']\"");
        let how = match self.random.below(4) {
            0 | 1 => "job=t collect=list gives=r".to_owned(),
            2 => format!(
                "{listed} done=\"count(list) >= 2\" cancel={} collect=list gives=r",
                self.random.percent(50)
            ),
            _ => listed,
        };
        let _ =
            writeln!(text, "adhoc {id} {how} {{\njob {a} type=t\nscript {b} expr=1 result=r\njob {c} type=t");
        let _ = writeln!(text, "{a} -> {c}\n}}");
        self.with_boundaries(text, id)
    }

    fn message(&mut self) -> String {
        format!("m{}", self.random.below(4))
    }

    fn event(&mut self) -> String {
        match self.random.below(6) {
            0 | 1 => format!("timer=PT{}S", self.random.below(30)),
            2 => format!("signal=g{}", self.random.below(3)),
            3 => {
                let condition = ["\"c = true\"", "\"d > 4\"", "\"d > 4\" after=update", "\"c or d > 5\""];
                format!("condition={}", condition[self.random.below(4) as usize])
            }
            _ => format!("message={} key=key", self.message()),
        }
    }

    /// Continues with the first token, so that it always continues. Later tokens end there, or take a path of their
    /// own.
    fn complex(&mut self, text: &mut String, depth: u32) -> Block {
        let [fork, join, out, late, end] = ["fork", "join", "out", "job", "e"].map(|prefix| self.id(prefix));
        let _ = writeln!(
            text,
            "and {fork}\ncomplex {join} when=\"activationCount >= 1\"\nxor {out}\njob {late} type=t\nend {end}"
        );
        for _ in 0..2 + self.random.below(2) {
            let inner = self.sequence(text, depth - 1);
            let _ = writeln!(text, "{fork} -> {}\n{} -> {join}", inner.first, inner.last);
        }
        let condition = if self.random.percent(50) { " if waitingForStart" } else { " default" };
        let _ = writeln!(
            text,
            "{join} -> {out}{condition}\n{join} -> {late} if not(waitingForStart)\n{late} -> {end}"
        );
        Block { first: fork, last: out }
    }

    /// Sometimes a compensation handler of the host.
    fn undo(&mut self, text: &mut String, host: &str) {
        if std::mem::take(&mut self.is_undone) || !self.random.percent(20) {
            return;
        }
        let (undo, handler, inner) = (self.id("undo"), self.id("handler"), self.id("job"));
        let _ = writeln!(text, "boundary {undo} on={host} compensation={handler}");
        let _ = match self.random.below(6) {
            0..=2 => writeln!(text, "job {handler} type=t handler in:x=\"=r\" out:r=\"=r\""),
            3 => writeln!(text, "job {handler} type=t handler each=\"[1, 2, 3]\" as=n"),
            4 => writeln!(
                text,
                "job {handler} type=t handler\nboundary {inner} on={handler} error=*\nend {inner}e\n{inner} -> {inner}e"
            ),
            _ => writeln!(
                text,
                "sub {handler} handler {{\nstart {inner}s\njob {inner} type=t\nend {inner}e compensate\n\
                 {inner}s -> {inner} -> {inner}e\n}}"
            ),
        };
    }

    /// Sometimes a compensation event sub-process.
    fn undo_inside(&mut self, text: &mut String) {
        self.is_undone = self.random.percent(20);
        if self.is_undone {
            let [undo, start, job, end] = ["undo", "s", "job", "e"].map(|prefix| self.id(prefix));
            let what = if self.random.percent(50) { " compensate" } else { "" };
            let _ = writeln!(
                text,
                "on {undo} {{\nstart {start} compensate\njob {job} type=t\nend {end}{what}\n{start} -> {job} -> {end}\n}}"
            );
        }
    }

    /// May be cancelled at its end.
    fn transaction(&mut self, text: &mut String, depth: u32) -> Block {
        let [id, start, choice, cancelled, end, event, after, out] =
            ["tx", "s", "choice", "stop", "e", "b", "job", "out"].map(|prefix| self.id(prefix));
        let _ = writeln!(text, "tx {id} in:local=\"=r\" {{\nstart {start}");
        let inner = self.sequence(text, depth - 1);
        let _ = writeln!(
            text,
            "xor {choice}\nend {cancelled} cancel\nend {end}\n{start} -> {first}\n{last} -> {choice}\n\
             {choice} -> {cancelled} if r != null and r > 3\n{choice} -> {end} default\n}}\n\
             boundary {event} on={id} cancel\njob {after} type=t\nxor {out}\n{event} -> {after} -> {out}",
            first = inner.first,
            last = inner.last,
        );
        let block = self.with_boundaries(text, id);
        let _ = writeln!(text, "{} -> {out}", block.last);
        Block { first: block.first, last: out }
    }

    pub(crate) fn with_boundaries(&mut self, text: &mut String, host: String) -> Block {
        self.undo(text, &host);
        let count = self.random.below(4).saturating_sub(1);
        if count == 0 {
            return Block { first: host.clone(), last: host };
        }
        let out = self.id("out");
        let _ = writeln!(text, "xor {out}\n{host} -> {out}");
        let mut taken = Vec::new();
        for _ in 0..count {
            let what = match self.random.below(5) {
                0 => "error=*".to_owned(),
                1 => format!("error={}", CODES[self.random.below(2) as usize]),
                2 if host.starts_with("sub") || host.starts_with("call") => {
                    format!("escalation={}", ["E1", "E2", "*"][self.random.below(3) as usize])
                }
                _ => self.event(),
            };
            // Two boundary events of one activity must not have the same trigger.
            if taken.contains(&what) {
                continue;
            }
            taken.push(what.clone());
            let (id, after) = (self.id("b"), self.id("job"));
            let keeps = !what.starts_with("error") && self.random.percent(50);
            let what = match what.split_once('=') {
                Some(("timer", _)) if keeps => "cycle=R3/PT7S".to_owned(),
                // A message of its own: it would take the messages of other subscriptions for ever.
                Some(("message", _)) if keeps => what.replace("message=m", "message=n"),
                Some(("signal", _)) if keeps => what.replace("signal=g", "signal=h"),
                _ => what,
            };
            let _ = writeln!(text, "boundary {id} on={host} {what} interrupting={}", !keeps);
            let _ = writeln!(text, "job {after} type=t");
            let target = if keeps {
                let end = self.id("e");
                let _ = writeln!(text, "end {end}");
                end
            } else {
                out.clone()
            };
            let _ = writeln!(text, "{id} -> {after} -> {target}");
        }
        Block { first: host, last: out }
    }

    fn exclusive(&mut self, text: &mut String, depth: u32) -> Block {
        let (split, merge) = (self.id("split"), self.id("merge"));
        let _ = writeln!(text, "xor {split}\nxor {merge}");
        for branch in 0..=self.random.below(2) {
            let limit = 3 + branch * 3;
            if self.random.percent(15) {
                let end = self.id("stop");
                let what = match self.random.below(3) {
                    0 => "terminate".to_owned(),
                    1 => "error=E1".to_owned(),
                    _ => format!("error={}", CODES[self.random.below(3) as usize]),
                };
                let _ = writeln!(text, "end {end} {what}\n{split} -> {end} if r != null and r > {limit}");
            } else {
                let inner = self.sequence(text, depth - 1);
                let _ = writeln!(text, "{split} -> {} if r != null and r < {limit}", inner.first);
                let _ = writeln!(text, "{} -> {merge}", inner.last);
            }
        }
        let inner = self.sequence(text, depth - 1);
        let _ = writeln!(text, "{split} -> {} default", inner.first);
        let _ = writeln!(text, "{} -> {merge}", inner.last);
        Block { first: split, last: merge }
    }

    fn parallel(&mut self, text: &mut String, depth: u32) -> Block {
        let (fork, join) = (self.id("fork"), self.id("join"));
        let _ = writeln!(text, "and {fork}\nand {join}");
        for _ in 0..2 + self.random.below(2) {
            let inner = self.sequence(text, depth - 1);
            let _ = writeln!(text, "{fork} -> {}", inner.first);
            let _ = writeln!(text, "{} -> {join}", inner.last);
        }
        Block { first: fork, last: join }
    }

    /// One branch always leads to the join, so that it has a token; others may end before it.
    fn inclusive(&mut self, text: &mut String, depth: u32) -> Block {
        let (fork, join) = (self.id("fork"), self.id("join"));
        let _ = writeln!(text, "or {fork}\nor {join}");
        for branch in 0..2 + self.random.below(2) {
            let inner = self.sequence(text, depth - 1);
            let condition =
                if branch == 0 { "true".to_owned() } else { format!("r != null and r > {branch}") };
            let _ = writeln!(text, "{fork} -> {} if {condition}", inner.first);
            if branch > 0 && self.random.percent(30) {
                let (choice, end) = (self.id("choice"), self.id("e"));
                let _ = writeln!(
                    text,
                    "xor {choice}\nend {end}\n{} -> {choice}\n{choice} -> {end} if r != null and r > 4\n\
                     {choice} -> {join} default",
                    inner.last
                );
            } else {
                let _ = writeln!(text, "{} -> {join}", inner.last);
            }
        }
        Block { first: fork, last: join }
    }

    fn sub_process(&mut self, text: &mut String, depth: u32) -> Block {
        let id = self.id("sub");
        let local = if self.random.percent(30) { " in:local=\"=1\"" } else { "" };
        let _ = writeln!(text, "sub {id}{local}{}{} {{", self.in_and_out(), self.each());
        self.scope(text, depth - 1);
        self.undo_inside(text);
        text.push_str("}\n");
        self.with_boundaries(text, id)
    }

    /// Event sub-processes of the current scope, each with its trigger.
    fn event_sub_processes(&mut self, text: &mut String, depth: u32) {
        let mut taken = Vec::new();
        for _ in 0..=self.random.below(2) {
            let what = match self.random.below(6) {
                0 => "error=*".to_owned(),
                1 => format!("error={}", CODES[self.random.below(2) as usize]),
                2 => format!("escalation={}", ["E1", "E2", "*"][self.random.below(3) as usize]),
                _ => self.event(),
            };
            if taken.contains(&what) {
                continue;
            }
            taken.push(what.clone());
            let keeps = !what.starts_with("error") && self.random.percent(50);
            let what = match what.split_once('=') {
                Some(("timer", _)) if keeps => "cycle=R3/PT7S".to_owned(),
                Some(("message", _)) if keeps => what.replace("message=m", "message=n"),
                Some(("signal", _)) if keeps => what.replace("signal=g", "signal=h"),
                _ => what,
            };
            let [id, start, end] = ["on", "s", "e"].map(|prefix| self.id(prefix));
            let _ = writeln!(text, "on {id} {{\nstart {start} {what} interrupting={}\nend {end}", !keeps);
            let block = self.sequence(text, depth - 1);
            let _ = writeln!(text, "{start} -> {}\n{} -> {end}\n}}", block.first, block.last);
        }
    }

    fn call(&mut self, text: &mut String, depth: u32) -> Block {
        let (id, process) = (self.id("call"), self.id("child"));
        let child = self.process(&process, depth - 1);
        self.children.push(child);
        let _ =
            writeln!(text, "call {id} process={process} up={}{}", self.random.percent(50), self.in_and_out());
        self.with_boundaries(text, id)
    }

    fn events(&mut self, text: &mut String, depth: u32) -> Block {
        let (gateway, merge) = (self.id("events"), self.id("merge"));
        let _ = writeln!(text, "events {gateway}\nxor {merge}");
        for (n, what) in
            ["timer=PT9S", "message=m1 key=key", "message=m2 key=key", "signal=g1", "condition=\"d > 4\""]
                .into_iter()
                .enumerate()
        {
            if n >= 2 && self.random.percent(50) {
                continue;
            }
            let catch = self.id("wait");
            let inner = self.sequence(text, depth - 1);
            let _ = writeln!(text, "catch {catch} {what}\n{gateway} -> {catch} -> {}", inner.first);
            let _ = writeln!(text, "{} -> {merge}", inner.last);
        }
        Block { first: gateway, last: merge }
    }

    /// At most three rounds, each with a job so that it waits.
    fn counted_loop(&mut self, text: &mut String, depth: u32) -> Block {
        let [init, again, count, pause, more, out] =
            ["init", "again", "count", "job", "more", "out"].map(|prefix| self.id(prefix));
        let inner = self.sequence(text, depth - 1);
        let _ = writeln!(
            text,
            "script {init} expr=0 result=n_{count}\nxor {again}\nscript {count} expr=\"n_{count} + 1\" result=n_{count}\n\
             job {pause} type=t\nxor {more}\nthrow {out}\n{init} -> {again} -> {count} -> {pause} -> {first}\n\
             {last} -> {more}\n{more} -> {again} if n_{count} < 3\n{more} -> {out} default",
            first = inner.first,
            last = inner.last,
        );
        Block { first: init, last: out }
    }
}
