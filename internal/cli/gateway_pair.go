package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
)

func (i *invocation) gatewayPairCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pair",
		Short: "Print a one-time code that lets a new client in",
		Long: `Print a code by which one client gets a token of its own, within ten minutes. The
gateway has to run. The client sends the code, with POST to /pair of the gateway, in
the header X-Pairing-Code; grapnel acp --pair-code does that. Whoever has the token
then has every right of this machine's own user; grapnel gateway token create makes
tokens that have less.`,
		Args: arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error {
			g, err := i.gateway()
			if err != nil {
				return err
			}
			code, err := g.PairingCode(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(i.env.Stdout, code)
			}
			fmt.Fprintln(i.env.Stdout, code.Code)
			minutes := time.Until(code.Expires).Round(time.Minute)
			fmt.Fprintf(i.env.Stderr, "Good once, for %d minutes: grapnel acp --url %s --pair-code %s\nOther clients send it in the header X-Pairing-Code with POST %[2]s/pair.\n", int(minutes.Minutes()), g.URL(), code.Code)
			return nil
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// gateway finds the gateway that runs on the configuration directory.
func (i *invocation) gateway() (app.GatewayAdmin, error) {
	home, err := i.home()
	if err != nil {
		return app.GatewayAdmin{}, err
	}
	return app.FindGateway(home)
}
