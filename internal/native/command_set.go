package native

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// setting is a command that shows an option or sets it.
func setting(option string) func(*handle, context.Context, session.Commanding, string) (session.CommandDone, error) {
	return func(h *handle, ctx context.Context, by session.Commanding, args string) (session.CommandDone, error) {
		o, ok := h.option(option)
		switch {
		case !ok:
			return answered(h.whyNot(option))
		case args == "":
			return answered(describe(&o))
		case option == session.OptionMode && by.Role < session.Approver:
			return answered("The mode is not yours to change: only who may answer requests for permission can.")
		}
		value, ok := pick(&o, args)
		if !ok {
			return answered(fmt.Sprintf("%q is not one of the values.\n\n%s", args, describe(&o)))
		}
		if err := h.setByCommand(ctx, by.Owner, option, value); err != nil {
			if _, invalid := errors.AsType[*session.InvalidError](err); invalid {
				return answered(err.Error() + ".")
			}
			return session.CommandDone{}, err
		}
		return answered(fmt.Sprintf("%s is now %s.", o.Name, value))
	}
}

// option finds an option that is offered now.
func (h *handle) option(id string) (selectOption, bool) {
	for _, o := range h.configOptions(h.choice()) {
		if o.ID == id {
			return o, true
		}
	}
	return selectOption{}, false
}

// whyNot says why an option is not offered.
func (h *handle) whyNot(option string) string {
	if option == session.OptionThought {
		if m := h.choice().Model; m != "" {
			return m + " cannot be told how much to think."
		}
	}
	return "There is no model yet: configure a provider."
}

func describe(o *selectOption) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s. There is:\n", o.Name, o.Current)
	for _, v := range o.Options {
		fmt.Fprintf(&b, "- %s", v.Value)
		if v.Description != "" {
			fmt.Fprintf(&b, ": %s", v.Description)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// pick returns the value that words mean: one of the values or their names, or a
// part of just one.
func pick(o *selectOption, words string) (value string, ok bool) {
	found := 0
	for _, v := range o.Options {
		if strings.EqualFold(v.Value, words) || strings.EqualFold(v.Name, words) {
			return v.Value, true
		}
		if strings.Contains(strings.ToLower(v.Value), strings.ToLower(words)) {
			value = v.Value
			found++
		}
	}
	return value, found == 1
}

// setByCommand sets an option and has the session remember it. What a client sets
// the hub remembers.
func (h *handle) setByCommand(ctx context.Context, owner, option, value string) error {
	if _, err := h.Set(ctx, owner, option, value); err != nil {
		return err
	}
	return h.sink.Emit(ctx, session.Draft{
		Kind: session.KindSet, Retention: session.Private,
		Body: encode(session.SetOption{Option: option, Value: value}),
	})
}

// titleBytes bounds a title.
const titleBytes = 200

// retitle names the session as a person wants it.
func (h *handle) retitle(ctx context.Context, _ session.Commanding, args string) (session.CommandDone, error) {
	title := strings.Join(strings.Fields(args), " ")
	switch {
	case title == "":
		return answered("Say `/title` and the new title.")
	case len(title) > titleBytes:
		return answered(fmt.Sprintf("A title has at most %d bytes.", titleBytes))
	}
	byPerson := true
	if err := h.sink.Change(ctx, session.InfoChange{Title: &title, TitleSet: &byPerson}); err != nil {
		return session.CommandDone{}, err
	}
	return answered(fmt.Sprintf("This session is now called %q.", title))
}
