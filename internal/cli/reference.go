package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const referenceHead = `# Commands

What grapnel help and the manual pages say, on one page. This page is generated: go generate ./cmd/grapnel

`

// referencePage describes every command below root in Markdown.
func referencePage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(referenceHead)
	b.WriteString(markdown(root.Long) + "\n\nEvery command takes these flags:\n\n")
	flagTable(&b, root.PersistentFlags())
	for _, cmd := range root.Commands() {
		describe(&b, cmd)
	}
	return b.String()
}

// describe writes the section of a command and those of the commands below it.
func describe(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.IsAvailableCommand() {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", cmd.CommandPath())
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	if cmd.HasSubCommands() {
		b.WriteString(markdown(long) + "\n")
	} else {
		fmt.Fprintf(b, "```\n%s\n```\n\n%s\n", cmd.UseLine(), markdown(long))
	}
	if flags := cmd.NonInheritedFlags(); flags.HasAvailableFlags() {
		b.WriteString("\n")
		flagTable(b, flags)
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "\n```\n%s\n```\n", unindent(cmd.Example))
	}
	for _, verb := range cmd.Commands() {
		describe(b, verb)
	}
}

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | meaning |\n|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		name = strings.TrimSpace(name + " " + value)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(name, "|", `\|`), strings.ReplaceAll(markdown(usage), "|", `\|`))
	})
}

// markdown keeps help text from being taken for markup.
func markdown(s string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`).Replace(strings.TrimSpace(s))
}

func unindent(example string) string {
	lines := strings.Split(example, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}
