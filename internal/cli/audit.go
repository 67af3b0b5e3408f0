package cli

import "github.com/spf13/cobra"

func (i *invocation) auditCommand() *cobra.Command {
	return i.group(&cobra.Command{
		Use:   "audit",
		Short: "Check and read the record of what agents did",
		Long: `Check and read the audit log, audit.jsonl in the data directory: what agents did, what
was refused, and who or what decided. Each line carries the hash of the one before
it.`,
	},
		i.auditVerifyCommand(),
		i.auditExportCommand(),
	)
}
