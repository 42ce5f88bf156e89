package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestServeAnswersEachLine(t *testing.T) {
	known := commands{
		"wait": func(asked command) (any, error) {
			if asked.Count == 0 {
				return nil, errors.New("none asked for")
			}
			return created{PerSecond: float64(asked.Count)}, nil
		},
	}
	lines := `{"do":"wait","count":3,"concurrency":16}` + "\n" + `{"do":"wait"}` + "\n" + `{"do":"fly"}` + "\n" + "wait\n"
	var output strings.Builder
	if err := serve(strings.NewReader(lines), &output, known); err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSpace(output.String()), "\n")
	wanted := []string{
		`{"ok":{"perSecond":3}}`, `{"error":"none asked for"}`, `{"error":"there is no command fly"}`, `{"error":"invalid`,
	}
	for number, answer := range answers {
		if !strings.HasPrefix(answer, wanted[number]) {
			t.Errorf("line %d: %s, not %s", number, answer, wanted[number])
		}
	}
	if len(answers) != len(wanted) {
		t.Errorf("%d answers", len(answers))
	}
}

func TestLoadCountsTheWindow(t *testing.T) {
	done, err := load(command{WarmUpSeconds: 0.05, Seconds: 0.1, Concurrency: 2}, func() error {
		time.Sleep(10 * time.Millisecond)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	window := int(done.PerSecond*0.1 + 0.5)
	if window == 0 || window >= done.All || *done.P50Seconds < 0.01 || *done.P99Seconds < *done.P50Seconds {
		t.Errorf("%+v", done)
	}
}

func TestLoadTellsTheErrorOfALane(t *testing.T) {
	_, err := load(command{Seconds: 60, Concurrency: 1}, func() error { return errors.New("gone") })
	if err == nil || err.Error() != "gone" {
		t.Error(err)
	}
}

func TestCreateHasNoMoreThanAsked(t *testing.T) {
	instances := make(chan struct{}, 100)
	settled := false
	_, err := create(command{Count: 50, Concurrency: 8}, func() error {
		instances <- struct{}{}
		return nil
	}, func() error {
		settled = len(instances) == 50
		return nil
	})
	if err != nil || !settled {
		t.Errorf("%v, %d", err, len(instances))
	}
}
