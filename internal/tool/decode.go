package tool

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// decode reads a model's input into args, a pointer to a struct. It is strict
// about names and types, because a guess would do something the model did not
// mean, and kind about what can be meant in one way only: a missing object, a
// null, a number or a boolean in quotes. Errors are for the model.
func decode(input jsontext.Value, args any) error {
	input = bytes.TrimSpace(input)
	if len(input) == 0 || string(input) == "null" {
		input = jsontext.Value("{}")
	}
	if kind := input.Kind(); kind != '{' && input.IsValid() {
		return fmt.Errorf("the input must be a JSON object with the arguments %s, not %s", argNames(args), kindWords(kind))
	}
	err := json.Unmarshal(input, args, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("the input is not valid JSON at byte %d: %w; send one JSON object", syntax.ByteOffset, syntax.Err)
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return fmt.Errorf("the input cannot be read: %w", err)
	}
	name := printable.Clip(strings.ReplaceAll(strings.TrimPrefix(string(semantic.JSONPointer), "/"), "/", "."), 80)
	if errors.Is(err, json.ErrUnknownName) {
		return fmt.Errorf("there is no argument %q; the arguments are %s", name, argNames(args))
	}
	if semantic.Err != nil {
		return fmt.Errorf("argument %q: %w", name, semantic.Err)
	}
	return fmt.Errorf("argument %q must be %s, not %s", name, typeWords(semantic.GoType), kindWords(semantic.JSONKind))
}

// ignored holds arguments that models send and that mean nothing: nobody can
// approve a call by writing so into it.
type ignored struct {
	Approved jsontext.Value `json:"approved"`
}

// number is a whole number that may come in quotes.
type number int

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	text := strings.Trim(string(b), `"`)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != float64(int32(f)) {
		return fmt.Errorf("must be a whole number, not %s", printable.Clip(string(b), 40))
	}
	*n = number(f)
	return nil
}

// flag is a boolean that may come in quotes.
type flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(b []byte) error {
	switch strings.ToLower(strings.Trim(string(b), `"`)) {
	case "true":
		*f = true
	case "false", "null":
		*f = false
	default:
		return fmt.Errorf("must be true or false, not %s", printable.Clip(string(b), 40))
	}
	return nil
}

// argNames lists the names of the arguments a struct takes.
func argNames(args any) string {
	return strings.Join(fieldNames(reflect.TypeOf(args).Elem()), ", ")
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if f.Anonymous {
			continue // ignored
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func typeWords(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a " + t.Kind().String()
}

func kindWords(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case '[':
		return "an array"
	case '{':
		return "an object"
	}
	return "something else"
}
