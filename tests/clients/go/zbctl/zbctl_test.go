// Package zbctl_test runs the commands of zbctl, as scripts do.
package zbctl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clients/server"
)

const program = "github.com/camunda/zeebe/clients/go/v8/cmd/zbctl"

var built string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "zbctl")
	if err != nil {
		panic(err)
	}
	built = filepath.Join(folder, "zbctl")
	if output, err := exec.Command("go", "build", "-o", built, program).CombinedOutput(); err != nil {
		panic(string(output))
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// zbctl runs a command. Returns what it prints, and what it says when it fails.
func zbctl(t *testing.T, arguments ...string) (map[string]any, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	common := []string{"--insecure", "--address", server.Environment(t, "BATON_GRPC_ADDRESS")}
	command := exec.CommandContext(ctx, built, append(common, arguments...)...)
	var output, trouble bytes.Buffer
	command.Stdout, command.Stderr = &output, &trouble
	if err := command.Run(); err != nil {
		return nil, &failure{trouble.String()}
	}
	read := map[string]any{}
	if text := output.String(); strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	} else {
		read["text"] = text
	}
	return read, nil
}

type failure struct{ text string }

func (f *failure) Error() string { return f.text }

func must(t *testing.T, arguments ...string) map[string]any {
	t.Helper()
	answer, err := zbctl(t, arguments...)
	if err != nil {
		t.Fatalf("zbctl %v: %v", arguments, err)
	}
	return answer
}

func deploy(t *testing.T, name string) string {
	t.Helper()
	id, file := server.Model(t, name)
	must(t, "deploy", "resource", file)
	return id
}

func create(t *testing.T, id string, more ...string) string {
	t.Helper()
	answer := must(t, append([]string{"create", "instance", id}, more...)...)
	return answer["processInstanceKey"].(string)
}

// activate returns the key of a job, and its variables.
func activate(t *testing.T, type_ string) (string, string) {
	t.Helper()
	answer := must(t, "activate", "jobs", type_, "--worker", "zbctl", "--timeout", "1m")
	job := answer["jobs"].([]any)[0].(map[string]any)
	return job["key"].(string), job["variables"].(string)
}

func TestStatusTellsTheTopology(t *testing.T) {
	answer := must(t, "status")
	if text := answer["text"].(string); !strings.Contains(text, "Leader, Healthy") {
		t.Fatal(text)
	}
}

func TestAJobIsCompleted(t *testing.T) {
	id := deploy(t, "task.bpmn")
	create(t, id, "--variables", `{"n":1}`)
	job, variables := activate(t, id)
	if variables != `{"n":1}` {
		t.Fatal(variables)
	}
	must(t, "complete", "job", job, "--variables", `{"done":true}`)
	if _, err := zbctl(t, "complete", "job", job); err == nil || !strings.Contains(err.Error(), "NotFound") {
		t.Fatal(err)
	}
}

func TestAJobFailsItsRetriesAreUpdatedAndItsErrorIsThrown(t *testing.T) {
	id := deploy(t, "error.bpmn")
	create(t, id)
	job, _ := activate(t, id)
	must(t, "fail", "job", job, "--retries", "1", "--errorMessage", "not yet")
	must(t, "update", "retries", job, "--retries", "2")
	again, _ := activate(t, id)
	if again != job {
		t.Fatal(again)
	}
	must(t, "throwError", "job", job, "--errorCode", "REFUSED", "--errorMessage", "no")
	if _, err := zbctl(t, "resolve", "incident", job); err == nil || !strings.Contains(err.Error(), "NotFound") {
		t.Fatal(err)
	}
}

func TestAWorkerRunsAProgram(t *testing.T) {
	id := deploy(t, "task.bpmn")
	worker := make(chan error, 1)
	go func() {
		_, err := zbctl(t, "create", "worker", id, "--handler", "cat", "--maxJobsHandle", "1")
		worker <- err
	}()
	answer := must(t, "create", "instance", id, "--variables", `{"n":1}`, "--withResult")
	if answer["variables"] != `{"n":1}` {
		t.Fatal(answer)
	}
	if err := <-worker; err != nil {
		t.Fatal(err)
	}
}

func TestAMessageIsPublishedAndASignalBroadcast(t *testing.T) {
	id := deploy(t, "message.bpmn")
	create(t, id, "--variables", `{"orderId":"o-1"}`)
	must(t, "publish", "message", id, "--correlationKey", "o-1", "--messageId", "once", "--ttl", "1m")
	must(t, "broadcast", "signal", id, "--variables", `{"a":1}`)
}

func TestADecisionIsEvaluated(t *testing.T) {
	id, file := server.Model(t, "rule.dmn")
	must(t, "deploy", "resource", file)
	answer := must(t, "evaluate", "decision", id+"-discount", "--variables", `{"total":150}`)
	if answer["decisionOutput"] != "10" {
		t.Fatal(answer)
	}
}

func TestVariablesAreSetAndAnInstanceCancelled(t *testing.T) {
	id := deploy(t, "task.bpmn")
	key := create(t, id)
	must(t, "set", "variables", key, "--variables", `{"a":2}`)
	must(t, "cancel", "instance", key)
	if _, err := zbctl(t, "cancel", "instance", key); err == nil || !strings.Contains(err.Error(), "NotFound") {
		t.Fatal(err)
	}
}
