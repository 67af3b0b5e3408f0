package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/config"
)

func (i *invocation) configCommand() *cobra.Command {
	return i.group(&cobra.Command{
		Use:   "config",
		Short: "Read, change and check the configuration",
		Long: `Read, change and check the configuration, config.toml in the configuration
directory. Settings are named by their dotted path, such as acp.default_agent
or providers.local.model; names with other characters are quoted as in TOML.`,
	},
		i.configGetCommand(),
		i.configSetCommand(),
		i.configCheckCommand(),
		i.configShowCommand(),
		i.configSchemaCommand(),
	)
}

// settingPath reads the name of a setting on the command line.
func settingPath(arg string) (config.Path, error) {
	p, err := config.ParsePath(arg)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return p, nil
}

// completeSetting offers the settings whose names are fixed.
func completeSetting(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []cobra.Completion
	for _, k := range config.Keys() {
		if !strings.ContainsAny(k.Path, "<[") {
			found = append(found, cobra.CompletionWithDesc(k.Path, k.Doc))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
