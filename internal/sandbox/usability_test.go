package sandbox

import (
	"os/exec"
	"strings"
	"testing"
)

// needs skips a test of a program that is not installed.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

func TestGoProject(t *testing.T) {
	needs(t, "go")
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	onEachRung(t, func(t *testing.T, w *world) {
		// An empty cache would have all of the library compiled for each rung.
		shared := realOf(strings.TrimSpace(string(cache)))
		w.session.Roots = append(w.session.Roots, shared)
		w.extra = []string{"GOCACHE=" + shared}
		w.write(w.cwd+"/go.mod", "module example.org/p\n\ngo 1.21\n")
		w.write(w.cwd+"/p.go", "package p\n\nimport \"os\"\n\nfunc Name() string { return os.TempDir() }\n")
		w.write(w.cwd+"/p_test.go", `package p

import (
	"os"
	"testing"
)

func TestName(t *testing.T) {
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil || Name() == "" {
		t.Error(err)
	}
}
`)
		w.expect(Want{}, "go build ./... && go vet ./...")
		if out := w.expect(Want{}, "go test ./..."); !strings.Contains(out, "ok") {
			t.Errorf("go test says %s", out)
		}
	})
}

func TestNodeProject(t *testing.T) {
	needs(t, "npm")
	onEachRung(t, func(t *testing.T, w *world) {
		w.write(w.cwd+"/package.json", `{"name":"p","version":"1.0.0","scripts":{"test":"node --test"}}`)
		w.write(w.cwd+"/p.test.js", `const test = require("node:test");
const { execFileSync } = require("node:child_process");
test("runs programs", () => { execFileSync("node", ["-e", "0"]); });
`)
		if out := w.expect(Want{}, "npm test --offline"); !strings.Contains(out, "pass 1") {
			t.Errorf("npm test says %s", out)
		}
	})
}

func TestPythonProject(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		w.extra = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
		if _, code := w.sh(Want{}, "command -v python3"); code != 0 {
			t.Skip("the system has no python3")
		}
		w.write(w.cwd+"/test_p.py", `import os, subprocess, sys, tempfile, threading, unittest

class P(unittest.TestCase):
    def test_all(self):
        with tempfile.NamedTemporaryFile() as f:
            f.write(b"x")
        subprocess.run([sys.executable, "-c", "import json, hashlib, ssl"], check=True)
        t = threading.Thread(target=os.getpid)
        t.start()
        t.join()
        self.assertTrue(os.listdir("."))
`)
		w.expect(Want{}, "python3 -m unittest -q")
	})
}

func TestMakeProject(t *testing.T) {
	needs(t, "make")
	needs(t, "cc")
	onEachRung(t, func(t *testing.T, w *world) {
		w.write(w.cwd+"/p.c", "#include <stdio.h>\nint main(void) { puts(\"made\"); return 0; }\n")
		w.write(w.cwd+"/Makefile", "p: p.c\n\tcc -o p p.c\n\t./p\n")
		if out := w.expect(Want{}, "make -s"); out != "made" {
			t.Errorf("make says %s", out)
		}
	})
}
