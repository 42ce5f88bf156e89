//go:build tools

// Package zbctl keeps in go.mod what the program needs; it is never built.
package zbctl

import _ "github.com/camunda/zeebe/clients/go/v8/cmd/zbctl"
