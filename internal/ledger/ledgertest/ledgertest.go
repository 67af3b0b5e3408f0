// Package ledgertest holds the contract of [session.Ledger] as tests. Every
// ledger passes them.
package ledgertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Run tests one ledger by itself. open returns a fresh, empty one, which it
// closes when the test ends.
func Run(t *testing.T, open func(t *testing.T) session.Ledger) {
	for _, c := range []struct {
		name string
		test func(*testing.T, session.Ledger)
	}{
		{"InfoRoundTrip", testInfoRoundTrip},
		{"UnknownSession", testUnknownSession},
		{"CreateTaken", testCreateTaken},
		{"Reset", testReset},
		{"ResetRefused", testResetRefused},
		{"Shares", testShares},
		{"Update", testUpdate},
		{"UpdateFence", testUpdateFence},
		{"UpdateKeyTaken", testUpdateKeyTaken},
		{"S12_LoadingChangesNothing", testLoadingChangesNothing},
		{"Delete", testDelete},
		{"DeleteLong", testDeleteLong},

		{"EventRoundTrip", testEventRoundTrip},
		{"AppendNumbers", testAppendNumbers},
		{"AppendEmpty", testAppendEmpty},
		{"AppendRefusedWhole", testAppendRefusedWhole},
		{"AppendBadMarks", testAppendBadMarks},
		{"AppendChange", testAppendChange},
		{"AppendCancelled", testAppendCancelled},
		{"AppendKeepsBatch", testAppendKeepsBatch},
		{"Fence", testFence},
		{"Release", testRelease},
		{"Read", testRead},
		{"ReadBounded", testReadBounded},
		{"Snapshot", testSnapshot},

		{"ListOrderAndPages", testListPages},
		{"ListFilters", testListFilters},
		{"ListBadCursor", testListBadCursor},
		{"ListCursorOfAnotherFilter", testListCursorOfAnother},
		{"ListShared", testListShared},
		{"ListAgents", testListAgents},
		{"ListWhileChanging", testListWhileChanging},

		{"SearchPhraseOverChunks", testSearchPhrase},
		{"SearchHostileText", testSearchHostile},
		{"SearchFilters", testSearchFilters},
		{"SearchReplacesDoc", testSearchReplaces},

		{"ConcurrentSessions", testConcurrentSessions},
		{"ConcurrentOneSession", testConcurrentOneSession},
		{"ReadsWhileAppending", testReadsWhileAppending},
		{"Closed", testClosed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// RunShared tests two ledgers on one store, as two instances that both live.
// stop ends b's instance without closing its ledger, as a crash would.
func RunShared(t *testing.T, open func(t *testing.T) (a, b session.Ledger, stop func())) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, a, b session.Ledger, stop func())
	}{
		{"ActiveElsewhere", testActiveElsewhere},
		{"ReleasedIsFree", testReleasedIsFree},
		{"DeadIsTakenOver", testDeadIsTakenOver},
		{"SeesTheOther", testSeesTheOther},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b, stop := open(t)
			c.test(t, a, b, stop)
		})
	}
}

// epoch is when the tests' sessions begin; whole nanoseconds must survive.
func epoch() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC) }

// info is a session with every field set.
func info(id string) session.Info {
	return session.Info{
		ID: id, Owner: "local", Key: "key-" + id, Label: "a label", Agent: "main", Cwd: "/home/me/" + id,
		Roots: []string{"/other", "/and spaced"}, Title: "Größe \x00 ✓", TitleSet: true, Parent: "s_parent",
		Foreign: "thread-1", Grants: jsontext.Value(`{"allow":[{"tool":"shell"}]}`),
		Shares:    []session.Share{{Owner: "ann", Role: session.Observer}, {Owner: "bob", Role: session.Approver}},
		CreatedAt: epoch(), UpdatedAt: epoch().Add(time.Hour),
	}
}

// create stores a minimal session and returns its fence.
func create(t *testing.T, l session.Ledger, id string) session.Fence {
	t.Helper()
	fence, err := l.Create(t.Context(), session.Info{ID: id, Owner: "local", Agent: "main", Cwd: "/w", CreatedAt: epoch(), UpdatedAt: epoch()})
	if err != nil {
		t.Fatalf("Create(%s): %v", id, err)
	}
	return fence
}

// chunk is a message chunk whose marks are true.
func chunk(text string) session.Event {
	body := fmt.Sprintf(`{"sessionId":"s_1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}`, text)
	return session.Event{
		ID: session.NewID("e"), Time: epoch(), Turn: "t_1", Epoch: 1, Kind: session.KindAgentMessage,
		Version: 1, Marks: session.Marks{SessionID: session.Span{From: 13, To: 18}}, Body: jsontext.Value(body),
	}
}

func chunks(n int) []session.Event {
	events := make([]session.Event, n)
	for i := range events {
		events[i] = chunk(fmt.Sprint("chunk ", i))
	}
	return events
}

func appendEvents(t *testing.T, l session.Ledger, id string, fence session.Fence, events ...session.Event) session.Seq {
	t.Helper()
	seq, err := l.Append(t.Context(), id, fence, session.Batch{Events: events})
	if err != nil {
		t.Fatalf("Append to %s: %v", id, err)
	}
	return seq
}

// readAll pages through a session and checks that its numbers have no gaps.
func readAll(t *testing.T, l session.Ledger, id string, limit int) []session.Event {
	t.Helper()
	var all []session.Event
	for {
		page, err := l.Read(t.Context(), id, session.Seq(len(all)), limit)
		if err != nil {
			t.Fatalf("Read(%s, after %d): %v", id, len(all), err)
		}
		if len(page) == 0 {
			return all
		}
		if len(page) > limit {
			t.Fatalf("Read(%s) returned %d events, limit %d", id, len(page), limit)
		}
		for _, e := range page {
			if e.Seq != session.Seq(len(all))+1 {
				t.Fatalf("event after %d has number %d", len(all), e.Seq)
			}
			all = append(all, e)
		}
	}
}

func numbered(events []session.Event) []session.Event {
	out := append([]session.Event(nil), events...)
	for i := range out {
		out[i].Seq = session.Seq(i) + 1
	}
	return out
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func ids(infos []session.Info) []string {
	var out []string
	for _, i := range infos {
		out = append(out, i.ID)
	}
	return out
}
