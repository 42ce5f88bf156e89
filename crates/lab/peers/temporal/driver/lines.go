package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// command is a line of the lab; see crates/lab/src/peer/driver.rs.
type command struct {
	Do            string  `json:"do"`
	Directory     string  `json:"directory"`
	WarmUpSeconds float64 `json:"warmUpSeconds"`
	Seconds       float64 `json:"seconds"`
	Concurrency   int     `json:"concurrency"`
	Count         int64   `json:"count"`
}

type started struct {
	Process      int      `json:"process"`
	Version      string   `json:"version"`
	ReadySeconds float64  `json:"readySeconds"`
	Notes        []string `json:"notes"`
}

type loaded struct {
	All        int      `json:"all"`
	PerSecond  float64  `json:"perSecond"`
	P50Seconds *float64 `json:"p50Seconds"`
	P99Seconds *float64 `json:"p99Seconds"`
}

type created struct {
	PerSecond float64 `json:"perSecond"`
}

type commands map[string]func(command) (any, error)

// serve answers commands until nobody writes any more.
func serve(input io.Reader, output io.Writer, known commands) error {
	lines := bufio.NewScanner(input)
	for lines.Scan() {
		answer := map[string]any{}
		if ok, err := answerTo(lines.Bytes(), known); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["ok"] = ok
		}
		line, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(output, "%s\n", line); err != nil {
			return err
		}
	}
	return lines.Err()
}

func answerTo(line []byte, known commands) (any, error) {
	var asked command
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	act, ok := known[asked.Do]
	if !ok {
		return nil, fmt.Errorf("there is no command %s", asked.Do)
	}
	return act(asked)
}

// lanes runs as many at a time, until all have ended; the first error of one is told.
func lanes(count int, lane func() error) error {
	var all sync.WaitGroup
	errs := make(chan error, count)
	for range count {
		all.Add(1)
		go func() {
			defer all.Done()
			errs <- lane()
		}()
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func seconds(number float64) time.Duration {
	return time.Duration(number * float64(time.Second))
}

// load has whole instances, each of a lane after the one before. Those that end in the window count.
func load(asked command, instance func() error) (loaded, error) {
	from := time.Now().Add(seconds(asked.WarmUpSeconds))
	end := from.Add(seconds(asked.Seconds))
	var mutex sync.Mutex
	var latencies []float64
	all := 0
	err := lanes(asked.Concurrency, func() error {
		for time.Now().Before(end) {
			began := time.Now()
			if err := instance(); err != nil {
				return err
			}
			now := time.Now()
			mutex.Lock()
			all++
			if !now.Before(from) && now.Before(end) {
				latencies = append(latencies, now.Sub(began).Seconds())
			}
			mutex.Unlock()
		}
		return nil
	})
	sort.Float64s(latencies)
	return loaded{
		All:        all,
		PerSecond:  float64(len(latencies)) / asked.Seconds,
		P50Seconds: quantile(latencies, 0.5),
		P99Seconds: quantile(latencies, 0.99),
	}, err
}

// create has instances without their ends, until settled has returned.
func create(asked command, instance, settled func() error) (created, error) {
	began := time.Now()
	var next atomic.Int64
	err := lanes(asked.Concurrency, func() error {
		for next.Add(1) <= asked.Count {
			if err := instance(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = settled()
	}
	return created{PerSecond: float64(asked.Count) / max(time.Since(began).Seconds(), 0.001)}, err
}

func quantile(sorted []float64, at float64) *float64 {
	if len(sorted) == 0 {
		return nil
	}
	return &sorted[max(0, int(math.Ceil(float64(len(sorted))*at))-1)]
}
