package sqlite

// layout is a version of the store and how older ones become it.
type layout struct {
	version int
	// steps[v] turns version v into v+1.
	steps map[int]string
}

// current is the layout this program reads and writes.
var current = layout{version: schemaVersion, steps: map[int]string{
	1: `ALTER TABLE sessions ADD COLUMN subagent INTEGER NOT NULL DEFAULT 0`,
	2: sharesTable + `UPDATE sessions SET key = 'agent:' || agent || iif(subagent, ':subagent:', ':acp:') ||
		lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' ||
		substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))) WHERE key = ''`,
}}

const schemaVersion = 3

// applicationID marks the file as ours in SQLite's header ("GRPN").
const applicationID = 0x4752504e

// Keys of events and docs are session number << seqBits | sequence number, so
// that one tree holds every session's events together and in order.
const (
	seqBits = 32
	seqMask = 1<<seqBits - 1
)

// sharesTable is who else may enter a session, and what they may do there.
const sharesTable = `
CREATE TABLE shares (
	owner TEXT NOT NULL,
	num   INTEGER NOT NULL,
	role  TEXT NOT NULL,
	PRIMARY KEY (owner, num)
) WITHOUT ROWID;
CREATE INDEX shares_num ON shares (num);
`

// schema makes a new store. sessions.num is never used twice (AUTOINCREMENT),
// so what is left of a deleted session belongs to nobody.
const schema = `
CREATE TABLE schema_version (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL,
	epoch   INTEGER NOT NULL
);
CREATE TABLE sessions (
	num       INTEGER PRIMARY KEY AUTOINCREMENT,
	id        TEXT NOT NULL UNIQUE,
	owner     TEXT NOT NULL,
	key       TEXT NOT NULL,
	label     TEXT NOT NULL,
	agent     TEXT NOT NULL,
	cwd       TEXT NOT NULL,
	roots     TEXT,
	title     TEXT NOT NULL,
	title_set INTEGER NOT NULL,
	archived  INTEGER NOT NULL,
	parent    TEXT NOT NULL,
	subagent  INTEGER NOT NULL DEFAULT 0,
	harness   TEXT NOT NULL,
	grants    BLOB,
	created   INTEGER NOT NULL,
	updated   INTEGER NOT NULL,
	instance  TEXT NOT NULL,
	fence     INTEGER NOT NULL
);
CREATE INDEX sessions_updated ON sessions (updated, id);
CREATE INDEX sessions_cwd ON sessions (cwd, updated, id);
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent <> '';
CREATE INDEX sessions_instance ON sessions (instance) WHERE instance <> '';
CREATE UNIQUE INDEX sessions_key ON sessions (owner, key) WHERE key <> '';
CREATE TABLE events (
	id   INTEGER PRIMARY KEY,
	data BLOB NOT NULL
);
CREATE TABLE snapshots (
	num  INTEGER PRIMARY KEY,
	seq  INTEGER NOT NULL,
	data BLOB NOT NULL
);
CREATE TABLE docs (
	id   INTEGER PRIMARY KEY,
	role TEXT NOT NULL,
	text TEXT NOT NULL
);
CREATE VIRTUAL TABLE docs_index USING fts5 (
	text, content = 'docs', content_rowid = 'id',
	tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TABLE trash (
	num INTEGER PRIMARY KEY
);
` + sharesTable + `INSERT INTO schema_version VALUES (1, 3, 1);
`

// eventKey is where events and docs of a session have their key.
func eventKey(num int64, seq uint64) int64 { return num<<seqBits | int64(seq&seqMask) }
