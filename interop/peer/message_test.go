package peer

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ line, fault string }{
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`, ""},
		{`{"jsonrpc":"2.0","method":"session/update","params":{}}`, ""},
		{`{"jsonrpc":"2.0","id":"a","method":"fs/read_text_file"}`, ""},
		{`Welcome!`, "not a JSON-RPC message"},
		{``, "not a JSON-RPC message"},
		{`[]`, "not a JSON-RPC message"},
		{`{"jsonrpc":"2.0","id":1,"result":{}} {}`, "not a JSON-RPC message"},
		{`{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`, "not a JSON-RPC message"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}", "not a JSON-RPC message"},
		{`{"id":1,"result":{}}`, "jsonrpc is"},
		{`{"jsonrpc":"1.0","id":1,"result":{}}`, "jsonrpc is"},
		{`{"jsonrpc":"2.0","result":{}}`, "needs an id"},
		{`{"jsonrpc":"2.0","id":1}`, "needs an id"},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, "needs an id"},
		{`{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`, "has a result"},
	} {
		_, err := parse([]byte(c.line))
		switch {
		case err == nil && c.fault != "":
			t.Errorf("%s: no fault found", c.line)
		case err != nil && c.fault == "", err != nil && !strings.Contains(err.Error(), c.fault):
			t.Errorf("%s: %v", c.line, err)
		}
	}
}

func TestUpdate(t *testing.T) {
	m, err := parse([]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	u, ok := m.Update()
	if !ok || u.SessionID != "s" || u.Kind != "agent_message_chunk" || u.Text() != "hi" {
		t.Errorf("got %+v, %v", u, ok)
	}
	if m, _ := parse([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)); m.Method != "" {
		t.Errorf("a response has the method %s", m.Method)
	} else if _, ok := m.Update(); ok {
		t.Error("a response is taken for an update")
	}
}
