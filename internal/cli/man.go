package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (i *invocation) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages",
		Long:   "Write a manual page of section 1 for every command into a directory, for packages.",
		Hidden: true,
		Args:   arguments("DIR"),
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("create the directory of the manual pages: %w", err)
			}
			return writeManual(args[0], cmd.Root())
		}),
	}
}

// writeManual writes the pages of cmd and of the commands below it.
func writeManual(dir string, cmd *cobra.Command) error {
	page := filepath.Join(dir, manName(cmd)+".1")
	if err := os.WriteFile(page, []byte(manPage(cmd)), 0o644); err != nil {
		return fmt.Errorf("write a manual page: %w", err)
	}
	for _, verb := range cmd.Commands() {
		if !verb.IsAvailableCommand() {
			continue
		}
		if err := writeManual(dir, verb); err != nil {
			return err
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// manPage renders one page in the man macros.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"Grapnel\" \"Grapnel Manual\"\n", roff(strings.ToUpper(manName(cmd))))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n" + roffText(long))
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "GLOBAL OPTIONS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	manSeeAlso(&b, cmd)
	return b.String()
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(name+" "+value)), roff(usage))
	})
}

func manSeeAlso(b *strings.Builder, cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, manName(cmd.Parent()))
	}
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			pages = append(pages, manName(verb))
		}
	}
	if len(pages) > 0 {
		fmt.Fprintf(b, ".SH SEE ALSO\n%s(1)\n", roff(strings.Join(pages, "(1), ")))
	}
}

// roff escapes what the man macros would take for markup.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// roffText renders paragraphs, which blank lines separate.
func roffText(s string) string {
	return strings.ReplaceAll(roff(strings.TrimSpace(s)), "\n\n", "\n.PP\n") + "\n"
}
