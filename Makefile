# `make help` lists what there is. Needed: a C compiler, Rust (rustup fetches the pinned version), for tests a JDK with Maven, Node.js with npm, Python 3.
# Everything else is installed on first use, through cargo, mvn, npm and pip.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
export CARGO
TARGET := $(or $(CARGO_TARGET_DIR),target)
# Where tests write. The demo and the benchmarks want a real disk, since every request waits for it.
SCRATCH ?= $(TARGET)/scratch

##@ Start here

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: demo
demo: ## Run 150 orders per second through a server of its own, over gRPC and over REST, and compare
	@scripts/needs cc $(CARGO)
	@test -x "$(TARGET)/demo/baton" || scripts/room "$(TARGET)" 900
	@test -x "$(TARGET)/demo/baton" || echo "Building some 300 crates; two cores take five to ten minutes, once."
	BATON_QUICK_BUILD=1 $(CARGO) build --locked --profile demo --no-default-features --features web -p baton
	@mkdir -p "$(SCRATCH)"
	"$(TARGET)/demo/baton" demo --scratch "$(SCRATCH)" $(ARGS)

.PHONY: test
test: needed fmt-check deny ## Everything that must be green before a change is merged, each kind of test in a modest size
	scripts/run-tests $(ARGS)

# `make test`, then the kinds of tests that find more the longer they run.
.PHONY: test-long
test-long: ## `make test`, then more of it: random processes, fuzzing, properties, crashes, outages; for an hour or two
	$(MAKE) test
	$(MAKE) random fuzz properties crash outage FUZZ_SECONDS=60 ROUNDS=20 SECONDS=5 CASES=1000

.PHONY: run
run: release ## Start a server with its data in ./data
	"$(TARGET)/release/baton" start $(ARGS)

##@ Parts of `make test`

# Clippy stands in for the compiler of the project's own crates and denies warnings: one build serves lints, tests and
# clients. CLIPPY_ARGS is how `cargo clippy -- -D warnings` tells it.
test lint unit clients pasted packages-test web-test: export RUSTC_WORKSPACE_WRAPPER = clippy-driver
test lint unit clients pasted packages-test web-test: export CLIPPY_ARGS = -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

.PHONY: needed
needed:
	@scripts/needs cc $(CARGO) java mvn node npm python3

.PHONY: fmt-check
fmt-check: ## Check the formatting
	$(CARGO) fmt --all --check

.PHONY: lint
lint: ## Lint everything while it is built for tests, warnings denied
	$(CARGO) test --locked --workspace --no-run --quiet

.PHONY: deny
deny: ## Check licences, sources and versions of the dependencies
	scripts/cargo-deny "$(TARGET)/tools"

.PHONY: unit
unit: ## Unit, property, replay, random-process and crash tests, one suite after the other
	$(CARGO) test --locked --workspace $(ARGS)

# The server that the unit tests have built: debug assertions and overflow checks are on.
.PHONY: clients
clients: ## End-to-end tests with the clients that people have; SUITES="java node" picks some, UPDATE_EXPECT=1 writes what they do to docs/
	$(CARGO) test --locked --workspace --no-run --quiet
	python3 tests/clients/run.py --baton "$(TARGET)/debug/baton" $(SUITES)

# The server that the unit tests have built stands in for the one that the documents build.
.PHONY: pasted
pasted: ## Paste every command of README.md and docs/, and compare what they print
	$(CARGO) test --locked --workspace --no-run --quiet
	python3 tests/pasted/run.py --baton "$(TARGET)/debug/baton"

# The server that the unit tests have built.
.PHONY: web-test
web-test: ## Test the web application in a real browser; NAMES="operate" picks some files of tests
	@scripts/needs node npm python3
	$(CARGO) test --locked --workspace --no-run --quiet
	scripts/web-test --baton "$(TARGET)/debug/baton" $(NAMES)

##@ Longer and wider

SEEDS ?= 2000
FIRST ?= 1
HOSTILE ?= 8
.PHONY: random
random: ## Random processes with random workers: SEEDS of them (2000), from seed FIRST on (1), one in HOSTILE (8) a hostile one
	BATON_RANDOM_SEEDS=$(SEEDS) BATON_RANDOM_FIRST=$(FIRST) BATON_RANDOM_HOSTILE=$(HOSTILE) \
		$(CARGO) test --locked --profile checked -p engine --test scenarios -- random_process --nocapture

.PHONY: replay-corpus
replay-corpus: ## Apply logs that releases have recorded, and compare the states; a part of `make test`
	$(CARGO) test --locked -p engine --test scenarios -- corpus::recorded

.PHONY: record-corpus
record-corpus: ## Record the logs of all scenarios, once for each version of the engine
	@logs=$$(mktemp -d) && trap 'rm -rf "$$logs"' EXIT && \
		BATON_RECORD_CORPUS="$$logs" $(CARGO) test --locked -q -p engine --test scenarios && \
		$(CARGO) run --locked -q -p engine --example pack_corpus -- "$$logs"

FUZZ_SECONDS ?= 5
.PHONY: fuzz
fuzz: ## Random mutations of everything that is parsed, and of models that then run; FUZZ_SECONDS each (5)
	@for target in bpmn dmn feel json batch peer engine; do \
		$(CARGO) run --locked --profile checked --quiet -p fuzz -- $$target $(FUZZ_SECONDS) $(SEED); \
	done

ROUNDS ?= 100
.PHONY: crash
crash: ## Kill a loaded release server ROUNDS times (100), restart it and look for what is lost; SEED=N repeats a run
	CRASH_ROUNDS=$(ROUNDS) CRASH_SEED=$(SEED) $(CARGO) test --locked --release -p baton --test crash -- --nocapture

.PHONY: faults
faults: ## Kill, hold up, cut off and rob brokers of a loaded release cluster, ROUNDS times (100), and look for what is lost; SEED=N repeats a run, KINDS=CutLeader,FullDisk has these alone
	FAULTS_ROUNDS=$(ROUNDS) FAULTS_SEED=$(SEED) FAULTS_KINDS=$(KINDS) $(CARGO) test --locked --release -p baton --test faults -- --nocapture

.PHONY: simulate
simulate: ## Run SEEDS (2000) clusters, from seed FIRST on (1), on a simulated clock, network and disk, some of them twice
	$(CARGO) build --locked --profile checked -p simulator
	"$(TARGET)/checked/simulator" --seeds $(SEEDS) --first $(FIRST) --twice 30

.PHONY: planted
planted: ## Plant bugs, one after the other, and tell how many of SEEDS (2000) seeds the simulation needs to find each
	$(CARGO) build --locked --profile checked -p simulator
	"$(TARGET)/checked/simulator" --find-planted --seeds $(SEEDS) --first $(FIRST)

SECONDS ?= 20
RATE ?= 100
.PHONY: outage
outage: ## Take secondary storage away for SECONDS (20) in every way, under RATE instances a second (100); STORES="sqlite postgres" picks some
	OUTAGE_SECONDS=$(SECONDS) OUTAGE_RATE=$(RATE) $(CARGO) test --locked --release -p baton --test outage -- $(STORES)

LAB_OUT ?= $(SCRATCH)/lab
.PHONY: lab
lab: release ## Run all published experiments in quick size, in at most four minutes; ARGS="--worker java" and the like go to the lab, LAB_OUT=DIR takes the results
	@mkdir -p "$(LAB_OUT)"
	"$(TARGET)/release/baton" lab run --all --quick --out "$(LAB_OUT)" $(ARGS)

.PHONY: lab-full
lab-full: release ## Run all published experiments in full size, on a quiet machine, and write docs/experiments.md and README's table of REST against gRPC; more than an hour, or LAB_BUDGET=25m, which each row tells
	@mkdir -p "$(LAB_OUT)"
	scripts/with-stores sh -c '"$$0" "$$@" $${POSTGRES_URL:+--postgres "$$POSTGRES_URL"} $${OPENSEARCH_URL:+--opensearch "$$OPENSEARCH_URL"}' \
		"$(TARGET)/release/baton" lab run --all --again $(if $(LAB_BUDGET),--time-budget $(LAB_BUDGET)) --out "$(LAB_OUT)" $(ARGS); \
		code=$$?; test $$code -le 1 || exit $$code
	"$(TARGET)/release/baton" lab report "$(LAB_OUT)" --document docs/experiments.md
	"$(TARGET)/release/baton" lab report "$(LAB_OUT)" --rest-against-grpc README.md

ROWS ?= E3 E4 E5 E6
.PHONY: lab-node
lab-node: release ## Run the experiments with workers, ROWS="E3" some of them, with the official Node clients as the worker
	@mkdir -p "$(SCRATCH)/lab-node" "$(LAB_OUT)"
	@cp tests/clients/node/package.json tests/clients/node/package-lock.json tests/clients/node/lab_worker.js "$(SCRATCH)/lab-node"
	cd "$(SCRATCH)/lab-node" && npm ci --ignore-scripts --no-audit --no-fund
	LAB_NODE_WORKER="node $(abspath $(SCRATCH))/lab-node/lab_worker.js" \
		"$(TARGET)/release/baton" lab run $(ROWS) --worker node --out "$(LAB_OUT)" $(ARGS)

PEER ?= restate
PEERS = $(abspath $(SCRATCH))/peers
# What builds a peer and its driver, in the folder of the peer, and what starts the driver.
PEER_BUILD_restate = scripts/needs node npm && cd "$(PEERS)/restate" && npm ci --ignore-scripts --no-audit --no-fund
PEER_BUILD_temporal = scripts/needs go && cd "$(PEERS)/temporal" && go test ./driver && go build -o bin/ ./server ./driver
PEER_BUILD_operaton = scripts/needs node java mvn && cd "$(PEERS)/operaton" && mvn -B -q package
PEER_DRIVER_restate = node $(PEERS)/restate/driver.mjs
PEER_DRIVER_temporal = $(PEERS)/temporal/bin/driver
PEER_DRIVER_operaton = node $(PEERS)/operaton/driver.mjs
.PHONY: lab-peer lab-peer-known
lab-peer-known:
	@test -n "$(PEER_DRIVER_$(PEER))" || { echo "there is no driver for $(PEER)"; exit 2; }
lab-peer: lab-peer-known release ## Put another system beside Baton: PEER=restate (through npm), temporal (Go modules, 15 minutes once) or operaton (Maven); never a part of the tests
	@mkdir -p "$(PEERS)" "$(LAB_OUT)"
	@cp -R crates/lab/peers/. "$(PEERS)"
	$(PEER_BUILD_$(PEER))
	"$(TARGET)/release/baton" lab run --against $(PEER) --out "$(LAB_OUT)" --peer-driver "$(PEER_DRIVER_$(PEER))" $(ARGS)

.PHONY: lab-planted
lab-planted: ## Plant bugs in a server, and look whether the lab finds each by the row that should
	$(CARGO) test --locked -p baton --features plantable --test planted -- --nocapture --test-threads 2

PROGRAM ?= $(if $(filter /%,$(TARGET)),$(TARGET),$(CURDIR)/$(TARGET))/release/baton
.PHONY: experiments
experiments: release ## Run the experiments with workers, those of the Java client too, and the attacks in full size; PARTS="freeze" picks some, PROGRAM=PATH another build
	@export EXPERIMENTS_FULL=1 EXPERIMENTS_PROGRAM="$(PROGRAM)"; code=0; \
		$(CARGO) test --locked -p baton --test workers -- $(PARTS) || code=1; \
		$(CARGO) test --locked -p baton --test attacks -- $(PARTS) || code=1; \
		python3 tests/clients/run.py --baton "$(PROGRAM)" workers || code=1; \
		exit $$code

CASES ?= 5000
.PHONY: properties
properties: ## Property tests with CASES cases each (5000)
	PROPTEST_CASES=$(CASES) $(CARGO) test --locked --release --workspace

.PHONY: bench
bench: ## Take all measurements of docs/performance.md, of the program as it is shipped; ARGS="--quick" and the like go to the suite
	@mkdir -p "$(SCRATCH)"
	$(CARGO) build --locked --profile dist -p baton -p bench
	"$(TARGET)/dist/bench-suite" --server "$(TARGET)/dist/baton" --scratch "$(SCRATCH)" $(ARGS)

.PHONY: cluster-bench
cluster-bench: ## Measure three brokers against one, fail-over and catching up, of the program as it is shipped; ARGS="cost --rounds 1" and the like go to the script
	@scripts/needs cc $(CARGO) python3
	@mkdir -p "$(SCRATCH)"
	$(CARGO) build --locked --profile dist -p baton
	scripts/cluster-bench --baton "$(TARGET)/dist/baton" --scratch "$(SCRATCH)" $(ARGS)

.PHONY: microbench
microbench: ## Benchmarks of single crates (criterion)
	$(CARGO) bench --locked --profile dist --workspace $(ARGS)

##@ Web application

.PHONY: screenshots
screenshots: ## Take the pictures of docs/web/ of a server with the same content each time
	@scripts/needs node npm python3
	$(CARGO) test --locked --workspace --no-run --quiet
	scripts/web-test --install-only
	cd crates/web/ui && node scripts/screenshots.mjs "$(TARGET)/debug/baton"

.PHONY: web
web: ## Build crates/web/dist of its sources, with Node.js; without it, cargo builds what is committed
	@scripts/needs node npm python3
	scripts/web-test --install-only
	cd crates/web/ui && node scripts/build.mjs

# WEB_PROGRAM is a program that has been built already.
.PHONY: web-bench
web-bench: ## Measure the budgets of the web application in a real browser, of the program as it is shipped, and write docs/performance.md; ARGS="--quick" and the like go to the script, WEB_PROGRAM=PATH is another build
	@scripts/needs $(CARGO) node npm python3
	@mkdir -p "$(SCRATCH)"
	$(if $(WEB_PROGRAM),,$(CARGO) build --locked --profile dist -p baton)
	scripts/web-bench --baton "$(or $(WEB_PROGRAM),$(TARGET)/dist/baton)" --scratch "$(SCRATCH)" \
		$(if $(findstring --quick,$(ARGS)),,--document docs/performance.md) $(ARGS)

##@ Packages

PACKAGED ?= dist
.PHONY: packages
packages: ## Make a .deb, a wheel and an npm package of the program as it is shipped; PACKAGED=release takes another profile
	@scripts/needs cc $(CARGO) python3
	$(CARGO) build --locked --profile $(PACKAGED) -p baton
	python3 deploy/packages/make.py --baton "$(TARGET)/$(PACKAGED)/baton" --out "$(TARGET)/packages"

.PHONY: packages-test
packages-test: ## Make packages of the server that the unit tests have built, install each and start it; KINDS="deb npm" picks some
	$(CARGO) test --locked --workspace --no-run --quiet
	python3 tests/packages/run.py --baton "$(TARGET)/debug/baton" $(KINDS)

##@ Everyday

.PHONY: release
release: ## Build the optimized program: target/release/baton
	$(CARGO) build --locked --release -p baton

.PHONY: dist
dist: ## Build it as it is shipped, optimized across crates, which takes longer: target/dist/baton
	$(CARGO) build --locked --profile dist -p baton

.PHONY: fmt
fmt: ## Format the code
	$(CARGO) fmt --all

.PHONY: doc
doc: ## Build the API documentation of all crates
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --document-private-items

.PHONY: clean
clean: ## Remove what was built
	$(CARGO) clean
