package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// schema is the part of a JSON Schema that the generator understands.
type schema struct {
	Type       typeNames      `json:"type"`
	Ref        string         `json:"$ref"`
	Const      jsontext.Value `json:"const"`
	Format     string         `json:"format"`
	Title      string         `json:"title"`
	Properties properties     `json:"properties"`
	Required   []string       `json:"required"`
	Items      *schema        `json:"items"`
	AllOf      []*schema      `json:"allOf"`
	AnyOf      []*schema      `json:"anyOf"`
	OneOf      []*schema      `json:"oneOf"`
	Additional jsontext.Value `json:"additionalProperties"`
	Minimum    float64        `json:"minimum"`
	Maximum    float64        `json:"maximum"`
	MinLength  int            `json:"minLength"`
	MinItems   int            `json:"minItems"`

	DefaultOnError bool   `json:"x-deserialize-default-on-error"`
	SkipInvalid    bool   `json:"x-deserialize-skip-invalid-items"`
	DefaultOnNull  bool   `json:"x-deserialize-default-on-null"`
	Side           string `json:"x-side"`
	Method         string `json:"x-method"`

	Defs properties `json:"$defs"`
}

// properties keeps the order of the schema file, which the output follows.
type properties []property

type property struct {
	name   string
	schema *schema
}

func (p *properties) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		item := property{name: name.String(), schema: new(schema)}
		if err := json.UnmarshalDecode(dec, item.schema); err != nil {
			return err
		}
		*p = append(*p, item)
	}
	_, err := dec.ReadToken()
	return err
}

func (p properties) get(name string) *schema {
	for _, item := range p {
		if item.name == name {
			return item.schema
		}
	}
	return nil
}

// typeNames is a schema's type: one name or several.
type typeNames []string

func (t *typeNames) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '[' {
		return json.UnmarshalDecode(dec, (*[]string)(t))
	}
	var name string
	err := json.UnmarshalDecode(dec, &name)
	*t = typeNames{name}
	return err
}

// is reports whether the type is name, or name and null.
func (t typeNames) is(name string) bool {
	return len(t) > 0 && t[0] == name && (len(t) == 1 || t.nullable())
}

func (t typeNames) nullable() bool { return len(t) == 2 && t[1] == "null" }

// ref returns the name of the definition that s refers to, "" for none.
func (s *schema) ref() string {
	switch {
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, "#/$defs/")
	case len(s.AllOf) == 1 && len(s.Properties) == 0:
		return s.AllOf[0].ref()
	}
	return ""
}

// variants returns what s is one of.
func (s *schema) variants() []*schema {
	if len(s.OneOf) > 0 {
		return s.OneOf
	}
	return s.AnyOf
}

// text returns the text of s's const, "" when it has none or not a string.
func (s *schema) text() string {
	var text string
	if json.Unmarshal(s.Const, &text) != nil {
		return ""
	}
	return text
}

// source is what the generator reads for one protocol version: the definitions
// with and without the unstable ones.
type source struct{ all, stable properties }

func load(dir string) (*source, error) {
	var all, stable schema
	if err := readJSON(filepath.Join(dir, "schema.unstable.json"), &all); err != nil {
		return nil, err
	}
	if err := readJSON(filepath.Join(dir, "schema.json"), &stable); err != nil {
		return nil, err
	}
	return &source{all: all.Defs, stable: stable.Defs}, nil
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the schema: %w", err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	return nil
}
