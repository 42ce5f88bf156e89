// Drives Temporal for the lab: starts its server, works on the process and its task, and creates instances, all with
// the official Go SDK.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const (
	queue    = "lab"
	readyMax = 120 * time.Second
	// Longest time until instances that were created wait.
	settleMax = 120 * time.Second
)

type variables struct {
	Payload string `json:"payload"`
}

// waiting counts instances that have come to where they wait.
var waiting atomic.Int64

// order is the process with one task.
func order(context workflow.Context, given variables) (variables, error) {
	context = workflow.WithActivityOptions(context, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	var result variables
	err := workflow.ExecuteActivity(context, work, given).Get(context, &result)
	return result, err
}

func work(_ context.Context, given variables) (variables, error) {
	return given, nil
}

// wait is a process that waits for a signal that never comes.
func wait(context workflow.Context) error {
	if !workflow.IsReplaying(context) {
		waiting.Add(1)
	}
	workflow.GetSignalChannel(context, "never").Receive(context, nil)
	return nil
}

// peer is the server with its client and its worker.
type peer struct {
	server *exec.Cmd
	// ended is closed with the server's end.
	ended  chan struct{}
	client client.Client
	worker worker.Worker
}

func main() {
	driven := &peer{}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-signals
		driven.kill()
		os.Exit(1)
	}()
	err := serve(os.Stdin, os.Stdout, commands{
		"start": func(asked command) (any, error) { return driven.start(asked.Directory) },
		"run":   func(asked command) (any, error) { return load(asked, driven.instance) },
		"wait":  func(asked command) (any, error) { return driven.wait(asked) },
		"stop":  func(command) (any, error) { return struct{}{}, driven.stop() },
	})
	driven.kill()
	if err != nil {
		slog.Error("the driver cannot go on", "error", err)
		os.Exit(1)
	}
}

func (driven *peer) start(directory string) (started, error) {
	port, err := freePort()
	if err != nil {
		return started{}, err
	}
	own, err := os.Executable()
	if err != nil {
		return started{}, err
	}
	began := time.Now()
	driven.server = exec.Command(filepath.Join(filepath.Dir(own), "server"),
		"--directory", directory, "--port", strconv.Itoa(port))
	driven.server.Stdout, driven.server.Stderr = os.Stderr, os.Stderr
	if err := driven.server.Start(); err != nil {
		return started{}, err
	}
	driven.ended = make(chan struct{})
	go func() {
		// How it ends does not matter.
		_ = driven.server.Wait()
		close(driven.ended)
	}()
	if err := driven.connect(fmt.Sprintf("127.0.0.1:%d", port), began); err != nil {
		return started{}, err
	}
	if err := driven.until(began, driven.instance); err != nil {
		return started{}, err
	}
	readySeconds := time.Since(began).Seconds()
	system, err := driven.client.WorkflowService().GetSystemInfo(
		context.Background(), &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		return started{}, err
	}
	return started{
		Process:      driven.server.Process.Pid,
		Version:      "Temporal " + system.GetServerVersion(),
		ReadySeconds: readySeconds,
		Notes: []string{
			"one process set up as its development server, with one shard; SQLite as a file syncs each transaction " +
				"(journal_mode=wal, synchronous=full)",
			"an instance is a workflow with one activity; the Go SDK " + temporal.SDKVersion +
				" in the driver works on both and shares the cores",
			"waiting instances count as created once the worker has brought all of them to their signal; the worker " +
				"caches workflows, which is memory of the driver",
			"its visibility store in the same file can be searched",
		},
	}, nil
}

func (driven *peer) connect(address string, began time.Time) error {
	logger := log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	err := driven.until(began, func() (err error) {
		driven.client, err = client.Dial(client.Options{HostPort: address, Logger: logger})
		return err
	})
	if err != nil {
		return err
	}
	return driven.until(began, func() error {
		driven.worker = worker.New(driven.client, queue, worker.Options{})
		driven.worker.RegisterWorkflow(order)
		driven.worker.RegisterWorkflow(wait)
		driven.worker.RegisterActivity(work)
		return driven.worker.Start()
	})
}

// until tries again until the server is ready.
func (driven *peer) until(began time.Time, try func() error) error {
	for {
		err := try()
		if err == nil || time.Since(began) > readyMax {
			return err
		}
		select {
		case <-driven.ended:
			return fmt.Errorf("the server has ended: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// instance is one from its creation to its end.
func (driven *peer) instance() error {
	run, err := driven.client.ExecuteWorkflow(context.Background(),
		client.StartWorkflowOptions{TaskQueue: queue}, order, variables{Payload: "x"})
	if err != nil {
		return err
	}
	return run.Get(context.Background(), nil)
}

func (driven *peer) wait(asked command) (any, error) {
	before := waiting.Load()
	instance := func() error {
		_, err := driven.client.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{TaskQueue: queue}, wait)
		return err
	}
	settled := func() error {
		for began := time.Now(); waiting.Load()-before < asked.Count; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > settleMax {
				return fmt.Errorf("%d of %d instances wait", waiting.Load()-before, asked.Count)
			}
		}
		return nil
	}
	return create(asked, instance, settled)
}

func (driven *peer) stop() error {
	if driven.worker != nil {
		driven.worker.Stop()
		driven.client.Close()
	}
	if driven.server == nil {
		return nil
	}
	if err := driven.server.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-driven.ended
	driven.server = nil
	return nil
}

func (driven *peer) kill() {
	if driven.server != nil && driven.server.Process != nil {
		_ = driven.server.Process.Kill()
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
