package config

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// probeTimeout is enough for a server on this machine and short enough not
	// to be noticed when there is none.
	probeTimeout = 300 * time.Millisecond
	// maxProbeBytes bounds a model list.
	maxProbeBytes = 1 << 20
)

// ProbeModels asks an OpenAI-compatible server for its models and returns the
// first. It is the Probe of Sources outside tests.
func ProbeModels(ctx context.Context, baseURL string) (model string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(baseURL, "/")+"/models", nil)
	if err != nil {
		return "", false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", false
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", false
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.UnmarshalRead(io.LimitReader(resp.Body, maxProbeBytes), &list); err != nil || len(list.Data) == 0 {
		return "", false
	}
	return list.Data[0].ID, list.Data[0].ID != ""
}
