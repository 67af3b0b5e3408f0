package mcptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// raw is a server made by hand, which may send what the SDK would not.
type raw struct {
	in  *bufio.Reader
	out *bufio.Writer
}

// request is what it reads.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// misbehave runs a mode other than the good one; false when there is none of
// that name.
func misbehave(mode string) bool {
	r := &raw{bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)}
	return r.leave(mode) || r.babble(mode) || r.listOddly(mode) || r.answerOddly(mode) || r.answerWithoutEnd(mode)
}

// leave has the modes in which nothing is ever answered.
func (r *raw) leave(mode string) bool {
	switch mode {
	case "exit": // before anything
		fmt.Fprintln(os.Stderr, "mcptest: cannot find its token "+os.Getenv("TOKEN"))
		os.Exit(7)
	case "silent": // never answers
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "deaf": // neither reads nor answers, and ignores every request to leave
		signal.Ignore(syscall.SIGTERM)
		if err := os.WriteFile("deaf", nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		time.Sleep(time.Hour)
	default:
		return false
	}
	return true
}

// babble has the modes that write what nobody asked for.
func (r *raw) babble(mode string) bool {
	switch mode {
	case "garbage": // prints its log where the protocol should be
		r.serve(func() {
			r.print("Starting server on stdio…\n\x00\xff{\n[]\n[1,{}]\n{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"x\"}}\n\n")
		}, r.tools(1, "ok"))
	case "stderr": // floods its log
		r.serve(func() { _, _ = io.WriteString(os.Stderr, strings.Repeat("noise\n", 1<<20)) }, r.tools(1, "ok"))
	case "notify": // floods with notifications before each answer
		line := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}` + "\n"
		r.serve(func() { r.print(strings.Repeat(line, 2000)) }, r.tools(1, "ok"))
	case "ask": // asks without end and reads no answers
		r.serve(func() {}, r.tools(1, "ok"), func(q request) bool {
			for i := 0; ; i++ { // a pipe holds about a thousand answers
				r.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"roots/list"}`+"\n", i))
			}
		})
	default:
		return false
	}
	return true
}

// listOddly has the modes whose lists of tools are out of the ordinary.
func (r *raw) listOddly(mode string) bool {
	switch mode {
	case "many":
		r.serve(func() {}, r.tools(1000, "tool"))
	case "fat": // ten tools of 60 KiB
		var tools []string
		for i := range 10 {
			tools = append(tools, fmt.Sprintf(`{"name":"fat%d","inputSchema":{"type":"object","description":"%s"}}`, i, strings.Repeat("x", 60<<10)))
		}
		r.serve(func() {}, `{"tools":[`+strings.Join(tools, ",")+`]}`)
	case "fickle": // says after each list that it has changed, which is true
		n := 0
		r.respond(func(q request) bool {
			if q.Method != "tools/list" {
				return false
			}
			n++
			r.answer(q, fmt.Sprintf(`{"tools":[{"name":"list%d","inputSchema":{"type":"object"}},{"name":"","inputSchema":{}}]}`, n))
			r.print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
			return true
		})
	case "pages": // a list of 50 pages of 1 MiB
		n := 0
		r.respond(func(q request) bool {
			if q.Method != "tools/list" {
				return false
			}
			n++
			r.answer(q, fmt.Sprintf(`{"tools":[{"name":"t%d","description":"%s","inputSchema":{"type":"object"}}],"nextCursor":"%d"}`, n, strings.Repeat("x", 1<<20), n))
			return true
		})
	case "odd": // names and schemas no provider takes
		r.serve(func() {}, `{"tools":[{"name":"get.x","inputSchema":{"type":"object"}},{"name":"get_x","inputSchema":{"type":"object"}},`+
			`{"name":"ünï code","inputSchema":true},{"name":"","inputSchema":{}},{"name":"`+strings.Repeat("long", 40)+`","inputSchema":{"oneOf":[{"properties":{"a":{"type":"string"}}}]}},`+
			`{"name":"get_x","inputSchema":{"type":"object"}},null,{"name":"array","inputSchema":{"type":"array","items":{"type":"string"}}}]}`)
	default:
		return false
	}
	return true
}

// answerOddly has the modes that answer a call with what is no answer.
func (r *raw) answerOddly(mode string) bool {
	switch mode {
	case "wrong-id":
		r.serve(func() {}, r.tools(1, "ok"), func(q request) bool {
			r.print(`{"jsonrpc":"2.0","id":99999,"result":{"content":[]}}` + "\n" + `{"jsonrpc":"2.0","id":"1","result":{"content":[]}}` + "\n")
			r.answer(q, `{"content":[{"type":"text","text":"right"}]}`)
			return true
		})
	case "malformed": // results that are none
		r.serve(func() {}, r.tools(1, "ok"), func(q request) bool {
			r.answer(q, `{"content":[{"type":"hologram"},null,7]}`)
			return true
		})
	case "mistyped":
		r.serve(func() {}, r.tools(1, "ok"), func(q request) bool {
			r.answer(q, `{"content":[{"type":"text","text":7}]}`)
			return true
		})
	case "no-base64":
		r.serve(func() {}, r.tools(1, "ok"), func(q request) bool {
			r.answer(q, `{"content":[{"type":"image","mimeType":"image/png","data":"!!!!"}]}`)
			return true
		})
	case "restless": // dies at each call
		r.serve(func() {}, r.tools(1, "ok"), func(request) bool { os.Exit(9); return true })
	default:
		return false
	}
	return true
}

// answerWithoutEnd has the modes whose answers to a call are too long.
func (r *raw) answerWithoutEnd(mode string) bool {
	switch mode {
	case "huge": // a line of 100 MB
		r.serve(func() {}, r.tools(1, "ok"), func(q request) bool {
			r.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, q.ID))
			for range 100 {
				r.print(strings.Repeat("x", 1<<20))
			}
			r.print(`"}]}}` + "\n")
			return true
		})
	case "endless": // a line that never ends
		r.serve(func() {}, r.tools(1, "ok"), func(request) bool {
			for {
				if _, err := r.out.WriteString(strings.Repeat("x", 1<<20)); err != nil {
					os.Exit(0)
				}
			}
		})
	default:
		return false
	}
	return true
}

// serve answers the handshake, tools/list with tools, and calls by call, each
// after before.
func (r *raw) serve(before func(), tools string, call ...func(request) bool) {
	r.respond(func(q request) bool {
		before()
		switch {
		case q.Method == "tools/list":
			r.answer(q, tools)
		case q.Method == "tools/call" && len(call) > 0:
			call[0](q)
		default:
			return false
		}
		return true
	})
}

// respond has answer answer requests, and does itself what that leaves.
func (r *raw) respond(answer func(request) bool) {
	for {
		line, err := r.in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q request
		if json.Unmarshal(line, &q) != nil || q.ID == nil || answer(q) {
			continue
		}
		switch {
		case q.Method == "initialize":
			r.answer(q, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"raw","version":"1"}}`)
		case q.Method == "tools/call":
			r.answer(q, `{"content":[{"type":"text","text":"ran `+q.Params.Name+`"}]}`)
		default:
			r.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`+"\n", q.ID))
		}
	}
}

// tools is a list of n tools.
func (r *raw) tools(n int, name string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
			fmt.Fprintf(&b, `{"name":"%s%d","inputSchema":{"type":"object"}}`, name, i)
			continue
		}
		fmt.Fprintf(&b, `{"name":"%s","inputSchema":{"type":"object"}}`, name)
	}
	return `{"tools":[` + b.String() + `]}`
}

func (r *raw) answer(q request, result string) {
	r.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", q.ID, result))
}

func (r *raw) print(s string) {
	if _, err := r.out.WriteString(s); err != nil {
		os.Exit(0)
	}
	if err := r.out.Flush(); err != nil {
		os.Exit(0)
	}
}
