package door

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Refusal is why a request is not let in, as the client may know it.
type Refusal struct {
	Status     int           // of HTTP
	Message    string        // one line
	RetryAfter time.Duration // when to come back; 0 when that would not help
}

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

// unauthorized is the same whatever is wrong with a credential.
func unauthorized() *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Message: "unauthorized"}
}

func forbidden(format string, args ...any) *Refusal {
	return &Refusal{Status: http.StatusForbidden, Message: fmt.Sprintf(format, args...)}
}

func tooMany(wait time.Duration) *Refusal {
	return &Refusal{Status: http.StatusTooManyRequests, Message: "too many attempts; try again later", RetryAfter: wait}
}

// Refuse answers a request with the *Refusal that err is. Any other error is
// answered as an internal one, without what it says.
func Refuse(w http.ResponseWriter, err error) {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		refusal = &Refusal{Status: http.StatusInternalServerError, Message: "internal error"}
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if refusal.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="grapnel"`)
	}
	if refusal.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(refusal.RetryAfter.Seconds()))))
	}
	w.WriteHeader(refusal.Status)
	_, _ = io.WriteString(w, refusal.Message+"\n") // a client that is gone learns nothing
}
