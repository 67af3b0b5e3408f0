// Package sqlite is the ledger on disk: every session of every process of a
// user in one SQLite database in WAL mode.
//
// # Files
//
// Beside sessions.db and SQLite's own -wal and -shm lie two lock files.
// sessions.db.commit.lock is held around each write transaction, so that the
// processes queue fairly instead of polling SQLite's lock; sessions.db.users.lock
// is held shared by everyone who has the store open, so that who migrates it or
// moves it aside knows to be alone. They are locked in this order: commit, users,
// SQLite. The database file itself is opened by SQLite only: closing any other
// descriptor of it would drop SQLite's locks.
//
// # Writing
//
// One writer at a time ([writer]) commits what waits in one transaction. An
// append is one INSERT that finds the session's fence and the schema's epoch
// unchanged or writes nothing; its sequence number comes from memory, so its
// cost does not depend on the length of the session. Events of one batch share
// a row, keyed by session number and last sequence number.
//
// # Reading
//
// Reads run on connections of their own, in pages, and hold nothing after they
// return, so that the log can always be truncated ([checkpointer]).
package sqlite
