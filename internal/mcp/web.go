package mcp

import (
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type webLink struct{ t sdk.Transport }

func newWebLink(conf Server, _ Secrets) (link, error) {
	if conf.Transport == SSE {
		return &webLink{&sdk.SSEClientTransport{Endpoint: conf.URL}}, nil
	}
	return &webLink{&sdk.StreamableClientTransport{Endpoint: conf.URL}}, nil
}

func (l *webLink) transport() sdk.Transport { return l.t }

func (l *webLink) why(err error) error { return errors.New(err.Error()) }
