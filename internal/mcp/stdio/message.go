package stdio

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxBatch bounds the messages of one batch, which old servers may send.
const maxBatch = 1000

// errNoMessage is a line that is no JSON-RPC message: programs print their log
// where only the protocol should be.
var errNoMessage = errors.New("not a JSON-RPC message")

// decode returns the messages of a line: one, or those of a batch.
func decode(text []byte) ([]jsonrpc.Message, error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if len(text) == 0 {
		return nil, nil
	}
	if text[0] == '{' {
		m, err := decodeOne(text)
		if err != nil {
			return nil, err
		}
		return []jsonrpc.Message{m}, nil
	}
	var batch []jsontext.Value
	if text[0] != '[' || json.Unmarshal(text, &batch) != nil || len(batch) > maxBatch {
		return nil, errNoMessage
	}
	var list []jsonrpc.Message
	for _, v := range batch {
		if m, err := decodeOne(v); err == nil {
			list = append(list, m)
		}
	}
	return list, nil
}

// decodeOne decodes one message. The SDK's own decoder takes text that is not
// quite JSON, so that is looked at first.
func decodeOne(text []byte) (jsonrpc.Message, error) {
	if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return nil, errNoMessage
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, errNoMessage
	}
	return m, nil
}

// idOf finds the id of a response of which only the two ends are left: servers
// write it first or last.
func idOf(head, tail []byte) (jsonrpc.ID, bool) {
	first := regexp.MustCompile(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,`)
	last := regexp.MustCompile(`,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
	found := first.FindSubmatch(head)
	if found == nil {
		found = last.FindSubmatch(tail)
	}
	if found == nil {
		return jsonrpc.ID{}, false
	}
	n, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(float64(n))
	return id, err == nil
}
