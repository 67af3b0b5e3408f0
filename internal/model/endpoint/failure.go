package endpoint

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
)

// maxErrorBody bounds how much of an error answer is read, and maxMessage how
// much of it a person is shown.
const (
	maxErrorBody = 64 << 10
	maxMessage   = 400 // characters
)

// ErrTruncated says that a stream ended before the model had finished.
var ErrTruncated = errors.New("the stream ended early")

// Detail is what a provider says about a failure.
type Detail struct {
	Type, Code, Message, Param string
}

// ReadDetail reads the body of an error answer, whatever shape it has.
func ReadDetail(body io.Reader) Detail {
	b, err := io.ReadAll(io.LimitReader(body, maxErrorBody))
	if err != nil && len(b) == 0 {
		return Detail{}
	}
	return ParseDetail(b)
}

// ParseDetail finds the failure in an error answer or event. It knows the
// shapes {"error":{…}}, {"error":"…"}, [{"error":…}], {"detail":…},
// {"message":"…"} and plain text.
func ParseDetail(b []byte) Detail {
	v := jsontext.Value(strings.TrimSpace(string(b)))
	if list := []jsontext.Value(nil); v.Kind() == '[' && decode(v, &list) == nil && len(list) > 0 {
		v = list[0]
	}
	var outer errorBody
	if v.Kind() != '{' || decode(v, &outer) != nil {
		return Detail{Message: plain(string(v))}
	}
	switch outer.Error.Kind() {
	case '"':
		return Detail{Message: text(outer.Error)}
	case '{':
		var inner errorBody
		if decode(outer.Error, &inner) == nil {
			return inner.detail()
		}
	}
	return outer.detail()
}

// errorBody is what the shapes have in common. Its values may be of any type.
type errorBody struct {
	Error   jsontext.Value `json:"error"`
	Detail  jsontext.Value `json:"detail"`
	Message jsontext.Value `json:"message"`
	Type    jsontext.Value `json:"type"`
	Code    jsontext.Value `json:"code"`
	Param   jsontext.Value `json:"param"`
}

func (e *errorBody) detail() Detail {
	d := Detail{Type: text(e.Type), Code: text(e.Code), Message: text(e.Message), Param: text(e.Param)}
	if d.Message == "" {
		d.Message = text(e.Detail)
	}
	return d
}

func decode(v jsontext.Value, into any) error {
	return json.Unmarshal(v, into, Tolerant())
}

// Tolerant are the JSON options for what providers send: broken UTF-8 becomes
// U+FFFD and of a duplicate name the last value counts, because an answer with
// such a flaw is still worth more than an error.
func Tolerant() json.Options {
	return json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// text returns a JSON string's value and any other value as it is written.
func text(v jsontext.Value) string {
	var s string
	switch v.Kind() {
	case '"':
		if decode(v, &s) == nil {
			return s
		}
	case 'n', 0:
		return ""
	}
	return string(v)
}

// plain returns text that is no JSON, unless it is a web page.
func plain(s string) string {
	if strings.HasPrefix(s, "<") {
		return ""
	}
	return s
}

// Refused makes an error of an answer with an error status, or of an error
// event inside a stream when status is 0. header may be nil.
func (e *Endpoint) Refused(status int, header http.Header, d Detail) *model.Error {
	return &model.Error{
		Kind:       classify(status, d),
		Provider:   e.Name,
		Status:     status,
		Message:    e.clean(d.Message),
		RetryAfter: retryAfter(header),
		Final:      header.Get("X-Should-Retry") == "false" || d.Code == "insufficient_quota" || status == http.StatusPaymentRequired,
	}
}

// clean makes a provider's words fit for a person: one line, bounded, without
// control characters and without the key.
func (e *Endpoint) clean(s string) string {
	if e.APIKey != nil {
		if key, err := e.APIKey(); err == nil && strings.TrimSpace(key) != "" {
			s = strings.ReplaceAll(s, strings.TrimSpace(key), "[key]")
		}
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
	if utf8.RuneCountInString(s) > maxMessage {
		s = string([]rune(s)[:maxMessage]) + "…"
	}
	return s
}

// Failed makes an error of anything that went wrong in one request: caller is
// the context that the caller gave, guarded the one of Watch, and began says
// whether the answer had started.
func (e *Endpoint) Failed(caller, guarded context.Context, err error, began bool) error {
	if cause := caller.Err(); cause != nil {
		return &model.Error{Kind: model.ErrCanceled, Provider: e.Name, Err: cause}
	}
	if silent, ok := errors.AsType[silentError](context.Cause(guarded)); ok {
		return &model.Error{Kind: model.ErrNetwork, Provider: e.Name, Message: silent.Error(), Err: silent}
	}
	if known, ok := errors.AsType[*model.Error](err); ok {
		return known
	}
	// The address may hold credentials.
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	kind := model.ErrNetwork
	if began {
		kind = model.ErrTruncated
	}
	return &model.Error{Kind: kind, Provider: e.Name, Message: e.clean(err.Error()), Err: err}
}

// retryAfter reads how long the provider wants us to wait; 0 when it does not
// say.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// Annotate notes in a model error which model failed and what it had said.
func (e *Endpoint) Annotate(err error, id string, partial *model.Response) error {
	if known, ok := errors.AsType[*model.Error](err); ok {
		known.Model, known.Partial = id, partial
	}
	return err
}

// Finish checks a finished response: one that says nothing at all is an error,
// unless the model was cut short or refused.
func (e *Endpoint) Finish(resp *model.Response) (*model.Response, error) {
	if resp.Stop != model.StopEndTurn && resp.Stop != model.StopToolUse {
		return resp, nil
	}
	if resp.Message.Text() != "" || len(resp.Message.ToolCalls()) > 0 {
		return resp, nil
	}
	return resp, &model.Error{Kind: model.ErrEmpty, Provider: e.Name, Partial: resp}
}
