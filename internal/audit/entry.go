// Package audit holds the audit log: who did what, by which rule and whose word,
// one line each in a file that all processes of a home append to. Every line
// carries the hash of the one before it, so that a changed, missing or moved
// line is found.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// Event says what kind of thing happened.
type Event string

// The events.
const (
	Call           Event = "call"            // a tool call was judged: allowed, refused, asked about
	Result         Event = "result"          // a call that acts has ended
	Grant          Event = "grant"           // something was allowed for the whole session
	Revoke         Event = "revoke"          // that was taken back
	Option         Event = "option"          // a mode or another option of a session was set
	SessionCreated Event = "session_created" // a session was made
	SessionDeleted Event = "session_deleted" // a session was deleted
	SessionShared  Event = "session_shared"  // another owner was let into a session, or out of it
	ServerStarted  Event = "server_started"  // an MCP server was started or connected
	Config         Event = "config"          // a setting was changed by a command
	SecretSet      Event = "secret_set"      // a credential was set by a command
	SecretRemoved  Event = "secret_removed"  // a credential was removed by a command
	CodeIssued     Event = "code_issued"     // a pairing code was given out
	Paired         Event = "paired"          // a client got a token for one
	TokenCreated   Event = "token_created"   // a token of the gateway was made
	TokenRevoked   Event = "token_revoked"   // one was taken back
	LockedOut      Event = "locked_out"      // an address guessed too often

	// Repaired stands after a line that was cut short by a crash; Digest is the
	// hash of what was left of it.
	Repaired Event = "repaired"
	// Rotated begins a new file; What names the one before it.
	Rotated Event = "rotated"
)

// Entry is one line of the log. Everything but Event may be empty; Seq, Time,
// Prev and Hash are the log's own.
type Entry struct {
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"`
	Event   Event     `json:"event"`
	Owner   string    `json:"owner,omitzero"` // of the session, or who ran a command
	Session string    `json:"session,omitzero"`
	Turn    string    `json:"turn,omitzero"`
	Agent   string    `json:"agent,omitzero"`
	Call    string    `json:"call,omitzero"` // tool call id, as clients see it
	Tool    string    `json:"tool,omitzero"`
	// What is a short account of it: the command, the path, the setting. It is
	// cut at a bound and holds no secret.
	What    string `json:"what,omitzero"`
	Digest  string `json:"digest,omitzero"`  // SHA-256 of the whole input, in hex
	Verdict string `json:"verdict,omitzero"` // allow, deny
	Rule    string `json:"rule,omitzero"`    // of the policy
	By      string `json:"by,omitzero"`      // who decided: policy, person, hook, expiry, …; for a person whose attachment
	Reason  string `json:"reason,omitzero"`
	Sandbox string `json:"sandbox,omitzero"` // what confines the command; outside for one that asked to leave it
	Outcome string `json:"outcome,omitzero"` // completed, failed

	Prev string `json:"prev"`           // hash of the line before
	Hash string `json:"hash,omitempty"` // SHA-256 of this line without its hash
}

const (
	// longestField bounds each text of an entry, in bytes.
	longestField = 1 << 10
	// longestLine is more than a line of bounded fields can be.
	longestLine = 64 << 10
	hashDigits  = 2 * sha256.Size
)

// origin is the hash before the first line.
func origin() string { return fmt.Sprintf("%0*d", hashDigits, 0) }

// DigestOf is the Digest of an input.
func DigestOf(input []byte) string {
	sum := sha256.Sum256(input)
	return hex.EncodeToString(sum[:])
}

// clean returns e with its texts cut to their bound and no secret in them. What
// the chain is made of, numbers, times and hashes, stays as it is: a short
// secret may well occur in it, and a changed line would be a broken one.
func (e Entry) clean(r *secret.Redactor) Entry {
	for _, text := range []*string{
		&e.Owner, &e.Session, &e.Turn, &e.Agent, &e.Call, &e.Tool, &e.What,
		&e.Verdict, &e.Rule, &e.By, &e.Reason, &e.Sandbox, &e.Outcome,
	} {
		*text = printable.Clip(r.Replace(*text), longestField)
	}
	return e
}

// hashKey stands between what is hashed and the hash.
const hashKey = `,"hash":"`

// encode returns the line of an entry without its newline and without the
// secrets that r knows, and its hash.
func (e Entry) encode(r *secret.Redactor) (line []byte, hash string, err error) {
	e.Hash = ""
	body, err := json.Marshal(e.clean(r))
	if err != nil {
		return nil, "", fmt.Errorf("encode an audit entry: %w", err)
	}
	body = bytes.TrimSuffix(body, []byte("}"))
	hash = DigestOf(body)
	return append(body, hashKey+hash+`"}`...), hash, nil
}

// parse reads a line, without its newline, and checks its hash.
func parse(line []byte) (Entry, error) {
	const tail = len(hashKey) + hashDigits + len(`"}`)
	if len(line) > longestLine {
		return Entry{}, fmt.Errorf("it is longer than %d bytes", longestLine)
	}
	if len(line) < tail || !bytes.HasPrefix(line[len(line)-tail:], []byte(hashKey)) {
		return Entry{}, errors.New("it is cut short or is no line of the log")
	}
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return Entry{}, errors.New("it is not the JSON of an entry")
	}
	if DigestOf(line[:len(line)-tail]) != e.Hash {
		return Entry{}, errors.New("it was changed: its hash does not fit")
	}
	return e, nil
}
