package acpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// elicit answers elicitation/create: the fields of a form, one after the other.
func (c *client) elicit(ctx context.Context, req *v1.CreateElicitationRequest) (*v1.CreateElicitationResponse, error) {
	if req.Mode != v1.ElicitationModeForm || req.RequestedSchema == nil {
		return &v1.CreateElicitationResponse{Action: v1.ElicitationActionDecline}, nil
	}
	c.mu.Lock()
	asking := c.asking
	c.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(asking, func() { cancel(context.Cause(asking)) })
	defer stop()
	c.view.say(warn("? "), bold(printable.Line(req.Message)))
	content, err := c.fill(ctx, req.RequestedSchema)
	switch {
	case err == nil:
		return &v1.CreateElicitationResponse{Action: v1.ElicitationActionAccept, Content: content}, nil
	case errors.Is(err, errDismissed), errors.Is(err, errNobody):
		return &v1.CreateElicitationResponse{Action: v1.ElicitationActionDecline}, nil
	case errors.Is(err, errCancelled):
		return &v1.CreateElicitationResponse{Action: v1.ElicitationActionCancel}, nil
	}
	return nil, err
}

// fill asks for every field.
func (c *client) fill(ctx context.Context, schema *v1.ElicitationSchema) (map[string]v1.ElicitationContentValue, error) {
	content := map[string]v1.ElicitationContentValue{}
	for _, p := range schema.Properties {
		f := field{name: p.Name, required: slices.Contains(schema.Required, p.Name)}
		f.describe(p.Value)
		for {
			text, err := c.person.line(ctx, f.prompt())
			if err != nil {
				return nil, err
			}
			value, err := f.read(strings.TrimSpace(text))
			if err == nil {
				if value != nil {
					content[p.Name] = value
				}
				break
			}
			c.view.say(warn("  " + printable.Line(err.Error())))
		}
	}
	return content, nil
}

// field is one entry of a form.
type field struct {
	name, title string
	kind        byte // s, n (number), i (integer), b, a (list)
	choices     []string
	preset      string
	required    bool
}

// describe takes over what the schema says.
func (f *field) describe(p v1.ElicitationPropertySchema) {
	f.kind = 's'
	switch {
	case p.String != nil:
		f.title, f.preset, f.choices = text(p.String.Title), text(p.String.Default), p.String.Enum
		for _, o := range p.String.OneOf {
			f.choices = append(f.choices, o.Const)
		}
	case p.Number != nil:
		f.kind, f.title = 'n', text(p.Number.Title)
	case p.Integer != nil:
		f.kind, f.title = 'i', text(p.Integer.Title)
	case p.Boolean != nil:
		f.kind, f.title, f.choices = 'b', text(p.Boolean.Title), []string{"true", "false"}
	case p.Array != nil:
		f.kind, f.title = 'a', text(p.Array.Title)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (f *field) prompt() string {
	label := f.title
	if label == "" {
		label = f.name
	}
	if len(f.choices) > 0 {
		label += " (" + strings.Join(f.choices, ", ") + ")"
	}
	if f.kind == 'a' {
		label += " (separated by commas)"
	}
	if f.preset != "" {
		label += " [" + f.preset + "]"
	}
	return printable.Line(label) + ": "
}

// read turns what was typed into a value; nil leaves the field out.
func (f *field) read(typed string) (jsontext.Value, error) {
	if typed == "" {
		typed = f.preset
	}
	var value any = typed
	switch {
	case typed == "" && f.required:
		return nil, fmt.Errorf("%s is needed; Esc declines the form", f.name)
	case typed == "":
		return nil, nil
	case len(f.choices) > 0 && !slices.Contains(f.choices, typed):
		return nil, fmt.Errorf("choose one of %s", strings.Join(f.choices, ", "))
	case f.kind == 'b':
		value = typed == "true"
	case f.kind == 'a':
		list := strings.Split(typed, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		value = list
	case f.kind == 'i':
		n, err := strconv.ParseInt(typed, 10, 64)
		if err != nil {
			return nil, errors.New("that is no whole number")
		}
		value = n
	case f.kind == 'n':
		n, err := strconv.ParseFloat(typed, 64)
		if err != nil || n != n || n-n != 0 {
			return nil, errors.New("that is no number")
		}
		value = n
	}
	raw, err := json.Marshal(value)
	return jsontext.Value(raw), err
}
