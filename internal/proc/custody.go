package proc

import "context"

// Custody starts the children of one instance and knows them. A nil *Custody
// starts children all the same. It is safe for concurrent use.
type Custody struct{ opts Options }

// Options say whose children a Custody keeps.
type Options struct {
	// Dir is the directory of the records of children, shared by all instances;
	// empty keeps none, and what survives a crash of this process and of a
	// child's guard at once is then never found again.
	Dir string
	// ID names the instance; it is safe in file names.
	ID string
	// Alive says whether another instance still runs.
	Alive func(id string) bool
}

// NewCustody returns the custody of one instance.
func NewCustody(o Options) *Custody { return &Custody{opts: o} }

// Start starts a child as the function Start does.
func (c *Custody) Start(ctx context.Context, spec Spec) (*Proc, error) {
	return Start(ctx, spec)
}

// Close gives the records up. All children have ended.
func (c *Custody) Close() error { return nil }
