package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

// The crowd: how many sessions stream at once, over how many connections, and
// what each model says.
const (
	crowdSessions = 1000
	crowdClients  = 50
	crowdUpdates  = 200
	crowdPace     = 50 * time.Millisecond
)

// timedModel is a model that says, every crowdPace, what time it is.
func timedModel(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	tick := time.NewTicker(crowdPace)
	defer tick.Stop()
	for range crowdUpdates {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
		fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"at=%d; words words words words words words words words"},"finish_reason":null}]}`+"\n\n", time.Now().UnixNano())
		_ = flush.Flush()
	}
	fmt.Fprint(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// crowdClient prompts its sessions at once and notes how old each update is.
type crowdClient struct {
	*socket
	ages sample
}

func (c *crowdClient) run(sessions []string) {
	for _, id := range sessions {
		c.send("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}`, id))
	}
	for open := len(sessions); open > 0; {
		msg, err := c.next()
		if err != nil {
			c.tb.Errorf("a client of the crowd: %v", err)
			return
		}
		now := time.Now().UnixNano()
		if bytes.Contains(msg, []byte(`"stopReason":"end_turn"`)) {
			open--
			continue
		}
		_, rest, ok := bytes.Cut(msg, []byte("at="))
		if !ok {
			continue
		}
		digits, _, _ := bytes.Cut(rest, []byte(";"))
		at, err := strconv.ParseInt(string(digits), 10, 64)
		if err != nil {
			c.tb.Errorf("a client of the crowd was sent %s", msg)
			return
		}
		c.ages = append(c.ages, time.Duration(now-at))
	}
}

// BenchmarkGatewayCrowd is 1,000 sessions that stream 20 updates a second each.
// An update's latency is from the model's saying it to the client's having it;
// model and clients share the processors with the gateway.
func BenchmarkGatewayCrowd(b *testing.B) {
	model := httptest.NewServer(http.HandlerFunc(timedModel))
	b.Cleanup(func() { model.CloseClientConnections(); model.Close() })
	h := newHome(b)
	conf := filepath.Join(h.dir, "config.toml")
	text, err := os.ReadFile(conf)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(conf, bytes.ReplaceAll(text, []byte(h.url), []byte(model.URL)), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		g := h.gateway(b)
		clients := make([]*crowdClient, crowdClients)
		sessions := make([][]string, crowdClients)
		for i := range clients {
			clients[i] = &crowdClient{socket: dial(b, g.ACP)}
			clients[i].initialize()
			for range crowdSessions / crowdClients {
				sessions[i] = append(sessions[i], clients[i].session(h))
			}
		}
		b.StartTimer()
		used, begun := g.cpu(), time.Now()
		var all sync.WaitGroup
		for i, c := range clients {
			all.Go(func() { c.run(sessions[i]) })
		}
		all.Wait()
		took := time.Since(begun)
		var ages sample
		for _, c := range clients {
			ages = append(ages, c.ages...)
			c.close()
		}
		b.ReportMetric(ms(ages.p50()), "ms-p50")
		b.ReportMetric(ms(ages.at(0.99)), "ms-p99")
		b.ReportMetric(g.status("VmHWM")/1024, "peak-MiB")
		if want := crowdSessions * crowdUpdates; len(ages) != want {
			b.Errorf("%d updates came, want %d", len(ages), want)
		}
		b.ReportMetric(float64(len(ages))/took.Seconds(), "updates/s")
		b.ReportMetric(us(g.cpu()-used)/float64(len(ages)), "cpu-us/update")
	}
}
