package soak

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// What a turn of the stall soak says, and how much memory a client that does not
// read may cost, with what the collector's timing adds.
const (
	stallChunks = 1000
	stallChunk  = 2000
	stallCost   = 8 << 10 // KiB
	stallNoise  = 12 << 10
)

// TestSoakStall has a client stop reading while its session says 500 MB in full:
// the gateway's memory does not grow by it, the other client misses nothing, the
// connection is closed in the end, and the client comes back for the rest.
func TestSoakStall(t *testing.T) {
	t.Parallel() // it waits for a minute
	s := &stall{run: newRun(t)}
	s.window(1_000_000)
	s.gateway = s.Gateway()
	s.reader = s.gateway.Connect(fieldtest.Dial{})
	s.reader.Init()
	s.session = s.reader.New()
	turns := s.times(500_000_000 / (stallChunks * stallChunk))
	s.said(max(8, turns/5)) // until memory is what such turns take
	before := s.takes(max(8, turns/5))

	reading := make(chan struct{})
	stalled := s.gateway.Connect(fieldtest.Dial{Reading: reading})
	stalled.Send(fieldtest.Request("1", "initialize", object{"protocolVersion": 1}))
	stalled.Send(fieldtest.Request("2", "session/resume", s.LoadParams(s.session)))
	begun := time.Now()
	after := s.takes(turns)
	if grown := after - before; grown > stallCost+stallNoise {
		t.Errorf("memory grew by %d KiB for a client that does not read", grown)
	}
	s.until("the client that does not read is closed", func() bool { return s.gateway.Metric(`grapnel_connections{transport="websocket"}`) == 1 })
	s.add("s until it was seen to be closed", int(time.Since(begun).Seconds()))
	close(reading)
	stalled.Closed()
	if n := s.back(stalled); n != turns*stallChunks {
		t.Errorf("%d chunks came to the client that was closed, want %d", n, turns*stallChunks)
	}
	s.gateway.Stop()
	s.alone()
	s.add("MB said", turns*stallChunks*stallChunk/1_000_000)
	s.add("KiB of memory grown", max(0, after-before))
	s.report()
}

// stall is a soak of a client that does not read.
type stall struct {
	*run
	gateway *fieldtest.Gateway
	reader  *fieldtest.Client // the other one
	session string
	last    uint64 // place of the last chunk
}

// said runs turns and checks that the reader is told all of each, in order.
func (s *stall) said(turns int) {
	s.t.Helper()
	for range turns {
		from := s.reader.Lines()
		s.reader.Forget(from)
		s.Model.Forget()
		if stop := s.reader.Prompt(s.session, fmt.Sprintf("D:CHUNKS %d,%d,0", stallChunks, stallChunk)).StopReason(); stop != "end_turn" {
			s.t.Fatalf("a turn ended with %s\n%s", stop, s.gateway.Stderr())
		}
		n := 0
		for _, m := range s.reader.Messages()[from:] {
			u, ok := m.Update()
			if !ok || u.Kind != "agent_message_chunk" {
				continue
			}
			if n++; u.Text != fmt.Sprintf("%0*d ", stallChunk-1, n) {
				s.t.Fatalf("chunk %d is %.20s…", n, u.Text)
			}
			var place update
			unmarshal(s.t, m.Params, &place)
			s.last = place.Meta.Grapnel.Seq
		}
		if n != stallChunks {
			s.t.Fatalf("%d chunks came, want %d", n, stallChunks)
		}
	}
}

// takes runs turns and returns the memory that the gateway held half of the time
// meanwhile, in KiB.
func (s *stall) takes(turns int) int {
	s.t.Helper()
	var held []int
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			held = append(held, memoryOf(s.gateway.Pid()))
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	s.said(turns)
	close(stop)
	watching.Wait()
	slices.Sort(held)
	return held[len(held)/2]
}

func (s *stall) until(what string, done func() bool) {
	s.t.Helper()
	for begun := time.Now(); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > 2*patience {
			s.t.Fatalf("it takes too long until %s\n%s", what, s.gateway.Stderr())
		}
	}
}

// back resumes from what the stalled client got, and expects the rest of it
// once, in order. It returns how many chunks came in all.
func (s *stall) back(stalled *fieldtest.Client) (chunks int) {
	s.t.Helper()
	var at uint64
	count := func(m fieldtest.Message) {
		var u update
		if m.Method != "session/update" {
			return
		}
		unmarshal(s.t, m.Params, &u)
		if seq := u.Meta.Grapnel.Seq; seq != 0 && seq <= at {
			s.t.Fatalf("place %d came after %d", seq, at)
		} else if seq != 0 {
			at = seq
		}
		if u.head().Kind == "agent_message_chunk" {
			chunks++
		}
	}
	for _, m := range stalled.Messages() {
		count(m)
	}
	again := s.gateway.Connect(fieldtest.Dial{})
	again.Init()
	params := s.LoadParams(s.session)
	params["_meta"] = object{"grapnel": object{"after": at}}
	again.Begin("session/resume", params)
	for next := 0; at < s.last; next++ {
		m, ok := again.Next(next, patience)
		if !ok {
			s.t.Fatalf("nothing more comes after %d of %d", at, s.last)
		}
		count(m)
		if next%1000 == 0 {
			again.Forget(next)
		}
	}
	return chunks
}
