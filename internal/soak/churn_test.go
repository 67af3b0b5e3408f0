package soak

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// churnNoise is how many descriptors and goroutines come and go with the store's
// readers and with who asks for metrics.
const churnNoise = 4

// TestSoakChurn connects 2,000 times in full and drops the connection in every
// way there is, at every stage: nothing of it stays, neither descriptors nor
// goroutines nor memory.
func TestSoakChurn(t *testing.T) {
	t.Parallel()
	c := &churn{run: newRun(t, "[acp]", "max_sessions = 100", "[gateway.limits]", "connections = 0", "requests_per_minute = 0")}
	c.gateway = c.Gateway()
	setup := c.gateway.Connect(fieldtest.Dial{})
	setup.Init()
	c.session = setup.New()
	setup.Prompt(c.session, "D:CHUNKS 200,50,0")
	setup.Hangup()
	n := c.times(2000)
	for range min(n/4, 200) { // pools and caches fill
		c.cycle()
	}
	before := c.settle(held{})
	for range n {
		c.cycle()
	}
	after := c.settle(before)
	if after.files > before.files+churnNoise {
		t.Errorf("%d descriptors are open, %d were before", after.files, before.files)
	}
	if after.goroutines > before.goroutines+churnNoise {
		t.Errorf("there are %d goroutines, %d were before", after.goroutines, before.goroutines)
	}
	grown := max(0, after.memory-before.memory)
	if limit := 16 << 10; grown > limit {
		t.Errorf("memory grew by %d KiB", grown)
	}
	c.gateway.Stop()
	c.alone()
	c.add("connections", n)
	c.add("KiB of memory grown", grown)
	c.report()
}

// churn is a soak of connections that come and go.
type churn struct {
	*run
	gateway *fieldtest.Gateway
	session string
}

// held is what a process holds.
type held struct {
	files, goroutines, memory int
}

// holds looks at the gateway. Where the system has no /proc only the goroutines
// are known.
func (c *churn) holds() held {
	files, _ := os.ReadDir(filepath.Join("/proc", fmt.Sprint(c.gateway.Pid()), "fd"))
	return held{files: len(files), goroutines: c.gateway.Metric("go_goroutines"), memory: memoryOf(c.gateway.Pid())}
}

// settle waits until the gateway holds no more than it may, or for long enough.
func (c *churn) settle(may held) held {
	h := c.holds()
	for begun := time.Now(); time.Since(begun) < patience; h = c.holds() {
		if may.files > 0 && h.files <= may.files+churnNoise && h.goroutines <= may.goroutines+churnNoise {
			break
		}
		if may.files == 0 && time.Since(begun) > 2*time.Second {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return h
}

// cycle makes a connection and drops it.
func (c *churn) cycle() {
	c.t.Helper()
	switch stage := c.rand.IntN(6); stage {
	case 0:
		c.handshake()
	default:
		client := c.gateway.Connect(fieldtest.Dial{})
		c.advance(client, stage)
		switch c.rand.IntN(3) {
		case 0:
			client.Hangup()
		case 1:
			client.Drop()
		case 2:
			client.Reset()
		}
		<-client.Ended
	}
}

// advance brings a connection to a stage: not initialized, initialized, with a
// session, with a turn under way, in the middle of a replay.
func (c *churn) advance(client *fieldtest.Client, stage int) {
	if stage > 1 {
		client.Init()
	}
	switch stage {
	case 3:
		client.Must("session/resume", c.LoadParams(c.session), nil)
	case 4:
		client.Must("session/resume", c.LoadParams(c.session), nil)
		from := client.Lines()
		client.BeginPrompt(c.session, "D:CHUNKS 20,20,1")
		client.AwaitUpdate(c.session, from, "the first chunk", func(fieldtest.Update) bool { return true })
	case 5:
		client.Begin("session/load", c.LoadParams(c.session))
	}
}

// handshake breaks off within the request.
func (c *churn) handshake() {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.gateway.Host())
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	request := "GET /acp HTTP/1.1\r\nHost: " + c.gateway.Host() + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer " + fieldtest.Token + "\r\n"
	if _, err := conn.Write([]byte(request[:c.rand.IntN(len(request))])); err != nil {
		c.t.Fatal(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && c.rand.IntN(2) == 0 {
		_ = tcp.SetLinger(0)
	}
}
