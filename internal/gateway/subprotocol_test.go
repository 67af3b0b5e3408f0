package gateway

import (
	"net/http"
	"testing"
)

func TestChosenSubprotocol(t *testing.T) {
	for _, c := range []struct {
		offered []string
		want    string
	}{
		{nil, ""},
		{[]string{"zeroclaw.acp.v1, bearer.secret"}, "zeroclaw.acp.v1"},
		{[]string{"bearer.secret, acp"}, "acp"},
		{[]string{"acp,zeroclaw.acp.v1"}, "zeroclaw.acp.v1"},
		{[]string{"bearer.secret", "a , b"}, "a"},
		{[]string{"bearer.secret"}, ""},
		{[]string{" , "}, ""},
	} {
		r := &http.Request{Header: http.Header{"Sec-Websocket-Protocol": c.offered}}
		if got := chosen(r); got != c.want {
			t.Errorf("of %q it chose %q, want %q", c.offered, got, c.want)
		}
	}
}
