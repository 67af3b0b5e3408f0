package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// A row holds consecutive events of one session, committed together:
//
//	byte     codecVersion
//	4 bytes  CRC-32 of the rest (IEEE, whose tables cost no start time), little endian
//	varint   time of the row's first event, Unix nanoseconds
//	events   each a uvarint length and that many bytes
//
// An event is
//
//	uvarint  flags: retention (2 bits), origin (2), then the flag bits below
//	uvarint  kind: its code, or 0 and a string
//	string   id
//	varint   time since the row's first event, nanoseconds
//	string   turn, unless it is the previous event's
//	string   by, unless it is the previous event's
//	uvarint  epoch
//	byte     version of the body
//	4 × 2    uvarints, the marks as (from, length), if it has any
//	bytes    the body, to the end
//
// Sequence numbers are not stored: the row's key is the last one.
const codecVersion = 1

const (
	headerSize = 1 + crc32.Size

	fieldMask    = 3
	originShift  = 2
	flagSameTurn = 1 << 4
	flagSameBy   = 1 << 5
	flagMarks    = 1 << 6
	flagZeroTime = 1 << 7

	marksCount = 4
)

// kindCodes are the kinds by code; code 0 is "not here, spelled out". Stored
// rows hold these codes: the list only grows at its end.
var kindCodes = [...]session.Kind{
	1:  session.KindUserMessage,
	2:  session.KindAgentMessage,
	3:  session.KindAgentThought,
	4:  session.KindToolCall,
	5:  session.KindToolUpdate,
	6:  session.KindPlan,
	7:  session.KindCommands,
	8:  session.KindMode,
	9:  session.KindConfig,
	10: session.KindInfo,
	11: session.KindUsage,
	12: session.KindNotice,
	13: session.KindCompaction,
	14: session.KindCompactChunk,
	15: session.KindTurnStart,
	16: session.KindTurnEnd,
	17: session.KindPermission,
	18: session.KindElicitation,
	19: session.KindVerdict,
	20: session.KindQueued,
	21: session.KindCustom,
	22: session.KindEpoch,
	23: session.KindDriverPrivate,
}

func kindCode(k session.Kind) uint64 {
	for i := 1; i < len(kindCodes); i++ {
		if kindCodes[i] == k {
			return uint64(i)
		}
	}
	return 0
}

var errRow = errors.New("event row is damaged")

// appendRow appends the row of events to dst. There is at least one, and all
// were checked by checkEvents.
func appendRow(dst []byte, events []session.Event) []byte {
	start := len(dst)
	dst = append(dst, codecVersion, 0, 0, 0, 0)
	base := unixNano(events[0].Time)
	dst = binary.AppendVarint(dst, base)
	var prev session.Event
	var scratch []byte
	for i := range events {
		scratch = appendEventHead(scratch[:0], &events[i], &prev, base)
		dst = binary.AppendUvarint(dst, uint64(len(scratch)+len(events[i].Body)))
		dst = append(dst, scratch...)
		dst = append(dst, events[i].Body...)
		prev = events[i]
	}
	sum := crc32.ChecksumIEEE(dst[start+headerSize:])
	binary.LittleEndian.PutUint32(dst[start+1:], sum)
	return dst
}

// appendEventHead appends everything of e but its body.
func appendEventHead(dst []byte, e, prev *session.Event, base int64) []byte {
	flags := uint64(e.Retention)&fieldMask | uint64(e.Origin)&fieldMask<<originShift
	if e.Turn == prev.Turn {
		flags |= flagSameTurn
	}
	if e.By == prev.By {
		flags |= flagSameBy
	}
	if e.Marks != (session.Marks{}) {
		flags |= flagMarks
	}
	if e.Time.IsZero() {
		flags |= flagZeroTime
	}
	dst = binary.AppendUvarint(dst, flags)
	code := kindCode(e.Kind)
	dst = binary.AppendUvarint(dst, code)
	if code == 0 {
		dst = appendString(dst, string(e.Kind))
	}
	dst = appendString(dst, e.ID)
	dst = binary.AppendVarint(dst, unixNano(e.Time)-base)
	if flags&flagSameTurn == 0 {
		dst = appendString(dst, e.Turn)
	}
	if flags&flagSameBy == 0 {
		dst = appendString(dst, e.By)
	}
	dst = binary.AppendUvarint(dst, e.Epoch)
	dst = append(dst, e.Version)
	if flags&flagMarks != 0 {
		for _, s := range [marksCount]session.Span{e.Marks.SessionID, e.Marks.Meta, e.Marks.ToolCallID, e.Marks.MessageID} {
			dst = binary.AppendUvarint(dst, uint64(s.From))
			dst = binary.AppendUvarint(dst, uint64(s.To-s.From))
		}
	}
	return dst
}

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// decodeRow appends the events of a row to dst. Their bodies are parts of row,
// which must not change afterwards. Sequence numbers are the caller's to set.
// Damage of any kind is an error, never a panic.
func decodeRow(dst []session.Event, row []byte) ([]session.Event, error) {
	if len(row) < headerSize {
		return dst, fmt.Errorf("%w: it is cut short", errRow)
	}
	if row[0] != codecVersion {
		return dst, fmt.Errorf("%w: unknown version %d", errRow, row[0])
	}
	if crc32.ChecksumIEEE(row[headerSize:]) != binary.LittleEndian.Uint32(row[1:]) {
		return dst, fmt.Errorf("%w: its checksum does not match", errRow)
	}
	d := decoder{rest: row[headerSize:]}
	base := d.varint()
	var prev session.Event
	for !d.bad && len(d.rest) > 0 {
		ev := decoder{rest: d.bytes(d.uvarint()), bad: d.bad}
		e := ev.event(&prev, base)
		if d.bad = d.bad || ev.bad; d.bad {
			break
		}
		dst = append(dst, e)
		prev = e
	}
	if d.bad {
		return dst, fmt.Errorf("%w: a field is out of range", errRow)
	}
	return dst, nil
}

// decoder takes fields off the front of rest. After the first that does not
// fit, bad is set and every field is zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) event(prev *session.Event, base int64) session.Event {
	flags := d.uvarint()
	e := session.Event{
		Retention: session.Retention(flags & fieldMask),
		Origin:    session.Origin(flags >> originShift & fieldMask),
		Kind:      d.kind(),
		ID:        d.str(),
	}
	if at := base + d.varint(); flags&flagZeroTime == 0 {
		e.Time = time.Unix(0, at).UTC()
	}
	e.Turn, e.By = prev.Turn, prev.By
	if flags&flagSameTurn == 0 {
		e.Turn = d.str()
	}
	if flags&flagSameBy == 0 {
		e.By = d.str()
	}
	e.Epoch = d.uvarint()
	if v := d.bytes(1); len(v) == 1 {
		e.Version = v[0]
	}
	body := d.rest
	if flags&flagMarks != 0 {
		e.Marks, body = d.marks()
	}
	if len(body) > 0 {
		e.Body = jsontext.Value(body[:len(body):len(body)])
	}
	return e
}

func (d *decoder) kind() session.Kind {
	code := d.uvarint()
	switch {
	case code == 0:
		return session.Kind(d.str())
	case code < uint64(len(kindCodes)):
		return kindCodes[code]
	}
	d.bad = true
	return ""
}

// marks reads the spans and checks that they lie within the body behind them,
// so that a hop may splice without looking.
func (d *decoder) marks() (session.Marks, []byte) {
	var from, length [marksCount]uint64
	for i := range marksCount {
		from[i], length[i] = d.uvarint(), d.uvarint()
	}
	var spans [marksCount]session.Span
	size := uint64(len(d.rest))
	for i := range marksCount {
		if from[i] > size || length[i] > size-from[i] {
			d.bad = true
			return session.Marks{}, nil
		}
		spans[i] = session.Span{From: uint32(from[i]), To: uint32(from[i] + length[i])}
	}
	return session.Marks{SessionID: spans[0], Meta: spans[1], ToolCallID: spans[2], MessageID: spans[3]}, d.rest
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	return fixed(d, v, n)
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	return fixed(d, v, n)
}

// fixed consumes the n bytes of a number, or fails when there is none.
func fixed[T int64 | uint64](d *decoder, v T, n int) T {
	if n <= 0 || d.bad {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) bytes(n uint64) []byte {
	if d.bad || n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) str() string { return string(d.bytes(d.uvarint())) }

// unixNano is t as stored: the zero time is 0, which no session ever saw.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// fromUnixNano is the inverse of unixNano.
func fromUnixNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
