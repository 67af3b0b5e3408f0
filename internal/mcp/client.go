package mcp

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// fromClient is ACP McpServer (v1), which is told apart by type; without one it
// is stdio.
type fromClient struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Env     pairs    `json:"env"`
	URL     string   `json:"url"`
	Headers pairs    `json:"headers"`
}

// pairs are names and values: a list of them, as ACP has it, or an object, as
// some clients send it.
type pairs map[string]string

// UnmarshalJSONFrom takes either form.
func (p *pairs) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = pairs{}
	if dec.PeekKind() != '[' {
		var m map[string]string
		if err := json.UnmarshalDecode(dec, &m); err != nil {
			return err
		}
		maps.Copy(*p, m)
		return nil
	}
	var list []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if err := json.UnmarshalDecode(dec, &list); err != nil {
		return err
	}
	for _, e := range list {
		(*p)[e.Name] = e.Value
	}
	return nil
}

// Parse reads a server as a client passed it (ACP McpServer). The server has a
// name also where the error says that it cannot be used; the error holds nothing
// of its env and headers.
func Parse(v jsontext.Value) (Server, error) {
	var c fromClient
	if err := json.Unmarshal(v, &c, jsontext.AllowDuplicateNames(true)); err != nil {
		var named struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(v, &named, jsontext.AllowDuplicateNames(true))
		return Server{Name: named.Name, FromClient: true}, fmt.Errorf("its description is not as ACP has it")
	}
	s := Server{Name: c.Name, Transport: Transport(c.Type), FromClient: true}
	if c.Type == "" {
		s.Transport = Stdio
	}
	switch s.Transport {
	case Stdio:
		s.Command, s.Args = c.Command, c.Args
		if s.Command == "" {
			return s, fmt.Errorf("it has no command to start")
		}
	case HTTP, SSE:
		s.URL = c.URL
		if s.URL == "" {
			return s, fmt.Errorf("it has no url")
		}
	default:
		return s, fmt.Errorf("its type %.40q is not stdio, http or sse", c.Type)
	}
	if err := c.startable(); err != nil {
		return s, err
	}
	secrets := Secrets{Env: c.Env, Headers: c.Headers}
	s.Secrets = func(context.Context) (Secrets, error) { return secrets, nil }
	return s, nil
}

// startable reports what no system can start a program with; its own error would
// name the sandbox or the guard instead of the server.
func (c *fromClient) startable() error {
	for name, value := range c.Env {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return fmt.Errorf("it is given a variable with the name %.40q", name)
		case strings.Contains(value, "\x00"):
			return fmt.Errorf("its variable %.40q has a NUL character in it", name)
		}
	}
	if strings.Contains(c.Command+strings.Join(c.Args, ""), "\x00") {
		return fmt.Errorf("its command line has a NUL character in it")
	}
	return nil
}
