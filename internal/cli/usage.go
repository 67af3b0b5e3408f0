package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/grapnel-ai/grapnel/internal/spell"
)

// usageError is a command line that cannot be understood: exit code 2.
type usageError struct {
	message string
}

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// codeError ends the process with a code of its own. Without err nothing more
// is written.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// group makes cmd a noun with verbs below it.
func (i *invocation) group(cmd *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(verbs...)
	cmd.Args = cobra.ArbitraryArgs // or cobra words the error itself
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommand(cmd, args[0])
		case !cmd.HasParent():
			i.ran = true
			return cmd.Help()
		}
		return usagef("%s needs a command: %s", cmd.CommandPath(), strings.Join(verbNames(cmd), ", "))
	}
	return cmd
}

func verbNames(cmd *cobra.Command) []string {
	var names []string
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			names = append(names, verb.Name())
		}
	}
	return names
}

func unknownCommand(cmd *cobra.Command, name string) error {
	verbs := verbNames(cmd)
	nearest, distance := spell.Nearest(name, verbs)
	switch {
	case nearest == "":
		return usagef("%s takes no command, but %q was given", cmd.CommandPath(), name)
	case !spell.Close(name, distance):
		return usagef("unknown command %q; %s has %s", name, cmd.CommandPath(), strings.Join(verbs, ", "))
	}
	return usagef("unknown command %q; did you mean %s %s?", name, cmd.CommandPath(), nearest)
}

// flagError words what the flag parser found, with the nearest flag.
func flagError(cmd *cobra.Command, err error) error {
	if before := cmd.Flags().Args(); cmd.HasSubCommands() && len(before) > 0 {
		return unknownCommand(cmd, before[0]) // its flags are unknown for that reason
	}
	if bad := (*pflag.NotExistError)(nil); errors.As(err, &bad) {
		return unknownFlag(cmd, bad)
	}
	if bad := (*pflag.ValueRequiredError)(nil); errors.As(err, &bad) {
		return usagef("--%s needs a value", bad.GetFlag().Name)
	}
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
		return usagef("--%s must be %s, not %q", bad.GetFlag().Name, valueType(bad.GetFlag()), bad.GetValue())
	}
	return usagef("%v; see %s --help", err, cmd.CommandPath())
}

func unknownFlag(cmd *cobra.Command, bad *pflag.NotExistError) error {
	if bad.GetSpecifiedShortnames() != "" {
		return usagef("unknown flag -%s; see %s --help", bad.GetSpecifiedName(), cmd.CommandPath())
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	name := bad.GetSpecifiedName()
	nearest, distance := spell.Nearest(name, known)
	if !spell.Close(name, distance) {
		return usagef("unknown flag --%s; see %s --help", name, cmd.CommandPath())
	}
	return usagef("unknown flag --%s; did you mean --%s? See %s --help", name, nearest, cmd.CommandPath())
}

func valueType(f *pflag.Flag) string {
	switch t := f.Value.Type(); t {
	case "int", "int64", "uint":
		return "a whole number"
	case "bool":
		return "true or false"
	case "duration":
		return "a duration such as 30s or 5m"
	default:
		return "a " + t
	}
}

// arguments checks the number of arguments against the names in the command's
// Use line.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef("%s needs %s; see %s --help", cmd.CommandPath(), strings.Join(names[len(args):], " and "), cmd.CommandPath())
		case len(args) > len(names) && len(names) == 0:
			return usagef("%s takes no arguments, but %q was given", cmd.CommandPath(), args[0])
		case len(args) > len(names):
			return usagef("%s takes only %s, but %q was given too; quote a value with spaces", cmd.CommandPath(), strings.Join(names, " and "), args[len(names)])
		}
		return nil
	}
}

// atLeast is arguments for a command that takes one or more of a kind.
func atLeast(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s needs at least one %s; see %s --help", cmd.CommandPath(), name, cmd.CommandPath())
		}
		return nil
	}
}

// atMost is arguments for a command whose arguments may all be left out.
func atMost(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return arguments(names[:min(len(args), len(names))]...)(cmd, args)
	}
}

// optionally is arguments for a command that takes nothing or one word.
func optionally(word string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 || len(args) == 1 && args[0] != word {
			return usagef("%s takes no argument but %s, and %q was given", cmd.CommandPath(), word, args[len(args)-1])
		}
		return nil
	}
}

// atLeastOne checks a numeric flag that may be left out, but not be zero or less.
func atLeastOne(cmd *cobra.Command, name string) error {
	if n, err := cmd.Flags().GetInt(name); cmd.Flags().Changed(name) && (err != nil || n < 1) {
		return usagef("--%s must be at least 1, but is %s", name, cmd.Flag(name).Value)
	}
	return nil
}
