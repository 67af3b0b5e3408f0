// Package fakellm is a model provider for tests: an HTTP handler that speaks
// the Anthropic Messages API, the OpenAI Responses API and OpenAI Chat
// Completions on the wire, and does what the last user message tells it.
//
// Each line of the message that begins with "D:" is a directive; several stand
// on lines of their own or are separated by " ; ". A directive that calls a
// tool ends a model step; the next one runs when the result is there. After
// the last tool the model says "done".
//
//	D:SAY text            say text
//	D:CHUNKS n,bytes,ms   n numbered chunks of that many bytes, ms apart
//	D:SLOW n              n chunks, 100 ms apart
//	D:THINK text          think text
//	D:SPLITEMOJI text     say text, one byte per write
//	D:SPLITPAIR           say an emoji cut between its UTF-16 halves
//	D:TOOL shell command  call the shell; likewise read path, write path content,
//	                      edit path|old|new, or any tool by its name with JSON input
//	D:ALSO tool input     as D:TOOL, in one step with the call that follows
//	D:PAR n command       n shell calls in one step
//	D:LOOP                a shell call in every step, for ever
//	D:BADJSON             a tool call whose input is broken JSON
//	D:REUSEID             the tool calls of this message all have the same id
//	D:STALL               nothing more, until the client gives up
//	D:TRUNCATE [clean]    break off the connection, or end the body, in mid-answer
//	D:EMPTY               an answer with nothing in it
//	D:REFUSE, D:MAXTOKENS stop for that reason
//	D:HTTP status n secs  fail with status, only n times if given, with Retry-After secs
//
// Anywhere in a line, RUN_SHELL{command}, READ_FILE{path}, WRITE_FILE{path|content},
// CALL_TOOL{name|json}, SLOW{n}, THINK{text} and FAIL{status} do the same.
package fakellm

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Request is a request as the server got it.
type Request struct {
	N       int            `json:"n"` // from 1
	Method  string         `json:"method"`
	Path    string         `json:"path"`
	Header  http.Header    `json:"header"`
	Body    jsontext.Value `json:"body,omitzero"`
	Model   string         `json:"model,omitzero"`
	Stream  bool           `json:"stream,omitzero"`
	Tools   []string       `json:"tools,omitzero"`
	Prompt  string         `json:"prompt,omitzero"` // the last text of a user
	Bytes   int            `json:"bytes"`           // length of Prompt
	Size    int            `json:"size"`            // of the whole body, files in it counted as a few KiB
	Aborted bool           `json:"aborted,omitzero"`
}

// Server is the fake provider. Its zero value is ready and safe for concurrent
// use.
type Server struct {
	// Log, if set, gets every request as a line of JSON when it ends.
	Log io.Writer

	mu       sync.Mutex
	requests []Request
	failures map[string]int // how often a D:HTTP of a prompt has failed
	calls    int            // tool calls made, for their ids
}

// Requests returns the requests so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Forget drops the bodies and prompts of the requests so far, for tests that
// send more than memory holds.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.requests {
		s.requests[i].Body, s.requests[i].Prompt = nil, ""
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	b := &body{size: measure(raw)}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, b); err != nil {
			s.record(r, raw, b)
			fail(w, http.StatusBadRequest, "the body is not as expected: "+err.Error())
			return
		}
	}
	n := s.record(r, raw, b)
	defer s.finish(r, n)
	s.route(w, r, b)
}

func (s *Server) route(w http.ResponseWriter, r *http.Request, b *body) {
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages/count_tokens"):
		reply(w, `{"input_tokens":10}`)
	case strings.HasSuffix(path, "/messages"):
		s.answer(w, r, b, &messages{})
	case strings.HasSuffix(path, "/chat/completions"):
		s.answer(w, r, b, &chat{})
	case strings.HasSuffix(path, "/responses"):
		s.answer(w, r, b, &responses{})
	case strings.HasSuffix(path, "/models"):
		reply(w, `{"object":"list","data":[{"id":"fake-model","object":"model","created":1,"owned_by":"fake","type":"model","display_name":"Fake"}],"has_more":false}`)
	case path == "/healthz":
		reply(w, `{"ok":true}`)
	default:
		fail(w, http.StatusNotFound, "there is nothing at "+path)
	}
}

func (s *Server) record(r *http.Request, raw []byte, b *body) int {
	req := Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Model: b.Model, Stream: b.Stream}
	if v := jsontext.Value(raw); v.IsValid() {
		req.Body = v
	}
	last, _ := b.prompt()
	req.Prompt = last.text()
	req.Bytes, req.Size = len(req.Prompt), b.size
	for _, t := range b.Tools {
		req.Tools = append(req.Tools, t.name())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	req.N = len(s.requests) + 1
	s.requests = append(s.requests, req)
	return req.N
}

func (s *Server) finish(r *http.Request, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req := &s.requests[n-1]
	req.Aborted = r.Context().Err() != nil
	if s.Log == nil {
		return
	}
	if line, err := json.Marshal(req); err == nil {
		_, _ = s.Log.Write(append(line, '\n'))
	}
}

func reply(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

// fail answers in a shape that fits all three protocols.
func fail(w http.ResponseWriter, status int, message string) {
	kind := "invalid_request_error"
	switch {
	case status == http.StatusUnauthorized:
		kind = "authentication_error"
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case status >= 500:
		kind = "api_error"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, object{
		"type":  "error",
		"error": object{"type": kind, "code": nil, "param": nil, "message": message},
	}, json.Deterministic(true))
}

// object is a JSON object in the making.
type object = map[string]any
