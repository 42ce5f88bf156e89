// Package client_test runs the Go client against the gRPC gateway.
package client_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"clients/server"

	"github.com/camunda/zeebe/clients/go/v8/pkg/commands"
	"github.com/camunda/zeebe/clients/go/v8/pkg/entities"
	"github.com/camunda/zeebe/clients/go/v8/pkg/pb"
	"github.com/camunda/zeebe/clients/go/v8/pkg/worker"
	"github.com/camunda/zeebe/clients/go/v8/pkg/zbc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	resultTimeout = 20 * time.Second
	unknownKey    = int64(1)<<51 + int64(1)<<50
)

func connect(t *testing.T) (zbc.Client, context.Context) {
	t.Helper()
	client, err := zbc.NewClient(&zbc.ClientConfig{
		GatewayAddress:         server.Environment(t, "BATON_GRPC_ADDRESS"),
		UsePlaintextConnection: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() {
		cancel()
		_ = client.Close()
	})
	return client, ctx
}

// must ends the test with an error, if there is one.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func refused(t *testing.T, code codes.Code, err error) {
	t.Helper()
	if status.Code(err) != code {
		t.Fatalf("%v and not %v", err, code)
	}
	if status.Convert(err).Message() == "" {
		t.Fatal("the refusal says nothing")
	}
}

func deploy(t *testing.T, client zbc.Client, ctx context.Context, name string) string {
	t.Helper()
	id, file := server.Model(t, name)
	deployment := must(client.NewDeployResourceCommand().AddResourceFile(file).Send(ctx))(t)
	process := deployment.Deployments[0].GetProcess()
	if process.BpmnProcessId != id || process.Version != 1 {
		t.Fatalf("deployed %v", process)
	}
	return id
}

func create(t *testing.T, client zbc.Client, ctx context.Context, id string, variables map[string]any) int64 {
	t.Helper()
	command := must(client.NewCreateInstanceCommand().BPMNProcessId(id).LatestVersion().VariablesFromMap(variables))(t)
	return must(command.Send(ctx))(t).ProcessInstanceKey
}

// await creates an instance and reads its variables when it has ended.
func await(client zbc.Client, ctx context.Context, id string, variables map[string]any) (map[string]any, error) {
	command, err := client.NewCreateInstanceCommand().BPMNProcessId(id).LatestVersion().VariablesFromMap(variables)
	if err != nil {
		return nil, err
	}
	result, err := command.WithResult().Send(ctx)
	if err != nil {
		return nil, err
	}
	read := map[string]any{}
	return read, json.Unmarshal([]byte(result.Variables), &read)
}

// awaiting does so in the background.
func awaiting(t *testing.T, client zbc.Client, ctx context.Context, id string, variables map[string]any) <-chan map[string]any {
	t.Helper()
	ended := make(chan map[string]any, 1)
	go func() {
		read, err := await(client, ctx, id, variables)
		if err != nil {
			t.Error(err)
		}
		ended <- read
	}()
	return ended
}

func activate(t *testing.T, client zbc.Client, ctx context.Context, id string) entities.Job {
	t.Helper()
	jobs := must(client.NewActivateJobsCommand().JobType(id).MaxJobsToActivate(1).WorkerName("go").
		Timeout(time.Minute).Send(ctx))(t)
	if len(jobs) != 1 {
		t.Fatalf("%d jobs", len(jobs))
	}
	return jobs[0]
}

func TestTopologyNamesOneHealthyLeader(t *testing.T) {
	client, ctx := connect(t)
	topology := must(client.NewTopologyCommand().Send(ctx))(t)
	partition := topology.Brokers[0].Partitions[0]
	if topology.ClusterSize != 1 || partition.Role != pb.Partition_LEADER || partition.Health != pb.Partition_HEALTHY {
		t.Fatal(topology)
	}
}

func TestAJobIsCompletedWithVariables(t *testing.T) {
	client, ctx := connect(t)
	id := deploy(t, client, ctx, "task.bpmn")
	ended := awaiting(t, client, ctx, id, map[string]any{"n": 1})
	job := activate(t, client, ctx, id)
	if variables := must(job.GetVariablesAsMap())(t); variables["n"] != 1.0 {
		t.Fatal(variables)
	}
	if headers := must(job.GetCustomHeadersAsMap())(t); headers["queue"] != "parcels" {
		t.Fatal(headers)
	}
	complete := must(client.NewCompleteJobCommand().JobKey(job.Key).VariablesFromMap(map[string]any{"done": true}))(t)
	must(complete.Send(ctx))(t)
	if variables := <-ended; variables["done"] != true {
		t.Fatal(variables)
	}
	_, err := complete.Send(ctx)
	refused(t, codes.NotFound, err)
}

func TestAFailedJobIsTriedAgainAndAThrownErrorIsCaught(t *testing.T) {
	client, ctx := connect(t)
	id := deploy(t, client, ctx, "error.bpmn")
	ended := awaiting(t, client, ctx, id, nil)
	job := activate(t, client, ctx, id)
	must(client.NewFailJobCommand().JobKey(job.Key).Retries(2).ErrorMessage("not yet").Send(ctx))(t)
	job = activate(t, client, ctx, id)
	if job.Retries != 2 {
		t.Fatal(job.Retries)
	}
	must(client.NewThrowErrorCommand().JobKey(job.Key).ErrorCode("REFUSED").Send(ctx))(t)
	if variables := <-ended; variables["path"] != "refused" {
		t.Fatal(variables)
	}
}

func TestRetriesAreUpdatedAndUnknownIncidentsRefused(t *testing.T) {
	client, ctx := connect(t)
	id := deploy(t, client, ctx, "task.bpmn")
	create(t, client, ctx, id, nil)
	job := activate(t, client, ctx, id)
	must(client.NewFailJobCommand().JobKey(job.Key).Retries(0).ErrorMessage("no way").Send(ctx))(t)
	must(client.NewUpdateJobRetriesCommand().JobKey(job.Key).Retries(1).Send(ctx))(t)
	// Nothing in gRPC tells an incident's key; it is the next or nearly so.
	for key := job.Key + 1; ; key++ {
		if key > job.Key+2_000 {
			t.Fatal("there is no incident")
		}
		_, err := client.NewResolveIncidentCommand().IncidentKey(key).Send(ctx)
		if err == nil {
			break
		}
		refused(t, codes.NotFound, err)
	}
	again := activate(t, client, ctx, id)
	if again.Key != job.Key {
		t.Fatal(again)
	}
	must(client.NewCompleteJobCommand().JobKey(again.Key).Send(ctx))(t)
}

func TestAWorkerCompletesWhatComes(t *testing.T) {
	client, ctx := connect(t)
	id := deploy(t, client, ctx, "task.bpmn")
	opened := client.NewJobWorker().JobType(id).Handler(func(jobs worker.JobClient, job entities.Job) {
		variables, err := job.GetVariablesAsMap()
		if err != nil {
			t.Error(err)
		}
		n := variables["n"].(float64)
		var command commands.CompleteJobCommandStep2 = jobs.NewCompleteJobCommand().JobKey(job.Key)
		dispatch, err := command.VariablesFromMap(map[string]any{"squared": n * n})
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := dispatch.Send(ctx); err != nil {
			t.Error(err)
		}
	}).MaxJobsActive(8).PollInterval(50 * time.Millisecond).RequestTimeout(5 * time.Second).Open()
	defer opened.AwaitClose()
	defer opened.Close()
	var all sync.WaitGroup
	for n := range 20 {
		all.Add(1)
		go func() {
			defer all.Done()
			variables, err := await(client, ctx, id, map[string]any{"n": n})
			if err != nil || variables["squared"] != float64(n*n) {
				t.Error(n, variables, err)
			}
		}()
	}
	all.Wait()
}

func TestAMessageIsPublishedOnce(t *testing.T) {
	client, ctx := connect(t)
	id := deploy(t, client, ctx, "message.bpmn")
	ended := awaiting(t, client, ctx, id, map[string]any{"orderId": "o-1"})
	message := client.NewPublishMessageCommand().MessageName(id).CorrelationKey("o-1").MessageId("once").TimeToLive(time.Minute)
	must(message.Send(ctx))(t)
	_, err := message.Send(ctx)
	refused(t, codes.AlreadyExists, err)
	<-ended
}

func TestASignalIsBroadcast(t *testing.T) {
	client, ctx := connect(t)
	id := deploy(t, client, ctx, "signal.bpmn")
	ended := awaiting(t, client, ctx, id, nil)
	// The instance may not wait yet: signals are not kept.
	for {
		command := must(client.NewBroadcastSignalCommand().SignalName(id).VariablesFromMap(map[string]any{"told": true}))(t)
		must(command.Send(ctx))(t)
		select {
		case variables := <-ended:
			if variables["told"] != true {
				t.Fatal(variables)
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestADecisionIsEvaluated(t *testing.T) {
	client, ctx := connect(t)
	id, file := server.Model(t, "rule.dmn")
	deployment := must(client.NewDeployResourceCommand().AddResourceFile(file).Send(ctx))(t)
	command := must(client.NewEvaluateDecisionCommand().DecisionId(id + "-discount").VariablesFromMap(map[string]any{"total": 150}))(t)
	if answer := must(command.Send(ctx))(t); answer.DecisionOutput != "10" {
		t.Fatal(answer)
	}
	key := deployment.Deployments[1].GetDecisionRequirements().GetDecisionRequirementsKey()
	if key == 0 {
		key = deployment.Deployments[0].GetDecisionRequirements().GetDecisionRequirementsKey()
	}
	must(client.NewDeleteResourceCommand().ResourceKey(key).Send(ctx))(t)
}

func TestVariablesAreSetAndInstancesCancelled(t *testing.T) {
	client, ctx := connect(t)
	id := deploy(t, client, ctx, "task.bpmn")
	key := create(t, client, ctx, id, map[string]any{"a": 1})
	set := must(client.NewSetVariablesCommand().ElementInstanceKey(key).VariablesFromMap(map[string]any{"a": 2}))(t)
	must(set.Send(ctx))(t)
	if job := activate(t, client, ctx, id); job.Variables != `{"a":2}` {
		t.Fatal(job.Variables)
	}
	must(client.NewCancelInstanceCommand().ProcessInstanceKey(key).Send(ctx))(t)
	_, err := client.NewCancelInstanceCommand().ProcessInstanceKey(key).Send(ctx)
	refused(t, codes.NotFound, err)
	_, err = client.NewCancelInstanceCommand().ProcessInstanceKey(unknownKey).Send(ctx)
	refused(t, codes.NotFound, err)
}
