package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// The golden files are Go source under a name that the go command leaves alone.
func TestGolden(t *testing.T) {
	files, err := generate("testdata/schema/v1", "v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join("testdata", "golden", f.name+".golden")
		if *update {
			if err := os.WriteFile(path, f.data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(f.data)); diff != "" {
			t.Errorf("%s (-want +got, -update accepts it):\n%s", f.name, diff)
		}
	}
}

// The generated packages are those that the schema gives. The schema is not in
// the repository: it comes from the npm package that the interop suite installs.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	dir := os.Getenv("GRAPNEL_SCHEMA_DIR")
	if dir == "" {
		dir = "../../../interop/node_modules/@agentclientprotocol/sdk/schema"
	}
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the schema is not installed: %v", err)
		}
		t.Skipf("not compared with the schema: %v (make generate installs it)", err)
	}
	for _, version := range versions {
		files, err := generate(filepath.Join(dir, version), version)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			path := filepath.Join("..", "..", version, f.name)
			if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, f.data) {
				t.Errorf("%s is not what the schema gives: run make generate (%v)", path, err)
			}
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	for _, tc := range []struct{ name, schema, want string }{
		{"no JSON", `{`, "cannot read"},
		{"missing definition", `{"$defs":{"A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}},"x-method":"a"}}}`, "A: b: the schema has no definition B"},
		{"unknown type", `{"$defs":{"A":{"type":"object","properties":{"b":{"type":["string","integer"]}},"x-method":"a"}}}`, "A: b: the generator does not know the type"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"schema.json", "schema.unstable.json"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(tc.schema), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := generate(dir, "v1"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	if err := run(t.TempDir(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "cannot read the schema") {
		t.Errorf("without a schema: %v", err)
	}
}

func TestGoName(t *testing.T) {
	for in, want := range map[string]string{
		"sessionId":         "SessionID",
		"McpServerHttp":     "MCPServerHTTP",
		"fs/read_text_file": "FSReadTextFile",
		"$/cancel_request":  "CancelRequest",
		"date-time":         "DateTime",
		"mimeType":          "MIMEType",
		"Parse error":       "ParseError",
		"uri":               "URI",
		"identity":          "Identity",
		"LlmProtocol":       "LLMProtocol",
	} {
		if got := goName(in); got != want {
			t.Errorf("goName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for want, in := range map[string][]string{
		"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"},
	} {
		if got := list(in); got != want {
			t.Errorf("list(%v) = %q, want %q", in, got, want)
		}
	}
}
