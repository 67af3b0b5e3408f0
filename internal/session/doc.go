// Package session is the domain: what a session is, what happens in one, and
// the contracts of everything around it. A surface (north) attaches to a
// session and a driver (south) runs its turns; both see this package only, and
// never each other. What happened is an [Event] in a [Ledger].
//
// The rooms below hold the behaviour: state reduces events to a State, actor
// owns one active session, ask settles requests to people, attach reads the
// ledger for one client, and hub finds and restores sessions. None of them
// touches files, the network or SQL.
package session
