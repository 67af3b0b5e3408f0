package acp

// Presence says how an optional member stood in its object.
type Presence uint8

// The three ways a member can stand in an object.
const (
	Absent  Presence = iota // not there: leave what is known unchanged
	Null                    // there as null: clear what is known
	Present                 // there with a value: replace what is known
)

// Opt is a member of a patch, where absent, null and a value mean three
// different things. The zero Opt is absent.
type Opt[T any] struct {
	Value    T // the zero value unless Presence is Present
	Presence Presence
}

// Some is a member that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{Value: v, Presence: Present} }

// None is a member that is null.
func None[T any]() Opt[T] { return Opt[T]{Presence: Null} }

// Get returns the value and whether there is one.
func (o Opt[T]) Get() (T, bool) { return o.Value, o.Presence == Present }

// Apply returns what old becomes under the patch: old itself when absent, the
// zero value when null, the new value otherwise.
func (o Opt[T]) Apply(old T) T {
	if o.Presence == Absent {
		return old
	}
	return o.Value
}

// Member is one named member of an object whose order matters.
type Member[T any] struct {
	Name  string
	Value T
}

// Members is an object whose members keep the order they were written in, as
// the fields of a form do.
type Members[T any] []Member[T]

// Get returns the member called name.
func (m Members[T]) Get(name string) (v T, ok bool) {
	for _, member := range m {
		if member.Name == name {
			return member.Value, true
		}
	}
	return v, false
}
