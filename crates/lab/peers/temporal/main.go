// Drives Temporal for the lab: starts a server in a process of its own, runs the workflow with the official Go client and
// its worker. Reads commands and writes answers, one JSON object a line; see crates/lab/src/peer/driver.rs.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const (
	queue    = "lab"
	readyMax = 60 * time.Second
)

// order is the process with one task.
func order(ctx workflow.Context, payload string) (string, error) {
	options := workflow.ActivityOptions{StartToCloseTimeout: time.Minute}
	var result string
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), work, payload).Get(ctx, &result)
	return result, err
}

// waiting waits for a signal that never comes.
func waiting(ctx workflow.Context) error {
	workflow.GetSignalChannel(ctx, "never").Receive(ctx, nil)
	return nil
}

func work(_ context.Context, payload string) (string, error) { return payload, nil }

type command struct {
	Do            string  `json:"do"`
	Directory     string  `json:"directory"`
	WarmUpSeconds float64 `json:"warmUpSeconds"`
	Seconds       float64 `json:"seconds"`
	Concurrency   int     `json:"concurrency"`
	Count         int64   `json:"count"`
}

type driver struct {
	server *exec.Cmd
	client client.Client
	worker worker.Worker
}

type quiet struct{}

func (quiet) Debug(string, ...interface{})            {}
func (quiet) Info(string, ...interface{})             {}
func (quiet) Warn(text string, pairs ...interface{})  { fmt.Fprintln(os.Stderr, text, pairs) }
func (quiet) Error(text string, pairs ...interface{}) { fmt.Fprintln(os.Stderr, text, pairs) }

func (d *driver) start(directory string) (any, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	d.server = exec.Command(os.Args[0], "server", directory, strconv.Itoa(port))
	d.server.Stderr = os.Stderr
	d.server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.server.Start(); err != nil {
		return nil, err
	}
	address := fmt.Sprintf("%s:%d", localhost, port)
	for d.client == nil {
		d.client, err = client.Dial(client.Options{HostPort: address, Namespace: namespace, Logger: quiet{}})
		if err != nil && time.Since(began) > readyMax {
			return nil, fmt.Errorf("the server is not ready: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	d.worker = worker.New(d.client, queue, worker.Options{})
	d.worker.RegisterWorkflow(order)
	d.worker.RegisterWorkflow(waiting)
	d.worker.RegisterActivity(work)
	for d.worker.Start() != nil {
		if time.Since(began) > readyMax {
			return nil, fmt.Errorf("the worker does not start")
		}
		time.Sleep(20 * time.Millisecond)
	}
	for d.once() != nil {
		if time.Since(began) > readyMax {
			return nil, fmt.Errorf("the first workflow does not end")
		}
		time.Sleep(20 * time.Millisecond)
	}
	return map[string]any{
		"process":      d.server.Process.Pid,
		"version":      version(),
		"readySeconds": time.Since(began).Seconds(),
		"notes": []string{
			"all services in one process on a file of SQLite with one history shard, as the development server has them; " +
				"journal WAL, synchronous FULL; such a set-up is not meant for production",
			"an instance is a workflow with one activity; the worker of the Go SDK runs in the driver, which shares the cores",
		},
	}, nil
}

func version() string {
	if built, ok := debug.ReadBuildInfo(); ok {
		for _, module := range built.Deps {
			if module.Path == "go.temporal.io/server" {
				return module.Path + " " + module.Version
			}
		}
	}
	return "go.temporal.io/server"
}

func (d *driver) once() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyMax)
	defer cancel()
	run, err := d.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: queue}, order, "x")
	if err != nil {
		return err
	}
	return run.Get(ctx, nil)
}

func quantile(sorted []float64, at float64) any {
	if len(sorted) == 0 {
		return nil
	}
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*at))]
}

func (d *driver) run(asked command) (any, error) {
	from := time.Now().Add(time.Duration(asked.WarmUpSeconds * float64(time.Second)))
	end := from.Add(time.Duration(asked.Seconds * float64(time.Second)))
	var mutex sync.Mutex
	var latencies []float64
	all := 0
	err := lanes(asked.Concurrency, func() error {
		for time.Now().Before(end) {
			began := time.Now()
			if err := d.once(); err != nil {
				return err
			}
			ended := time.Now()
			mutex.Lock()
			all++
			if ended.After(from) && ended.Before(end) {
				latencies = append(latencies, ended.Sub(began).Seconds())
			}
			mutex.Unlock()
		}
		return nil
	})
	slices.Sort(latencies)
	return map[string]any{
		"all":        all,
		"perSecond":  float64(len(latencies)) / asked.Seconds,
		"p50Seconds": quantile(latencies, 0.5),
		"p99Seconds": quantile(latencies, 0.99),
	}, err
}

func (d *driver) wait(asked command) (any, error) {
	var next atomic.Int64
	began := time.Now()
	err := lanes(asked.Concurrency, func() error {
		for next.Add(1) <= asked.Count {
			options := client.StartWorkflowOptions{TaskQueue: queue}
			if _, err := d.client.ExecuteWorkflow(context.Background(), options, waiting); err != nil {
				return err
			}
		}
		return nil
	})
	return map[string]any{"perSecond": float64(asked.Count) / time.Since(began).Seconds()}, err
}

// lanes runs a work so many times at once; the first error, if there is one.
func lanes(count int, work func() error) error {
	failures := make(chan error, count)
	var group sync.WaitGroup
	for range count {
		group.Go(func() { failures <- work() })
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) stop() (any, error) {
	if d.worker != nil {
		d.worker.Stop()
		d.client.Close()
	}
	if d.server != nil {
		_ = d.server.Process.Signal(syscall.SIGTERM)
		_ = d.server.Wait()
	}
	return map[string]any{}, nil
}

func (d *driver) do(asked command) (any, error) {
	switch asked.Do {
	case "start":
		return d.start(asked.Directory)
	case "run":
		return d.run(asked)
	case "wait":
		return d.wait(asked)
	case "stop":
		return d.stop()
	}
	return nil, fmt.Errorf("there is no command '%s'", asked.Do)
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "server" {
		port, err := strconv.Atoi(os.Args[3])
		if err == nil {
			err = serve(os.Args[2], port)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var d driver
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked command
		err := json.Unmarshal(lines.Bytes(), &asked)
		var done any
		if err == nil {
			done, err = d.do(asked)
		}
		if err != nil {
			_ = answers.Encode(map[string]any{"error": err.Error()})
		} else {
			_ = answers.Encode(map[string]any{"ok": done})
		}
	}
}
