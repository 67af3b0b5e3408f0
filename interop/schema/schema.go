// Package schema judges messages of an agent by the official JSON schema of ACP
// version 1, as the npm package of the TypeScript SDK has it.
package schema

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema knows the types of all methods. It is safe for concurrent use.
type Schema struct {
	stable, unstable *edition
}

// Open reads the schema below the root of the repository, where scripts/peers
// has put it.
func Open(root string) (*Schema, error) {
	dir := filepath.Join(root, "interop", "node_modules", "@agentclientprotocol", "sdk", "schema", "v1")
	stable, err := openEdition(filepath.Join(dir, "schema.json"))
	if err != nil {
		return nil, err
	}
	unstable, err := openEdition(filepath.Join(dir, "schema.unstable.json"))
	if err != nil {
		return nil, err
	}
	return &Schema{stable, unstable}, nil
}

// Check judges the params of a request or a notification of the agent, or the
// result of one of its methods; kind is "Request", "Notification" or
// "Response". What only the unstable schema knows must fit that one; methods
// that begin with an underscore are free.
func (s *Schema) Check(method, kind string, value jsontext.Value) error {
	for _, e := range []*edition{s.stable, s.unstable} {
		if name := e.typeOf(method, kind); name != "" {
			return e.check(name, value)
		}
	}
	if strings.HasPrefix(method, "_") {
		return nil
	}
	return fmt.Errorf("ACP has no %s %s", strings.ToLower(kind), method)
}

// Strangers lists the members at the root of a value that its type does not
// have: ACP leaves the root of its types to itself.
func (s *Schema) Strangers(method, kind string, value jsontext.Value) []string {
	known := s.unstable.members(s.unstable.typeOf(method, kind))
	var members map[string]jsontext.Value
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	var found []string
	for name := range members {
		if !slices.Contains(known, name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// edition is the stable or the unstable schema.
type edition struct {
	definitions map[string]definition
	compiler    *jsonschema.Compiler

	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema
}

// definition is what we read of a type ourselves.
type definition struct {
	Method     string                    `json:"x-method"`
	Ref        string                    `json:"$ref"`
	Properties map[string]jsontext.Value `json:"properties"`
	AllOf      []definition              `json:"allOf"`
	AnyOf      []definition              `json:"anyOf"`
	OneOf      []definition              `json:"oneOf"`
}

// location is the name under which the compiler knows the document.
const location = "acp.json"

func openEdition(file string) (*edition, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the official schema is missing, run scripts/peers: %w", err)
	}
	var doc struct {
		Definitions map[string]definition `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("read the schema %s: %w", file, err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read the schema %s: %w", file, err)
	}
	e := &edition{definitions: doc.Definitions, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	return e, e.compiler.AddResource(location, parsed)
}

// typeOf names the type of a message of a method, or returns "".
func (e *edition) typeOf(method, kind string) string {
	for name, d := range e.definitions {
		if d.Method == method && strings.HasSuffix(name, kind) {
			return name
		}
	}
	return ""
}

func (e *edition) check(name string, value jsontext.Value) error {
	sch, err := e.compile(name)
	if err != nil {
		return err
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := sch.Validate(parsed); err != nil {
		return fmt.Errorf("not a %s: %w", name, err)
	}
	return nil
}

func (e *edition) compile(name string) (*jsonschema.Schema, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if sch := e.compiled[name]; sch != nil {
		return sch, nil
	}
	sch, err := e.compiler.Compile(location + "#/$defs/" + name)
	if err == nil {
		e.compiled[name] = sch
	}
	return sch, err
}

// members lists the names that a type has at its root, through references and
// unions.
func (e *edition) members(name string) []string {
	return e.collect(e.definitions[name], nil)
}

func (e *edition) collect(d definition, names []string) []string {
	for name := range d.Properties {
		names = append(names, name)
	}
	if name, ok := strings.CutPrefix(d.Ref, "#/$defs/"); ok {
		names = e.collect(e.definitions[name], names)
	}
	for _, parts := range [][]definition{d.AllOf, d.AnyOf, d.OneOf} {
		for _, part := range parts {
			names = e.collect(part, names)
		}
	}
	return names
}
