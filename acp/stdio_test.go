package acp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// readAll reads until the end and returns messages and errors as text.
func readAll(t testing.TB, s *Stdio) []string {
	t.Helper()
	var got []string
	for {
		msg, err := s.ReadMessage(context.Background())
		var tooLarge *MessageTooLargeError
		switch {
		case err == nil:
			got = append(got, string(msg))
		case errors.As(err, &tooLarge):
			got = append(got, fmt.Sprintf("over %d: %.8s", tooLarge.Limit, tooLarge.Head))
		case err == io.EOF:
			return got
		default:
			return append(got, err.Error())
		}
	}
}

func TestStdioReadMessage(t *testing.T) {
	long := strings.Repeat("x", 3*readAhead)
	tests := []struct {
		name, in string
		max      int64
		want     []string
	}{
		{"lines", "{1}\n{2}\n", 0, []string{"{1}", "{2}"}},
		{"empty", "", 0, nil},
		{"only line ends", "\n\r\n \t\n\n", 0, nil},
		{"CRLF (F7)", "{1}\r\n\r\n{2}\r\n", 0, []string{"{1}", "{2}"}},
		{"unterminated", "{1}\n{2}", 0, []string{"{1}", "{2}"}},
		{"unterminated CR", "{1}\r", 0, []string{"{1}"}},
		{"byte order mark (F11)", "\xef\xbb\xbf{1}\n\xef\xbb\xbf{2}\n", 0, []string{"{1}", "\xef\xbb\xbf{2}"}},
		{"byte order mark alone", "\xef\xbb\xbf", 0, nil},
		{"no-break space is not JSON space", "\u00a0{1}\n", 0, []string{"\u00a0{1}"}},
		{"long (F4)", "{" + long + "}\n{2}\n", 0, []string{"{" + long + "}", "{2}"}},
		{"at the limit", "12345\n12345\r\n12345", 5, []string{"12345", "12345", "12345"}},
		{"over the limit", "123456\n12345\n123456\r\n123456", 5, []string{"over 5: 123456", "12345", "over 5: 123456", "over 5: 123456"}},
		{"far over the limit (F5)", long + "\n{2}\n" + long, 5, []string{"over 5: xxxxxxxx", "{2}", "over 5: xxxxxxxx"}},
		{"limit within the second buffer", long[:readAhead+5] + "\n{2}\n", readAhead + 5, []string{long[:readAhead+5], "{2}"}},
		{"CRLF across buffers", long[:readAhead-1] + "\r\n{2}\n", readAhead - 1, []string{long[:readAhead-1], "{2}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			whole := readAll(t, NewStdio(strings.NewReader(tt.in), io.Discard, tt.max))
			if diff := cmp.Diff(tt.want, whole); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
			bytewise := readAll(t, NewStdio(iotest.OneByteReader(strings.NewReader(tt.in)), io.Discard, tt.max))
			if diff := cmp.Diff(tt.want, bytewise); diff != "" {
				t.Errorf("lines, read byte by byte (-want +got):\n%s", diff)
			}
		})
	}
}

// F8: characters are not torn when their bytes arrive one at a time.
func TestF8StdioSplitCharacters(t *testing.T) {
	want := `{"text":"漢字🎉é"}`
	got := readAll(t, NewStdio(iotest.OneByteReader(strings.NewReader(want+"\n")), io.Discard, 0))
	if diff := cmp.Diff([]string{want}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStdioReadErrorIsReturned(t *testing.T) {
	in := io.MultiReader(strings.NewReader("{1}\n{tor"), iotest.ErrReader(errors.New("cable cut")))
	got := readAll(t, NewStdio(in, io.Discard, 0))
	if diff := cmp.Diff([]string{"{1}", "cable cut"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// F2, F3: a host hands what an agent prints beside the protocol to SkipNoise.
func TestF2StdioSkipsNoise(t *testing.T) {
	in := "[FA] ready\n\x1b[32mok\x1b[0m\n\nnull\n42\n{\"a\":1}\n" + strings.Repeat("z", 100) + "\n  {\"b\":2}\n"
	s := NewStdio(strings.NewReader(in), io.Discard, 50)
	var noise []string
	s.SkipNoise = func(line []byte) { noise = append(noise, string(line)) }
	got := readAll(t, s)
	if diff := cmp.Diff([]string{`{"a":1}`, `{"b":2}`}, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	want := []string{"[FA] ready", "\x1b[32mok\x1b[0m", "null", "42", strings.Repeat("z", 100)}
	if diff := cmp.Diff(want, noise); diff != "" {
		t.Errorf("noise (-want +got):\n%s", diff)
	}
}

// A line over the limit must not cost memory in proportion to its length.
func TestStdioSkipsGiantLineInFlatMemory(t *testing.T) {
	const limit, giant = 1 << 20, 64 << 20
	in := io.MultiReader(io.LimitReader(zeros{}, giant), strings.NewReader("\n{1}\n"))
	s := NewStdio(in, io.Discard, limit)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := readAll(t, s)
	runtime.ReadMemStats(&after)
	if want := 2; len(got) != want || got[1] != "{1}" {
		t.Fatalf("read %d messages, want %d", len(got), want)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8*limit {
		t.Errorf("skipping %d MiB allocated %d MiB", giant>>20, used>>20)
	}
}

// zeros reads as the digit 0 for ever.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// writes records every Write by itself.
type writes struct {
	mu  sync.Mutex
	all []string
	err error
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, string(p))
	return len(p), w.err
}

func TestStdioWriteMessage(t *testing.T) {
	tests := []struct {
		name, msg, want string
		err             error
	}{
		{"as it is", `{ "a" : 1e5, "a":2}`, "{ \"a\" : 1e5, \"a\":2}\n", nil},
		{"line breaks between tokens", "{\r\n  \"a\": [\n1\r]\n}\n", "{\"a\":[1]}\n", nil},
		{"escaped line break", `{"a":"\r\n"}`, "{\"a\":\"\\r\\n\"}\n", nil},
		{"line break in a string", "{\"a\":\"\n\"}", "", ErrInvalidMessage},
		{"two messages", "{}\n{}", "", ErrInvalidMessage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w writes
			msg := jsontext.Value(tt.msg)
			err := NewStdio(strings.NewReader(""), &w, 0).WriteMessage(t.Context(), msg)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if got := strings.Join(w.all, "|"); got != tt.want {
				t.Errorf("wrote %q, want %q", got, tt.want)
			}
			if string(msg) != tt.msg {
				t.Errorf("the caller's message was changed to %q", msg)
			}
		})
	}
}

func TestStdioWritesAreWhole(t *testing.T) {
	var w writes
	s := NewStdio(strings.NewReader(""), &w, 0)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			msg := bytes.Repeat([]byte{'0' + byte(i)}, 100*(i+1))
			for range 50 {
				if err := s.WriteMessage(t.Context(), msg); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, line := range w.all {
		n := int(line[0]-'0'+1) * 100
		if want := strings.Repeat(line[:1], n) + "\n"; line != want {
			t.Fatalf("a torn line: %.80q", line)
		}
	}
	if len(w.all) != 400 {
		t.Errorf("%d writes, want one for each of 400 messages", len(w.all))
	}
}

func TestWriteRawSendsSeveralMessages(t *testing.T) {
	msgs := []jsontext.Value{jsontext.Value(`{"a":1}`), jsontext.Value("{\n}"), jsontext.Value(`{"b":2}`)}
	var w writes
	c := NewConn(NewStdio(strings.NewReader(""), &w, 0), nil, nil)
	if err := c.WriteRaw(t.Context(), msgs...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"{\"a\":1}\n{}\n{\"b\":2}\n"}, w.all); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if err := c.WriteRaw(t.Context(), jsontext.Value(`{}`), jsontext.Value("{\n")); !errors.Is(err, ErrInvalidMessage) || len(w.all) != 1 {
		t.Errorf("error %v after %d writes, want ErrInvalidMessage and nothing sent", err, len(w.all))
	}

	near, far := NewPipe() // writes one at a time
	go func() {
		if err := NewConn(near, nil, nil).WriteRaw(t.Context(), msgs...); err != nil {
			t.Error(err)
		}
	}()
	for _, want := range msgs {
		if got, err := far.ReadMessage(t.Context()); err != nil || string(got) != string(want) {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestStdioFailsForGoodAfterAFailedWrite(t *testing.T) {
	w := writes{err: errors.New("pipe burst")}
	s := NewStdio(strings.NewReader(""), &w, 0)
	for range 2 {
		if err := s.WriteMessage(t.Context(), jsontext.Value(`{}`)); !errors.Is(err, w.err) {
			t.Errorf("error %v, want %v", err, w.err)
		}
	}
	if len(w.all) != 1 {
		t.Errorf("%d writes: something was sent after a torn message", len(w.all))
	}
}

func TestStdioWaitForAWriterEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w := io.Pipe() // nobody reads
		s := NewStdio(strings.NewReader(""), w, 0)
		first, second, third := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { first <- s.WriteMessage(context.Background(), jsontext.Value(`1`)) }()
		synctest.Wait()
		go func() { second <- s.WriteMessage(ctx, jsontext.Value(`2`)) }()
		go func() { third <- s.WriteMessage(context.Background(), jsontext.Value(`3`)) }()
		synctest.Wait()
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("the waiting write ended with %v, want context.Canceled", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, ended := range []chan error{first, third} {
			if err := <-ended; !errors.Is(err, ErrClosed) {
				t.Errorf("a write ended with %v after Close, want ErrClosed", err)
			}
		}
	})
}

// closer counts how often it is closed.
type closer struct {
	io.Reader
	io.Writer
	closed int
	err    error
}

func (c *closer) Close() error { c.closed++; return c.err }

func TestStdioCloseClosesBothStreamsOnce(t *testing.T) {
	r, w := &closer{Reader: strings.NewReader("{1}\n")}, &closer{Writer: io.Discard, err: errors.New("bad close")}
	s := NewStdio(r, w, 0)
	for range 2 {
		if err := s.Close(); !errors.Is(err, w.err) {
			t.Errorf("Close: %v, want %v", err, w.err)
		}
	}
	if r.closed != 1 || w.closed != 1 {
		t.Errorf("closed the reader %d and the writer %d times, want once each", r.closed, w.closed)
	}
	if err := s.WriteMessage(t.Context(), jsontext.Value(`{}`)); !errors.Is(err, ErrClosed) {
		t.Errorf("WriteMessage after Close: %v, want ErrClosed", err)
	}
}
