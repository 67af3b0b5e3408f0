//go:build interop

package interop

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/interop/peer"
	"github.com/grapnel-ai/grapnel/interop/testbed"
)

type object = map[string]any

// module is a file of an installed npm package.
func module(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(testbed.Root(t), "interop", "node_modules", filepath.FromSlash(name))
}

// served is a session with MCP servers whose tools may be called.
type served struct {
	t       *testing.T
	bed     *testbed.Bed
	agent   *peer.Agent
	session string
}

// serve opens a session with servers that clients would pass.
func serve(t *testing.T, servers ...object) *served {
	t.Helper()
	bed := testbed.New(t, testbed.Anthropic)
	config := filepath.Join(bed.Config, "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "\n[autonomy]\nauto_approve = ['mcp(*)']\n"...)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, bed: bed, agent: bed.Start(t, nil)}
	s.agent.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}}, nil)
	var r struct {
		SessionID string `json:"sessionId"`
	}
	s.agent.Must("session/new", object{"cwd": bed.Work, "mcpServers": servers}, &r)
	s.session = r.SessionID
	return s
}

// call has the model call a tool and returns what it was told.
func (s *served) call(tool, input string) string {
	s.t.Helper()
	s.agent.Must("session/prompt", object{"sessionId": s.session, "prompt": []object{
		{"type": "text", "text": "D:TOOL " + tool + " " + input},
	}}, nil)
	requests := s.bed.LLM.Requests()
	last := requests[len(requests)-1]
	if !slices.Contains(last.Tools, tool) {
		s.t.Fatalf("the model has no tool %s: %v", tool, last.Tools)
	}
	return string(last.Body)
}

func (s *served) wants(tool, input, want string) {
	s.t.Helper()
	if got := s.call(tool, input); !strings.Contains(got, want) {
		s.t.Errorf("%s %s: no %q in %.3000s", tool, input, want, got)
	}
}

// TestMCPFilesystem reads and writes through the filesystem server, in a
// directory that only its command line names.
func TestMCPFilesystem(t *testing.T) {
	t.Parallel()
	notes := t.TempDir()
	if real, err := filepath.EvalSymlinks(notes); err == nil {
		notes = real
	}
	if err := os.WriteFile(filepath.Join(notes, "a.txt"), []byte("a note of the owner"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, object{"name": "files", "command": nodeBinary(t), "env": []object{}, "args": []string{
		module(t, "@modelcontextprotocol/server-filesystem/dist/index.js"), notes,
	}})
	s.wants("files__read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(notes, "a.txt")), "a note of the owner")
	s.wants("files__write_file", fmt.Sprintf(`{"path":%q,"content":"written"}`, filepath.Join(notes, "b.txt")), "Successfully wrote")
	if text, err := os.ReadFile(filepath.Join(notes, "b.txt")); err != nil || string(text) != "written" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	s.wants("files__read_text_file", `{"path":"/etc/passwd"}`, "Access denied")
	s.agent.Close()
}

// everything is what is asked of the server of that name, however it is reached.
func everything(s *served) {
	s.t.Helper()
	s.wants("everything__echo", `{"message":"hello"}`, "Echo: hello")
	s.wants("everything__get-sum", `{"a":2,"b":40}`, "42")
	s.wants("everything__get-tiny-image", `{}`, `"type":"image"`)
	s.wants("everything__get-structured-content", `{"location":"New York"}`, "temperature")
	s.wants("everything__trigger-long-running-operation", `{"duration":1,"steps":4}`, "completed")
	s.agent.Close()
}

// TestMCPEverything calls tools of the everything server over each transport.
func TestMCPEverything(t *testing.T) {
	script := module(t, "@modelcontextprotocol/server-everything/dist/index.js")
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		everything(serve(t, object{"name": "everything", "command": nodeBinary(t), "args": []string{script, "stdio"}, "env": []object{}}))
	})
	for transport, mode := range map[string]string{"http": "streamableHttp", "sse": "sse"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			path := map[string]string{"http": "/mcp", "sse": "/sse"}[transport]
			address := listening(t, script, mode)
			everything(serve(t, object{"type": transport, "name": "everything", "url": "http://" + address + path, "headers": []object{}}))
		})
	}
}

// listening runs the everything server on a free port and returns its address
// when it listens.
func listening(t *testing.T, script, mode string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(nodeBinary(t), script, mode)
	cmd.Env = append(os.Environ(), "PORT="+port)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	ready := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if strings.Contains(lines.Text(), port) {
				select {
				case ready <- true:
				default:
				}
			}
		}
	}()
	select {
	case <-ready:
	case <-time.After(peerTimeout):
		t.Fatal("the server does not listen")
	}
	return "127.0.0.1:" + port
}
