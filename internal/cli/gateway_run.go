package cli

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/beacon"
)

// gatewayFlags are the flags of gateway run.
type gatewayFlags struct {
	host     string
	port     int
	insecure bool
	json     bool
}

func (i *invocation) gatewayRunCommand() *cobra.Command {
	var f gatewayFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Serve sessions over HTTP, in the foreground",
		Long: `Serve sessions over HTTP, in the foreground: ACP by WebSocket and by Streamable HTTP
at /acp. It prints where it listens once it does; logs go to stderr, as [telemetry]
says.

An interrupt or SIGTERM drains it: new turns are refused, running ones get 30 seconds,
then clients are told and it exits with 0. A second one ends it at once. SIGHUP, and a
change of config.toml, puts the changed configuration in force.

It listens where other machines reach it only with TLS and with a credential.`,
		Example: "  grapnel gateway\n  grapnel gateway run --port 0 --json",
		Args:    arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error {
			return i.serveGateway(cmd, f)
		}),
	}
	cmd.Flags().StringVar(&f.host, "host", "", "`address` to listen on (default gateway.host)")
	cmd.Flags().IntVar(&f.port, "port", 0, "`port` to listen on, 0 to pick one (default gateway.port)")
	cmd.Flags().BoolVar(&f.insecure, "insecure-bind", false, "let other machines reach it without TLS, where something else encrypts")
	cmd.Flags().BoolVar(&f.json, "json", false, "print where it listens as one line of JSON")
	return cmd
}

func (i *invocation) serveGateway(cmd *cobra.Command, f gatewayFlags) (err error) {
	home, err := i.home()
	if err != nil {
		return err
	}
	o := app.GatewayOptions{InsecureBind: f.insecure, Ready: func(b beacon.Beacon) { i.gatewayReady(b, f.json) }}
	if cmd.Flags().Changed("host") {
		o.Host = &f.host
	}
	if cmd.Flags().Changed("port") {
		if f.port < 0 || f.port > 65535 {
			return usagef("--port must be between 0 and 65535, not %d", f.port)
		}
		o.Port = &f.port
	}
	app.LimitMemory(i.getenv)
	a, err := app.Open(cmd.Context(), app.Options{
		Home: home, Environ: i.env.Environ, Version: i.version().Version, Verbose: i.verbose, Stderr: i.env.Stderr, Gateway: true,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Shutdown()) }()
	return a.ServeGateway(cmd.Context(), o)
}

// gatewayReady prints where the gateway listens.
func (i *invocation) gatewayReady(b beacon.Beacon, asJSON bool) {
	if !asJSON {
		fmt.Fprintf(i.env.Stdout, "Listening on %s (ACP at %s).\nTo let a client in, run: grapnel gateway pair\n", b.URL, b.ACP)
		return
	}
	line, err := json.Marshal(struct {
		URL string `json:"url"`
		ACP string `json:"acp"`
		PID int    `json:"pid"`
	}{b.URL, b.ACP, b.PID})
	if err == nil { // strings and a number always encode
		fmt.Fprintf(i.env.Stdout, "%s\n", line)
	}
}
