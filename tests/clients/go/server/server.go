// Package server has the address of the server under test, named by the environment, and the models it is given.
package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Environment is a variable that the runner sets.
func Environment(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set; run tests/clients/run.py", name)
	}
	return value
}

// Model writes a model under an ID of its own, so that no test meets another one's jobs or messages.
func Model(t *testing.T, name string) (id string, file string) {
	t.Helper()
	id = fmt.Sprintf("go-%s-%d", strings.TrimSuffix(name, filepath.Ext(name)), time.Now().UnixNano())
	return id, Beside(t, id, name)
}

// Beside writes another file that belongs to a model.
func Beside(t *testing.T, id string, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Environment(t, "BATON_CLIENT_MODELS"), name))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "@ID@", id)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
