package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// The exit codes of policy test beyond the common ones.
const (
	exitAsk  = 3 // people would be asked
	exitDeny = 4 // it would be refused
)

func (i *invocation) policyCommand() *cobra.Command {
	return i.group(&cobra.Command{
		Use:   "policy",
		Short: "See what agents may do, and why",
		Long:  "See what the configured policy makes of a command, a file or a tool, without running it.",
	},
		i.policyTestCommand(),
	)
}

// policyTest are the flags of policy test.
type policyTest struct {
	agent, mode, cwd              string
	command, read, write          string
	tool, input, session          string
	network, asJSON               bool
	commandSet, readSet, writeSet bool
}

func (i *invocation) policyTestCommand() *cobra.Command {
	var t policyTest
	cmd := &cobra.Command{
		Use:   "test [TOOL [ARGUMENT]]",
		Short: "Would this command, path or tool be allowed, and why",
		Long: `Say what would become of a tool call: allow, ask or deny, the rule that decides, and
what "always allow" would cover. The call is prepared and judged exactly as in a
session of the agent, sandbox included, and nothing is run. ARGUMENT is the command
of the tool shell, the path of a tool for files, the pattern of one that searches, the
address of web_fetch, or a tool's whole input as JSON.

With --session, the tool calls of a stored session are judged anew: what became of
each then, and what would now, by the session's directories and approvals.

Exit codes: 0 allow, 1 it cannot be said, 2 wrong usage, 3 ask, 4 deny. With
--session: 0 when all was judged.`,
		Example: "  grapnel policy test --command 'git push --force'\n" +
			"  grapnel policy test shell 'make' --mode accept-edits\n" +
			"  grapnel policy test --write ~/.ssh/config --agent main\n" +
			"  grapnel policy test --session s_k3",
		Args: atMost("TOOL", "ARGUMENT"),
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			t.commandSet, t.readSet, t.writeSet = cmd.Flags().Changed("command"), cmd.Flags().Changed("read"), cmd.Flags().Changed("write")
			if t.session != "" {
				return i.replaySession(cmd, &t, args)
			}
			return i.testPolicy(cmd.Context(), &t, args)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&t.agent, "agent", "", "`alias` of the agent; default the one a new session gets")
	f.StringVar(&t.mode, "mode", "", "`mode` of the session; default the one it begins in")
	f.StringVar(&t.cwd, "cwd", "", "working `directory` of the session; default this one")
	f.StringVar(&t.command, "command", "", "a `command` for the shell")
	f.StringVar(&t.read, "read", "", "reading the file at this `path`")
	f.StringVar(&t.write, "write", "", "writing the file at this `path`")
	f.StringVar(&t.tool, "tool", "", "`name` of a tool")
	f.StringVar(&t.input, "input", "", "input of the tool, as `JSON`")
	f.StringVar(&t.session, "session", "", "judge the calls of this session, by its `id`")
	f.BoolVar(&t.network, "network", false, "the command asks for the network")
	jsonFlag(cmd, &t.asJSON)
	return cmd
}

// call is the tool and input that the command line describes.
func (t *policyTest) call(args []string) (tool string, input jsontext.Value, err error) {
	type question struct {
		tool  string
		input map[string]any
	}
	var asked []question
	if t.commandSet {
		asked = append(asked, question{"shell", map[string]any{"command": t.command}})
	}
	if t.readSet {
		asked = append(asked, question{"file_read", map[string]any{"path": t.read}})
	}
	if t.writeSet {
		asked = append(asked, question{"file_write", map[string]any{"path": t.write, "content": ""}})
	}
	if t.tool != "" {
		args = append([]string{t.tool}, args...)
		if t.input != "" {
			args = append(args, t.input)
		}
	}
	if len(args) > 0 {
		q := question{args[0], map[string]any{}}
		if len(args) > 1 {
			if q.input, err = argument(args[0], args[1]); err != nil {
				return "", nil, err
			}
		}
		asked = append(asked, q)
	}
	if len(asked) != 1 || len(args) > 2 || t.input != "" && t.tool == "" {
		return "", nil, usagef("name one thing to test: --command, --read, --write, --tool with --input, or TOOL ARGUMENT")
	}
	q := asked[0]
	if t.network {
		q.input["network"] = true
	}
	input, err = json.Marshal(q.input, json.Deterministic(true))
	return q.tool, input, err
}

// mainArgument is what ARGUMENT is for tools that are about no one path.
var mainArgument = map[string]string{
	"glob_search":    "pattern",
	"content_search": "pattern",
	"web_fetch":      "url",
	"read_skill":     "name",
}

// argument makes the input of a tool of what was written behind its name.
func argument(tool, text string) (map[string]any, error) {
	input := map[string]any{}
	switch {
	case strings.HasPrefix(strings.TrimSpace(text), "{"):
		if err := json.Unmarshal([]byte(text), &input); err != nil {
			return nil, usagef("the input is not a JSON object: %v", err)
		}
	case tool == "shell":
		input["command"] = text
	case tool == "git":
		input["args"] = strings.Fields(text)
	case tool == "file_write":
		input["path"], input["content"] = text, ""
	default:
		input[cmp.Or(mainArgument[tool], "path")] = text
	}
	return input, nil
}

func (i *invocation) testPolicy(ctx context.Context, t *policyTest, args []string) (err error) {
	tool, input, err := t.call(args)
	if err != nil {
		return err
	}
	home, err := i.home()
	if err != nil {
		return err
	}
	trial, err := app.OpenTrial(ctx, app.TrialOptions{Home: home, Environ: i.env.Environ, Agent: t.agent, Mode: t.mode, Cwd: t.cwd})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := trial.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	j := trial.Judge(ctx, tool, input)
	if j.Err != nil {
		return j.Err
	}
	if err := i.printJudgement(trial, tool, j, t.asJSON); err != nil {
		return err
	}
	switch j.Decision.Verdict {
	case policy.Ask:
		return &codeError{code: exitAsk}
	case policy.Deny:
		return &codeError{code: exitDeny}
	}
	return nil
}

// judged is a judgement as --json prints it.
type judged struct {
	Tool     string        `json:"tool"`
	Title    string        `json:"title,omitzero"`
	Verdict  string        `json:"verdict"`
	Rule     string        `json:"rule"`
	Reason   string        `json:"reason"`
	Risk     string        `json:"risk"`
	Network  bool          `json:"network"`
	Outside  bool          `json:"outside"`
	Confined bool          `json:"confined"`
	Steps    []judgedStep  `json:"steps,omitempty"`
	Grant    *policy.Grant `json:"grant,omitzero"`
}

type judgedStep struct {
	Text    string `json:"text"`
	Verdict string `json:"verdict"`
	Rule    string `json:"rule"`
	Reason  string `json:"reason"`
	Risk    string `json:"risk"`
}

func judgedOf(tool string, j native.Judgement) judged {
	d := j.Decision
	out := judged{
		Tool: tool, Title: j.Title, Verdict: d.Verdict.String(), Rule: d.Rule, Reason: d.Reason, Risk: d.Risk.String(),
		Network: d.Network, Outside: d.Outside, Confined: j.Confined, Grant: d.Grant,
	}
	for _, s := range d.Steps {
		out.Steps = append(out.Steps, judgedStep{s.Text, s.Verdict.String(), s.Rule, s.Reason, s.Risk.String()})
	}
	return out
}

func (i *invocation) printJudgement(trial *app.Trial, tool string, j native.Judgement, asJSON bool) error {
	if asJSON {
		return printJSON(i.env.Stdout, struct {
			Agent string `json:"agent"`
			Mode  string `json:"mode"`
			Cwd   string `json:"cwd"`
			judged
		}{trial.Agent, string(trial.Mode()), trial.Cwd, judgedOf(tool, j)})
	}
	if _, err := fmt.Fprintln(i.env.Stdout, printable.Text(j.Decision.Explain())); err != nil {
		return err
	}
	_, err := fmt.Fprintf(i.env.Stdout, "  agent %s, mode %s, in %s%s\n", trial.Agent, trial.Mode(), printable.Line(trial.Cwd), custody(j))
	return err
}

// custody says what would confine a command that may run.
func custody(j native.Judgement) string {
	switch {
	case len(j.Decision.Steps) == 0 || j.Decision.Verdict == policy.Deny:
		return ""
	case j.Decision.Outside:
		return "; it runs outside the sandbox"
	case !j.Confined:
		return "; no sandbox confines it"
	case j.Decision.Network:
		return "; a sandbox confines it, with the network"
	}
	return "; a sandbox confines it, without the network"
}
