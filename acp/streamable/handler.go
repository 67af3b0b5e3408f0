package streamable

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// batchRefused is the answer to an array.
const batchRefused = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"JSON-RPC batches are not supported"}}`

// refusal is an answer that is not what was asked for.
type refusal struct {
	status int
	text   string
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

func refuse(status int, text string) error { return &refusal{status, text} }

// errGone answers requests for a connection that is not there, or not theirs.
var errGone = &refusal{http.StatusNotFound, "Unknown " + HeaderConnectionID}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.Method {
	case http.MethodPost:
		err = s.serve(w, r, s.post)
	case http.MethodGet:
		err = s.serve(w, r, s.get)
	case http.MethodDelete:
		err = s.serve(w, r, s.remove)
	default:
		w.Header().Set("Allow", "DELETE, GET, POST")
		err = refuse(http.StatusMethodNotAllowed, "Method Not Allowed")
	}
	var refused *refusal
	if errors.As(err, &refused) {
		http.Error(w, refused.text, refused.status)
	}
}

// serve authenticates the request and handles it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, handle func(http.ResponseWriter, *http.Request, string) error) error {
	owner, err := s.opts.Owner(r)
	if err != nil {
		return refuse(http.StatusUnauthorized, err.Error())
	}
	for _, name := range []string{HeaderConnectionID, HeaderSessionID} {
		if len(r.Header.Get(name)) > maxIDBytes {
			return refuse(http.StatusBadRequest, name+" is too long")
		}
	}
	return handle(w, r, owner)
}

// connection returns the connection that the request names, marked as used.
func (s *Server) connection(r *http.Request, owner string) (*conn, error) {
	id := r.Header.Get(HeaderConnectionID)
	if id == "" {
		return nil, refuse(http.StatusBadRequest, "Missing "+HeaderConnectionID)
	}
	c := s.find(id, owner)
	if c == nil {
		return nil, errGone
	}
	return c, nil
}

// remove ends a connection.
func (s *Server) remove(w http.ResponseWriter, r *http.Request, owner string) error {
	c, err := s.connection(r, owner)
	if err != nil {
		return err
	}
	defer c.unuse()
	if !c.end(io.EOF) {
		return errGone
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// get opens an event stream.
func (s *Server) get(w http.ResponseWriter, r *http.Request, owner string) error {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return refuse(http.StatusUpgradeRequired, "There is no WebSocket here")
	}
	if !accepts(r, "text/event-stream") {
		return refuse(http.StatusNotAcceptable, "Not Acceptable: the answer is text/event-stream")
	}
	c, err := s.connection(r, owner)
	if err != nil {
		return err
	}
	defer c.unuse()
	name := r.Header.Get(HeaderSessionID)
	st := c.attach(name)
	if st == nil {
		return refuse(http.StatusConflict, "The stream has a receiver already")
	}
	defer c.detach(name, st)
	e := events{
		w: w, control: http.NewResponseController(w), moved: c.progressed,
		stall: s.opts.Stall, keepalive: s.opts.Keepalive,
	}
	if e.run(c, st, r.Context().Done()) == nil {
		_ = e.control.SetWriteDeadline(time.Time{}) // the next request on the socket has its own
	}
	return nil // of a stream that broke, too: there is nobody to tell
}

func accepts(r *http.Request, mediaType string) bool {
	for _, accept := range r.Header.Values("Accept") {
		if strings.Contains(strings.ToLower(accept), mediaType) {
			return true
		}
	}
	return false
}

// post takes a message.
func (s *Server) post(w http.ResponseWriter, r *http.Request, owner string) error {
	if mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); mediaType != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "Unsupported Media Type: messages are application/json")
	}
	msg, err := s.body(w, r)
	if err != nil {
		return err
	}
	h, err := s.scan.scan(msg)
	switch {
	case err != nil:
		return refuse(http.StatusBadRequest, "Invalid JSON")
	case h.array:
		writeJSON(w, http.StatusBadRequest, jsontext.Value(batchRefused))
		return nil
	case !h.object:
		return refuse(http.StatusBadRequest, "Invalid JSON-RPC message")
	case h.idLength > maxIDBytes:
		return refuse(http.StatusBadRequest, "The request id is too long")
	case h.method == methodInitialize && r.Header.Get(HeaderConnectionID) != "":
		return refuse(http.StatusBadRequest, "Initialize not allowed on existing connection")
	case h.method == methodInitialize && h.id == "":
		return refuse(http.StatusBadRequest, "Initialize request must include an id")
	case h.method == methodInitialize:
		return s.initialize(w, r, owner, h, msg)
	}
	c, err := s.connection(r, owner)
	if err != nil {
		return err
	}
	defer c.unuse()
	if err := forward(r, c, h, msg); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// body reads the message, up to the limit.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	msg, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opts.MaxBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refuse(http.StatusRequestEntityTooLarge, (&acp.MessageTooLargeError{Limit: s.opts.MaxBytes}).Error())
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "The request body ended early")
	}
	return msg, nil
}

// initialize opens a connection and answers with what the agent answers.
func (s *Server) initialize(w http.ResponseWriter, r *http.Request, owner string, h head, msg jsontext.Value) error {
	c, err := s.create(owner, h)
	if err != nil {
		return refuse(http.StatusServiceUnavailable, err.Error())
	}
	defer c.unuse()
	s.opts.Open(r, c, c.id)
	if err := c.deliver(r.Context(), msg); err != nil {
		c.end(io.EOF)
		return refuse(http.StatusInternalServerError, "The agent did not take the initialize request")
	}
	answer, err := c.firstAnswer(r.Context())
	if err != nil {
		c.end(io.EOF)
		return refuse(http.StatusInternalServerError, "The agent did not answer the initialize request")
	}
	w.Header().Set(HeaderConnectionID, c.id)
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// firstAnswer waits for the answer to initialize. An agent may answer and close
// at once.
func (c *conn) firstAnswer(ctx context.Context) (jsontext.Value, error) {
	select {
	case answer := <-c.first:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
	}
	select {
	case answer := <-c.first:
		return answer, nil
	default:
		return nil, c.why()
	}
}

// forward checks the headers of a message and gives it to the agent.
func forward(r *http.Request, c *conn, h head, msg jsontext.Value) error {
	if h.response {
		if err := checkAnswer(r, c, h); err != nil {
			return err
		}
		return posted(c.deliver(r.Context(), msg))
	}
	session, err := sessionOf(r, h)
	if err != nil {
		return err
	}
	if h.id != "" {
		if err := c.waitRoom(r.Context()); err != nil {
			return posted(err)
		}
		c.expect(h, session)
	}
	return posted(c.deliver(r.Context(), msg))
}

// posted turns the error of a message that was not taken into an answer.
func posted(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return refuse(http.StatusServiceUnavailable, "The agent did not take the message")
	default:
		return errGone
	}
}

// checkAnswer checks the session of an answer to the agent's request.
func checkAnswer(r *http.Request, c *conn, h head) error {
	session, ok := c.askedIn(h.id)
	if !ok {
		return nil
	}
	if session != onConnection {
		if err := checkSession(r, session); err != nil {
			return err
		}
	}
	c.answered(h.id)
	return nil
}

// sessionOf returns the session of a request or notification, empty for none.
func sessionOf(r *http.Request, h head) (string, error) {
	header := r.Header.Get(HeaderSessionID)
	if h.named {
		return h.session, checkSession(r, h.session)
	}
	if header == "" && aboutSession(h.method) {
		return "", refuse(http.StatusBadRequest, "Missing "+HeaderSessionID)
	}
	return header, nil
}

// checkSession checks that the header names session.
func checkSession(r *http.Request, session string) error {
	switch r.Header.Get(HeaderSessionID) {
	case "":
		return refuse(http.StatusBadRequest, "Missing "+HeaderSessionID)
	case session:
		return nil
	default:
		return refuse(http.StatusBadRequest, "Mismatched "+HeaderSessionID)
	}
}

func writeJSON(w http.ResponseWriter, status int, msg jsontext.Value) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(msg) // a client that is gone cannot be told
}
