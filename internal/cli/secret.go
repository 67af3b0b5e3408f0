package cli

import (
	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/config"
)

func (i *invocation) secretCommand() *cobra.Command {
	return i.group(&cobra.Command{
		Use:   "secret",
		Short: "Keep credentials, encrypted, in the configuration",
		Long: `Keep credentials in the configuration without keeping them readable. A secret
setting is an API key, a token, a password, a header, or a variable of an MCP
server, named as in grapnel config: providers.claude.api_key,
mcp.servers.files.env.TOKEN.`,
	},
		i.secretSetCommand(),
		i.secretListCommand(),
		i.secretRemoveCommand(),
	)
}

// secretPath reads the name of a setting that holds a credential.
func secretPath(arg string) (config.Path, error) {
	p, err := settingPath(arg)
	if err != nil {
		return nil, err
	}
	holds, err := config.HoldsSecret(p)
	if err != nil {
		return nil, err
	}
	if !holds {
		return nil, usagef("%s holds no secret; set it with grapnel config set", p)
	}
	return p, nil
}
