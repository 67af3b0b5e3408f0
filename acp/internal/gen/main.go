// Command gen writes the message types of acp/v1 and acp/v2 from the official
// JSON Schema, as the npm package @agentclientprotocol/sdk ships it:
//
//	go run ./acp/internal/gen -schema interop/node_modules/@agentclientprotocol/sdk/schema -out acp
//
// The schema folder holds v1 and v2, each with schema.json and
// schema.unstable.json. What only the unstable file has is marked Unstable.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// versions are the protocol versions that have a package.
var versions = []string{"v1", "v2"}

func main() {
	schemaDir := flag.String("schema", "", "folder that holds v1 and v2 of the schema")
	out := flag.String("out", "acp", "folder that holds the packages v1 and v2")
	flag.Parse()
	if err := run(*schemaDir, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(schemaDir, out string) error {
	for _, version := range versions {
		files, err := generate(filepath.Join(schemaDir, version), version)
		if err != nil {
			return fmt.Errorf("%s: %w", version, err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(out, version, f.name), f.data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// generate returns the files of one version's package.
func generate(dir, version string) ([]file, error) {
	src, err := load(dir)
	if err != nil {
		return nil, err
	}
	m, err := build(src, version)
	if err != nil {
		return nil, err
	}
	return emit(m)
}
