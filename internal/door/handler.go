package door

import (
	"errors"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
)

// longestPair bounds the body of a pairing request.
const longestPair = 4 << 10

// Paired is the answer to a pairing request.
type Paired struct {
	Token string `json:"token"`
	Name  string `json:"name"`
	Owner string `json:"owner"`
}

// ServePair answers POST /pair: the header X-Pairing-Code holds the code, an
// optional body {"name": …} names the client, and the answer is a Paired.
func (d *Door) ServePair(w http.ResponseWriter, r *http.Request) {
	paired, err := d.servePair(w, r)
	if err != nil {
		if _, refused := errors.AsType[*Refusal](err); !refused {
			d.opts.Logger.Error("pairing failed", "err", err)
		}
		Refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.MarshalWrite(w, paired) // a client that is gone can be revoked
}

func (d *Door) servePair(w http.ResponseWriter, r *http.Request) (Paired, error) {
	if err := d.Check(r); err != nil {
		return Paired{}, err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return Paired{}, &Refusal{Status: http.StatusMethodNotAllowed, Message: "pairing is a POST"}
	}
	var body struct {
		Name string `json:"name"`
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestPair))
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &body)
	}
	if err != nil {
		return Paired{}, &Refusal{Status: http.StatusBadRequest, Message: `the body must be nothing, or JSON such as {"name": "laptop"}`}
	}
	t, text, err := d.Pair(r.Context(), r.Header.Get("X-Pairing-Code"), body.Name, d.Source(r))
	return Paired{text, t.Name, t.Owner}, err
}
