package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	schema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const (
	localhost   = "127.0.0.1"
	clusterName = "active"
	namespace   = "default"
)

// freePort is free now; another program may take it before this one does.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", localhost+":0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// serve runs all services in this process on a file of SQLite, as the development server does, until it is told to end.
func serve(directory string, frontend int) error {
	store := config.SQL{
		PluginName:   sqliteplugin.PluginName,
		DatabaseName: filepath.Join(directory, "temporal.db"),
		// Each transaction is synced before it is answered.
		ConnectAttributes: map[string]string{"mode": "rwc", "_journal_mode": "wal", "_synchronous": "full"},
	}
	if err := schema.SetupSchema(&store); err != nil {
		return fmt.Errorf("tables: %w", err)
	}
	space, err := schema.NewNamespaceConfig(clusterName, namespace, false, nil)
	if err != nil {
		return err
	}
	if err := schema.CreateNamespaces(&store, space); err != nil {
		return fmt.Errorf("namespace: %w", err)
	}
	settings, err := configuration(store, frontend)
	if err != nil {
		return err
	}
	authorizer, err := authorization.GetAuthorizerFromConfig(&settings.Global.Authorization)
	if err != nil {
		return err
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Stdout: false, Level: "warn"}))
	server, err := temporal.NewServer(
		temporal.WithConfig(settings),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
	)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	<-ends
	return server.Stop()
}

func configuration(store config.SQL, frontend int) (*config.Config, error) {
	ports := make([]int, 8)
	for at := range ports {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		ports[at] = port
	}
	address := fmt.Sprintf("%s:%d", localhost, frontend)
	service := func(rpc, membership int) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: rpc, MembershipPort: membership, BindOnLocalHost: true}}
	}
	disabled := "disabled"
	return &config.Config{
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: localhost},
			Metrics: &metrics.Config{Prometheus: &metrics.PrometheusConfig{
				ListenAddress: fmt.Sprintf("%s:%d", localhost, ports[7]), HandlerPath: "/metrics",
			}},
		},
		Persistence: config.Persistence{
			DefaultStore:     sqliteplugin.PluginName,
			VisibilityStore:  sqliteplugin.PluginName,
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{sqliteplugin.PluginName: {SQL: &store}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			"frontend": service(frontend, ports[0]),
			"history":  service(ports[1], ports[2]),
			"matching": service(ports[3], ports[4]),
			"worker":   service(ports[5], ports[6]),
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: disabled},
			Visibility: config.VisibilityArchival{State: disabled},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: disabled},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: disabled},
		}},
		PublicClient: config.PublicClient{HostPort: address},
	}, nil
}
