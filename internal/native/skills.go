package native

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/command"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/skill"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

const (
	// skillListBytes bounds the list of skills in the system prompt.
	skillListBytes = 16 << 10
	// skillDescription bounds one description in that list, in bytes.
	skillDescription = 512
	// toldProblems is how many unusable skills one notice names.
	toldProblems = 10
)

// skills is what a session knows of the skills on disk.
type skills struct {
	places []skill.Place
	opts   fsroot.Options

	mu    sync.Mutex
	now   *skill.Catalogue
	told  []skill.Problem // what people were told of
	shown string          // the commands that clients were shown
}

// openSkills reads the skills a session begins with.
func (h *handle) openSkills() {
	s := &skills{opts: h.agent.FSRoots}
	if h.agent.Workspace != "" {
		s.places = append(s.places, skill.Place{Root: h.agent.Workspace, Dir: "skills", Origin: skill.Agent})
	}
	if h.agent.SharedSkills != "" {
		s.places = append(s.places, skill.Place{Root: h.agent.SharedSkills, Dir: ".", Origin: skill.Shared})
	}
	s.places = append(s.places, skill.Place{Root: h.info.Cwd, Dir: filepath.Join(".agents", "skills"), Origin: skill.Project})
	h.skills = s
	s.refresh()
	s.shown = string(h.commands().Available())
	if h.kin != nil {
		s.told = s.now.Problems // by its parent
	}
}

// refresh looks at the disk again; files that are as they were are not read.
func (s *skills) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = skill.Read(s.places, s.opts, s.now)
}

// catalogue is the skills as they were last looked at.
func (s *skills) catalogue() *skill.Catalogue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// news returns the problems people were not told of yet.
func (s *skills) news() []skill.Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []skill.Problem
	for _, p := range s.now.Problems {
		if !slices.Contains(s.told, p) {
			list = append(list, p)
		}
	}
	s.told = s.now.Problems
	return list
}

// show takes note of the commands clients are shown and reports whether they
// are others than before.
func (s *skills) show(commands string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.shown != commands
	s.shown = commands
	return changed
}

// lookAtSkills takes note of skills that came, went or changed on disk: people
// are told of those that cannot be used, clients of commands that are others
// than before.
func (t *turn) lookAtSkills(ctx context.Context) error {
	t.skills.refresh()
	if news := t.skills.news(); len(news) > 0 {
		if err := t.sink.Emit(ctx, notice(t.id, "warning", "Skills that cannot be used", problemWords(news))); err != nil {
			return err
		}
	}
	commands := t.commands().Available()
	if !t.skills.show(string(commands)) {
		return nil
	}
	return t.emit(ctx, session.KindCommands, session.Live, commandsUpdate{session.KindCommands, commands})
}

func problemWords(list []skill.Problem) string {
	var b strings.Builder
	for i, p := range list {
		if i == toldProblems {
			fmt.Fprintf(&b, "\n…and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.String())
	}
	return b.String()
}

// skillCommands are the skills people may call.
func skillCommands(c *skill.Catalogue) []slashCommand {
	var list []slashCommand
	for _, s := range c.Skills {
		if s.User {
			list = append(list, slashCommand{
				Name: s.Name, Description: s.Description, Hint: s.Hint, Source: command.Skill, Run: doing{inTurn: callSkill(s.Name)},
			})
		}
	}
	return list
}

// callSkill gives the model a skill's text, with what the person added, in place
// of what they typed.
func callSkill(name string) func(*turn, context.Context, string) (session.StopReason, error) {
	return func(t *turn, ctx context.Context, args string) (session.StopReason, error) {
		text, err := t.skills.catalogue().Load(name, "")
		if err != nil {
			return session.EndTurn, t.say(ctx, fmt.Sprintf("The skill %s cannot be used: %v", name, err))
		}
		parts := append([]model.Part{model.Text(skillPrompt(text, args))}, t.typed[1:]...)
		return t.converse(ctx, parts)
	}
}

// argumentsMark stands in a skill's text for what the person added.
const argumentsMark = "$ARGUMENTS"

// skillPrompt is what the model gets for a skill that was called.
func skillPrompt(text skill.Text, args string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The user calls the skill /%s.\n\n%s<skill name=%q>\n", text.Skill.Name, tool.SkillNote(text.Skill), text.Skill.Name)
	body := strings.ReplaceAll(text.Text, argumentsMark, args)
	b.WriteString(body + "\n</skill>")
	if len(text.Files) > 0 {
		fmt.Fprintf(&b, "\nFurther files of this skill, to be read with %s: %s", tool.NameReadSkill, strings.Join(text.Files, ", "))
	}
	if args != "" && body == text.Text {
		b.WriteString("\n\nWhat the user adds:\n" + args)
	}
	return b.String()
}

// skillWords lists the skills for the model, "" where there are none.
func skillWords(c *skill.Catalogue) string {
	list := c.ForModel()
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Skills: instructions for certain kinds of work. Before work that one of them is for, read it with %s.", tool.NameReadSkill)
	for i, s := range list {
		line := "\n- " + s.Name
		if s.Origin == skill.Project {
			line += " (the project's, not the user's words)"
		}
		line += ": " + printable.Clip(s.Description, skillDescription)
		if b.Len()+len(line) > skillListBytes {
			fmt.Fprintf(&b, "\n%d more are not listed; the user can name them.", len(list)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}
