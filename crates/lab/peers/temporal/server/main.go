// Temporal's server in one process, with the configuration of its development server (`temporal server start-dev
// --db-filename FILE --headless`) and SQLite in WAL mode, which syncs each transaction.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const (
	address     = "127.0.0.1"
	clusterName = "active"
	store       = "sqlite-default"
)

func main() {
	directory := flag.String("directory", "", "where the database goes")
	port := flag.Int("port", 0, "port of the frontend")
	namespace := flag.String("namespace", "default", "namespace to create")
	flag.Parse()
	if err := serve(*directory, *port, *namespace); err != nil {
		slog.Error("the server cannot run", "error", err)
		os.Exit(1)
	}
}

func serve(directory string, port int, namespace string) error {
	database, err := prepare(filepath.Join(directory, "temporal.db"), namespace)
	if err != nil {
		return err
	}
	conf, err := configuration(port, database)
	if err != nil {
		return err
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Stdout: false, Level: "error"}))
	authorizer, err := authorization.GetAuthorizerFromConfig(&conf.Global.Authorization)
	if err != nil {
		return err
	}
	claims, err := authorization.GetClaimMapperFromConfig(&conf.Global.Authorization, logger)
	if err != nil {
		return err
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts(conf)),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
		temporal.WithDynamicConfigClient(dynamic()),
		temporal.InterruptOn(temporal.InterruptCh()),
	)
	if err != nil {
		return err
	}
	// It ends with a signal.
	return server.Start()
}

// prepare creates the database with its schema and the namespace.
func prepare(file, namespace string) (*config.SQL, error) {
	database := &config.SQL{
		PluginName:   sqliteplugin.PluginName,
		DatabaseName: file,
		ConnectAttributes: map[string]string{
			"mode": "rwc", "journal_mode": "wal", "synchronous": "full",
		},
	}
	if _, err := os.Stat(file); os.IsNotExist(err) {
		if err := sqlite.SetupSchema(database); err != nil {
			return nil, fmt.Errorf("the schema: %w", err)
		}
	}
	created, err := sqlite.NewNamespaceConfig(clusterName, namespace, false, nil)
	if err != nil {
		return nil, fmt.Errorf("the namespace: %w", err)
	}
	if err := sqlite.CreateNamespaces(database, created); err != nil {
		return nil, fmt.Errorf("the namespace: %w", err)
	}
	return database, nil
}

func configuration(port int, database *config.SQL) (*config.Config, error) {
	ports, err := freePorts(4)
	if err != nil {
		return nil, err
	}
	frontend := fmt.Sprintf("%s:%d", address, port)
	var conf config.Config
	conf.Global.Membership.MaxJoinDuration = 30 * time.Second
	conf.Global.Membership.BroadcastAddress = address
	conf.Persistence.DefaultStore = store
	conf.Persistence.VisibilityStore = store
	conf.Persistence.NumHistoryShards = 1
	conf.Persistence.DataStores = map[string]config.DataStore{store: {SQL: database}}
	conf.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10,
		MasterClusterName:        clusterName,
		CurrentClusterName:       clusterName,
		ClusterInformation: map[string]cluster.ClusterInformation{
			clusterName: {
				Enabled:                true,
				InitialFailoverVersion: 1,
				RPCAddress:             frontend,
				HTTPAddress:            fmt.Sprintf("%s:%d", address, ports[0]),
			},
		},
	}
	conf.DCRedirectionPolicy.Policy = "noop"
	conf.Services = map[string]config.Service{
		"frontend": {RPC: config.RPC{GRPCPort: port, BindOnIP: address, HTTPPort: ports[0]}},
		"history":  {RPC: config.RPC{GRPCPort: ports[1], BindOnIP: address}},
		"matching": {RPC: config.RPC{GRPCPort: ports[2], BindOnIP: address}},
		"worker":   {RPC: config.RPC{GRPCPort: ports[3], BindOnIP: address}},
	}
	conf.Archival.History.State = "disabled"
	conf.Archival.Visibility.State = "disabled"
	conf.NamespaceDefaults.Archival.History.State = "disabled"
	conf.NamespaceDefaults.Archival.Visibility.State = "disabled"
	conf.PublicClient.HostPort = frontend
	return &conf, nil
}

func hosts(conf *config.Config) map[primitives.ServiceName]static.Hosts {
	hosts := map[primitives.ServiceName]static.Hosts{}
	for _, service := range []primitives.ServiceName{
		primitives.FrontendService, primitives.MatchingService, primitives.HistoryService, primitives.WorkerService,
	} {
		hosts[service] = static.SingleLocalHost(
			fmt.Sprintf("%s:%d", address, conf.Services[string(service)].RPC.GRPCPort))
	}
	return hosts
}

// dynamic has what the development server changes of what a load of instances meets.
func dynamic() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key():                 8096,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 100,
	}
}

func freePorts(count int) ([]int, error) {
	ports := make([]int, 0, count)
	for range count {
		listener, err := net.Listen("tcp", address+":0")
		if err != nil {
			return nil, err
		}
		// All stay open until the last one is known, else a port could come twice.
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
